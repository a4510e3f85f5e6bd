"""Programs started by `Sandbox.exec`."""

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
"""Exit code of a program after its timeout, as in Modal; the library itself uses 124."""


class ContainerProcess(Generic[_T]):
    """Running or ended program of a sandbox. It can be ended only by its timeout.

    Args:
        process: The program.
        stdout: Destination of the program's standard output.
        stderr: Destination of the program's standard error.
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
        """Standard output of the program."""
        return self._stdout

    @property
    def stderr(self) -> StreamReader[_T]:
        """Standard error of the program."""
        return self._stderr

    @property
    def stdin(self) -> StreamWriter:
        """Standard input of the program."""
        return self._stdin

    @property
    def returncode(self) -> int:
        """Exit code of the program, as last returned by `poll` or `wait`.

        Raises:
            InvalidError: Neither has seen the program end.
        """
        if self._returncode is None:
            raise InvalidError(
                "the program was not waited for, so that its exit code is not known",
                hint="call wait(), or poll()",
            )
        return self._returncode

    @Method
    def poll(self) -> int | None:
        """Return the exit code: n, 128 + signal, or -1 after a timeout; None while the program
        runs.
        """
        ended = exit_of(self._process)
        if ended is not None:
            self._returncode = _TIMED_OUT if ended.timed_out else ended.exit_code
        return self._returncode

    @Method
    def wait(self) -> int:
        """Wait for the program to end and return its exit code, as `poll` does."""
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
    """Copy a stream to the output of this process as it arrives."""

    def work() -> None:
        with contextlib.suppress(OSError, ValueError):
            for piece in stream.chunks():
                sys.stdout.write(piece)
                sys.stdout.flush()

    thread = threading.Thread(target=work, daemon=True, name="llm-sandbox-modal-output")
    thread.start()
    return thread
