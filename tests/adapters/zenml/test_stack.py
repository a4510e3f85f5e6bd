"""Flavors, stacks and pipelines of ZenML itself, on a local store in a folder of the test's own.

`make zenml` installs ZenML beside the library and runs these tests; without it they are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.adapters.zenml import stack
from tests.adapters.zenml.conftest import ALL

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(__file__).with_name("pipeline_program.py")
EXAMPLE = ROOT / "examples" / "zenml" / "handing_over.py"
PYTHON = "LLM_SANDBOX_TEST_ZENML_PYTHON"
"""Variable that names a Python which has ZenML and what this library needs."""
WHY = f"no ZenML here: `make zenml`, or name a Python that has it in {PYTHON}"


@cache
def python_with_zenml() -> str | None:
    python = os.environ.get(PYTHON, sys.executable)
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('zenml') is None)"
    return None if subprocess.run([python, "-c", code]).returncode else python


pytestmark = [
    pytest.mark.skipif(python_with_zenml() is None, reason=WHY),
    pytest.mark.timeout(300),
]


class Place:
    """A folder in which ZenML keeps everything, and from which nothing goes out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",
            "ZENML_CONFIG_PATH": str(folder),
            "ZENML_ANALYTICS_OPT_IN": "false",
            "ZENML_LOGGING_COLORS_DISABLED": "true",
            "AUTO_OPEN_DASHBOARD": "false",
            # What would go out all the same ends at a port where nobody listens.
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "",
        }

    def run(self, *words: str) -> str:
        python = python_with_zenml()
        assert python is not None
        done = subprocess.run(
            [python, *words], capture_output=True, text=True, env=self.environment, cwd=self.folder
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-8000:]
        return done.stdout


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    yield Place(tmp_path)
    # It was a store of this folder: ZenML has made its database there.
    assert list(tmp_path.rglob("zenml.db"))


@pytest.mark.parametrize("backend", ALL)
def test_pipeline_uses_the_flavor(backend: str, place: Place) -> None:
    """Registered by ZenML's client, used by three steps: one makes a session, the next attaches to
    it and saves it, the last restores it from the artifact.
    """
    seen: dict[str, Any] = json.loads(
        place.run(str(PROGRAM), f"llm_sandbox_{backend}").splitlines()[-1]
    )
    assert ("completed", False) == (seen["status"], seen["analytics"])
    # Settings of the pipeline replace those of the component, which a restored session has again.
    flavor = f"llm_sandbox_{backend}"
    assert (f"out {flavor} step\n", "err\n", 0) == (
        seen["stdout"],
        seen["stderr"],
        seen["exit_code"],
    )
    assert ("not_found", True, "make") == (seen["missing"], seen["closed"], seen["step"])
    # ZenML's secret store has the value, the sandbox gets it, ZenML's log does not.
    assert "s3cr3t-value" == seen["token"]
    assert [f"sandbox:{seen['id']}"] == list(seen["logs"])
    ((_, log),) = seen["logs"].items()
    assert "s3cr3t" not in str(log)
    assert [20, f"out {flavor} step"] in log
    assert [40, "err"] in log
    assert [20, "$ sh -c 'echo a secret: ***'"] in log
    assert {f"sandbox.{seen['id']}.flavor": flavor} == seen["metadata"]
    # The snapshot was an artifact of ZenML's own type.
    assert "of the snapshot\n" == seen["restored"]
    assert f"{flavor}\n" == seen["environment"]
    assert "zenml.sandboxes.snapshot" == seen["snapshot"]
    assert "sideways" in seen["refused"], seen["refused"]


def test_command_line_registers_every_flavor(place: Place) -> None:
    flavors = [name for name in stack.__all__ if name.endswith("Flavor")]
    assert 4 == len(flavors)
    code = """
import sys
from zenml.cli.cli import cli
for name in sys.argv[1:]:
    source = f"llm_sandbox.adapters.zenml.stack.{name}"
    cli(["sandbox", "flavor", "register", source], standalone_mode=False)
words = ["--flavor=llm_sandbox_bubblewrap", "--network=blocked", "--memory_limit=512m"]
cli(["sandbox", "register", "boxes", *words], standalone_mode=False)
from zenml.client import Client
from zenml.enums import StackComponentType
from zenml.sandboxes import BaseSandbox
from zenml.stack import StackComponent
model = Client().get_stack_component(StackComponentType.SANDBOX, "boxes")
found = StackComponent.from_model(model)
assert isinstance(found, BaseSandbox)
config = found.config
print("made:", type(found).__module__, type(found).__name__, config.network, config.memory_limit)
"""
    said = place.run("-c", code, *flavors)
    assert "made: llm_sandbox.adapters.zenml.stack BubblewrapSandbox blocked 512m" in said


def test_example(place: Place) -> None:
    said = place.run(str(EXAMPLE), "bubblewrap")
    assert "The heaviest species is Gentoo" in said, said
