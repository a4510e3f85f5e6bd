"""`import llm_sandbox` brings in nothing that the caller has not asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

HEAVY = {
    "IPython",
    "PIL",
    "anyio",
    "docker",
    "ipykernel",
    "jupyter_client",
    "matplotlib",
    "numpy",
    "openai",
    "packaging",
    "pandas",
    "podman",
    "pydantic_settings",
    "rich",
    "prompt_toolkit",
}


def modules_after(statement: str) -> set[str]:
    """The top-level names of what a fresh interpreter has loaded after `statement`."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def bare() -> set[str]:
    """What an environment's own start files have loaded before any import."""
    return modules_after("pass")


@pytest.mark.parametrize(
    "statement",
    [
        "import llm_sandbox",
        "from llm_sandbox import ExecutionResult, SandboxBackend, SupportedLanguage",
        "import llm_sandbox.exceptions",
    ],
)
def test_import_loads_nothing_heavy(bare: set[str], statement: str) -> None:
    """Neither the package nor its words load an engine's client, a kernel or a plot library."""
    assert set() == (modules_after(statement) - bare) & HEAVY


def test_importing_prints_nothing() -> None:
    """An import writes neither to stdout nor to stderr, even with warnings on."""
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "always::DeprecationWarning:llm_sandbox",
            "-c",
            "import llm_sandbox",
        ],
        capture_output=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)
