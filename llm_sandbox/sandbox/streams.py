"""Streams of a program, for its caller."""

import builtins
import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, AnyStr, Generic, Literal, overload

from llm_sandbox.backends.base import Ending
from llm_sandbox.exceptions import SandboxTimeoutError, ValidationError
from llm_sandbox.limits import validate_timeout
from llm_sandbox.sandbox.pump import GRACE_S, Feed, get_pump
from llm_sandbox.sandbox.spool import Spool

__all__ = [
    "Excerpt",
    "InputStream",
    "Keep",
    "LineSplitter",
    "OutputStream",
    "decode",
    "decode_chunks",
    "iterate_bytes",
    "make_excerpt",
    "open_input",
    "open_output",
]


def decode_chunks(pieces: Iterable[bytes]) -> Iterator[str]:
    r"""Decode chunks of UTF-8 incrementally, yielding no empty text; invalid bytes appear as
    ``\xff`` escapes.
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
    """Joins chunks to lines, each with its newline.

    Args:
        newline: The newline, as text or as a byte; nothing else ends a line.
    """

    def __init__(self, newline: AnyStr) -> None:
        self._newline: AnyStr = newline
        self._empty: AnyStr = newline[:0]
        self._parts: list[AnyStr] = []

    def feed(self, piece: AnyStr) -> list[AnyStr]:
        """Add a chunk; return the lines that it completes."""
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
        """Return the text after the last newline: one line without a newline, or nothing."""
        return [self._empty.join(self._parts)] if self._parts else []


def decode(data: bytes) -> str:
    r"""Decode output as UTF-8, with other bytes shown as ``\xff`` escapes."""
    # trust: bytes from inside; no input makes this fail.
    return data.decode("utf-8", "backslashreplace")


class OutputStream:
    r"""Output stream of a program. Every reading starts at the beginning, each time.

    Text is UTF-8; bytes that are not appear as ``\xff`` escapes.
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool

    def read(self) -> str:
        """Wait for the stream's end and return its stored content."""
        return decode(self.bytes())

    def bytes(self) -> builtins.bytes:
        """Wait for the stream's end and return its stored bytes."""
        self._spool.wait_end()
        return self._spool.peek()[0]

    def __iter__(self) -> Iterator[str]:
        r"""Yield lines as they arrive, each with its ``\n`` like those of a file."""
        splitter = LineSplitter("\n")
        for piece in self.chunks():
            yield from splitter.feed(piece)
        yield from splitter.last()

    @overload
    def lines(self, *, text: Literal[True] = ...) -> Iterator[str]: ...

    @overload
    def lines(self, *, text: Literal[False]) -> Iterator[builtins.bytes]: ...

    def lines(self, *, text: bool = True) -> Iterator[Any]:
        r"""Yield lines as they arrive, without their ``\n``; nothing else ends a line.

        Args:
            text: Whether to decode the lines.
        """
        newline: Any = "\n" if text else b"\n"
        splitter = LineSplitter(newline)
        for piece in self.chunks() if text else self.chunks(text=False):
            for line in splitter.feed(piece):
                yield line[:-1]
        yield from splitter.last()

    @overload
    def chunks(self, *, text: Literal[True] = ...) -> Iterator[str]: ...

    @overload
    def chunks(self, *, text: Literal[False]) -> Iterator[builtins.bytes]: ...

    def chunks(self, *, text: bool = True) -> Iterator[Any]:
        """Yield chunks as they arrive: never empty, and never with an incomplete character if text.

        Args:
            text: Whether to decode the chunks.
        """
        pieces = iterate_bytes(self)
        return decode_chunks(pieces) if text else pieces

    @property
    def dropped_bytes(self) -> int:
        """Number of bytes beyond `limits.output_bytes` so far, which no reading has."""
        return self._spool.total - self._spool.kept

    @property
    def truncated(self) -> bool:
        """Whether bytes were dropped."""
        return self.dropped_bytes > 0


def iterate_bytes(stream: OutputStream) -> Iterator[bytes]:
    """Yield the stored bytes of a stream as they arrive."""
    offset = 0
    while data := stream._spool.read(offset):
        offset += len(data)
        yield data


class InputStream:
    """Standard input of a program."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def write(self, data: str | bytes) -> None:
        """Send text, as UTF-8, or bytes; return at once: `drain` waits until they were read.

        Raises:
            ValidationError: `write_eof` was called before, or `data` has another type.
        """
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise ValidationError("data must be text or bytes", parameter="data")
        if self._feed.finished:
            raise ValidationError("nothing can be written after write_eof", parameter="data")
        raw = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)
        self._feed.put(raw)
        get_pump().nudge(self._feed)

    def drain(self, timeout: float | None = None) -> None:
        """Wait until the program, or the pipe to it, has taken everything.

        Args:
            timeout: Seconds to wait at most; None for no limit.

        Raises:
            BrokenPipeError: The program no longer reads.
            SandboxTimeoutError: The program did not read in time.
        """
        timeout = validate_timeout(timeout)
        outcome = self._feed.wait_empty(timeout)
        if outcome is None:
            raise BrokenPipeError("the program no longer reads its standard input")
        if outcome is False:
            raise SandboxTimeoutError(
                f"the program did not read its standard input in {timeout} s", timeout, op="drain"
            )

    def write_eof(self) -> None:
        """End the stream after the bytes written so far; may be called twice."""
        self._feed.finish()
        get_pump().nudge(self._feed)


def open_input(fd: int, ending: Ending) -> InputStream:
    """Take ownership of the write end of a program's standard input."""
    feed = Feed()
    get_pump().feed(fd, feed, ending)
    return InputStream(feed)


def open_output(
    fd: int, cap: int, ending: Ending, grace_s: float = GRACE_S
) -> tuple[OutputStream, Spool]:
    """Take ownership of the read end of a program's output, and store `cap` bytes of it; `grace_s`
    as in `Pump.drain`.
    """
    spool = Spool(cap)
    get_pump().drain(fd, spool, ending, grace_s)
    return OutputStream(spool), spool


Keep = Literal["head", "tail", "both"]


@dataclass(frozen=True)
class Excerpt:
    """Text of a stream in a result."""

    text: str
    dropped_bytes: int
    """Number of bytes of the stream that are not in the text."""

    @property
    def truncated(self) -> bool:
        """Whether bytes are missing."""
        return self.dropped_bytes > 0


def make_excerpt(spool: Spool, max_chars: int | None, keep: Keep) -> Excerpt:
    """Return the part of a stream that a result shows.

    Args:
        spool: The stream.
        max_chars: Maximum number of characters; None for all that was stored.
        keep: The part: the start, the end, or half of each with a line between them that says what
            is missing.
    """
    start, end, total = spool.peek()
    if len(start) == total:
        text = decode(start)
        if max_chars is None or len(text) <= max_chars:
            return Excerpt(text, 0)
        end = start
    else:
        # Of a stream over the cap only its last piece follows the start.
        text = decode(start)
    most = len(text) if max_chars is None else max_chars
    if keep == "head":
        head, tail = text[:most], ""
    else:
        # A character may be cut where the kept end begins; at most three of its bytes are there.
        ending = text if end is start else decode(end.lstrip(bytes(range(0x80, 0xC0))))
        wanted = most if keep == "tail" else most - most // 2
        tail = ending[max(0, len(ending) - wanted) :]
        head = "" if keep == "tail" else text[: most // 2]
    dropped = max(1, total - _size(head) - _size(tail))
    if keep == "both":
        head += f"\n[... {dropped} bytes left out ...]\n"
    return Excerpt(head + tail, dropped)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
