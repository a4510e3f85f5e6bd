"""Files of a workspace: what is read, written and deleted lies in it."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from llm_sandbox.exceptions import (
    OutputLimitError,
    PathError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
)
from llm_sandbox.workspace import Workspace
from llm_sandbox.workspace.folder import Folder, has_openat2


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("canary")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture(params=[True, False], ids=["openat2", "name by name"])
def workspace(root: Path, request: pytest.FixtureRequest):
    if request.param and not has_openat2():
        pytest.skip("this kernel, or a filter, has no openat2")
    workspace = Workspace(root)
    workspace._folder.close()
    workspace._folder = Folder(root, openat2=request.param)
    with workspace:
        yield workspace


def test_what_is_written_is_read(workspace: Workspace, root: Path) -> None:
    place = workspace.write_text("a/b/c.txt", "hällo")
    workspace.write_bytes(root / "a" / "d", b"\0\xff")

    assert place == root / "a/b/c.txt"
    assert workspace.read_text("a/b/../b/c.txt") == "hällo"
    assert workspace.read_text(place) == "hällo"
    assert workspace.read_bytes("a/d") == b"\0\xff"
    assert workspace.list() == [Path("a/b/c.txt"), Path("a/d")]
    assert workspace.list("a/*") == [Path("a/d")]
    assert workspace.list("**/*.txt") == [Path("a/b/c.txt")]


@pytest.mark.parametrize("path", ["../outside/secret", "a/../../outside/secret", "/etc/passwd"])
def test_paths_that_lead_out_are_refused(workspace, outside, path: str) -> None:
    for act in (
        lambda: workspace.read_bytes(path),
        lambda: workspace.write_text(path, "x"),
        lambda: workspace.delete(path),
    ):
        with pytest.raises(PathError, match="leads out"):
            act()
    assert (outside / "secret").read_text() == "canary"


@pytest.mark.parametrize("name", ["file", "folder/secret"])
def test_links_that_lead_out_are_not_followed(workspace, root, outside, name: str) -> None:
    (root / "file").symlink_to(outside / "secret")
    (root / "folder").symlink_to(outside)
    # Control: they do lead there.
    assert (root / name).read_text() == "canary"

    with pytest.raises((PathError, SandboxNotADirectoryError)):
        workspace.read_bytes(name)
    assert workspace.list() == []
    if name == "file":
        workspace.write_text(name, "mine")
        assert workspace.read_text(name) == "mine"
    else:
        with pytest.raises((PathError, SandboxNotADirectoryError)):
            workspace.write_text(name, "x")
        with pytest.raises((PathError, SandboxNotADirectoryError)):
            workspace.delete(name)
    assert (outside / "secret").read_text() == "canary"


def test_links_within_are_followed_by_the_kernel(root: Path) -> None:
    if not has_openat2():
        pytest.skip("this kernel, or a filter, has no openat2")
    (root / "real").write_text("here")
    (root / "link").symlink_to("real")
    with Workspace(root) as workspace:
        assert workspace.read_text("link") == "here"
        assert workspace.list() == [Path("link"), Path("real")]
        workspace.delete("link")
        assert workspace.list() == [Path("real")]


def test_another_name_of_a_file_keeps_its_content(workspace, root, outside) -> None:
    os.link(outside / "secret", root / "hard")

    workspace.write_text("hard", "mine")

    assert (outside / "secret").read_text() == "canary"
    assert workspace.read_text("hard") == "mine"


def test_what_is_no_file_is_refused_and_waited_for_never(workspace, root) -> None:
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()

    with pytest.raises(PathError, match="not a regular file"):
        workspace.read_bytes("pipe")
    with pytest.raises(SandboxIsADirectoryError):
        workspace.read_bytes("folder")
    with pytest.raises(SandboxIsADirectoryError):
        workspace.delete("folder")
    with pytest.raises(SandboxFileNotFoundError):
        workspace.read_bytes("nothing")
    assert workspace.list() == []


def test_a_size_can_be_too_large(workspace) -> None:
    workspace.write_bytes("file", b"12345")

    assert workspace.read_bytes("file", max_bytes=5) == b"12345"
    with pytest.raises(OutputLimitError):
        workspace.read_bytes("file", max_bytes=4)


def test_permissions_stay_and_nothing_half_written_does(workspace, root) -> None:
    workspace.write_text("run.sh", "1")
    (root / "run.sh").chmod(0o750)

    workspace.write_text("run.sh", "2")

    assert (root / "run.sh").stat().st_mode & 0o777 == 0o750
    assert [path.name for path in root.iterdir()] == ["run.sh"]


def test_swapping_a_folder_for_a_link_leads_nowhere(workspace, root, outside) -> None:
    """While somebody swaps a folder and a link to the outside, all reading and writing stays in."""
    (root / "real").mkdir()
    (root / "real" / "secret").write_text("inside")
    (root / "evil").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for name in ("real", "evil"):
                try:
                    (root / name).rename(root / "here")
                    (root / "here").rename(root / name)
                except OSError:
                    # The writer has made a folder of this name, as there was none for a moment.
                    shutil.rmtree(root / "here", ignore_errors=True)

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    leaks_by_check_then_use = 0
    try:
        for number in range(3000):
            try:
                seen.add(workspace.read_text("here/secret"))
                workspace.write_text("here/mine", f"{number}")
            except (PathError, SandboxFileNotFoundError, SandboxNotADirectoryError):
                seen.add(None)
            # Control: what looks first and opens then does get out.
            path = root / "here" / "secret"
            try:
                if not leaks_by_check_then_use and not (root / "here").is_symlink():
                    leaks_by_check_then_use += path.read_text() == "canary"
                elif path.read_text() == "canary":
                    leaks_by_check_then_use += 1
            except OSError:
                continue
    finally:
        stop.set()
        thread.join()

    assert seen <= {"inside", None}
    assert leaks_by_check_then_use
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_what_a_workspace_must_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(SandboxFileNotFoundError):
        Workspace(tmp_path / "nothing")
    with pytest.raises(SandboxNotADirectoryError):
        Workspace(tmp_path / "file")
