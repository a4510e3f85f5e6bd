"""Tar archives that are not trusted, read entry by entry: no claim of theirs costs memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Entry", "Stream", "read_tar"]

_BLOCK = 512
_PIECE = 1 << 18
_LONGEST_TEXT = 1 << 16


class Stream(Protocol):
    """What is read from its beginning to its end."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""


@dataclass
class Entry:
    """One entry of a tar archive. Its content is read, or passed over, before the next entry."""

    path: str
    kind: str
    """``file``, ``folder``, ``symlink``, ``hardlink`` or ``other``."""
    is_program: bool
    target: str
    size: int


def read_tar(stream: Stream) -> Iterator[tuple[Entry, Iterator[bytes]]]:
    """Read the entries of a tar archive, each with the pieces of its content.

    Raises:
        ValueError: It is not one, or it ends early.
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
            piece = self._stream.read(min(_PIECE, self._left))
            if not piece:
                raise ValueError("it ends early")
            self._left -= len(piece)
            yield piece

    def finish(self) -> None:
        """Pass over what was not read."""
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
