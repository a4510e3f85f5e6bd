"""Programs and kernels of a machine: specifications, handles and ends."""

import math
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.const import RunCause
from llm_sandbox.host.guest_numbers import GuestSignal
from llm_sandbox.limits import Limits

__all__ = [
    "Ending",
    "Exit",
    "KernelSpec",
    "LimitEvents",
    "ProcessSpec",
    "RawKernel",
    "RawProcess",
    "RunningProgram",
    "ended_by",
    "whole_seconds",
]


@dataclass(frozen=True)
class ProcessSpec:
    """Specification of a program."""

    argv: tuple[str, ...]
    """The program and its arguments; never a shell line."""
    env: Mapping[str, str]
    """The whole environment."""
    cwd: str | None = None
    """Working directory; None for the machine's."""
    timeout_s: float | None = None
    """Seconds until it is killed with everything it started; None for no deadline."""
    stdin: bool = False
    """Whether the caller will write to its standard input; otherwise that is empty."""
    terminal: Terminal | None = None
    """Terminal for all of its streams, whose output is the standard output; None for pipes."""
    stdout: Literal["pipe", "null"] = "pipe"
    """``null`` discards the standard output."""
    stderr: Literal["pipe", "null", "stdout"] = "pipe"
    """``stdout`` merges it into the standard output."""


@dataclass(frozen=True)
class KernelSpec:
    """Specification of a kernel."""

    env: Mapping[str, str]
    """The whole environment."""
    cold: bool = False
    """Whether it is started with a memory layout of its own instead of forked from the zygote."""
    warm: bool = False
    """Whether it runs a warm-up cell before its first use."""
    command: tuple[str, ...] = ()
    """Command line of another language's interpreter, which the kernel wraps; empty for Python,
    whose interpreter is the kernel."""
    packages: str | None = None
    """Folder of the machine with the kernel's packages, where its Python lacks them; last in the
    path."""


@dataclass(frozen=True)
class Exit:
    """Exit of a process, as observed by its parent, outside of user code."""

    exit_code: int
    """n, 128 + signal, 124 after a deadline, 137 after the memory limit."""
    signal: int | None = None
    """Signal that ended it; None for an exit of its own."""
    timed_out: bool = False
    """Whether its deadline ended it."""
    oom_killed: bool = False
    """Whether the memory limit ended it."""
    cpu_s: float | None = None
    """CPU time of the process and its awaited children, in seconds."""
    peak_memory_bytes: int | None = None
    """Its largest resident size, in bytes."""

    @property
    def words(self) -> str:
        """Reason of the exit, for people."""
        if self.oom_killed:
            return "the memory limit"
        return f"exit code {self.exit_code}" if self.signal is None else f"signal {self.signal}"


@dataclass(frozen=True)
class LimitEvents:
    """Counts of limits that the operating system has enforced since a machine was created."""

    oom_kills: int | None = None
    """Processes killed at the memory limit; None if unknown."""
    refused_forks: int | None = None
    """Processes and threads refused at their limit; None if unknown."""

    def since(self, before: Self) -> Self:
        """Return the counts since earlier ones."""
        return type(self)(
            _more(before.oom_kills, self.oom_kills), _more(before.refused_forks, self.refused_forks)
        )


def _more(before: int | None, now: int | None) -> int | None:
    return None if now is None else max(0, now - (before or 0))


def ended_by(ended: Exit, limits: Limits) -> RunCause | None:
    """Return the cause of an exit.

    Args:
        ended: The exit.
        limits: Limits of the process.

    Returns:
        The cause; None for an exit of its own with status 0.
    """
    if ended.timed_out:
        return RunCause.TIMEOUT
    if ended.oom_killed:
        return RunCause.MEMORY
    # A shell reports the signal of its last command as 128 + number.
    number = ended.signal or (ended.exit_code - 128 if ended.exit_code > 128 else None)
    if limits.cpu_seconds is not None and ended.cpu_s is not None:
        # The limit counts clock ticks, of which a process on a busy machine gets parts. SIGKILL
        # follows SIGXCPU by a second, for processes that ignore that.
        shares: dict[int, float] = {GuestSignal.SIGXCPU: 0.5, GuestSignal.SIGKILL: 1.0}
        share = shares.get(number or 0, math.inf)
        if ended.cpu_s >= share * whole_seconds(limits.cpu_seconds):
            return RunCause.CPU
    if number == GuestSignal.SIGXFSZ:
        return RunCause.FILE_SIZE
    if number == GuestSignal.SIGSYS:
        return RunCause.PERMISSION
    if ended.signal is not None:
        return RunCause.SIGNAL
    return RunCause.EXIT if ended.exit_code else None


def whole_seconds(cpu_seconds: float) -> int:
    """Return the CPU limit as the kernel takes it: whole seconds, at least one."""
    return max(1, round(cpu_seconds))


class Ending:
    """Future of a process's exit: set once, and awaited by any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._exit: Exit | None = None
        self.at: float | None = None
        """Time of the exit by `time.monotonic`; None before."""

    def set(self, ended: Exit) -> None:
        """Record the exit; later calls change nothing."""
        if self._exit is None:
            self.at = time.monotonic()
            self._exit = ended
            self._event.set()

    def get(self) -> Exit | None:
        """Return the exit, or None while the process runs."""
        return self._exit

    def wait(self, timeout_s: float | None = None) -> Exit | None:
        """Wait for the exit and return it; None if it did not come in time."""
        self._event.wait(timeout_s)
        return self._exit


@dataclass
class RawProcess:
    """Started program: three descriptors, which the caller closes, and its end."""

    id: str
    stdin: int | None
    stdout: int
    stderr: int
    ending: Ending
    has_terminal: bool = False
    """Whether its output comes from a terminal, whose last bytes arrive a little later."""


@dataclass(frozen=True)
class RunningProgram:
    """Program of a machine, started by any client."""

    id: str
    argv: tuple[str, ...]
    started_at: float
    """Start, in seconds since 1970."""
    exit: Exit | None = None
    """Exit; None while it runs."""
    is_entry: bool = False
    """Whether it is the machine's main program, with which the machine ends."""


@dataclass
class RawKernel:
    """Started kernel: its frame stream, its output beside that, and its end."""

    id: str
    stream: socket.socket
    stdout: int
    stderr: int
    ending: Ending
    cold: bool = False
