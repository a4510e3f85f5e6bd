"""Named volumes: shared by sandboxes of every backend, and read and written by the host."""

import threading
from pathlib import Path

import pytest

from llm_sandbox import Bind, Sandbox, SandboxError, ValidationError, Volume
from llm_sandbox.exceptions import (
    FileError,
    OutputLimitError,
    PathError,
    SandboxFileExistsError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
    SecurityError,
)
from llm_sandbox.mounts.store import VolumeStore
from tests.mounts.conftest import run


def test_a_volume_outlives_its_sandbox_and_is_shared(make, backend):
    """Made with the first sandbox; two that live at once see each other's files, and so does the
    host, which owns them.
    """
    assert [] == Volume.list()
    mounts = {"/cache": Volume("shared")}
    first = make(backend=backend, mounts=mounts)
    second = make(backend=backend, mounts={"/other": Volume("shared", read_only=True)})
    assert ("", 0) == run(first, "mkdir /cache/a && echo one > /cache/a/b")
    assert ("one\n", 0) == run(second, "cat /other/a/b")
    said, code = run(second, "echo two > /other/a/b")
    assert code != 0
    assert "Read-only" in said
    first.destroy()
    second.destroy()

    volume = Volume("shared")
    assert [volume] == Volume.list()
    assert b"one\n" == volume.files.get("a/b")
    volume.files.put("a/c/d", b"of the host")
    assert ("of the host", 0) == run(make(backend=backend, mounts=mounts), "cat /cache/a/c/d")


@pytest.mark.engine("docker", image="python")
@pytest.mark.engine("podman", image="python")
def test_every_backend_has_the_same_volume(make):
    """What one made, another can change and remove."""
    names = ("bubblewrap", "docker", "podman")
    boxes = [make(backend=name, mounts={"/cache": Volume("v")}) for name in names]
    for box, name in zip(boxes, names, strict=True):
        assert ("", 0) == run(box, f"echo {name} >> /cache/all && echo {name} > /cache/{name}")
    for box, name in zip(boxes, (*names[1:], names[0]), strict=True):
        assert ("".join(f"{one}\n" for one in names), 0) == run(box, "cat /cache/all")
        assert ("", 0) == run(box, f"rm /cache/{name}")
    assert ["all"] == [entry.path for entry in Volume("v").files.list()]


def test_one_that_a_living_sandbox_has_is_not_deleted(make, backend):
    sandbox = make(backend=backend, mounts={"/cache": Volume("held")})
    with pytest.raises(FileError, match="lives"):
        Volume.delete("held")
    assert ("", 0) == run(sandbox, "echo x > /cache/x")
    sandbox.destroy()
    Volume.delete("held")
    assert [] == Volume.list()
    with pytest.raises(SandboxFileNotFoundError):
        Volume.delete("held")


def test_one_that_a_detached_sandbox_has_is_held_by_its_daemon(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own" / "state"))
    mounts = {"/cache": Volume("held")}
    with Sandbox.create(backend="bubblewrap", tags={"a": "b"}, mounts=mounts) as sandbox:
        assert ("", 0) == run(sandbox, "echo x > /cache/x")
        with pytest.raises(FileError, match="lives"):
            Volume.delete("held")
    Volume.delete("held")


def test_what_fails_holds_nothing(tmp_path):
    mounts = {"/cache": Volume("v"), "/data": Bind(tmp_path / "missing")}
    with pytest.raises(ValidationError):
        Sandbox.create(backend="bubblewrap", mounts=mounts)
    Volume.create("v")
    Volume.delete("v")


def test_it_is_part_of_no_snapshot(make):
    volume = Volume.create("v")
    volume.files.put("secret", b"x")
    mounts = {"/sandbox/cache": Volume("v")}
    sandbox = make(backend="bubblewrap", mounts=mounts)
    run(sandbox, "echo y > kept")
    saved = sandbox.snapshot(kind="directory")
    try:
        other = make(backend="bubblewrap", image=saved)
        assert ("kept\n", 0) == run(
            other, "cat cache/secret 2>/dev/null; find . -type f -printf '%P\n'"
        )
    finally:
        saved.delete()


def test_nor_is_one_that_is_the_working_directory(make):
    Volume.create("v").files.put("secret", b"x")
    sandbox = make(backend="bubblewrap", mounts={"/sandbox": Volume("v")})
    saved = sandbox.snapshot()
    try:
        other = make(backend="bubblewrap", image=saved)
        assert ("", 0) == run(other, "ls -A")
    finally:
        saved.delete()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "-x", "a" * 65, "ä", None, 7])
def test_names_that_are_none(name):
    with pytest.raises(ValidationError):
        Volume(name)


def test_making_one_twice(own_volumes):
    assert Volume("v") == Volume.create("v") == Volume.create("v")
    assert Volume("v").exists
    assert not Volume("w").exists
    with pytest.raises(SandboxFileExistsError):
        Volume.create("v", exist_ok=False)
    assert 0o700 == own_volumes.stat().st_mode & 0o777


@pytest.mark.parametrize("wrong", ["open", "link"])
def test_a_folder_of_volumes_that_is_not_private_is_refused(own_volumes, tmp_path, wrong):
    if wrong == "open":
        Volume.create("v")
        own_volumes.chmod(0o750)
    else:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        own_volumes.parent.mkdir(parents=True)
        own_volumes.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SecurityError):
        Volume.create("v")


def test_a_process_that_is_killed_lets_go(tmp_path):
    """The lock is the kernel's: it goes with whoever held it."""
    import signal
    import subprocess
    import sys

    program = (
        "import sys, time; from llm_sandbox.mounts.store import VolumeStore\n"
        "held = VolumeStore().hold('v'); print('held', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        assert b"held\n" == child.stdout.readline()
        with pytest.raises(FileError):
            Volume.delete("v")
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    Volume.delete("v")


# --- the host's access


@pytest.fixture
def files():
    """The files of a volume."""
    return Volume.create("v").files


def test_files_are_put_got_listed_and_removed(files):
    files.put("a/b/c.txt", b"1")
    files.put("/a/d", b"22")
    assert b"1" == files.get("/a//b/./c.txt")
    assert [("a", "folder", 0)] == [(e.path, e.kind, e.size) for e in files.list()]
    assert ["a", "a/b", "a/b/c.txt", "a/d"] == [e.path for e in files.list(recursive=True)]
    assert [2] == [e.size for e in files.list("a/d")]
    files.put("a/d", b"3")
    assert b"3" == files.get("a/d")
    with pytest.raises(FileError):
        files.remove("a")
    files.remove("a", recursive=True)
    assert [] == files.list()


@pytest.mark.parametrize("path", ["..", "../x", "a/../../x", "a\0b"])
def test_a_path_that_leads_out_is_refused(files, path):
    for call in (files.get, files.list, files.remove, lambda p: files.put(p, b"")):
        with pytest.raises(PathError):
            call(path)


def test_errors_are_of_their_kind(files):
    files.put("file", b"12345")
    files.put("folder/x", b"")
    with pytest.raises(SandboxFileNotFoundError):
        files.get("nothing")
    with pytest.raises(SandboxIsADirectoryError):
        files.get("folder")
    with pytest.raises(SandboxIsADirectoryError):
        files.put("folder", b"")
    with pytest.raises(SandboxNotADirectoryError):
        files.get("file/x")
    with pytest.raises(OutputLimitError):
        files.get("file", limit=4)
    assert b"12345" == files.get("file", limit=5)
    for path in ("", "/", "."):
        with pytest.raises(PathError):
            files.remove(path)
        with pytest.raises(SandboxError):
            files.get(path)


def test_links_that_a_sandbox_made_are_not_followed(make, tmp_path):
    """To a file, to a folder, to the volume's own parent: nothing of the host is read, written or
    removed. The control: a program of the host that follows links reads it.
    """
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    sandbox = make(backend="bubblewrap", mounts={"/cache": Volume("v")})
    script = f"cd /cache; ln -s {secret} file; ln -s {tmp_path} folder; ln -s .. up; mkfifo pipe"
    assert ("", 0) == run(sandbox, script)
    files = Volume("v").files
    control = VolumeStore().folder("v") / "folder" / "secret"
    assert "of the host" == control.read_text()
    for path in ("file", "folder/secret", "up/lock", "pipe", "folder"):
        with pytest.raises(FileError):
            files.get(path)
    for path in ("folder/new", "up/new"):
        with pytest.raises(FileError):
            files.put(path, b"x")
    assert [("link", "other")] == [
        tuple(sorted({entry.kind for entry in files.list(recursive=True)}))
    ]
    files.put("file", b"a file now")
    for name in ("folder", "up", "pipe"):
        files.remove(name)
    assert "of the host" == secret.read_text()
    assert not (tmp_path / "new").exists()


def test_links_that_are_swapped_in_meanwhile_are_not_followed(files, tmp_path):
    """A folder becomes a link to the host's, and back, thousands of times while it is read."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(b"of the host")
    files.put("folder/x", b"of the volume")
    root = VolumeStore().folder("v")
    (root / "link").symlink_to(outside)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for one, other in (("folder", "aside"), ("link", "folder")):
                (root / one).rename(root / other)
            for one, other in (("folder", "link"), ("aside", "folder")):
                (root / one).rename(root / other)

    thread = threading.Thread(target=swap)
    thread.start()
    seen, refused = set(), 0
    try:
        for _ in range(3000):
            try:
                seen.add(files.get("folder/x"))
            except FileError:
                refused += 1
    finally:
        stop.set()
        thread.join()
    assert {b"of the volume"} >= seen
    assert refused  # or nothing was swapped while it was looked at


def test_removing_a_volume_follows_no_link(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    Volume.create("v")
    (VolumeStore().folder("v") / "link").symlink_to(kept)
    Volume.delete("v")
    assert "x" == (kept / "file").read_text()


def test_the_command_line_lists_and_deletes(own_volumes):
    from tests.commands import invoke

    Volume.create("one").files.put("x", b"123")
    Volume.create("two")
    _, listed = invoke("volumes", "list")
    assert [
        ["one", "3", "1", str(own_volumes / "one" / "files")],
        ["two", "0", "0", str(own_volumes / "two" / "files")],
    ] == [line.split("\t") for line in listed.splitlines()]
    assert 0 == invoke("volumes", "delete", "one")[0]
    assert [Volume("two")] == Volume.list()
    assert 125 == invoke("volumes", "delete", "one")[0]
    assert not Path(own_volumes / "one").exists()
