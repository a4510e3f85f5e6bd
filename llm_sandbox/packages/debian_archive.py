"""What is in a Debian package, as a stream."""

import contextlib
import lzma
import os
import shutil
import subprocess
import threading
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from llm_sandbox.packages.tar_archive import Stream

__all__ = ["open_files"]

_PIECE = 1 << 18


@contextlib.contextmanager
def open_files(file: BinaryIO) -> Iterator[Stream]:
    """Open the files of a Debian package, an `ar` archive whose last member is a tar archive.

    Raises:
        ValueError: It is none.
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
    """What a compressed part holds; no more of it is in memory than is asked for."""

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
