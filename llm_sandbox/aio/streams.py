"""Awaitable twins of a program's streams."""

import builtins
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from anyio.lowlevel import checkpoint

from llm_sandbox.aio.threads import SLICE_S, Call, in_thread
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import validate_timeout
from llm_sandbox.sandbox.streams import InputStream, LineSplitter, OutputStream

if TYPE_CHECKING:
    from llm_sandbox.sandbox.spool import Spool

__all__ = ["AsyncInputStream", "AsyncOutputStream"]

_Value = TypeVar("_Value")


class AsyncOutputStream:
    """Output stream of a program; see `OutputStream`.

    Args:
        stream: Synchronous twin.
    """

    def __init__(self, stream: OutputStream) -> None:
        self._stream = stream

    async def read(self) -> str:
        """Wait for the end of the stream and return all kept output."""
        return await self._ask(OutputStream.read)

    async def bytes(self) -> builtins.bytes:
        """Wait for the end of the stream and return all kept output as bytes."""
        return await self._ask(OutputStream.bytes)

    async def _ask(self, ask: Callable[[OutputStream], _Value]) -> _Value:
        return await in_thread(lambda call: ask(_Patient(self._stream, call).stream))

    async def __aiter__(self) -> AsyncIterator[str]:
        r"""Yield lines as they arrive, each with its ``\n``."""
        # Not the twin's own iterator: a thread for each line would take longer than the line.
        splitter = LineSplitter("\n")
        async for piece in self.chunks():
            for line in splitter.feed(piece):
                yield line
        for line in splitter.last():
            yield line

    @overload
    def lines(self, *, text: Literal[True] = ...) -> AsyncIterator[str]: ...

    @overload
    def lines(self, *, text: Literal[False]) -> AsyncIterator[builtins.bytes]: ...

    async def lines(self, *, text: bool = True) -> AsyncIterator[Any]:
        r"""Yield lines as they arrive, without their ``\n``; see `OutputStream.lines`."""
        newline: Any = "\n" if text else b"\n"
        splitter = LineSplitter(newline)
        async for piece in self.chunks() if text else self.chunks(text=False):
            for line in splitter.feed(piece):
                yield line[:-1]
        for line in splitter.last():
            yield line

    @overload
    def chunks(self, *, text: Literal[True] = ...) -> AsyncIterator[str]: ...

    @overload
    def chunks(self, *, text: Literal[False]) -> AsyncIterator[builtins.bytes]: ...

    async def chunks(self, *, text: bool = True) -> AsyncIterator[Any]:
        """Yield chunks as they arrive; see `OutputStream.chunks`."""
        patient = _Patient(self._stream)
        pieces: Iterator[Any]
        pieces = patient.stream.chunks() if text else patient.stream.chunks(text=False)

        def next_piece(call: Call[Any]) -> Any:
            patient.call = call
            return next(pieces, None)

        while (piece := await in_thread(next_piece)) is not None:
            yield piece

    @property
    def dropped_bytes(self) -> int:
        """Number of bytes dropped so far beyond `limits.output_bytes`."""
        return self._stream.dropped_bytes

    @property
    def truncated(self) -> bool:
        """Whether any bytes were dropped."""
        return self._stream.truncated


class AsyncInputStream:
    """Standard input of a program; see `InputStream`.

    Args:
        stream: Synchronous twin.
    """

    def __init__(self, stream: InputStream) -> None:
        self._stream = stream

    async def write(self, data: str | bytes) -> None:
        """Buffer text, as UTF-8, or bytes, without waiting; `drain` waits until the data is
        received.

        Raises:
            ValidationError: `write_eof` was called before, or `data` is neither text nor bytes.
        """
        await checkpoint()
        self._stream.write(data)

    async def drain(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as its twin
        """Wait until the program, or the pipe to it, has received all data.

        Args:
            timeout: Seconds to wait at most; None for no limit.

        Raises:
            BrokenPipeError: The program no longer reads.
            SandboxTimeoutError: The timeout passed.
        """

        def drain(call: Call[None]) -> None:
            if validate_timeout(timeout) is not None:
                self._stream.drain(timeout)
                return
            while True:
                with contextlib.suppress(SandboxTimeoutError):
                    self._stream.drain(SLICE_S)
                    return
                call.check()

        await in_thread(drain)

    async def write_eof(self) -> None:
        """End the stream after the written data; may be called twice."""
        await checkpoint()
        self._stream.write_eof()


class _Patient:
    """View of a stream whose reader thread regularly checks for cancellation.

    A thread that waits for output without end would keep this process alive.
    """

    def __init__(self, stream: OutputStream, call: Call[Any] | None = None) -> None:
        self._spool = stream._spool
        self.call = call
        self.stream = OutputStream(cast("Spool", self))

    def read(self, offset: int) -> builtins.bytes:
        """Read like `Spool.read`, with checks for cancellation."""
        spool = self._spool
        changed = spool._changed
        with changed:
            while not changed.wait_for(
                lambda: spool.kept > offset or spool.ended_at is not None, SLICE_S
            ):
                self._check()
        return spool.read(offset)

    def wait_end(self) -> bool:
        """Wait like `Spool.wait_end`, with checks for cancellation."""
        while not self._spool.wait_end(SLICE_S):
            self._check()
        return True

    def peek(self) -> tuple[builtins.bytes, builtins.bytes, int]:
        """Peek like `Spool.peek`."""
        return self._spool.peek()

    def _check(self) -> None:
        if self.call is not None:
            self.call.check()
