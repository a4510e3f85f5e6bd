"""Unpacking archives that are not trusted, and replacing links."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.packages.links import replace_links
from llm_sandbox.packages.unpacking import Unpacker, read_tar

if TYPE_CHECKING:
    from pathlib import Path


def tar(
    *entries: tuple[str, bytes | str, dict[str, Any]], format: int = tarfile.GNU_FORMAT
) -> bytes:
    """An archive of files, and of what `type` and `linkname` say."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=format) as archive:
        for name, content, more in entries:
            member = tarfile.TarInfo(name)
            text = content.encode() if isinstance(content, str) else content
            member.size = len(text)
            for key, value in more.items():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(text))
    return data.getvalue()


def deb(data: bytes, compressed: str = "xz") -> bytes:
    """A Debian package with these files."""
    packed = {"xz": lzma.compress, "gz": gzip.compress, "": bytes}[compressed](data)
    ending = f".{compressed}" if compressed else ""
    parts = [("debian-binary", b"2.0\n"), ("control.tar.xz", b"odd"), (f"data.tar{ending}", packed)]
    text = b"!<arch>\n"
    for name, content in parts:
        text += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
        text += content + b"\n" * (len(content) % 2)
    return text


def unpack(folder: Path, data: bytes, largest: int = 1 << 20) -> list[str]:
    (folder / "archive.tar").write_bytes(data)
    return Unpacker(folder / "root", largest).unpack_tar(folder / "archive.tar")


def test_files_folders_links_and_rights(tmp_path: Path) -> None:
    for format in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT):
        folder = tmp_path / str(format)
        folder.mkdir()
        deep = 2 if format == tarfile.USTAR_FORMAT else 4  # which has no longer names
        long = "/".join(["folder" * 9] * deep) + "/name"
        entries: list[tuple[str, bytes | str, dict[str, Any]]] = [
            ("./a/b.txt", "text", {"mode": 0o4666, "uid": 1234}),
            ("./a/run", "#!", {"mode": 0o755}),
            ("./empty", "", {"type": tarfile.DIRTYPE, "mode": 0o1777}),
            ("./a/link", "", {"type": tarfile.SYMTYPE, "linkname": "b.txt"}),
            ("./a/same", "", {"type": tarfile.LNKTYPE, "linkname": "./a/b.txt"}),
            (long, b"x" * 1000, {}),
        ]
        made = unpack(folder, tar(*entries, format=format))
        root = folder / "root"
        assert made == ["a/b.txt", "a/run", "a/link", "a/same", long]
        assert (root / "a/b.txt").read_text() == (root / "a/same").read_text() == "text"
        assert stat.S_IMODE((root / "a/b.txt").stat().st_mode) & ~0o022 == 0o644
        assert stat.S_IMODE((root / "a/run").stat().st_mode) & ~0o022 == 0o755
        assert (root / "a/b.txt").stat().st_uid == os.getuid()
        assert str((root / "a/link").readlink()) == "b.txt"
        assert (root / long).read_bytes() == b"x" * 1000
        assert list((root / "empty").iterdir()) == []


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/../out", "a/b/../../../out"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LibraryInstallationError, match="leads out"):
        unpack(tmp_path, tar((name, "evil", {})))
    assert not (tmp_path / "out").exists()


def test_an_absolute_path_stays_inside(tmp_path: Path) -> None:
    unpack(tmp_path, tar(("/etc/evil", "text", {})))
    assert (tmp_path / "root/etc/evil").read_text() == "text"


def test_a_link_is_never_followed_on_the_way(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    way = ("way", "", {"type": tarfile.SYMTYPE, "linkname": str(outside)})
    for entry in (
        ("way/evil", "evil", {}),
        ("hard", "", {"type": tarfile.LNKTYPE, "linkname": "way/evil"}),
        ("way/below", "", {"type": tarfile.DIRTYPE}),
    ):
        with pytest.raises(LibraryInstallationError):
            unpack(tmp_path, tar(way, entry))
    assert list(outside.iterdir()) == []


def test_a_file_takes_the_place_of_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("kept")
    link = ("name", "", {"type": tarfile.SYMTYPE, "linkname": str(target)})
    unpack(tmp_path, tar(link, ("name", "new", {})))
    assert target.read_text() == "kept"
    assert (tmp_path / "root/name").read_text() == "new"


def test_a_hard_link_to_a_link_is_the_link(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    link = ("link", "", {"type": tarfile.SYMTYPE, "linkname": str(secret)})
    unpack(tmp_path, tar(link, ("hard", "", {"type": tarfile.LNKTYPE, "linkname": "link"})))
    assert (tmp_path / "root/hard").is_symlink()
    assert replace_links(tmp_path / "root") == ["hard", "link"]
    assert list((tmp_path / "root").iterdir()) == []


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_are_passed_over(tmp_path: Path, kind: bytes) -> None:
    unpack(tmp_path, tar(("device", "", {"type": kind}), ("file", "text", {})))
    assert [path.name for path in (tmp_path / "root").iterdir()] == ["file"]


def test_sizes_are_limited(tmp_path: Path) -> None:
    with pytest.raises(LibraryInstallationError, match="larger than the limit"):
        unpack(tmp_path, tar(("a", b"x" * 600, {}), ("b", b"x" * 600, {})), largest=1000)


def test_a_name_of_any_size_is_not_read(tmp_path: Path) -> None:
    header = bytearray(tar(("n" * 150, "text", {}))[:512])
    header[124:136] = b"77777777777\0"
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    with pytest.raises(LibraryInstallationError, match="name that is too long"):
        unpack(tmp_path, bytes(header))


@pytest.mark.parametrize("data", [b"", b"no archive" * 200, tar(("a", b"x" * 2000, {}))[:1500]])
def test_what_is_no_archive_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(LibraryInstallationError, match="not acceptable"):
        unpack(tmp_path, data)


def test_entries_that_are_not_read_are_passed_over() -> None:
    data = io.BytesIO(tar(("a", b"x" * 700, {}), ("b", b"y" * 5, {})))
    assert [(entry.path, entry.size) for entry, _ in read_tar(data)] == [("a", 700), ("b", 5)]


# --- packages of Debian


@pytest.mark.parametrize("compressed", ["xz", "gz", ""])
def test_a_package_is_unpacked_below_usr(tmp_path: Path, compressed: str) -> None:
    data = tar(
        ("./usr/include/demo.h", "header", {}),
        ("./lib/x86_64-linux-gnu/libdemo.so.1", "library", {}),
        ("./usr/share/doc/demo/copyright", "words", {}),
        ("./etc/demo.conf", "settings", {}),
        ("./var/lib/demo", "state", {}),
    )
    (tmp_path / "demo.deb").write_bytes(deb(data, compressed))
    made = Unpacker(tmp_path / "root").unpack_package(tmp_path / "demo.deb")
    assert made == ["usr/include/demo.h", "usr/lib/x86_64-linux-gnu/libdemo.so.1"]
    assert (tmp_path / "root/usr/include/demo.h").read_text() == "header"
    assert sorted(path.name for path in (tmp_path / "root").iterdir()) == ["usr"]


def test_a_package_of_zstd_needs_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tar(("./usr/include/demo.h", b"header" * 100_000, {}))
    package = deb(data, "").replace(b"data.tar    ", b"data.tar.zst", 1)
    (tmp_path / "demo.deb").write_bytes(package)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LibraryInstallationError, match="zstd, which is not installed"):
        Unpacker(tmp_path / "root").unpack_package(tmp_path / "demo.deb")
    # A stand-in for it, which is fed and heard in the same way.
    (tmp_path / "zstd").write_text("#!/bin/sh\nexec /bin/cat\n")
    (tmp_path / "zstd").chmod(0o755)
    Unpacker(tmp_path / "root").unpack_package(tmp_path / "demo.deb")
    assert (tmp_path / "root/usr/include/demo.h").read_bytes() == b"header" * 100_000


def test_a_package_that_unpacks_for_ever_is_stopped(tmp_path: Path) -> None:
    bomb = deb(tar(("./usr/zeros", b"\0" * (64 << 20), {})))
    assert len(bomb) < 100_000
    (tmp_path / "bomb.deb").write_bytes(bomb)
    with pytest.raises(LibraryInstallationError, match="larger than the limit"):
        Unpacker(tmp_path / "root", 1 << 20).unpack_package(tmp_path / "bomb.deb")


@pytest.mark.parametrize(
    "data",
    [b"", b"!<arch>\n", b"!<arch>\nshort", deb(b"", "xz")[:-20], deb(b"x", "gz")[:-12] + b"?" * 12],
)
def test_what_is_no_package_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "odd.deb").write_bytes(data)
    with pytest.raises(LibraryInstallationError, match=r"odd\.deb"):
        Unpacker(tmp_path / "root").unpack_package(tmp_path / "odd.deb")


# --- links


def make(root: Path, *names: str) -> None:
    for name in names:
        path, _, target = name.partition(" -> ")
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if target:
            place.symlink_to(target)
        else:
            place.write_text(path)


def test_links_become_what_they_lead_to(tmp_path: Path) -> None:
    make(
        tmp_path,
        "usr/lib/libdemo.so.1.2",
        "usr/lib/libdemo.so.1 -> libdemo.so.1.2",
        "usr/lib/libdemo.so -> libdemo.so.1",
        "usr/share/js/lib.js",
        "usr/lib/R/www -> ../../share/js",
        "usr/lib/R/absolute -> /usr/share/js/lib.js",
        "usr/lib/R/merged -> /lib/libdemo.so.1",
    )
    assert replace_links(tmp_path) == []
    assert (tmp_path / "usr/lib/libdemo.so").read_text() == "usr/lib/libdemo.so.1.2"
    assert (tmp_path / "usr/lib/R/www/lib.js").read_text() == "usr/share/js/lib.js"
    assert (tmp_path / "usr/lib/R/absolute").read_text() == "usr/share/js/lib.js"
    assert (tmp_path / "usr/lib/R/merged").read_text() == "usr/lib/libdemo.so.1.2"
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))


def test_links_that_lead_out_nowhere_or_in_circles_go(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    root = tmp_path / "root"
    make(
        root,
        "file",
        "out -> ../secret",
        "absolute -> " + str(secret),
        "nowhere -> absent",
        "one -> two",
        "two -> one",
        "self -> self",
        "folder/up -> ..",
        "folder/over -> ../../root/file",
    )
    gone = ["absolute", "folder/over", "folder/up", "nowhere", "one", "out", "self", "two"]
    assert sorted(replace_links(root)) == gone
    assert sorted(path.name for path in root.rglob("*")) == ["file", "folder"]


def test_a_library_of_the_system_is_named_to_linkers(tmp_path: Path) -> None:
    make(tmp_path, "usr/lib/libsystem.so -> /lib/x86_64-linux-gnu/libsystem.so.1")
    assert replace_links(tmp_path) == []
    text = (tmp_path / "usr/lib/libsystem.so").read_text()
    assert text == "INPUT ( /lib/x86_64-linux-gnu/libsystem.so.1 )\n"


def test_folders_that_hold_links_are_whole(tmp_path: Path) -> None:
    make(tmp_path, "real/file", "alias -> real", "real/inner -> ../other", "other/deep")
    assert replace_links(tmp_path) == []
    assert (tmp_path / "alias/inner/deep").read_text() == "other/deep"
    assert (tmp_path / "alias/file").read_text() == "real/file"


def test_folders_that_multiply_are_refused(tmp_path: Path) -> None:
    make(tmp_path, "level0/file")
    for level in range(1, 40):
        for number in range(4):
            make(tmp_path, f"level{level}/{number} -> ../level{level - 1}")
    with pytest.raises(LibraryInstallationError, match="circles"):
        replace_links(tmp_path)
