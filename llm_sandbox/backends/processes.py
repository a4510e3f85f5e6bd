"""A program and an interpreter: what is asked for, what a machine gives, and how they end."""

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
    """A program to start."""

    argv: tuple[str, ...]
    """The program and its arguments; never a shell line."""
    env: Mapping[str, str]
    """The whole environment."""
    cwd: str | None = None
    """Working directory; None for the machine's."""
    timeout_s: float | None = None
    """Seconds until it is killed with everything it started; None for no deadline."""
    stdin: bool = False
    """Whether the caller will write to it; otherwise it reads an empty stream."""
    terminal: Terminal | None = None
    """Its terminal, which is all of its streams: what it shows is its standard output."""
    stdout: Literal["pipe", "null"] = "pipe"
    """``null`` if nobody wants its standard output."""
    stderr: Literal["pipe", "null", "stdout"] = "pipe"
    """``stdout`` if it is the same stream as that."""


@dataclass(frozen=True)
class KernelSpec:
    """An interpreter to start."""

    env: Mapping[str, str]
    """The whole environment."""
    cold: bool = False
    """Whether it gets a memory layout of its own instead of a fork of the shared zygote."""
    warm: bool = False
    """Whether it runs a first cell of its own before it is used."""
    command: tuple[str, ...] = ()
    """The command line of another language's interpreter, around which the kernel is put; empty for
    Python, whose interpreter is the kernel."""
    packages: str | None = None
    """Folder of the machine with the kernel's own packages, behind those that its Python has; None
    where it has them."""


@dataclass(frozen=True)
class Exit:
    """How a process ended, as its parent outside saw it."""

    exit_code: int
    """By the endings table: n, 128 + signal, 124 for a deadline, 137 for memory."""
    signal: int | None = None
    """The signal that ended it."""
    timed_out: bool = False
    """Whether its deadline ended it."""
    oom_killed: bool = False
    """Whether the memory limit ended it."""
    cpu_s: float | None = None
    """CPU time of it and its awaited children, in seconds."""
    peak_memory_bytes: int | None = None
    """Its largest resident size, in bytes."""

    @property
    def words(self) -> str:
        """What ended it, for people."""
        if self.oom_killed:
            return "the memory limit"
        return f"exit code {self.exit_code}" if self.signal is None else f"signal {self.signal}"


@dataclass(frozen=True)
class LimitEvents:
    """How often the kernel has enforced limits of a machine since it was made."""

    oom_kills: int | None = None
    """Processes that it killed at the memory limit; None when not known."""
    refused_forks: int | None = None
    """Processes and threads that it did not start because of their limit; None when not known."""

    def since(self, before: Self) -> Self:
        """Return how often it was since an earlier count."""
        return type(self)(
            _more(before.oom_kills, self.oom_kills), _more(before.refused_forks, self.refused_forks)
        )


def _more(before: int | None, now: int | None) -> int | None:
    return None if now is None else max(0, now - (before or 0))


def ended_by(ended: Exit, limits: Limits) -> RunCause | None:
    """Say what ended a process, by what its parent outside saw.

    Args:
        ended: How it ended.
        limits: What it was allowed.

    Returns:
        None for an end of its own with exit status 0.
    """
    if ended.timed_out:
        return RunCause.TIMEOUT
    if ended.oom_killed:
        return RunCause.MEMORY
    # A shell says so of its last command.
    number = ended.signal or (ended.exit_code - 128 if ended.exit_code > 128 else None)
    if limits.cpu_seconds is not None and ended.cpu_s is not None:
        # The limit counts the clock's ticks, of which a busy machine gives a process parts only;
        # SIGKILL comes a second after SIGXCPU, to those who ignore that.
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
    """Set once, when a process has ended; any thread may wait for it."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._exit: Exit | None = None
        self.at: float | None = None
        """When it was set, by `time.monotonic`; None before."""

    def set(self, ended: Exit) -> None:
        """Record the end; later calls change nothing."""
        if self._exit is None:
            self.at = time.monotonic()
            self._exit = ended
            self._event.set()

    def get(self) -> Exit | None:
        """The end, or None while it runs."""
        return self._exit

    def wait(self, timeout_s: float | None = None) -> Exit | None:
        """Wait for the end; None if it did not come in time."""
        self._event.wait(timeout_s)
        return self._exit


@dataclass
class RawProcess:
    """A started program: three descriptors, which the taker closes, and its end."""

    id: str
    stdin: int | None
    stdout: int
    stderr: int
    ending: Ending
    has_terminal: bool = False
    """Whether its output comes from a terminal, whose last words come a little later."""


@dataclass(frozen=True)
class RunningProgram:
    """A program that a machine knows, whoever started it."""

    id: str
    argv: tuple[str, ...]
    started_at: float
    """Seconds since 1970."""
    exit: Exit | None = None
    """How it ended; None while it runs."""
    is_entry: bool = False
    """Whether it is the one that the machine was made for, and ends with."""


@dataclass
class RawKernel:
    """A started interpreter: its frame stream, what it writes past that, and its end."""

    id: str
    stream: socket.socket
    stdout: int
    stderr: int
    ending: Ending
    cold: bool = False
