"""The diff of a workspace, read back by Git."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_sandbox.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def apply(diff: str, folder: Path) -> None:
    """Have Git make the changes of a diff in a folder that is no repository."""
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        input=diff.encode("utf-8", "surrogateescape"),
        cwd=folder,
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )
    assert done.returncode == 0, (done.stderr, diff)


def contents(folder: Path) -> dict[str, object]:
    return {
        str(path.relative_to(folder)): (
            str(path.readlink())
            if path.is_symlink()
            else (path.read_bytes(), bool(path.stat().st_mode & 0o111))
        )
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def check(before: Path, change) -> str:
    """The diff of a change makes a copy of the old folder into the new one."""
    copy = before.parent / "copy"
    shutil.copytree(before, copy, symlinks=True)
    try:
        with Workspace(before) as workspace:
            then = workspace.manifest()
            change()
            diff = workspace.changes(then).diff
        if diff:
            apply(diff, copy)
        assert contents(copy) == contents(before)
    finally:
        shutil.rmtree(copy)
    return diff


LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"x y", b"\xff", b"\r"]), max_size=30)
TEXT = st.builds(lambda lines, end: b"\n".join(lines) + end, LINES, st.sampled_from([b"", b"\n"]))


@settings(max_examples=60, deadline=None)
@given(TEXT, TEXT)
def test_git_makes_the_change_that_a_diff_says(tmp_path_factory, old: bytes, new: bytes) -> None:
    root = tmp_path_factory.mktemp("texts") / "here"
    root.mkdir()
    (root / "file").write_bytes(old)

    check(root, lambda: (root / "file").write_bytes(new))


def test_far_changes_are_hunks_of_their_own(tmp_path: Path) -> None:
    root = tmp_path / "here"
    root.mkdir()
    lines = [f"line {number}\n" for number in range(1000)]
    (root / "file").write_text("".join(lines))

    def change() -> None:
        lines[10] = "other\n"
        del lines[500:510]
        lines.append("last, without an end")
        (root / "file").write_text("".join(lines))

    diff = check(root, change)

    assert diff.count("\n@@ ") == 3
    assert len(diff.splitlines()) < 50


def test_every_kind_of_change_is_one_that_git_makes(tmp_path: Path) -> None:
    """New, deleted, renamed, executable, empty, links, odd names."""
    root = tmp_path / "here"
    (root / "deep" / "er").mkdir(parents=True)
    for name in ("deleted", "renamed", "run.sh", "deep/er/changed"):
        (root / name).write_text(f"of {name}\n" * 3)
    (root / "link").symlink_to("renamed")

    def change() -> None:
        (root / "deleted").unlink()
        (root / "renamed").rename(root / "moved here")
        (root / "run.sh").chmod(0o755)
        (root / "deep/er/changed").write_text("new\n")
        (root / "empty").touch()
        (root / "link").unlink()
        (root / "link").symlink_to("moved here")
        (root / "a name").write_text("spaces\n")
        (root / 'odd "\\\t\n name é').write_text("odd\n")
        (root / "new").symlink_to("/etc/passwd")

    diff = check(root, change)

    assert 'rename from renamed\nrename to "moved here"' in diff or (
        "rename from renamed\nrename to moved here" in diff
    )
    assert "old mode 100644\nnew mode 100755" in diff
    # Where a link points is told, and what is there is not read.
    assert "+/etc/passwd" in diff
    assert "root:" not in diff


def test_content_that_is_no_text_is_only_said_to_differ(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"\0\1\2")
    (tmp_path / "large").write_bytes(b"x" * (1 << 20) + b"\n")
    with Workspace(tmp_path) as workspace:
        then = workspace.manifest()
        (tmp_path / "data").write_bytes(b"\0\1\3")
        (tmp_path / "large").write_bytes(b"y" * (1 << 20) + b"\n")
        diff = workspace.changes(then).diff

    assert "Binary files a/data and b/data differ\n" in diff
    assert "Binary files a/large and b/large differ\n" in diff
    assert len(diff) < 1000


def test_texts_made_to_be_slow_are_not(tmp_path: Path) -> None:
    """Two texts of the same few lines, over and over: compared each with each they take hours."""
    (tmp_path / "file").write_text("a\nb\n" * 50_000)
    with Workspace(tmp_path) as workspace:
        then = workspace.manifest()
        (tmp_path / "file").write_text("b\nb\na\n" * 40_000)
        diff = workspace.changes(then).diff

    assert diff.startswith("diff --git a/file b/file\n")
