"""Dependencies of extras: asked for by the extra's name, and needed by nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from llm_sandbox.host.distribution import install_command

ROOT = Path(__file__).resolve().parents[2]

# A fresh interpreter in which some packages are as if they were not installed.
WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""

ASKED = """
from llm_sandbox.exceptions import MissingDependencyError
try:
    {statement}
except MissingDependencyError as error:
    print(error.hint)
"""

FRAMEWORKS = (
    "agents",
    "docker",
    "inspect_ai",
    "jupyter_client",
    "langchain_core",
    "langgraph",
    "mcp",
    "openai",
    "opentelemetry",
    "podman",
    "pydantic_ai",
    "smolagents",
    "structlog",
)

NEEDS = {
    "agents": ("agents", "import llm_sandbox.integrations.agents"),
    "dask": (
        "distributed",
        "from llm_sandbox.evaluation.engines import DaskEngine as e; e().start(b'')",
    ),
    "docker": ("docker", "from llm_sandbox import Sandbox; Sandbox.create(backend='docker')"),
    "inspect": ("inspect_ai", "import llm_sandbox.integrations.inspect"),
    "jupyter": ("jupyter_client", "import llm_sandbox.integrations.jupyter"),
    "langchain": ("langchain_core", "import llm_sandbox.integrations.langchain"),
    "mcp": ("mcp", "import llm_sandbox.integrations.mcp"),
    "openai": (
        "openai",
        "from llm_sandbox.integrations.openai import run_agent as r; r(0, '', '', session=0)",
    ),
    "otel": ("opentelemetry", "from llm_sandbox import OpenTelemetryObserver as o; o()"),
    "podman": ("docker", "from llm_sandbox import Sandbox; Sandbox.create(backend='podman')"),
    "pydantic-ai": ("pydantic_ai", "import llm_sandbox.integrations.pydantic_ai"),
    "remote": (
        "websockets",
        "import llm_sandbox.remote.connection as c; c.ServerConnection('http://h').websocket(1, 1)",
    ),
    "server": ("prometheus_client", "from llm_sandbox.cli.serve import need as r; r()"),
    "ray": ("ray", "from llm_sandbox.evaluation.engines import RayEngine as e; e().start(b'')"),
    "smolagents": ("smolagents", "import llm_sandbox.integrations.smolagents"),
    "structlog": ("structlog", "from llm_sandbox import StructlogObserver as o; o()"),
}
"""By extra: the package that is missing, and who asks for it first."""

FOR_SESSIONS = {"plotly", "science"}
FOR_OTHERS = {"python-multipart"}
"""Packages that Starlette imports, when there is a form to read."""
"""Extras whose packages are for the programs in sandboxes."""

MODULES = {
    "agent-framework-core": "agent_framework",
    "autogen-agentchat": "autogen_core",
    "google-adk": "google",
    "llama-index-core": "llama_index",
    "openai-agents": "agents",
    "opentelemetry-api": "opentelemetry",
    "pydantic-ai-slim": "pydantic_ai",
}
"""By distribution: its module, where that is not the distribution's name."""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def extras() -> dict[str, list[str]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found: dict[str, list[str]] = table["project"]["optional-dependencies"]
    return found


@pytest.mark.parametrize("extra", NEEDS)
def test_what_is_missing_is_named_with_the_command_that_brings_it(extra: str) -> None:
    package, statement = NEEDS[extra]
    hint = run(WITHOUT.format(names={package}) + ASKED.format(statement=statement))

    assert install_command(extra) in hint
    assert extra in extras()


def test_a_package_that_is_too_old_is_not_called_missing() -> None:
    """It is there, and what brings a newer one is said."""
    require = "from llm_sandbox.integrations.extras import require; require('{}', 'openai')"
    hint = run(ASKED.format(statement=require.format("openai.lib.no_such_module")))
    assert hint == install_command("openai", upgrade=True)
    missing = run(ASKED.format(statement=require.format("no_such_package.module")))
    assert missing == install_command("openai")


def test_a_session_runs_without_any_of_them() -> None:
    code = """
from llm_sandbox import create_session
with create_session(backend="bubblewrap") as session:
    print(session.run("print(6 * 7)").stdout)
"""
    assert run(WITHOUT.format(names=set(FRAMEWORKS)) + code) == "42"


def test_the_command_line_starts_without_any_of_them() -> None:
    code = """
import sys
from llm_sandbox.cli.app import main
sys.argv = ["llm-sandbox", "run", "--backend", "bubblewrap", "-c", "print(6 * 7)"]
main()
"""
    assert run(WITHOUT.format(names=set(FRAMEWORKS)) + code) == "42"


@pytest.mark.parametrize("group", ["jupyter_client.kernel_provisioners", "pytest11", "inspect_ai"])
def test_entry_points_load_nothing_but_themselves(group: str) -> None:
    """Others load them, whether they are used or not: no framework but the one that asks."""
    (point,) = [point for point in entry_points(group=group) if "llm_sandbox" in point.value]
    asks = {"jupyter_client.kernel_provisioners": "jupyter_client", "inspect_ai": "inspect_ai"}
    own = asks.get(group, "pytest")
    module = point.value.partition(":")[0]
    loaded = run(
        f"import sys\nimport {own}\nbefore = set(sys.modules)\nimport {module}\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    ).split()

    assert set(loaded) & (set(FRAMEWORKS) - {own}) == set()


def test_all_brings_what_each_brings() -> None:
    """`all` names extras that there are."""
    (words,) = extras()["all"]
    named = words.partition("[")[2].rstrip("]").split(",")

    assert set(named) <= extras().keys()


def mentioned() -> set[str]:
    """Return the modules that the library imports, or names in a text of their own."""
    found: set[str] = set()
    for path in (ROOT / "llm_sandbox").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module or "")
            elif isinstance(node, ast.Constant) and str(node.value).startswith("tree_sitter_"):
                found.add(str(node.value))
    return {name.partition(".")[0] for name in found}


def test_every_extra_is_used_by_code() -> None:
    """No extra installs a package that the library never imports."""
    imported = mentioned()
    unused = [
        (extra, needed.name)
        for extra, lines in extras().items()
        for needed in map(Requirement, lines)
        if extra not in FOR_SESSIONS
        and needed.name not in ("sandboxed-interpreter", *FOR_OTHERS)
        and MODULES.get(needed.name, needed.name.replace("-", "_")) not in imported
    ]

    assert [] == unused
