"""A program's streams, as its caller sees them."""

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


def decode(data: bytes) -> str:
    r"""Text of what a program wrote: UTF-8, with other bytes shown as ``\xff`` escapes."""
    # trust: bytes from inside; no input makes this fail.
    return data.decode("utf-8", "backslashreplace")


class OutputStream:
    r"""What a program writes to one of its streams. Every way of reading starts at the beginning,
    each time.

    Text is UTF-8; bytes that are not appear as ``\xff`` escapes.
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool

    def read(self) -> str:
        """Wait for the stream's end and return all that was kept of it."""
        return decode(self.bytes())

    def bytes(self) -> builtins.bytes:
        """As `read`, undecoded."""
        self._spool.wait_end()
        return self._spool.peek()[0]

    def __iter__(self) -> Iterator[str]:
        r"""Yield lines as they come, each with its ``\n`` as those of a file have it."""
        splitter = LineSplitter("\n")
        for piece in self.chunks():
            yield from splitter.feed(piece)
        yield from splitter.last()

    @overload
    def lines(self, *, text: Literal[True] = ...) -> Iterator[str]: ...

    @overload
    def lines(self, *, text: Literal[False]) -> Iterator[builtins.bytes]: ...

    def lines(self, *, text: bool = True) -> Iterator[Any]:
        r"""Yield lines as they come, without their ``\n``; nothing else ends a line.

        Args:
            text: Whether they are text; else they are bytes.
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
        """Yield pieces as they come, whatever their size: never empty, and as text never with half
        a character.

        Args:
            text: Whether they are text; else they are bytes.
        """
        pieces = iterate_bytes(self)
        return decode_chunks(pieces) if text else pieces

    @property
    def dropped_bytes(self) -> int:
        """How many bytes so far were over `limits.output_bytes`, and are in no reading."""
        return self._spool.total - self._spool.kept

    @property
    def truncated(self) -> bool:
        """Whether any were dropped."""
        return self.dropped_bytes > 0


def iterate_bytes(stream: OutputStream) -> Iterator[bytes]:
    """Yield what was kept of a stream, undecoded, as it comes."""
    offset = 0
    while data := stream._spool.read(offset):
        offset += len(data)
        yield data


class InputStream:
    """A program's standard input."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def write(self, data: str | bytes) -> None:
        """Send text, as UTF-8, or bytes; returns at once, and `drain` waits until they were taken.

        Raises:
            ValidationError: `write_eof` was called before, or `data` is neither.
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
            SandboxTimeoutError: It took longer.
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
        """End the stream after what was written; may be called twice."""
        self._feed.finish()
        get_pump().nudge(self._feed)


def open_input(fd: int, ending: Ending) -> InputStream:
    """Take over the write end of a program's standard input."""
    feed = Feed()
    get_pump().feed(fd, feed, ending)
    return InputStream(feed)


def open_output(
    fd: int, cap: int, ending: Ending, grace_s: float = GRACE_S
) -> tuple[OutputStream, Spool]:
    """Take over the read end of one of a program's outputs, and keep `cap` bytes of it; `grace_s`
    as in `Pump.drain`.
    """
    spool = Spool(cap)
    get_pump().drain(fd, spool, ending, grace_s)
    return OutputStream(spool), spool


Keep = Literal["head", "tail", "both"]


@dataclass(frozen=True)
class Excerpt:
    """A stream's text as a result has it."""

    text: str
    dropped_bytes: int
    """Bytes of the stream that are not in the text."""

    @property
    def truncated(self) -> bool:
        """Whether anything is left out."""
        return self.dropped_bytes > 0


def make_excerpt(spool: Spool, max_chars: int | None, keep: Keep) -> Excerpt:
    """Choose what is shown of a stream.

    Args:
        spool: The stream.
        max_chars: Characters at most; None for all that was kept.
        keep: Which part: its start, its end, or half of each with a line between them that says
            what is missing.
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
