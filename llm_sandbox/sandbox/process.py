"""Running program in a sandbox."""

import contextlib
import shlex
import time
from dataclasses import dataclass, replace

from llm_sandbox.backends.base import Exit, Machine, RawProcess
from llm_sandbox.backends.processes import ended_by
from llm_sandbox.backends.terminals import check_size
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import (
    CommandFailedError,
    ContainerGoneError,
    SandboxTimeoutError,
    ValidationError,
)
from llm_sandbox.host.guest_numbers import guest_signal
from llm_sandbox.limits import validate_timeout
from llm_sandbox.sandbox.pump import GRACE_S
from llm_sandbox.sandbox.redirect import Redirection
from llm_sandbox.sandbox.spool import Spool
from llm_sandbox.sandbox.streams import (
    InputStream,
    Keep,
    OutputStream,
    make_excerpt,
    open_input,
    open_output,
)

__all__ = ["PIPE", "Pipe", "Process", "check_result", "exit_of", "redacted", "spools_of"]

_RUNNING = 124
_TERMINAL_S = 5.0
"""Time limit for the last output of a terminal, which ends by itself afterwards."""


@dataclass(frozen=True)
class Pipe:
    """Type of `PIPE`."""


PIPE = Pipe()
"""Value of `stdin`: the caller writes to the program through `Process.stdin`."""


class Process:
    """Started program. Its output is stored from the start, whether it is read or not.

    Safe to use from several threads. The program goes on if this object is dropped.
    """

    command: tuple[str, ...]
    """The program and its arguments."""
    stdout: OutputStream
    """Standard output."""
    stderr: OutputStream
    """Standard error."""
    stdin: InputStream | None
    """Standard input; None unless the program was started with `stdin=PIPE`."""

    def __init__(
        self,
        machine: Machine,
        raw: RawProcess,
        command: tuple[str, ...],
        *,
        started: float,
        given: bytes | None = None,
        targets: Redirection | None = None,
    ) -> None:
        self._machine = machine
        self._ending = raw.ending
        self._started = started
        self._redirection = targets or Redirection()
        self.id = raw.id
        self.command = command
        cap = machine.spec.limits.output_bytes
        grace_s = _TERMINAL_S if raw.has_terminal else GRACE_S
        self.stdout, self._out = open_output(raw.stdout, cap, raw.ending, grace_s)
        self.stderr, self._err = open_output(raw.stderr, cap, raw.ending, grace_s)
        self._redirection.follow((self._out, self._err))
        self.stdin = None
        if raw.stdin is not None:
            stream = open_input(raw.stdin, raw.ending)
            if given is None:
                self.stdin = stream
            else:
                stream.write(given)
                stream.write_eof()

    def __repr__(self) -> str:
        code = self.poll()
        state = "running" if code is None else f"exit code {code}"
        return f"<Process {shlex.quote(self.command[0])} {self.id}, {state}>"

    @property
    def returncode(self) -> int | None:
        """Exit code as `poll` returns it."""
        return self.poll()

    def poll(self) -> int | None:
        """Return the exit code: n, 128 + signal, 124 after its timeout; None while it runs."""
        ended = self._ending.get()
        return None if ended is None else ended.exit_code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the program's end and return its exit code.

        Args:
            timeout: Seconds to wait at most; None for no limit. The program continues.

        Raises:
            SandboxTimeoutError: The program still runs, or a target of its output does not accept
                it.
            OSError: Output could not be written to a file that `exec` was given.
        """
        return self._await_end(timeout, "wait").exit_code

    def _await_end(self, timeout: float | None, op: str) -> Exit:
        timeout = validate_timeout(timeout)
        ended = self._ending.wait(timeout)
        if ended is None:
            words = f"{shlex.quote(self.command[0])} still runs after {timeout} s"
            raise SandboxTimeoutError(words, timeout, op=op, backend=self._backend)
        self._redirection.finish(timeout)
        return ended

    @property
    def _backend(self) -> str:
        return self._machine.isolation.backend

    def signal(self, number: int) -> bool:
        """Send a signal to the program alone; return False if it has ended.

        Raises:
            ValidationError: There is no such signal.
        """
        if number not in range(1, 65):
            raise ValidationError(
                "invalid signal: expected a number from 1 to 64", parameter="number"
            )
        if self._ending.get() is not None:
            return False
        with contextlib.suppress(ContainerGoneError):
            return self._machine.signal(self.id, guest_signal(number))
        return False

    def resize(self, rows: int, cols: int) -> bool:
        """Change the size of the program's terminal, which sends it SIGWINCH; return False if it
        has ended.

        Args:
            rows: New height in characters, 1 to 65535.
            cols: New width.

        Raises:
            ValidationError: The program has no terminal, or the size is invalid.
        """
        check_size(rows, cols)
        if self._ending.get() is not None:
            return False
        with contextlib.suppress(ContainerGoneError):
            return self._machine.resize(self.id, rows, cols)
        return False

    def kill(self) -> bool:
        """Kill the program and all its descendants; return False if it has ended."""
        if self._ending.get() is not None:
            return False
        with contextlib.suppress(ContainerGoneError):
            return self._machine.kill(self.id)
        return False

    def collect(
        self, max_chars: int | None = None, *, keep: Keep = "head", timeout: float | None = None
    ) -> ProcessResult:
        """Wait for the end and return the result. May be called again.

        Args:
            max_chars: Maximum number of characters of each stream; None for all within the limits.
            keep: Part of a longer stream: its ``head``, its ``tail``, or ``both``, half of each
                with a line between them that counts what is missing. Beyond `limits.output_bytes`,
                64 KiB of the end are available.
            timeout: Seconds to wait at most; None for no limit. The program continues.

        Raises:
            SandboxTimeoutError: The program still runs; `result` has the output so far.
            OSError: Output could not be written to a file that `exec` was given.
            ValidationError: `max_chars` or `keep` is invalid.
        """
        if keep not in ("head", "tail", "both"):
            raise ValidationError(
                "invalid keep: expected 'head', 'tail' or 'both'", parameter="keep"
            )
        if max_chars is not None and max_chars < 0:
            raise ValidationError(
                "invalid max_chars: expected a non-negative number or None", parameter="max_chars"
            )
        try:
            ended = self._await_end(timeout, "collect")
        except SandboxTimeoutError as error:
            error.result = self._result(Exit(_RUNNING), max_chars, keep)
            raise
        self._out.wait_end()
        self._err.wait_end()
        return self._result(ended, max_chars, keep)

    def _result(self, ended: Exit, max_chars: int | None, keep: Keep) -> ProcessResult:
        stdout = make_excerpt(self._out, max_chars, keep)
        stderr = make_excerpt(self._err, max_chars, keep)
        return ProcessResult(
            exit_code=ended.exit_code,
            stderr=stderr.text,
            stdout=stdout.text,
            command=self.command,
            signal=ended.signal,
            timed_out=ended.timed_out,
            oom_killed=ended.oom_killed,
            stdout_truncated=stdout.truncated,
            stderr_truncated=stderr.truncated,
            dropped_bytes=stdout.dropped_bytes + stderr.dropped_bytes,
            duration_s=self._ended_at() - self._started,
            cause=ended_by(ended, self._machine.spec.limits) if self._ending.get() else None,
            cpu_s=ended.cpu_s,
            peak_memory_bytes=ended.peak_memory_bytes,
        )

    def _ended_at(self) -> float:
        return time.monotonic() if self._ending.at is None else self._ending.at


def exit_of(process: Process) -> Exit | None:
    """Return how a program ended, as its parent observed it; None while it runs."""
    return process._ending.get()


def spools_of(process: Process) -> tuple[Spool, Spool]:
    """Return the spools of a program's standard output and error."""
    return process._out, process._err


def check_result(process: Process, secrets: tuple[str, ...]) -> ProcessResult:
    """Wait for a program's end and return its result; kill it if waiting is interrupted.

    Raises:
        CommandFailedError: The exit status was not 0; `secrets` are redacted.
    """
    try:
        result = process.collect()
    except BaseException:
        process.kill()
        raise
    if result.exit_code == 0:
        return result
    shown = redacted(result, secrets)
    raise CommandFailedError(
        " ".join(shown.command),
        result.exit_code,
        shown.stdout + shown.stderr,
        op="check",
        backend=process._backend,
    )


def redacted(result: ProcessResult, secrets: tuple[str, ...]) -> ProcessResult:
    """Return the result without the values of `secrets` in its command and streams."""

    def clean(text: str) -> str:
        for value in secrets:
            text = text.replace(value, "***")
        return text

    return replace(
        result,
        command=tuple(map(clean, result.command)),
        stdout=clean(result.stdout),
        stderr=clean(result.stderr),
    )
