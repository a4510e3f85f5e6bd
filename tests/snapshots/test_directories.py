"""Directories that are saved on one backend, and restored on any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox, Snapshot
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    OutputLimitError,
    SandboxError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.sandbox import snapshots

if TYPE_CHECKING:
    from llm_sandbox.backends.file_snapshots import FileSnapshots

pytestmark = pytest.mark.filterwarnings("ignore:backend 'local'")

MAKE = r"""
mkdir -p d/empty d/deep/er && echo hi > d/file && ln d/file d/second && ln -s file d/link
ln -s /nowhere d/broken && printf x > "$(printf 'd/n\377\nx')" && chmod 750 d/file
touch -d @1000000000 d/file && mkfifo d/pipe && chmod 500 d/deep/er && printf y > d/-rf
"""
# Not by `stat`: what gVisor answers to its newest questions is an error.
STAT = "import os; print([(s.st_mode, int(s.st_mtime)) for s in map(os.stat, NAMES)])"
STAT = STAT.replace("NAMES", "('file', 'second', 'deep/er')")
LOOK = f"""cd d && find . | LC_ALL=C sort | tr '\\n' '|'; python3 -c "{STAT}"
readlink link broken; cat second"""
BACKENDS = [
    "bubblewrap",
    "local",
    pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
    "gvisor",
]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_was_saved_comes_back(store: FileSnapshots, backend: str) -> None:
    """By the backend itself, and by another one."""
    try:
        get_backend(backend).check()
    except SandboxError as error:
        pytest.skip(f"{backend}: {error}")
    with Sandbox.create(backend=backend) as sandbox:
        sandbox.check("sh", "-c", MAKE)
        expected = sandbox.check("sh", "-c", LOOK.replace("find .", "find . ! -name pipe"))
        one = sandbox.snapshot("named", kind="directory")
        sandbox.files.write_text("later", "")
        assert sandbox.end_reason is None
        first = sandbox.id
    assert ("directory", "named", None) == (one.kind, one.name, one.path)
    for other in dict.fromkeys((backend, "bubblewrap")):
        with Sandbox.create(backend=other, image=one) as again:
            assert first != again.id
            assert other == again.backend
            assert expected.stdout == again.check("sh", "-c", LOOK).stdout
            assert not again.files.exists("later")
            again.files.write_text("d/deep/more", "")  # it can be written to


def test_a_part_comes_back_to_its_place(store: FileSnapshots) -> None:
    with Sandbox.create(backend="bubblewrap", workdir="/work") as sandbox:
        sandbox.check("sh", "-c", "mkdir -p a/b /tmp/t && echo 1 > a/b/x && echo 2 > /tmp/t/x")
        part = sandbox.snapshot(kind="directory", path="a/b")
        same = sandbox.snapshot(kind="directory", path="/work/a/b/")
        other = sandbox.snapshot(kind="directory", path="/tmp/t")
    assert ["a/b", "a/b", "/tmp/t"] == [part.path, same.path, other.path]
    with Sandbox.create(backend="bubblewrap", image=part) as again:
        assert "1\n" == again.files.read_text("/sandbox/a/b/x")
    with Sandbox.create(backend="bubblewrap", image=other) as again:
        assert "2\n" == again.files.read_text("/tmp/t/x")
    with pytest.raises(UnsupportedError, match="a path of this computer"):
        Sandbox.create(backend="local", image=other)


def test_the_entry_finds_it(store: FileSnapshots) -> None:
    with Sandbox.create(backend="bubblewrap", name="source") as sandbox:
        sandbox.files.write_text("x", "saved")
        one = sandbox.snapshot(kind="directory", ttl=600)
    assert one.expires_at is not None
    with Sandbox.create("cat", "x", backend="bubblewrap", image=one, secrets={"A": "b"}) as again:
        assert again.entry is not None
        assert "saved" == again.entry.stdout.read()


def test_no_secret_nor_variable_is_in_it(store: FileSnapshots) -> None:
    values = {"secrets": {"TOKEN": "very-secret-value"}, "env": {"PLAIN": "variable-value"}}
    with Sandbox.create(backend="bubblewrap", **values) as sandbox:  # type: ignore[arg-type]
        assert "very-secret-value\n" == sandbox.check("printenv", "TOKEN").stdout
        sandbox.files.write_text("x", "content")
        one = sandbox.snapshot(kind="directory")
    data = b"".join(path.read_bytes() for path in (Path(store.path) / one.ref).iterdir())
    assert b"content" in data
    assert b"very-secret-value" not in data
    assert b"variable-value" not in data


def test_more_than_there_may_be(store: FileSnapshots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MOST_BYTES", 1 << 20)
    with Sandbox.create(backend="bubblewrap") as sandbox:
        sandbox.files.write_bytes("large", bytes(2 << 20))
        for kind in ("directory", "filesystem"):
            with pytest.raises(OutputLimitError, match="/sandbox holds more than 1 MiB"):
                sandbox.snapshot(kind=kind)  # type: ignore[arg-type]
    assert not store.list()


@pytest.mark.parametrize("path", ["/dev/shm", "/proc", "/", "../x", "none", "file", "link"])
def test_what_cannot_be_saved(store: FileSnapshots, path: str) -> None:
    with Sandbox.create(backend="bubblewrap") as sandbox:
        sandbox.check("sh", "-c", "touch file && ln -s /dev/shm link")
        with pytest.raises(ValidationError) as caught:
            sandbox.snapshot(kind="directory", path=path)
    assert "path" == caught.value.parameter


def test_what_is_no_snapshot(store: FileSnapshots) -> None:
    with Sandbox.create(backend="bubblewrap") as sandbox:
        for arguments in ({"kind": "memory"}, {"path": "x"}, {"name": ""}, {"ttl": 0}):
            with pytest.raises(ValidationError):
                sandbox.snapshot(**arguments)  # type: ignore[arg-type]


def test_what_is_mounted_in_it_is_left_out(store: FileSnapshots, tmp_path: Path) -> None:
    from llm_sandbox import Bind, Tmpfs

    (tmp_path / "theirs").write_text("x")
    tmp_path.chmod(0o755)
    mounts = {"/sandbox/bound": Bind(tmp_path), "/sandbox/memory": Tmpfs("1m")}
    with Sandbox.create(backend="bubblewrap", mounts=mounts) as sandbox:
        sandbox.check("sh", "-c", "cat bound/theirs && touch memory/x own")
        one = sandbox.snapshot(kind="directory")
    with Sandbox.create(backend="bubblewrap", image=one) as again:
        assert ["own"] == [entry.name for entry in again.files.list()]


def test_they_are_listed_newest_first(store: FileSnapshots) -> None:
    with Sandbox.create(backend="bubblewrap") as sandbox:
        made = [sandbox.snapshot(str(number), kind="directory") for number in range(3)]
    assert made[::-1] == Snapshot.list("bubblewrap")
    assert not Snapshot.list("local")
