"""Install commands in hints, tried by a user who has installed the wheel."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

if TYPE_CHECKING:
    from tests.documents.conftest import NewUser

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

# The environment is made within the first test's time.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

COMMANDS = """
import json, sys
from llm_sandbox.host.distribution import install_command
print(json.dumps({extra: install_command(extra) for extra in sys.argv[1:]}))
"""
MISSING = """
from llm_sandbox import SandboxError
try:
    import llm_sandbox.integrations.pydantic_ai
except SandboxError as error:
    print(error.hint)
"""


def brings(extra: str) -> set[Requirement]:
    """What an extra stands for, those that it names itself included."""
    found: set[Requirement] = set()
    for line in EXTRAS[extra]:
        needed = Requirement(line)
        if needed.name == PROJECT["name"]:
            found.update(*map(brings, needed.extras))
        else:
            found.add(needed)
    return found


def test_every_extra_is_spelled_out(new_user: NewUser) -> None:
    """No command names this distribution, which may have come from a file, or an extra of it."""
    python = new_user.programs / "python"
    commands = json.loads(new_user.start(python, "-c", COMMANDS, *EXTRAS).stdout)
    assert commands.keys() == EXTRAS.keys()
    for extra, command in commands.items():
        program, install, *words = shlex.split(command)
        assert (program, install) == ("pip", "install")
        assert set(map(Requirement, words)) == brings(extra), extra


def test_the_hint_installs_what_is_missing(new_user: NewUser) -> None:
    """Copied into a shell as it stands; then the import works."""
    python = new_user.programs / "python"
    hint = new_user.start(python, "-c", MISSING).stdout.strip()
    assert hint.startswith("pip install 'pydantic-ai-slim>=")
    done = new_user.start("sh", "-c", hint, timeout=400)
    assert done.returncode == 0, done.stdout
    again = new_user.start(python, "-c", MISSING)
    assert (again.returncode, again.stdout) == (0, "")


def test_readme_names_the_wheel(new_user: NewUser) -> None:
    (wheel,) = new_user.folder.glob("*.whl")
    assert wheel.name in (ROOT / "README.md").read_text()
