"""Files that come out of a sandbox: whatever they are and are called, the host's own stay
untouched.
"""

# ruff: noqa: E501, PTH116, PTH118, PTH123, PTH208
# Because: hostile names are not for pathlib.

from __future__ import annotations

import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.exceptions import PathError, SandboxError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    """A folder for downloads next to guarded files, which are the same afterwards."""
    guarded = tmp_path / "guarded"
    guarded.mkdir()
    (guarded / "canary.txt").write_text("canary")
    (tmp_path / "outside.txt").write_text("canary")
    folder = tmp_path / "downloads"
    folder.mkdir()

    def facts() -> list[tuple[str, str]]:
        return sorted(
            (str(path), hashlib.sha256(path.read_bytes()).hexdigest())
            for path in tmp_path.rglob("*")
            if path.is_file() and folder not in path.parents
        )

    before = facts()
    yield folder
    assert facts() == before


def kinds(folder: Path) -> set[str]:
    """What kinds of things lie below a folder; links are not followed."""
    found = set()
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            mode = os.lstat(os.path.join(parent, name)).st_mode
            found.add("file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other")
    return found


def test_planted_things_are_left_out(session: Any, target: Path) -> None:
    """Links, pipes, sockets and terminals are reported and not made; files beside them arrive."""
    session.run(f"""
import os, socket
os.mkdir('out'); os.chdir('out')
open('good.txt', 'w').write('good')
os.symlink('/etc/passwd', 'plot.png')
os.symlink('{target.parent}/guarded', 'folder')
os.symlink('..', 'up')
os.mkfifo('pipe.png')
socket.socket(socket.AF_UNIX).bind('socket.png')
os.link('good.txt', 'hard.txt')
""")
    report = session.sandbox.files.download("out", target / "out")
    assert sorted(path.name for path in (target / "out").iterdir()) == ["good.txt", "hard.txt"]
    assert {skipped.path for skipped in report.skipped} == {
        "plot.png", "folder", "up", "pipe.png", "socket.png",
    }  # fmt: skip
    assert kinds(target) == {"file", "folder"}
    assert (target / "out" / "hard.txt").stat().st_nlink == 1


def test_a_link_as_the_top_stays_inside(session: Any, target: Path) -> None:
    """Downloading a link brings what it names inside the sandbox, never the host's file of that
    name.
    """
    secret = target.parent / "outside.txt"
    session.run(f"import os; os.symlink('{secret}', 'link'); os.symlink('/etc/passwd', 'users')")
    with pytest.raises(SandboxError):
        session.sandbox.files.download("link", target / "link")
    session.sandbox.files.download("users", target / "users")
    assert "sandbox" in (target / "users").read_text()
    assert (
        "root:" not in (target / "users").read_text() or "nologin" in (target / "users").read_text()
    )
    with open("/etc/passwd", encoding="utf-8") as own:
        assert own.read() != (target / "users").read_text()


NAMES = r"""
names = [b'new\nline', b'esc\x1b[2Jape', b'\xff\xfe', b'\xe2\x80\xaegnp.exe', b'x' * 255, b'-rf',
         b'a..b', b'...', b'CON', b' ', b'$(id)', b'`id`', b'"quotes\'', b'*', b'~', b'\xed\xa0\x80']
"""


def test_odd_names_arrive_as_they_are(session: Any, target: Path) -> None:
    """Every name that a file system can hold is listed, downloaded under itself, and shown as
    JSON.
    """
    made = session.run(f"""{NAMES}
import os
os.mkdir('odd')
for name in names: open(b'odd/' + name, 'w').close()
print(len(names))
""")
    assert made.exit_code == 0, made.stderr
    entries = session.sandbox.files.list("odd")
    assert len(entries) == int(made.stdout)
    report = session.sandbox.files.download("odd", target / "odd")
    assert sorted(os.listdir(target / "odd")) == sorted(entry.name for entry in entries)
    assert report.files == len(entries)
    json.dumps([entry.name for entry in entries]).encode()
    assert os.listdir(target) == ["odd"]


def test_a_folder_that_turns_into_a_link_leads_nowhere(
    session: Any, target: Path, attempt: Callable[..., Any]
) -> None:
    """While a folder is swapped with a link to another, thirty downloads bring nothing of the
    host.
    """
    session.sandbox.files.write_text("real/a.txt", "inside")
    process = session.sandbox.exec(
        "python3",
        "-c",
        """
import os, time
os.symlink('/etc', 'link')
os.mkdir('tree'); os.rename('real', 'tree/here')
end = time.monotonic() + 8
while time.monotonic() < end:
    try:
        os.rename('tree/here', 'aside'); os.rename('link', 'tree/here')
        os.rename('tree/here', 'link'); os.rename('aside', 'tree/here')
    except OSError: pass
""",
    )
    for number in range(30):
        try:
            session.sandbox.files.download("tree", target / str(number))
        except SandboxError:
            continue
    process.kill()
    for parent, _, names in os.walk(target):
        for name in names:
            assert name == "a.txt"
            with open(os.path.join(parent, name), encoding="utf-8") as file:
                assert file.read() == "inside"
    assert "other" not in kinds(target)


def test_links_in_the_destination_are_not_followed(session: Any, target: Path) -> None:
    """A download over a folder in which names are links replaces or skips them, and writes through
    none.
    """
    session.run("""
import os
os.makedirs('out/folder')
open('out/file.txt', 'w').write('hostile'); open('out/folder/canary.txt', 'w').write('hostile')
""")
    there = target / "out"
    there.mkdir()
    (there / "file.txt").symlink_to(target.parent / "outside.txt")
    (there / "folder").symlink_to(target.parent / "guarded")
    report = session.sandbox.files.download("out", there)
    assert (there / "file.txt").read_text() == "hostile"
    assert not (there / "file.txt").is_symlink()
    assert [skipped.path for skipped in report.skipped]


def test_an_upload_cannot_be_led_out(session: Any, tmp_path: Path) -> None:
    """An upload to a place where user code has put a link changes nothing outside the sandbox."""
    source = tmp_path / "up.txt"
    source.write_text("uploaded")
    session.run("import os; os.symlink('/etc', 'into'); os.symlink('/usr/bin', 'bin')")
    before = os.stat("/etc").st_mtime_ns, os.stat("/usr/bin").st_mtime_ns
    for dest in ("into/redteam-up", "bin/redteam-up", "/etc/redteam-up", "../etc/redteam-up"):
        with pytest.raises(SandboxError):
            session.copy_to_runtime(source, dest)
    assert (os.stat("/etc").st_mtime_ns, os.stat("/usr/bin").st_mtime_ns) == before
    assert not os.path.lexists("/etc/redteam-up")


@pytest.mark.parametrize("path", ["", "a\0b", 5, b"bytes", None, "\ud800"])
def test_paths_that_are_none_are_refused(session: Any, tmp_path: Path, path: Any) -> None:
    """Empty, NUL, non-text and unencodable paths are refused by type before anything is sent."""
    source = tmp_path / "up.txt"
    source.write_text("x")
    files = session.sandbox.files
    for action in (
        lambda: files.read_bytes(path),
        lambda: files.upload(source, path),
        lambda: files.download(path, tmp_path / "down"),
        lambda: files.remove(path),
    ):
        with pytest.raises((PathError, ValidationError)):
            action()
    assert not (tmp_path / "down").exists()


def test_words_that_look_like_options_are_names(session: Any, tmp_path: Path) -> None:
    """`-rf`, quotes, `$()` and newlines in paths are names inside, never words of a command."""
    source = tmp_path / "up.txt"
    source.write_text("content")
    for name in ("-rf", "--help", "$(touch pwned)", "`id`", "a\nb", "'; touch pwned; '", "*"):
        session.copy_to_runtime(source, name)
        assert session.sandbox.files.read_text(name) == "content"
        session.copy_from_runtime(name, tmp_path / "down.txt")
        assert (tmp_path / "down.txt").read_text() == "content"
        session.sandbox.files.remove(name)
    assert session.sandbox.files.list(".") == []


def test_dots_stay_inside(session: Any, tmp_path: Path) -> None:
    """A path with `..` names the sandbox's own file of that name, and the host's is not read."""
    secret = tmp_path / "secret.txt"
    secret.write_text("canary")
    for path in (f"../../..{secret}", str(secret), f"/proc/1/root{secret}"):
        with pytest.raises(SandboxError):
            session.sandbox.files.read_bytes(path)


def test_an_archive_of_hostile_things_does_not_block(session: Any) -> None:
    """`get_archive` of a folder with a pipe and a device link ends, and leaves the pipe out."""
    session.run(
        "import os; os.mkdir('odd'); os.mkfifo('odd/pipe'); os.symlink('/dev/zero', 'odd/zero')"
    )
    data, facts = session.get_archive("odd")
    assert facts["name"] == "odd"
    assert b"pipe" not in data
    assert len(data) < 1 << 20
