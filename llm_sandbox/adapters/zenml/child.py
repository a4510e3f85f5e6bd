"""A child of this process, with the words that a program of a sandbox has."""

import contextlib
import subprocess
from collections.abc import Iterator

from llm_sandbox.exceptions import SandboxTimeoutError

__all__ = ["Child", "ChildStream"]


class ChildStream:
    """Lines that a child writes.

    Args:
        stream: The pipe; None where there is none.
    """

    truncated = False
    """Nothing is dropped: the child waits for a reader."""

    def __init__(self, stream: Iterator[str] | None) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        return iter(()) if self._stream is None else iter(self._stream)


class Child:
    """A child that somebody else started.

    Args:
        process: The child; what it writes is text.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        args = process.args
        self.command = tuple(map(str, args if isinstance(args, (list, tuple)) else [args]))
        self.stdout = ChildStream(process.stdout)
        self.stderr = ChildStream(process.stderr)

    def poll(self) -> int | None:
        """The exit code: n, or 128 + signal; None while it runs."""
        code = self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code.

        Args:
            timeout: Seconds to wait at most; None for no limit.

        Raises:
            SandboxTimeoutError: It still runs.
        """
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise SandboxTimeoutError("the process still runs", timeout, op="wait") from None
        return code if code >= 0 else 128 - code

    def kill(self) -> bool:
        """Kill it alone: what it started is nobody's here. False if it has ended."""
        if self._process.poll() is not None:
            return False
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        return True
