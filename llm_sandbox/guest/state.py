"""State of the supervisor: its machines, and the processes that it runs for the host."""

from __future__ import annotations

import os
import signal
import socket
import time

from .machine import PlainMachine

_START_S = 10.0


class RunningProcess:
    """A process that the host started.

    Attributes:
        key: The host's name for the process.
        machine: Id of its machine.
        pidfd: Pidfd for signals; None where the kernel has none: then the pid is used.
        deadline: Time at which it is killed, on the monotonic clock.
        timed_out: Whether it was killed at its deadline.
        forked: Whether it was forked from the zygote, and so has no marker in its environment.
        wraps: Whether it is a kernel around an interpreter of its own, its only child.
        over_memory: Whether it was killed because its machine used too much memory.
        terminal: Socket for new sizes of its terminal; None without one.
    """

    def __init__(
        self,
        key: str,
        pid: int,
        machine: str,
        pidfd: int | None,
        deadline: float | None = None,
        *,
        forked: bool = False,
        wraps: bool = False,
        terminal: socket.socket | None = None,
    ) -> None:
        self.key, self.pid, self.machine, self.pidfd = key, pid, machine, pidfd
        self.deadline = deadline
        self.forked = forked
        self.wraps = wraps
        self.terminal = terminal
        self.timed_out = False
        self.over_memory = False

    def send(self, number: int) -> None:
        """Send a signal to the process.

        Raises:
            ProcessLookupError: The process has ended.
        """
        if self.pidfd is not None:
            signal.pidfd_send_signal(self.pidfd, number)
        else:
            os.kill(self.pid, number)

    def close(self) -> None:
        """Release the descriptors of an ended process."""
        if self.pidfd is not None:
            os.close(self.pidfd)
        if self.terminal is not None:
            self.terminal.close()


class MachineState:
    """A machine with its deadline, its memory limit and its agents.

    Attributes:
        deadline: Time at which it ends, on the monotonic clock.
        memory_limit: In bytes, enforced by the supervisor, where no cgroup does it.
        agents: Pids of its agents.
    """

    def __init__(self, machine: PlainMachine, memory_limit: int | None = None) -> None:
        self.machine = machine
        self.memory_limit = memory_limit
        self.deadline: float | None = None
        self.agents: set[int] = set()


class PendingStart:
    """A process that has not reported yet whether its program runs.

    Attributes:
        request: Number of the request to answer.
        deadline: Time at which the start has failed, on the monotonic clock.
    """

    def __init__(self, request: int, running: RunningProcess) -> None:
        self.request = request
        self.running = running
        self.deadline = time.monotonic() + _START_S
