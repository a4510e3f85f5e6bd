"""Commands of a sandbox session."""

import contextlib
import contextvars
import queue
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from llm_sandbox.exceptions import (
    ContainerError,
    ErrorFacts,
    LaunchError,
    SandboxTimeoutError,
    ValidationError,
)

if TYPE_CHECKING:
    from llm_sandbox.adapters.zenml.session import SandboxSession

__all__ = [
    "AlreadyCollectedError",
    "SandboxExecError",
    "SandboxOutput",
    "SandboxProcess",
    "SandboxWaitTimeoutError",
]

_MAX_CHARS = 1_048_576
_KILLED_S = 10.0


class SandboxExecError(LaunchError, RuntimeError):
    """A command did not start: the program or directory is missing, or not executable."""


class AlreadyCollectedError(ContainerError, RuntimeError):
    """The output of a process was already collected."""


class SandboxWaitTimeoutError(SandboxTimeoutError, subprocess.TimeoutExpired):
    """A process still runs after the waiting time; it is left running.

    Both a `TimeoutError` and a `subprocess.TimeoutExpired`.
    """

    details = ("timeout_duration", "result", "cmd", "timeout", "output", "stderr")  # type: ignore[assignment]

    def __init__(
        self,
        message: str,
        timeout_duration: float,
        *,
        command: Sequence[str] = (),
        output: str | None = None,
        stderr: str | None = None,
        **facts: Unpack[ErrorFacts],
    ) -> None:
        super().__init__(message, timeout_duration, **facts)
        self.cmd = list(command)
        self.timeout = timeout_duration
        self.output = output
        self.stderr: str | None = stderr  # type: ignore[assignment]


@dataclass(frozen=True)
class SandboxOutput:
    """Output and exit code of a process."""

    stdout: str
    """Standard output."""
    stderr: str
    """Standard error."""
    exit_code: int
    """Exit code: n, or 128 + signal."""
    stdout_truncated: bool = False
    """Whether lines of `stdout` were left out."""
    stderr_truncated: bool = False
    """Whether lines of `stderr` were left out."""


class _Drain:
    """Reader thread that keeps the first lines of a stream."""

    def __init__(
        self, lines: Iterator[str], max_chars: int, ended: "queue.SimpleQueue[_Drain]"
    ) -> None:
        self._stream = lines
        self._ended = ended
        self._left = max_chars
        self._kept: list[str] = []
        self.truncated = False
        self.error: BaseException | None = None
        # What is logged meanwhile belongs to the step that is active for the caller.
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run,), daemon=True).start()

    @property
    def text(self) -> str:
        """Text kept so far."""
        return "".join(list(self._kept))

    def _run(self) -> None:
        try:
            for line in self._stream:
                self._take(line)
        except BaseException as error:  # noqa: BLE001 - raised by whoever collects
            self.error = error
        self._ended.put(self)

    def _take(self, line: str) -> None:
        if self.truncated or len(line) > self._left:
            self.truncated = True
        else:
            self._kept.append(line)
            self._left -= len(line)


class _Drains:
    """Concurrent readers of a process' streams, which may fill one before ending the other."""

    def __init__(self, process: "SandboxProcess", max_chars: int) -> None:
        self._ended: queue.SimpleQueue[_Drain] = queue.SimpleQueue()
        self._running = 2
        self.stdout = _Drain(process.stdout(), max_chars, self._ended)
        self.stderr = _Drain(process.stderr(), max_chars, self._ended)

    def wait(self, deadline: float | None) -> None:
        """Wait for the end of both streams.

        Raises:
            queue.Empty: The time is over.
            BaseException: The error of either reader.
        """
        while self._running:
            drain = self._ended.get(timeout=_left(deadline))
            self._running -= 1
            if drain.error is not None:
                raise drain.error


class SandboxProcess(ABC):
    """Command started in a session. It keeps running if this object is dropped.

    Args:
        session: Session of the command.
        started_at: Start time, in seconds of `time.time`.
    """

    def __init__(self, session: "SandboxSession", started_at: float) -> None:
        self._session = session
        self._started_at = started_at
        self._collected = False
        self._drains: _Drains | None = None

    @abstractmethod
    def stdout(self) -> Iterator[str]:
        r"""Yield lines of standard output as they arrive, each with its ``\n`` except perhaps the
        last. Each call continues where the previous one stopped.
        """

    @abstractmethod
    def stderr(self) -> Iterator[str]:
        """Yield lines of standard error; see `stdout`."""

    @abstractmethod
    def wait(self, timeout: float | None = None) -> int:
        """Wait for the process to end and return the exit code.

        Args:
            timeout: Seconds to wait at most; None for no limit. The process is left running.

        Raises:
            SandboxWaitTimeoutError: The process still runs.
        """

    @abstractmethod
    def kill(self) -> None:
        """Kill the process and its children; no effect after its end."""

    @property
    @abstractmethod
    def exit_code(self) -> int | None:
        """Exit code; None while the process runs."""

    def collect(
        self, *, max_chars: int = _MAX_CHARS, timeout: float | None = None
    ) -> SandboxOutput:
        """Wait for the process to end and return its unread output.

        Lines that would exceed `max_chars` of a stream are omitted, with all later ones; no line is
        cut.

        Args:
            max_chars: Maximum characters of each stream; 1,048,576.
            timeout: Seconds to wait at most; None for no limit. The process is left running, and a
                later call continues with the output collected so far.

        Raises:
            AlreadyCollectedError: The output was already collected.
            SandboxWaitTimeoutError: The process still runs; `output` and `stderr` have the output
                so far.
            ValidationError: `max_chars` is below 0.
        """
        if self._collected:
            raise AlreadyCollectedError(
                "the output of this process was collected before",
                op="collect",
                hint="keep what collect() returned the first time",
            )
        if max_chars < 0:
            raise ValidationError("max_chars is a number from 0", parameter="max_chars")
        deadline = None if timeout is None else time.monotonic() + timeout
        drains = self._drains = self._drains or _Drains(self, max_chars)
        try:
            drains.wait(deadline)
        except queue.Empty:
            raise self._still_running(timeout, drains) from None
        except BaseException:
            # Nobody reads that stream any more: the process could wait for that for ever.
            self._drains = None
            with contextlib.suppress(Exception):
                self.kill()
            with contextlib.suppress(Exception):
                self.wait(_KILLED_S)
            raise
        try:
            exit_code = self.wait(_left(deadline))
        except TimeoutError:
            raise self._still_running(timeout, drains) from None
        self._collected = True
        self._session._log_exec_result(exit_code=exit_code, started_at=self._started_at)
        cut = self._was_cut()
        return SandboxOutput(
            stdout=drains.stdout.text,
            stderr=drains.stderr.text,
            exit_code=exit_code,
            stdout_truncated=drains.stdout.truncated or cut[0],
            stderr_truncated=drains.stderr.truncated or cut[1],
        )

    def _was_cut(self) -> tuple[bool, bool]:
        """Return, for each stream, whether lines were dropped before they could be read."""
        return False, False

    def _still_running(self, timeout: float | None, drains: _Drains) -> SandboxWaitTimeoutError:
        return SandboxWaitTimeoutError(
            f"the process still runs after {timeout} s",
            timeout or 0.0,
            output=drains.stdout.text,
            stderr=drains.stderr.text,
            op="collect",
            hint="call collect() again, or kill() first",
        )


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())
