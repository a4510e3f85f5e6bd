"""HTTP/1.1 messages: strict parsing of heads, and framing of bodies.

A message that a server could read in another way is refused, against request smuggling.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llm_sandbox.egress.interception.refusal import Refusal

__all__ = [
    "Body",
    "ChunkedBody",
    "EndlessBody",
    "Field",
    "RequestHead",
    "ResponseHead",
    "SizedBody",
    "read_proxy_request",
    "read_request",
    "read_response",
    "tokens",
]

Field = tuple[str, str]
"""Name, in its original case, and value."""

_MOST_BYTES = 64 << 10
_MOST_FIELDS = 200
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_TARGET = re.compile(r"[!-~]{1,16384}", re.ASCII)
_VERSION = re.compile(r"HTTP/1\.[01]", re.ASCII)
_STATUS = re.compile(r"[1-5][0-9][0-9]", re.ASCII)
_NOT_IN_VALUES = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True)
class _Head:
    version: str
    fields: Sequence[Field]

    def values(self, name: str) -> list[str]:
        """Return every value of a field, by its name in lower case."""
        return [value for key, value in self.fields if key.lower() == name]

    @property
    def chunked(self) -> bool:
        """Whether the body is chunked."""
        return bool(self.values("transfer-encoding"))

    @property
    def length(self) -> int | None:
        """Content length in bytes; None without one."""
        found = self.values("content-length")
        return int(found[0]) if found else None

    @property
    def keeps_open(self) -> bool:
        """Whether the connection stays open after this message."""
        options = tokens(self.values("connection"))
        return "close" not in options and (self.version == "HTTP/1.1" or "keep-alive" in options)


@dataclass(frozen=True)
class RequestHead(_Head):
    """Head of a request."""

    method: str
    target: str

    @property
    def upgrades(self) -> bool:
        """Whether the request is for another protocol."""
        return bool(self.values("upgrade"))

    def render(self) -> bytes:
        """Return the head as bytes."""
        return _render(f"{self.method} {self.target} {self.version}", self.fields)


@dataclass(frozen=True)
class ResponseHead(_Head):
    """Head of a response."""

    status: int
    phrase: str

    def render(self) -> bytes:
        """Return the head as bytes."""
        return _render(f"{self.version} {self.status} {self.phrase}", self.fields)


def tokens(values: Sequence[str]) -> set[str]:
    """Return the words of a comma-separated list in fields, in lower case."""
    return {word.strip().lower() for value in values for word in value.split(",") if word.strip()}


def read_request(buffer: bytearray) -> RequestHead | None:
    """Take a request's head from the front of a buffer; None if it is incomplete.

    Raises:
        Refusal: It is invalid or ambiguous.
    """
    head = read_proxy_request(buffer)
    if head is None:
        return None
    # A server answers TRACE with the head, values included.
    if head.method in ("CONNECT", "TRACE") or not head.target.startswith(("/", "*")):
        raise _malformed("target")
    if len(head.values("host")) != 1:
        raise _malformed("host")
    return head


def read_proxy_request(buffer: bytearray) -> RequestHead | None:
    """Take the head of a request to a proxy from the front of a buffer; None if it is incomplete.

    Its target and its host may be any.

    Raises:
        Refusal: It is invalid or ambiguous.
    """
    # trust: comes from inside. A head that a server may read in another way is refused.
    lines = _lines(buffer)
    if lines is None:
        return None
    words = lines[0].split(" ")
    if len(words) != 3 or not _TOKEN.fullmatch(words[0]) or not _TARGET.fullmatch(words[1]):
        raise _malformed("request line")
    if not _VERSION.fullmatch(words[2]):
        raise _malformed("version")
    head = RequestHead(words[2], _fields(lines[1:]), words[0], words[1])
    _check_framing(head)
    return head


def read_response(buffer: bytearray) -> ResponseHead | None:
    """Take a response's head from the front of a buffer; None if it is incomplete.

    Raises:
        Refusal: It is invalid or ambiguous.
    """
    # trust: comes from a server, which code inside may have chosen.
    lines = _lines(buffer)
    if lines is None:
        return None
    version, _, rest = lines[0].partition(" ")
    status, _, phrase = rest.partition(" ")
    if not _VERSION.fullmatch(version) or not _STATUS.fullmatch(status):
        raise _malformed("status line")
    if _NOT_IN_VALUES.search(phrase):
        raise _malformed("status line")
    head = ResponseHead(version, _fields(lines[1:]), int(status), phrase)
    _check_framing(head)
    return head


def _lines(buffer: bytearray) -> list[str] | None:
    end = buffer.find(b"\r\n\r\n", 0, _MOST_BYTES)
    if end < 0:
        if len(buffer) >= _MOST_BYTES:
            raise _malformed("too large")
        return None
    # Latin-1 keeps every byte as it is.
    text = bytes(buffer[:end]).decode("latin-1")
    del buffer[: end + 4]
    lines = text.split("\r\n")
    if any("\r" in line or "\n" in line for line in lines):
        raise _malformed("line end")
    if len(lines) > _MOST_FIELDS:
        raise _malformed("too many fields")
    return lines


def _fields(lines: Sequence[str]) -> tuple[Field, ...]:
    found = []
    for line in lines:
        name, colon, value = line.partition(":")
        # No white space before the colon, and no continuation line.
        if not colon or not _TOKEN.fullmatch(name):
            raise _malformed("field")
        if _NOT_IN_VALUES.search(value):
            raise _malformed("field")
        found.append((name, value.strip(" \t")))
    return tuple(found)


def _check_framing(head: _Head) -> None:
    lengths, codings = head.values("content-length"), head.values("transfer-encoding")
    if lengths and codings:
        raise _malformed("two lengths")
    if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
        raise _malformed("content-length")
    if codings and (
        len(codings) > 1 or codings[0].lower() != "chunked" or head.version == "HTTP/1.0"
    ):
        raise _malformed("transfer-encoding")


def _render(first: str, fields: Sequence[Field]) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _malformed(what: str) -> Refusal:
    return Refusal("http_malformed", what, status="400 Bad Request")


_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[\t -~\x80-\xff]*)?", re.ASCII)
_LONGEST_LINE = 4096
_MOST_TRAILERS = 16 << 10


class Body:
    """Body of a message that is relayed, without framing of its own."""

    done = False
    """Whether the body has ended."""

    def take(self, buffer: bytearray) -> bytes:
        """Take the available part of the body from the front of a buffer.

        Raises:
            Refusal: Its framing is invalid or ambiguous.
        """
        raise NotImplementedError

    def frame(self, data: bytes) -> bytes:
        """Return a piece of the body with its framing."""
        return data

    def end(self) -> bytes:
        """Return the framing after the last piece."""
        return b""


class SizedBody(Body):
    """Body with a content length.

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


class EndlessBody(Body):
    """Body that ends with its connection."""

    def take(self, buffer: bytearray) -> bytes:
        """See `Body`."""
        taken = bytes(buffer)
        buffer.clear()
        return taken


class ChunkedBody(Body):
    """Chunked body; relayed in chunks of its own, without trailers."""

    def __init__(self) -> None:
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
                raise _malformed("chunk")
            self._left = int(found[1], 16)
            self._state = "data" if self._left else "trailers"
        elif self._state == "end of data":
            if line:
                raise _malformed("chunk")
            self._state = "size"
        else:
            self._trailers += len(line)
            if self._trailers > _MOST_TRAILERS:
                raise _malformed("chunk")
            self.done = not line

    def frame(self, data: bytes) -> bytes:
        """See `Body`."""
        return b"%x\r\n%b\r\n" % (len(data), data) if data else b""

    def end(self) -> bytes:
        """See `Body`."""
        return b"0\r\n\r\n"


def _line(buffer: bytearray) -> bytes | None:
    """Take a line from the front of a buffer; None if it is incomplete."""
    end = buffer.find(b"\n", 0, _LONGEST_LINE)
    if end < 0:
        if len(buffer) >= _LONGEST_LINE:
            raise _malformed("chunk")
        return None
    line = bytes(buffer[: end + 1])
    del buffer[: end + 1]
    if not line.endswith(b"\r\n") or b"\r" in line[:-2]:
        raise _malformed("chunk")
    return line[:-2]
