"""Awaitable twin of a program running in a sandbox."""

import contextlib
from collections.abc import Callable
from typing import TypeVar

from anyio.lowlevel import checkpoint

from llm_sandbox.aio.streams import AsyncInputStream, AsyncOutputStream
from llm_sandbox.aio.threads import SLICE_S, Call, in_thread, in_thread_quickly, to_the_end
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import validate_timeout
from llm_sandbox.sandbox.process import Process
from llm_sandbox.sandbox.streams import Keep

__all__ = ["AsyncProcess"]

_Value = TypeVar("_Value")


class AsyncProcess:
    """Started program; see `Process`. Cancelling a call leaves the program running.

    Args:
        process: Synchronous twin.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._stdout = AsyncOutputStream(process.stdout)
        self._stderr = AsyncOutputStream(process.stderr)
        self._stdin = None if process.stdin is None else AsyncInputStream(process.stdin)

    @property
    def id(self) -> str:
        """Id of the program in the sandbox."""
        return self._process.id

    @property
    def command(self) -> tuple[str, ...]:
        """Program and arguments."""
        return self._process.command

    @property
    def stdout(self) -> AsyncOutputStream:
        """Standard output."""
        return self._stdout

    @property
    def stderr(self) -> AsyncOutputStream:
        """Standard error."""
        return self._stderr

    @property
    def stdin(self) -> AsyncInputStream | None:
        """Standard input; None unless the program was started with `stdin=PIPE`."""
        return self._stdin

    @property
    def returncode(self) -> int | None:
        """Exit code, as returned by `poll`."""
        return self._process.returncode

    def __repr__(self) -> str:
        return f"<Async{repr(self._process).removeprefix('<')}"

    async def poll(self) -> int | None:
        """Return the exit code: n, 128 + signal, 124 for its timeout; None while it runs."""
        await checkpoint()
        return self._process.poll()

    async def wait(self, timeout: float | None = None) -> int:  # noqa: ASYNC109
        """Wait for the program's end and return its exit code; see `Process.wait`."""
        return await self._ask(self._process.wait, timeout)

    async def signal(self, number: int) -> bool:
        """Send a signal to the program alone; False if it has ended. See `Process.signal`."""
        return await in_thread_quickly(self._process.signal, number)

    async def resize(self, rows: int, cols: int) -> bool:
        """Change the size of the program's terminal; see `Process.resize`."""
        return await in_thread_quickly(self._process.resize, rows, cols)

    async def kill(self) -> bool:
        """Kill the program and all its descendants; False if it has ended.

        It is killed even if the call is cancelled.
        """
        return await to_the_end(self._process.kill)

    async def collect(
        self,
        max_chars: int | None = None,
        *,
        keep: Keep = "head",
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
    ) -> ProcessResult:
        """Wait for the end and return everything about the run; see `Process.collect`."""
        return await self._ask(
            lambda seconds: self._process.collect(max_chars, keep=keep, timeout=seconds), timeout
        )

    async def _ask(self, ask: Callable[[float | None], _Value], limit: float | None) -> _Value:
        """Call a waiting method in a thread that stops when the caller is cancelled."""

        def work(call: Call[_Value]) -> _Value:
            if validate_timeout(limit) is not None:
                return ask(limit)
            with contextlib.suppress(SandboxTimeoutError):
                return ask(SLICE_S)
            while self._process.poll() is None:
                call.check()
                with contextlib.suppress(SandboxTimeoutError):
                    self._process.wait(SLICE_S)
            return ask(None)

        return await in_thread(work)
