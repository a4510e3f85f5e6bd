"""The pytest plugin, in test runs of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "llm_sandbox.integrations.pytest_plugin"


def run(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            # Loaded by name below, so that it is there without an installation, too.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": PLUGIN,
        },
    )


def test_fixtures_give_a_session_and_a_sandbox(tmp_path: Path) -> None:
    """Each test has its own; what a marker says holds."""
    done = run(
        tmp_path,
        """
import pytest

pytestmark = pytest.mark.sandbox(env={"COLOUR": "red"})

def test_first(sandbox_session):
    assert sandbox_session.run("x = 1; print(x)").stdout == "1\\n"

@pytest.mark.sandbox(memory="300m", libraries=[], timeout=30)
def test_second(sandbox_session):
    assert sandbox_session.run("x").error.name == "NameError"
    assert sandbox_session.config.limits.memory_bytes == 300 << 20
    assert sandbox_session.config.execution_timeout == 30
    assert sandbox_session.run("import os; print(os.environ['COLOUR'])").stdout == "red\\n"

def test_third(sandbox):
    assert sandbox.sh("echo $COLOUR").collect().stdout == "red\\n"

@pytest.mark.sandbox(policy="production")
def test_fourth(sandbox_session):
    from llm_sandbox.exceptions import SecurityViolationError
    with pytest.raises(SecurityViolationError):
        sandbox_session.run("import os; os.system('id')")
""",
        "--sandbox-backend",
        "bubblewrap",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


FAILING = """
def helper(session):
    session.run("import time; time.sleep(60)", timeout=0.2)

def test_slow(sandbox_session):
    helper(sandbox_session)

def test_without():
    from llm_sandbox import create_session
    create_session(lang="no-such-language")
"""


def test_tracebacks_end_where_the_test_does(tmp_path: Path) -> None:
    """Frames of the library are left out, unless they are asked for, or the fixtures not used."""
    words = ("--sandbox-backend", "bubblewrap", "-k", "slow")
    done = run(tmp_path, FAILING, *words)
    assert done.returncode == 1
    assert "SandboxTimeoutError" in done.stdout
    assert "test_it.py:3: SandboxTimeoutError" in done.stdout
    assert "session.py" not in done.stdout
    assert "session.py" in run(tmp_path, FAILING, *words, "--full-trace").stdout
    assert "create.py" in run(tmp_path, FAILING, "-k", "without").stdout


def test_mistakes_are_named(tmp_path: Path) -> None:
    """An option that there is not, a marker without names, a backend that there is not."""
    done = run(
        tmp_path,
        """
import pytest

@pytest.mark.sandbox(memroy="1g")
def test_misspelt(sandbox_session): ...

@pytest.mark.sandbox("python")
def test_without_names(sandbox_session): ...

@pytest.mark.sandbox(lang="python")
def test_of_a_session(sandbox): ...

def test_backend(sandbox_session): ...
""",
        "--sandbox-backend",
        "nowhere",
    )
    assert "4 errors" in done.stdout
    for words in (
        "sandbox_session knows no memroy; it knows lang,",
        "takes names only: sandbox(lang='python')",
        "the fixture sandbox knows no lang",
        "backend 'nowhere' is not supported",
    ):
        assert words in done.stdout


def test_it_costs_nothing_when_unused(tmp_path: Path) -> None:
    """Of the library no more is loaded than its empty packages and its version."""
    done = run(
        tmp_path,
        """
import sys

def test_it():
    ours = {name for name in sys.modules if name.partition(".")[0] == "llm_sandbox"}
    integrations = "llm_sandbox.integrations"
    plugin = "llm_sandbox.integrations.pytest_plugin"
    assert ours == {"llm_sandbox", "llm_sandbox.const", integrations, plugin}
    assert not {"pydantic", "matplotlib", "docker"} & set(sys.modules)
""",
    )
    assert done.returncode == 0, done.stdout


def test_help_tells_of_it(tmp_path: Path) -> None:
    """The option and the marker are described."""
    assert "--sandbox-backend" in run(tmp_path, "", "--help").stdout
    assert "@pytest.mark.sandbox(lang" in run(tmp_path, "", "--markers").stdout
