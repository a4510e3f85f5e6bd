"""Folders to mount, and volumes that no other test has."""

import os
from pathlib import Path

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.testing.suite import usable_backend

BACKENDS = [
    "bubblewrap",
    pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
    pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
]


@pytest.fixture(autouse=True)
def own_volumes(tmp_path, monkeypatch):
    """The folder of this test's volumes."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own" / "data"))
    return tmp_path / "own" / "data" / "llm-sandbox" / "volumes"


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Each backend that mounts."""
    usable_backend(request.param)
    return request.param


@pytest.fixture
def folder(tmp_path):
    """A folder of ours with one file that nobody else may read."""
    made = tmp_path / "given"
    made.mkdir(mode=0o755)
    (made / "a.txt").write_text("of the host\n")
    (made / "a.txt").chmod(0o600)
    return made


@pytest.fixture
def make():
    """Makes sandboxes; they are destroyed afterwards."""
    made = []

    def create(*command, **options):
        made.append(Sandbox.create(*command, **options))
        return made[-1]

    yield create
    for sandbox in made:
        sandbox.destroy()


def owner_of(path: Path) -> tuple[int, int]:
    """User and group of what is at a path, links not followed."""
    found = path.lstat()
    return found.st_uid, found.st_gid


def run(sandbox, text):
    """What a shell's command line writes, both streams, and its exit code."""
    result = sandbox.sh(text, stderr="stdout").collect()
    return result.stdout, result.exit_code


def mount_lines():
    """What is mounted in this process's namespace."""
    return Path("/proc/self/mountinfo").read_text()


IS_ROOT = os.geteuid() == 0
