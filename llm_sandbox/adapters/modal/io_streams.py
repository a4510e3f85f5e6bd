"""Streams of a program: readers of one pass, and a writer that sends on `drain`."""

import codecs
from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import Generic, TypeVar, cast

from llm_sandbox.adapters.modal.calls import Method
from llm_sandbox.adapters.modal.exception import InvalidError, ResourceExhaustedError
from llm_sandbox.adapters.modal.stream_type import StreamType
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.aio import AsyncInputStream, AsyncOutputStream
from llm_sandbox.sandbox import Process
from llm_sandbox.sandbox.streams import InputStream, OutputStream

__all__ = ["StreamReader", "StreamWriter"]

_T = TypeVar("_T", str, bytes)

_MOST_BUFFERED = 16 << 20


class StreamReader(Generic[_T]):
    r"""Output stream of a program, continued where the last read stopped.

    Iteration yields chunks of any size as they arrive, or lines with their ``\n`` if the reader is
    line-buffered. After the end `read` returns nothing. Text is UTF-8; reading other output raises
    `UnicodeDecodeError`.

    Args:
        stream: Stream of the library.
        kind: Destination of the stream.
        text: Whether the stream is read as text.
        by_line: Whether iteration yields lines.
    """

    def __init__(
        self, stream: OutputStream, kind: StreamType, *, text: bool = True, by_line: bool = False
    ) -> None:
        self._stream = stream
        self._kind = kind
        self._by_line = by_line
        # trust: bytes from inside; the decoder keeps the start of a split character.
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict") if text else None
        empty, newline = ("", "\n") if text else (b"", b"\n")
        self._empty: _T = cast(_T, empty)
        self._newline: _T = cast(_T, newline)
        self._rest: _T = self._empty
        self._ready: deque[_T] = deque()
        self._taken = 0
        self._next: Iterator[_T] | None = None

    @property
    def file_descriptor(self) -> int:
        """1 for standard output, 2 for standard error; unknown here."""
        raise InvalidError("a stream of a sandbox has no file descriptor on this machine")

    @Method
    def read(self) -> _T:
        """Wait for the end of the stream and return what was not read yet.

        Raises:
            InvalidError: The stream goes to the output of this process.
            ResourceExhaustedError: The stream exceeded the limit; see `Limits.output_bytes`.
            UnicodeDecodeError: The output is not UTF-8.
            ValueError: The stream is discarded.
        """
        self._check()
        pieces = [self._text(data) for data in self._new(self._stream.chunks(text=False))]
        return self._all(pieces)

    @read.awaited
    async def _read_aio(self) -> _T:
        self._check()
        pieces = [self._text(data) async for data in self._new_aio()]
        return self._all(pieces)

    def __iter__(self) -> Iterator[_T]:
        self._check()
        yield from self._cut()
        for data in self._new(self._stream.chunks(text=False)):
            self._put(self._text(data))
            yield from self._cut()
        self._finish()
        yield from self._cut()
        self._check_whole()

    def __next__(self) -> _T:
        if self._next is None:
            self._next = iter(self)
        return next(self._next)

    async def __aiter__(self) -> AsyncIterator[_T]:
        self._check()
        for piece in self._cut():
            yield piece
        async for data in self._new_aio():
            self._put(self._text(data))
            for piece in self._cut():
                yield piece
        self._finish()
        for piece in self._cut():
            yield piece
        self._check_whole()

    def _check(self) -> None:
        if self._kind is StreamType.DEVNULL:
            raise ValueError("the stream was started with StreamType.DEVNULL: nothing is kept")
        if self._kind is StreamType.STDOUT:
            raise InvalidError("the stream goes to this process' own output: StreamType.STDOUT")

    def _new(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Return the unread part of the chunks from the start of the stream."""
        at = 0
        for data in chunks:
            at += len(data)
            if at > self._taken:
                fresh = data[max(0, len(data) - (at - self._taken)) :]
                self._taken = at
                yield fresh

    async def _new_aio(self) -> AsyncIterator[bytes]:
        at = 0
        # The library's twin gives up its thread when the call is cancelled.
        async for data in AsyncOutputStream(self._stream).chunks(text=False):
            at += len(data)
            if at > self._taken:
                fresh = data[max(0, len(data) - (at - self._taken)) :]
                self._taken = at
                yield fresh

    def _text(self, data: bytes, *, final: bool = False) -> _T:
        return cast(_T, data if self._decoder is None else self._decoder.decode(data, final))

    def _put(self, piece: _T) -> None:
        """Buffer new data as chunks to yield and the start of the next one."""
        if not self._by_line:
            self._ready.append(piece)
            return
        lines: list[_T] = (self._rest + piece).split(self._newline)
        self._rest = lines.pop()
        for line in lines:
            self._ready.append(line + self._newline)

    def _finish(self) -> None:
        self._ready.append(self._rest)
        self._ready.append(self._text(b"", final=True))
        self._rest = self._empty

    def _cut(self) -> Iterator[_T]:
        """Yield complete chunks; an interrupted iteration leaves the rest to the next one."""
        while self._ready:
            if piece := self._ready.popleft():
                yield piece

    def _all(self, pieces: list[_T]) -> _T:
        every: list[_T] = list(self._ready)
        every.append(self._rest)
        every.extend(pieces)
        every.append(self._text(b"", final=True))
        self._ready.clear()
        self._rest = self._empty
        whole: _T = self._empty.join(every)
        self._check_whole()
        return whole

    def _check_whole(self) -> None:
        if dropped := self._stream.dropped_bytes:
            raise ResourceExhaustedError(
                f"the last {dropped} bytes of the stream were dropped",
                hint="modal.configure(limits=Limits(output_bytes=...)) keeps more",
            )


class StreamWriter:
    """Standard input of a program. Written data is sent by `drain`.

    Args:
        process: The program; None for a sandbox without one.
    """

    def __init__(self, process: Process | None) -> None:
        self._process = process
        self._stream: InputStream | None = None if process is None else process.stdin
        self._buffer = bytearray()
        self._is_ended = False
        self._is_eof_sent = False

    @Method
    def write(self, data: bytes | bytearray | memoryview | str) -> None:
        """Buffer bytes, or text as UTF-8, for the next `drain`.

        Raises:
            BufferError: The buffer would exceed 16 MiB.
            TypeError: The data is neither bytes nor text.
            ValueError: `write_eof` was called.
        """
        if self._is_ended:
            raise ValueError("nothing can be written after write_eof()")
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"data is text or bytes, not {type(data).__name__}")
        raw = data.encode("utf-8") if isinstance(data, str) else bytes(data)
        if len(self._buffer) + len(raw) > _MOST_BUFFERED:
            raise BufferError(f"more than {_MOST_BUFFERED} bytes wait to be sent: call drain()")
        self._buffer += raw

    @Method
    def write_eof(self) -> None:
        """End the stream after the written data; the next `drain` sends the end."""
        self._is_ended = True

    @Method
    def drain(self) -> None:
        """Send the written data, and wait until the program has received it.

        Raises:
            InvalidError: No program reads, or another handle owns the input.
            ValueError: The program has ended or closed its input.
        """
        stream = self._send()
        if stream is not None:
            try:
                stream.drain()
            except BrokenPipeError:
                raise ValueError("the program no longer reads its standard input") from None

    @drain.awaited
    async def _drain_aio(self) -> None:
        stream = self._send()
        if stream is not None:
            try:
                await AsyncInputStream(stream).drain()
            except BrokenPipeError:
                raise ValueError("the program no longer reads its standard input") from None

    def _send(self) -> InputStream | None:
        """Send the written data, and return the stream if there is something to wait for."""
        if not self._buffer and self._is_ended == self._is_eof_sent:
            return None
        if self._process is None or self._stream is None:
            raise InvalidError(
                "there is nothing that reads: the sandbox has no entrypoint, or its input belongs "
                "to the handle that created it"
            )
        if self._process.poll() is not None:
            raise ValueError("the program has ended, and reads no more")
        with translated():
            if self._buffer:
                self._stream.write(bytes(self._buffer))
                self._buffer.clear()
            if self._is_ended and not self._is_eof_sent:
                self._is_eof_sent = True
                self._stream.write_eof()
        return self._stream
