"""A program that `Sandbox.exec` has started."""

import contextlib
import sys
import threading
from typing import Generic, TypeVar, cast

from llm_sandbox.adapters.modal.calls import Method
from llm_sandbox.adapters.modal.exception import InvalidError
from llm_sandbox.adapters.modal.io_streams import StreamReader, StreamWriter
from llm_sandbox.adapters.modal.stream_type import StreamType
from llm_sandbox.aio import AsyncProcess
from llm_sandbox.sandbox import Process
from llm_sandbox.sandbox.process import exit_of
from llm_sandbox.sandbox.streams import OutputStream

__all__ = ["ContainerProcess"]

_T = TypeVar("_T", str, bytes)

_TIMED_OUT = -1
"""What a program's timeout comes to, for those who rely on it; the library itself says 124."""


class ContainerProcess(Generic[_T]):
    """A program that runs in a sandbox, or has run. There is no way to end it but its timeout.

    Args:
        process: The program.
        stdout: Where its output goes.
        stderr: Where its errors go.
        text: Whether both are read as text.
        by_line: Whether iterating over them yields lines.
    """

    def __init__(
        self,
        process: Process,
        *,
        stdout: StreamType,
        stderr: StreamType,
        text: bool,
        by_line: bool,
    ) -> None:
        self._process = process
        self._stdout: StreamReader[_T] = StreamReader(
            process.stdout, stdout, text=text, by_line=by_line
        )
        self._stderr: StreamReader[_T] = StreamReader(
            process.stderr, stderr, text=text, by_line=by_line
        )
        self._stdin = StreamWriter(process)
        self._returncode: int | None = None
        shown = [(stdout, process.stdout), (stderr, process.stderr)]
        self._showing = [_show(stream) for kind, stream in shown if kind is StreamType.STDOUT]

    def __repr__(self) -> str:
        return f"<ContainerProcess {self._process!r}>"

    @property
    def stdout(self) -> StreamReader[_T]:
        """Its standard output."""
        return self._stdout

    @property
    def stderr(self) -> StreamReader[_T]:
        """Its standard error."""
        return self._stderr

    @property
    def stdin(self) -> StreamWriter:
        """Its standard input."""
        return self._stdin

    @property
    def returncode(self) -> int:
        """Its exit code, as `poll` or `wait` found it last.

        Raises:
            InvalidError: Neither has found that it ended.
        """
        if self._returncode is None:
            raise InvalidError(
                "the program was not waited for, so that its exit code is not known",
                hint="call wait(), or poll()",
            )
        return self._returncode

    @Method
    def poll(self) -> int | None:
        """Its exit code, 128 + signal, -1 after its timeout; None while it runs."""
        ended = exit_of(self._process)
        if ended is not None:
            self._returncode = _TIMED_OUT if ended.timed_out else ended.exit_code
        return self._returncode

    @Method
    def wait(self) -> int:
        """Wait for its end and return its exit code, as `poll`."""
        self._process.wait()
        return self._found()

    @wait.awaited
    async def _wait_aio(self) -> int:
        await AsyncProcess(self._process).wait()
        return self._found()

    def _found(self) -> int:
        for thread in self._showing:
            thread.join()
        return cast(int, self.poll())


def _show(stream: OutputStream) -> threading.Thread:
    """Write a stream to this process' own output as it comes."""

    def work() -> None:
        with contextlib.suppress(OSError, ValueError):
            for piece in stream.chunks():
                sys.stdout.write(piece)
                sys.stdout.flush()

    thread = threading.Thread(target=work, daemon=True, name="llm-sandbox-modal-output")
    thread.start()
    return thread
