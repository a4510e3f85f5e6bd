"""Changes of a workspace, found without obeying anything in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

DEEP = sys.getrecursionlimit() + 100
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def kinds(changes) -> dict[str, str]:
    return {change.path: change.kind for change in changes}


def test_each_change_is_found_once(tmp_path: Path) -> None:
    for name in ("same", "changed", "deleted", "renamed", "mode"):
        (tmp_path / name).write_text(f"of {name}")
    with Workspace(tmp_path) as workspace:
        then = workspace.manifest()
        assert not workspace.changes(then)

        (tmp_path / "changed").write_text("otherwise")
        (tmp_path / "deleted").unlink()
        (tmp_path / "renamed").rename(tmp_path / "moved")
        (tmp_path / "mode").chmod(0o700)
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "file").write_text("x")
        os.mkfifo(tmp_path / "pipe")
        changes = workspace.changes(then)

    assert kinds(changes) == {
        "changed": "changed",
        "deleted": "deleted",
        "mode": "changed",
        "moved": "renamed",
        "new/file": "added",
        "pipe": "added",
    }
    (renamed,) = [change for change in changes if change.kind == "renamed"]
    assert renamed.before is not None
    assert renamed.before.path == "renamed"


def test_a_change_that_hides_its_time_is_found(tmp_path: Path) -> None:
    """Same size, and the time of the content put back."""
    place = tmp_path / "file"
    place.write_text("one")
    with Workspace(tmp_path) as workspace:
        then = workspace.manifest()
        found = place.stat()
        place.write_text("two")
        os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))

        assert kinds(workspace.changes(then)) == {"file": "changed"}


@needs_git
def test_what_was_committed_or_is_unknown_to_git_is_seen(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / ".gitignore").write_text("ignored\n")
    (tmp_path / "known").write_text("1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    with Workspace(tmp_path) as workspace:
        then = workspace.manifest()
        (tmp_path / "known").write_text("2\n")
        git(tmp_path, "commit", "-a", "-m", "second")
        (tmp_path / "untracked").write_text("3\n")
        (tmp_path / "ignored").write_text("4\n")
        changes = workspace.changes(then)

    # Control: Git's own answer lacks what was committed.
    shown = subprocess.run(["git", "diff"], cwd=tmp_path, capture_output=True, check=True)
    assert shown.stdout == b""
    assert kinds(changes) == {"ignored": "added", "known": "changed", "untracked": "added"}
    assert "-1\n+2\n" in changes.diff
    assert changes.repository == ()


@needs_git
def test_nothing_that_a_repository_says_is_started(tmp_path: Path) -> None:
    """A program that Git would start for a diff is not; that it was put there is told."""
    root, marker = tmp_path / "here", tmp_path / "started"
    root.mkdir()
    git(root, "init")
    (root / "file.txt").write_text("1\n")
    git(root, "add", ".")
    git(root, "commit", "-m", "first")
    script = root / "evil.sh"
    script.write_text(f"#!/bin/sh\necho x >> {marker}\ncat\n")
    script.chmod(0o755)
    with Workspace(root) as workspace:
        then = workspace.manifest()
        for name in ("core.fsmonitor", "filter.evil.clean", "diff.evil.textconv"):
            git(root, "config", name, str(script))
        (root / ".git" / "info").mkdir(exist_ok=True)
        (root / ".git" / "info" / "attributes").write_text("*.txt filter=evil diff=evil\n")
        (root / ".git" / "hooks").mkdir(exist_ok=True)
        (root / ".git" / "hooks" / "post-checkout").write_text(script.read_text())
        marker.unlink(missing_ok=True)
        (root / "file.txt").write_text("2\n")
        changes = workspace.changes(then)

        assert not marker.exists()
        assert "+2\n" in changes.diff
        assert set(changes.repository) == {
            ".git/config",
            ".git/hooks/post-checkout",
            ".git/info/attributes",
        }
    # Control: Git does start it.
    subprocess.run(["git", "diff"], cwd=root, capture_output=True)
    assert marker.exists()


def test_folders_nested_deeper_than_calls_nest_are_read(tmp_path: Path) -> None:
    root = tmp_path / "here"
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    try:
        with Workspace(root) as workspace:
            assert list(workspace.manifest().entries) == ["d/" * DEEP + "bottom"]
    finally:
        # Python's own removal is one that nests.
        subprocess.run(["rm", "-rf", str(root)], check=True)
