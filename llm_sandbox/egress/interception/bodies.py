"""Bodies of HTTP/1.1 messages: where each ends, and how it is written again."""

import re
from typing import Protocol

from llm_sandbox.egress.interception.refusal import Refusal

__all__ = ["Body", "ChunkedBody", "EndlessBody", "SizedBody"]

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[\t -~\x80-\xff]*)?", re.ASCII)
_LONGEST_LINE = 4096
_MOST_TRAILERS = 16 << 10


class Body(Protocol):
    """A message's body on its way."""

    done: bool
    """Whether it has ended."""

    def take(self, buffer: bytearray) -> bytes:
        """Take what there is of it from the front of a buffer.

        Raises:
            Refusal: It could be read in two ways.
        """

    def frame(self, data: bytes) -> bytes:
        """Return a piece of it as it is sent."""

    def end(self) -> bytes:
        """Return what is sent after its last piece."""


class SizedBody:
    """A body whose length was said.

    Args:
        size: The length, in bytes.
    """

    def __init__(self, size: int) -> None:
        self._left = size
        self.done = size == 0

    def take(self, buffer: bytearray) -> bytes:
        """See `Body`."""
        taken = bytes(buffer[: self._left])
        del buffer[: len(taken)]
        self._left -= len(taken)
        self.done = self._left == 0
        return taken

    def frame(self, data: bytes) -> bytes:
        """See `Body`."""
        return data

    def end(self) -> bytes:
        """See `Body`."""
        return b""


class EndlessBody:
    """A body that ends with its connection."""

    def __init__(self) -> None:
        self.done = False

    def take(self, buffer: bytearray) -> bytes:
        """See `Body`."""
        taken = bytes(buffer)
        buffer.clear()
        return taken

    def frame(self, data: bytes) -> bytes:
        """See `Body`."""
        return data

    def end(self) -> bytes:
        """See `Body`."""
        return b""


class ChunkedBody:
    """A body in chunks; sent on in chunks of its own, without trailers."""

    def __init__(self) -> None:
        self.done = False
        self._left = 0
        self._state = "size"
        self._trailers = 0

    def take(self, buffer: bytearray) -> bytes:
        """See `Body`."""
        taken = b""
        while not self.done:
            if self._state == "data":
                piece = bytes(buffer[: self._left])
                del buffer[: len(piece)]
                taken += piece
                self._left -= len(piece)
                if self._left:
                    return taken
                self._state = "end of data"
                continue
            line = _line(buffer)
            if line is None:
                return taken
            self._read(line)
        return taken

    def _read(self, line: bytes) -> None:
        if self._state == "size":
            found = _SIZE.fullmatch(line)
            if found is None:
                raise _malformed()
            self._left = int(found[1], 16)
            self._state = "data" if self._left else "trailers"
        elif self._state == "end of data":
            if line:
                raise _malformed()
            self._state = "size"
        else:
            self._trailers += len(line)
            if self._trailers > _MOST_TRAILERS:
                raise _malformed()
            self.done = not line

    def frame(self, data: bytes) -> bytes:
        """See `Body`."""
        return b"%x\r\n%b\r\n" % (len(data), data) if data else b""

    def end(self) -> bytes:
        """See `Body`."""
        return b"0\r\n\r\n"


def _line(buffer: bytearray) -> bytes | None:
    """Take a line; None if it is not all there."""
    end = buffer.find(b"\n", 0, _LONGEST_LINE)
    if end < 0:
        if len(buffer) >= _LONGEST_LINE:
            raise _malformed()
        return None
    line = bytes(buffer[: end + 1])
    del buffer[: end + 1]
    if not line.endswith(b"\r\n") or b"\r" in line[:-2]:
        raise _malformed()
    return line[:-2]


def _malformed() -> Refusal:
    return Refusal("http_malformed", "chunk", status="400 Bad Request")
