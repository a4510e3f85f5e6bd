"""Links that a saved sandbox left where the next one has its mounts: none is followed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Bind, Sandbox, SandboxError, SecurityError, Snapshot, Tmpfs
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.guest import machine, mount_points
from llm_sandbox.testing.suite import usable_backend

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from llm_sandbox.backends.file_snapshots import FileSnapshots

    Deleted = Callable[[Snapshot], Snapshot]

pytestmark = [pytest.mark.slow, pytest.mark.redteam]

BASE = "/var/tmp/u"
"""What any program may make where the root is writable."""
WORK = f"{BASE}/work"
OWN = {"bubblewrap": "/home/u", "docker": BASE, "podman": BASE}
VICTIM = {"bubblewrap": "/opt/python", "docker": "/opt/llm_sandbox", "podman": "/opt/llm_sandbox"}
"""Where the interpreter of the supervisor is."""

LINKS = {
    "the place itself": "mkdir {own}; ln -s {victim} {own}/work",
    "a folder above": "mkdir {own}-real; ln -s {own}-real {own}",
    "the place, relative": "mkdir {own}; ln -s ../../{victim} {own}/work",
    "nothing there": "mkdir {own}; ln -s {own}/none {own}/work",
    "a loop": "mkdir {own}; ln -s work {own}/work",
}


@pytest.fixture(
    params=[
        "bubblewrap",
        pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
        pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
    ]
)
def backend(request: pytest.FixtureRequest, home: Path) -> str:
    usable_backend(request.param)
    try:
        if request.param == "bubblewrap":
            Sandbox.create(backend="bubblewrap", writable_root=True).destroy()
    except UnsupportedError as error:
        pytest.skip(error.message)
    return str(request.param)


def hostile(backend: str, script: str) -> Snapshot:
    """A snapshot of a sandbox in which a program did this."""
    words = script.format(own=OWN[backend], victim=VICTIM[backend])
    with Sandbox.create(backend=backend, writable_root=True) as sandbox:
        sandbox.check("sh", "-ec", words)
        return sandbox.snapshot()


@pytest.mark.parametrize("script", LINKS.values(), ids=LINKS)
def test_the_working_directory_is_not_mounted_through_a_link(
    backend: str, script: str, store: FileSnapshots, deleted: Deleted
) -> None:
    one = deleted(hostile(backend, script))
    with pytest.raises(SecurityError, match="link in the path of a mount"):
        Sandbox.create(image=one, workdir=f"{OWN[backend]}/work").destroy()


@pytest.mark.parametrize("kind", ["bind", "memory", "file"])
def test_no_mount_is_made_through_a_link(
    backend: str, kind: str, store: FileSnapshots, deleted: Deleted, tmp_path: Path
) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "file").write_text("x")
    mount = {
        "bind": Bind(tmp_path / "given"),
        "memory": Tmpfs("1m"),
        "file": Bind(tmp_path / "file"),
    }[kind]
    one = deleted(hostile(backend, LINKS["the place itself"]))
    target = f"{OWN[backend]}/work"
    if backend != "bubblewrap":
        with pytest.raises(SandboxError):  # nothing is mounted below /var, as it is
            Sandbox.create(image=one, mounts={target: mount}, workdir=target).destroy()
        return
    with pytest.raises(SecurityError, match="link in the path of a mount"):
        Sandbox.create(image=one, mounts={target: mount}).destroy()


def test_a_snapshot_without_links_is_begun_from(
    backend: str, store: FileSnapshots, deleted: Deleted
) -> None:
    """The control: the same folder, made in the same way, is a working directory."""
    one = deleted(hostile(backend, "mkdir -p {own}/work"))
    with Sandbox.create(image=one, workdir=f"{OWN[backend]}/work") as sandbox:
        assert f"{OWN[backend]}/work\n" == sandbox.check("pwd", "-P").stdout


def test_an_engine_follows_the_link_if_nobody_looks(
    store: FileSnapshots, deleted: Deleted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: without the look, memory that programs write covers what the link leads to."""
    usable_backend("docker")
    words = "mkdir {own}; mkdir /var/tmp/other; ln -s /var/tmp/other {own}/work"
    one = deleted(hostile("docker", words))
    monkeypatch.setattr("llm_sandbox.backends.containers.launch._reject_links", lambda *_: None)
    with Sandbox.create(image=one, workdir=WORK) as sandbox:
        assert "/var/tmp/other\n" == sandbox.check("pwd", "-P").stdout


def test_a_link_of_the_root_s_own_is_followed(backend: str, home: Path) -> None:
    """/var/tmp is a link to /tmp in bubblewrap's root, which no program could have changed."""
    with Sandbox.create(backend=backend, workdir=WORK) as sandbox:
        sandbox.files.write_text("x", "y")
        assert "y" == sandbox.check("cat", f"{WORK}/x").stdout


def test_folders_that_a_saved_link_leads_to_are_not_made(
    store: FileSnapshots, tmp_path: Path
) -> None:
    """The folders of a place are made below its upper layer, whatever is at their names there."""
    upper, other = tmp_path / "upper", tmp_path / "other"
    upper.mkdir()
    other.mkdir()
    (upper / "share").symlink_to(other)
    fd = os.open(upper, os.O_PATH)
    try:
        with pytest.raises(OSError, match="link"):
            mount_points.open_beneath(fd, "share")
        os.close(os.open(upper / "share", os.O_PATH))  # which follows it
    finally:
        os.close(fd)


def test_a_folder_is_not_made_through_a_user_s_link(tmp_path: Path) -> None:
    """In a container that exists already, process 1 may be root and the links another user's."""
    if os.geteuid() != 0:
        pytest.skip("only root makes a folder for another user")
    other, own = tmp_path / "other", tmp_path / "own"
    for one in (other, own):
        one.mkdir()
    link = own / "link"
    link.symlink_to(other)
    machine._make_folder(str(link / "by-root"), (65532, 65532))
    assert 65532 == (other / "by-root").stat().st_uid  # the control: root's own link is followed
    os.lchown(link, 65532, 65532)
    with pytest.raises(OSError, match="directory"):
        machine._make_folder(str(link / "by-another"), (65532, 65532))
    assert ["by-root"] == [path.name for path in other.iterdir()]
