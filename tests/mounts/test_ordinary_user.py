"""Mounts when the host process is an ordinary user's, started by root: nothing can be mapped."""

from __future__ import annotations

import grp
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.testing.suite import usable_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
USER = 54_322
"""A user id that is nobody's."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A copy of the library that every user may read, with folders of the user's and of root's."""
    if os.geteuid() != 0:
        pytest.skip("every test runs as an ordinary user already")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        copy = Path(name)
        copy.chmod(0o755)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "llm_sandbox", copy / "llm_sandbox", ignore=ignored)
        shutil.copy(Path(__file__).parent / "as_user.py", copy)
        for one in ("home", "given", "given/mine", "given/roots"):
            (copy / one).mkdir()
        for path in (copy / "given" / "mine" / "private", copy / "given" / "roots" / "private"):
            path.write_text(f"{path.parent.name}-private\n")
            path.chmod(0o600)
        (copy / "given" / "roots" / "open").write_text("open\n")
        for path in (copy / "home", copy / "given" / "mine", copy / "given" / "mine" / "private"):
            os.chown(path, USER, USER)
        yield copy


@pytest.mark.root
@pytest.mark.parametrize(
    "backend",
    ["bubblewrap", pytest.param("docker", marks=pytest.mark.engine("docker", image="python"))],
)
def test_an_ordinary_user_has_the_rights_of_that_user(folder: Path, backend: str) -> None:
    """What is made belongs to the user, root's files are out of reach, and an engine that could
    write to them anyway is refused.
    """
    usable_backend(backend)
    program = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if program is None or version not in subprocess.check_output([program, "-V"], text=True):
        pytest.skip(f"there is no Python {version} that other users may start")
    packages = Path(sysconfig.get_path("purelib"))
    if not all(path.stat().st_mode & 0o005 == 0o005 for path in [packages, *packages.parents]):
        pytest.skip("other users may not read this environment's packages")
    groups = [Path("/var/run/docker.sock").stat().st_gid] if backend == "docker" else []
    if backend == "docker" and grp.getgrgid(groups[0]).gr_gid == 0:
        pytest.skip("the engine's socket is root's alone")
    done = subprocess.run(
        [program, "-B", str(folder / "as_user.py"), backend, str(folder / "given")],
        capture_output=True,
        text=True,
        cwd="/",
        env={
            "HOME": str(folder / "home"),
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": f"{folder}:{packages}",
        },
        user=USER,
        group=USER,
        extra_groups=groups,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said == {
        "host": USER,
        "inside": ["mine-private", "open", "refused", "read-only"],
        "owners": [USER],
        "volume": "2",
        "not one's own": "security",
        "writable roots": "unsupported" if backend == "docker" else "made",
        "again": "2",
        "volumes": [],
    }
