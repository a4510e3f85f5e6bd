"""Archives as an enemy would write them."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.exceptions import BackendError
from llm_sandbox.guest.archives import OPAQUE, Unpacker, pack
from tests.snapshots.conftest import archive, folder, saved

if TYPE_CHECKING:
    from pathlib import Path

    from llm_sandbox.backends.file_snapshots import FileSnapshots

LINK = {"type": tarfile.SYMTYPE}
HARD = {"type": tarfile.LNKTYPE}
CHARACTER = {"type": tarfile.CHRTYPE}
ESCAPES = {
    "above": archive(folder("."), ("../escaped", {}, b"x")),
    "above the top": archive(folder(), ("top/../../escaped", {}, b"x")),
    "absolute": archive(folder("."), ("/OUT/escaped", {}, b"x")),
    "by a link": archive(
        folder("."), ("way", {**LINK, "linkname": "/OUT"}, b""), ("way/escaped", {}, b"x")
    ),
    "by a link above": archive(
        folder("."), ("way", {**LINK, "linkname": ".."}, b""), ("way/escaped", {}, b"x")
    ),
}
REFUSED = {
    **ESCAPES,
    "a hard link": archive(folder(), ("top/x", {**HARD, "linkname": "/OUT/secret"}, b"")),
    "a device": archive(folder(), ("top/x", {**CHARACTER, "devmajor": 1, "devminor": 3}, b"")),
    "a mark of layers": archive(folder(), ("top/x", dict(CHARACTER), b"")),
    "a pipe": archive(folder(), ("top/x", {"type": tarfile.FIFOTYPE}, b"")),
    "another top": archive(folder(), ("other/x", {}, b"x")),
    "no top": archive(("file", {}, b"x")),
    "cut short": archive(folder(), ("top/x", {}, bytes(5000)))[:3000],
    "no archive": b"x" * 2048,
}


def aimed(data: bytes, out: Path) -> bytes:
    """The archive with a real path where it has /OUT."""
    source = io.BytesIO(data)
    made = io.BytesIO()
    with tarfile.open(fileobj=source) as old, tarfile.open(fileobj=made, mode="w") as new:
        for member in old:
            member.name = member.name.replace("/OUT", str(out))
            member.linkname = member.linkname.replace("/OUT", str(out))
            new.addfile(member, old.extractfile(member) if member.isreg() else None)
    return made.getvalue()


def unpack(data: bytes, target: Path, *, layer: bool = False) -> None:
    target.mkdir(exist_ok=True)
    fd = os.open(target, os.O_RDONLY)
    try:
        Unpacker(fd, layer=layer).unpack(io.BytesIO(data))
    finally:
        os.close(fd)


@pytest.mark.redteam
@pytest.mark.parametrize("way", ESCAPES)
def test_nothing_is_written_elsewhere(tmp_path: Path, way: str) -> None:
    """And it is by a reader that believes the archive, which is the control."""
    (tmp_path / "trusting").mkdir()
    data = aimed(ESCAPES[way], tmp_path)
    with tarfile.open(fileobj=io.BytesIO(data)) as source:
        source.extractall(tmp_path / "trusting", filter="fully_trusted")
    assert (tmp_path / "escaped").exists()
    (tmp_path / "escaped").unlink()
    with pytest.raises(OSError, match="not acceptable"):
        unpack(data, tmp_path / "careful")
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize("what", REFUSED)
def test_the_rest_is_refused_too(tmp_path: Path, what: str) -> None:
    with pytest.raises(OSError, match="not acceptable"):
        unpack(REFUSED[what], tmp_path / "target")


@pytest.mark.redteam
def test_no_file_grows_beyond_what_the_archive_holds(tmp_path: Path) -> None:
    """Some formats say of a file that the rest of it is nothing: a terabyte of that, say."""
    holes = {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(1 << 40)}
    data = archive(folder(), ("top/x", {"pax_headers": holes}, b"x"))
    with tarfile.open(fileobj=io.BytesIO(data)) as control:
        assert control.getmember("top/x").size == 1 << 40
    with pytest.raises(OSError, match="not acceptable"):
        unpack(data, tmp_path / "in")
    assert not (tmp_path / "in" / "x").exists()


@pytest.mark.redteam
@pytest.mark.filterwarnings("ignore:backend 'local'")
def test_a_sandbox_is_not_made_of_it(store: FileSnapshots, tmp_path: Path) -> None:
    """On the backend where it would be this user's own file."""
    one = saved(store, aimed(ESCAPES["by a link"], tmp_path))
    with pytest.raises(BackendError, match=r"not restored into .* not acceptable"):
        Sandbox.create(backend="local", image=one)
    assert not (tmp_path / "escaped").exists()


def test_rights_of_owners_are_not_given(tmp_path: Path) -> None:
    unpack(archive(folder(), ("top/x", {"mode": 0o6755}, b"")), tmp_path / "target")
    assert 0o755 == stat.S_IMODE((tmp_path / "target" / "x").stat().st_mode)


def test_folders_that_cannot_be_written_to_are_filled(tmp_path: Path) -> None:
    closed = ("top/closed", {"type": tarfile.DIRTYPE, "mode": 0o500}, b"")
    unpack(archive(folder(), closed, ("top/closed/x", {}, b"x")), tmp_path / "target")
    found = tmp_path / "target" / "closed"
    assert 0o500 == stat.S_IMODE(found.stat().st_mode)
    found.chmod(0o700)


def test_layers_keep_their_marks(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "hidden").mkdir(parents=True)
    os.mknod(source / "gone", stat.S_IFCHR, 0)
    try:
        os.setxattr(source / "hidden", OPAQUE, b"y")
    except OSError as error:
        pytest.skip(f"this file system keeps no attributes of users: {error}")
    packed = io.BytesIO()
    pack(str(source), "root", packed, layer=True)
    unpack(packed.getvalue(), tmp_path / "target", layer=True)
    gone = (tmp_path / "target" / "gone").stat()
    assert stat.S_ISCHR(gone.st_mode)
    assert 0 == gone.st_rdev
    assert b"y" == os.getxattr(tmp_path / "target" / "hidden", OPAQUE)
