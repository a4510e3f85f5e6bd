"""Child processes of this process with the interface of `llm_sandbox.sandbox.Process`."""

import contextlib
import subprocess
from collections.abc import Iterator

from llm_sandbox.exceptions import SandboxTimeoutError

__all__ = ["Child", "ChildStream"]


class ChildStream:
    """Output stream of a child process.

    Args:
        stream: Pipe of the stream; None for none.
    """

    truncated = False
    """Always False: the child waits for a reader, so nothing is dropped."""

    def __init__(self, stream: Iterator[str] | None) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        return iter(()) if self._stream is None else iter(self._stream)


class Child:
    """Child process started by other code.

    Args:
        process: Child process with text streams.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        args = process.args
        self.command = tuple(map(str, args if isinstance(args, (list, tuple)) else [args]))
        self.stdout = ChildStream(process.stdout)
        self.stderr = ChildStream(process.stderr)

    def poll(self) -> int | None:
        """Return the exit code: n, or 128 + signal; None while it runs."""
        code = self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the process to end and return the exit code.

        Args:
            timeout: Seconds to wait at most; None for no limit.

        Raises:
            SandboxTimeoutError: The process still runs.
        """
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise SandboxTimeoutError("the process still runs", timeout, op="wait") from None
        return code if code >= 0 else 128 - code

    def kill(self) -> bool:
        """Kill the process without its children; False if it has ended."""
        if self._process.poll() is not None:
            return False
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        return True
