"""Pieces of a stream, cut and decoded: as text that is never half a character, and as lines."""

import codecs
from collections.abc import Iterable, Iterator
from typing import AnyStr, Generic

__all__ = ["LineSplitter", "decode_pieces"]


def decode_pieces(pieces: Iterable[bytes]) -> Iterator[str]:
    r"""Yield the text of bytes that come in pieces, never empty and never with half a character;
    what is no UTF-8 appears as ``\xff`` escapes.
    """
    # trust: bytes from inside; the decoder keeps the start of a split character for the next
    # piece.
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    for data in pieces:
        if text := decoder.decode(data):
            yield text
    if text := decoder.decode(b"", final=True):
        yield text


class LineSplitter(Generic[AnyStr]):
    """Puts pieces together to lines, each with the newline that ends it.

    Args:
        newline: A newline, as text or as a byte; nothing else ends a line.
    """

    def __init__(self, newline: AnyStr) -> None:
        self._newline: AnyStr = newline
        self._empty: AnyStr = newline[:0]
        self._parts: list[AnyStr] = []

    def feed(self, piece: AnyStr) -> list[AnyStr]:
        """Add a piece; returns the lines that it ends."""
        whole: list[AnyStr] = piece.split(self._newline)
        rest = whole.pop()
        lines: list[AnyStr] = []
        for line in whole:
            self._parts.append(line)
            self._parts.append(self._newline)
            lines.append(self._empty.join(self._parts))
            self._parts.clear()
        if rest:
            self._parts.append(rest)
        return lines

    def last(self) -> list[AnyStr]:
        """Return what comes after the last newline: one line without one, or none."""
        return [self._empty.join(self._parts)] if self._parts else []
