"""Unpacking of untrusted archives into a folder: tar archives and Debian packages.

Files, folders and symbolic links are created below the folder and nowhere else; links are never
followed. Owners, times and all rights but execution are discarded.
"""

import contextlib
import lzma
import os
import shutil
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.packages.processes import LARGEST_LAYER

__all__ = ["Entry", "Stream", "Unpacker", "open_files", "read_tar"]

_MOST_ENTRIES = 1_000_000
_DEEPEST = 60
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MERGED = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_UNUSED = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/lintian",
    "usr/share/bug",
    "usr/share/doc-base",
)


_BLOCK = 512
_TAR_PIECE = 1 << 18
_LONGEST_TEXT = 1 << 16


class Stream(Protocol):
    """Sequential byte stream."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""


@dataclass
class Entry:
    """Entry of a tar archive. Its content is read, or skipped, before the next entry."""

    path: str
    kind: str
    """``file``, ``folder``, ``symlink``, ``hardlink`` or ``other``."""
    is_program: bool
    target: str
    size: int


def read_tar(stream: Stream) -> Iterator[tuple[Entry, Iterator[bytes]]]:
    """Read the entries of a tar archive, each with the chunks of its content.

    Raises:
        ValueError: The stream is not a tar archive, or is truncated.
    """
    texts: dict[str, str] = {}
    while True:
        header = _read_exactly(stream, _BLOCK)
        if not header.strip(b"\0"):
            return
        if _number(header[148:156]) != sum(header[:148]) + 8 * 32 + sum(header[156:]):
            raise ValueError("it is not a tar archive")
        size, kind = _number(header[124:136]), chr(header[156])
        content = _Content(stream, size)
        if kind in "LKxg":
            # trust: a size is a claim; a name is not read into memory whatever it claims.
            if size > _LONGEST_TEXT:
                raise ValueError("it has a name that is too long")
            text = b"".join(content)
            content.finish()
            if kind == "x":
                texts.update(_read_records(text))
            elif kind in "LK":
                named = text.rstrip(b"\0").decode("utf-8", "surrogateescape")
                texts["path" if kind == "L" else "linkpath"] = named
            continue
        if "size" in texts:
            size = int(texts["size"])
            if size < 0:
                raise ValueError("it has a size that is none")
            content = _Content(stream, size)
        name = _text(header[0:100])
        prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else ""
        path = texts.get("path") or (f"{prefix}/{name}" if prefix else name)
        kinds = {"0": "file", "\0": "file", "7": "file", "5": "folder", "2": "symlink"}
        entry = Entry(
            path,
            kinds.get(kind, "hardlink" if kind == "1" else "other"),
            bool(_number(header[100:108]) & 0o100),
            texts.get("linkpath") or _text(header[157:257]),
            size,
        )
        texts = {}
        yield entry, iter(content)
        content.finish()


class _Content:
    def __init__(self, stream: Stream, size: int) -> None:
        self._stream = stream
        self._left = size
        self._padding = -size % _BLOCK

    def __iter__(self) -> Iterator[bytes]:
        while self._left:
            piece = self._stream.read(min(_TAR_PIECE, self._left))
            if not piece:
                raise ValueError("it ends early")
            self._left -= len(piece)
            yield piece

    def finish(self) -> None:
        """Skip the unread content."""
        for _ in self:
            pass
        _read_exactly(self._stream, self._padding)
        self._padding = 0


def _read_records(text: bytes) -> dict[str, str]:
    found = {}
    while text:
        length, space, _ = text.partition(b" ")
        if not space or not length.isdigit() or not len(length) < int(length) <= len(text):
            raise ValueError("it is not a tar archive")
        record, text = text[len(length) + 1 : int(length)], text[int(length) :]
        name, _, value = record.rstrip(b"\n").partition(b"=")
        found[name.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
    return {name: value for name, value in found.items() if name in ("path", "linkpath", "size")}


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        return int.from_bytes(field[1:], "big")
    return int(field.strip(b" \0") or b"0", 8)


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _read_exactly(stream: Stream, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = stream.read(size - len(data))
        if not piece:
            raise ValueError("it ends early")
        data += piece
    return bytes(data)


_PIECE = 1 << 18


@contextlib.contextmanager
def open_files(file: BinaryIO) -> Iterator[Stream]:
    """Open the files of a Debian package, an `ar` archive whose last member is a tar archive.

    Raises:
        ValueError: The file is not a Debian package.
    """
    if file.read(8) != b"!<arch>\n":
        raise ValueError("it is not a Debian package")
    while header := file.read(60):
        name, size = header[:16].decode("ascii", "replace").strip(" /"), int(header[48:58])
        if len(header) < 60 or size < 0:
            raise ValueError("it is not a Debian package")
        if name.startswith("data.tar"):
            with _open_compressed(_Part(file, size), name.removeprefix("data.tar")) as data:
                yield data
            return
        file.seek(size + size % 2, os.SEEK_CUR)
    raise ValueError("it is not a Debian package")


class _Part:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size

    def read(self, size: int, /) -> bytes:
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data


@contextlib.contextmanager
def _open_compressed(part: _Part, kind: str) -> Iterator[Stream]:
    if kind == "":
        yield part
    elif kind in (".xz", ".lzma"):
        yield _Unpacked(part, lzma.LZMADecompressor(memlimit=1 << 28))
    elif kind == ".gz":
        yield _Unpacked(part, zlib.decompressobj(31))
    elif kind == ".zst":
        with _open_zstd(part) as stream:
            yield stream
    else:
        raise ValueError(f"it is compressed in an unknown way ({kind[:10]})")


class _Unpacked:
    """Decompressed stream; no more of it is in memory than was requested."""

    def __init__(
        self, part: _Part, decompressor: "lzma.LZMADecompressor | zlib._Decompress"
    ) -> None:
        self._part = part
        self._decompressor = decompressor
        self._rest = b""

    def read(self, size: int, /) -> bytes:
        while not self._decompressor.eof:
            if isinstance(self._decompressor, lzma.LZMADecompressor):
                fed = self._part.read(_PIECE) if self._decompressor.needs_input else b""
                if self._decompressor.needs_input and not fed:
                    raise EOFError
                data = self._decompressor.decompress(fed, size)
            else:
                fed = self._decompressor.unconsumed_tail or self._part.read(_PIECE)
                if not fed:
                    raise EOFError
                data = self._decompressor.decompress(fed, size)
            if data:
                return data
        return b""


@contextlib.contextmanager
def _open_zstd(part: _Part) -> Iterator[Stream]:
    program = shutil.which("zstd")
    if program is None:
        raise ValueError("it is compressed by zstd, which is not installed here")
    process = subprocess.Popen(
        [program, "-dcq"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    source = process.stdin

    def feed() -> None:
        with contextlib.suppress(OSError), source:
            while piece := part.read(_PIECE):
                source.write(piece)

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    try:
        yield process.stdout
    finally:
        process.kill()
        process.stdout.close()
        thread.join()
        process.wait()


class Unpacker:
    """Unpacker of archives into one folder.

    Args:
        root: The folder, which is created if it is absent.
        largest: Maximum size of all files together in bytes; 8 GiB.
    """

    def __init__(self, root: Path, largest: int = LARGEST_LAYER) -> None:
        root.mkdir(exist_ok=True)
        self._root = root
        self._left = largest
        self._entries = _MOST_ENTRIES

    def unpack_package(self, package: Path) -> list[str]:
        """Unpack the files of a Debian package below /usr and /opt.

        Returns:
            Paths of the files, relative to the folder.

        Raises:
            LibraryInstallationError: The file is not a package, or is hostile.
        """
        with _refusing(package.name), package.open("rb") as file, open_files(file) as data:
            return self._unpack(data, _place_of_system)

    def unpack_tar(self, archive: Path) -> list[str]:
        """Unpack an uncompressed tar archive.

        Returns:
            Paths of the files, relative to the folder.

        Raises:
            LibraryInstallationError: The file is not an archive, or is hostile.
        """
        with _refusing(archive.name), archive.open("rb") as file:
            return self._unpack(file, lambda parts: parts)

    def _unpack(
        self, stream: Stream, place_of: Callable[[list[str]], list[str] | None]
    ) -> list[str]:
        made = []
        root = os.open(self._root, _FOLDER)
        try:
            for entry, content in read_tar(stream):
                self._entries -= 1
                if self._entries < 0:
                    raise ValueError("it has too many files")
                parts = place_of(_parts(entry.path))
                if not parts:
                    continue
                if entry.kind == "folder":
                    os.close(_walk(root, parts))
                elif entry.kind != "other":
                    folder = _walk(root, parts[:-1])
                    try:
                        self._make(root, folder, parts[-1], entry, content, place_of)
                    finally:
                        os.close(folder)
                    made.append("/".join(parts))
        finally:
            os.close(root)
        return made

    def _make(
        self,
        root: int,
        folder: int,
        name: str,
        entry: Entry,
        content: Iterator[bytes],
        place_of: Callable[[list[str]], list[str] | None],
    ) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        if entry.kind == "symlink":
            os.symlink(entry.target, name, dir_fd=folder)
            return
        if entry.kind == "hardlink":
            there = place_of(_parts(entry.target))
            if not there:
                raise ValueError("it has a link that leads out of it")
            source = _walk(root, there[:-1])
            try:
                os.link(
                    there[-1], name, src_dir_fd=source, dst_dir_fd=folder, follow_symlinks=False
                )
            finally:
                os.close(source)
            return
        self._left -= entry.size
        if self._left < 0:
            raise ValueError("it is larger than the limit")
        fd = os.open(name, _NEW, 0o755 if entry.is_program else 0o644, dir_fd=folder)
        with os.fdopen(fd, "wb") as file:
            for piece in content:
                file.write(piece)


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or len(parts) > _DEEPEST or "\0" in path:
        raise ValueError("it has a path that leads out of it")
    return parts


def _place_of_system(parts: list[str]) -> list[str] | None:
    """Return the path of a system file, with /lib and similar links resolved below /usr."""
    if parts and parts[0] in _MERGED:
        parts = ["usr", *parts]
    if not parts or parts[0] not in ("usr", "opt"):
        return None
    path = "/".join(parts)
    unused = any(path == name or path.startswith(f"{name}/") for name in _UNUSED)
    return None if unused else parts


def _walk(root: int, parts: list[str]) -> int:
    here = os.dup(root)
    try:
        for part in parts:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=here)
            below = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
    except BaseException:
        os.close(here)
        raise
    return here


@contextlib.contextmanager
def _refusing(name: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        reason = str(error) if isinstance(error, ValueError) else "it could not be unpacked"
        raise LibraryInstallationError(
            f"{name} is not acceptable: {reason}", output=str(error), op="install"
        ) from error
