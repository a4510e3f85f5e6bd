"""One run of a test: a process and all that it starts, watched, limited, ended and measured.

The watching process is the parent, or the first process, of every process of the run. So it reaps
them all, and the kernel's own counts of what each has used add up to that of the run.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import select
import signal
import time

from . import linux, memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

_CPUS = os.cpu_count() or 1
_GRACE_S = 0.05
_LEAST_PAUSE_S = 0.01
_POLL_S = 0.005
_MEMORY_PAUSE_S, _MEMORY_REST = 0.1, 20
_TICKS = os.sysconf("SC_CLK_TCK")
_READ = 1 << 16
_IDLE_SHARE = 0.05
_TAIL = 32 * 1024


class RunLimits:
    """Limits of one run.

    Attributes:
        cpu_s: CPU time of all processes together.
        wall_s: Time by the clock.
        output: Bytes of each stream.
        memory: Bytes of all processes together; None where a control group limits them.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.cpu_s: float = data["cpu_s"]
        self.wall_s: float = data["wall_s"]
        self.output: int = data["output"]
        self.memory: int | None = data.get("memory")


class Output:
    """Bytes of one stream; those in the middle are dropped where only the ends are kept.

    Args:
        fd: Descriptor to read from, which this object owns.
        limit: Most bytes that may come.
        ends: Whether only the beginning and the end are kept.

    Attributes:
        size: Bytes that have come.
        on_data: Called with each piece, and with nothing at the end; None for no call.
    """

    def __init__(self, fd: int, limit: int, *, ends: bool = False) -> None:
        self.fd = fd
        self.limit = limit
        self.size = 0
        self.on_data: Callable[[bytes], None] | None = None
        self._ends = ends
        self._data = bytearray()
        self._tail = bytearray()
        os.set_blocking(fd, False)

    def read(self) -> bool:
        """Read what there is, up to a buffer; return False at the end of the stream."""
        try:
            data = os.read(self.fd, _READ)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if self.on_data is not None:
            self.on_data(data)
        if not data:
            return False
        self.size += len(data)
        if not self._ends:
            self._data += data[: self.limit - len(self._data)]
            return True
        head = data[: max(0, _TAIL - len(self._data))]
        self._data += head
        self._tail += data[len(head) :]
        del self._tail[:-_TAIL]
        return True

    def drain(self) -> None:
        """Read what is left of an ended run, and close the descriptor."""
        while self.size <= self.limit:
            before = self.size
            if not self.read() or self.size == before:
                break
        os.close(self.fd)

    @property
    def is_over(self) -> bool:
        """Whether more came than is allowed."""
        return self.size > self.limit

    @property
    def data(self) -> bytes:
        """What was kept."""
        return bytes(self._data + self._tail)


class Usage:
    """What the reaped processes of a run have used.

    Attributes:
        cpu_s: CPU time.
        peak: Largest resident memory of one process, in bytes.
    """

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self.peak = 0

    def add(self, usage: resource.struct_rusage) -> None:
        """Add the counts of a process and of the children that it waited for."""
        self.cpu_s += usage.ru_utime + usage.ru_stime
        self.peak = max(self.peak, usage.ru_maxrss * 1024)


class Watch:
    """Watch over a run from its start to its end, or to a limit; nothing is killed here.

    Args:
        pid: Process with whose end the run ends.
        limits: Limits.
        spared: Processes that are not of the run.
        baseline_s: CPU time that living processes had used before the run.

    Attributes:
        ended_by: ``cpu``, ``wall``, ``idle``, ``output`` or ``memory`` if a limit ended it.
        has_exited: Whether the process has ended.
        wall_s: Time by the clock.
    """

    def __init__(
        self,
        pid: int,
        limits: RunLimits,
        *,
        spared: Collection[int] = (),
        baseline_s: float = 0.0,
    ) -> None:
        self._limits = limits
        self._spared = spared
        self._baseline_s = baseline_s
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[int], bool]] = {}
        self._is_done = False
        self._pid = pid
        self._pidfd = linux.open_pidfd(pid)
        self.ended_by: str | None = None
        self.has_exited = False
        self.wall_s = 0.0
        if self._pidfd is not None:
            self.add(self._pidfd, select.POLLIN, self._exited)
        self._started = time.monotonic()

    def _exited(self, _: int) -> bool:
        self.has_exited = True
        self.finish()
        return False

    def add(self, fd: int, events: int, handler: Callable[[int], bool]) -> None:
        """Call a function with the events of a descriptor, until it returns False."""
        self._poll.register(fd, events)
        self._handlers[fd] = handler

    def change(self, fd: int, events: int) -> None:
        """Change the events of a descriptor that are waited for."""
        self._poll.modify(fd, events)

    def add_output(self, output: Output) -> None:
        """Read a stream, whose limit is one of the run."""

        def read(_: int) -> bool:
            is_open = output.read()
            if output.is_over:
                self.ended_by = "output"
                self.finish()
            return is_open

        self.add(output.fd, select.POLLIN, read)

    def has(self, fd: int) -> bool:
        """Return whether the events of a descriptor are waited for."""
        return fd in self._handlers

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the time of a block out of account."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self._started += time.monotonic() - begun

    def finish(self) -> None:
        """End the run: it has done what was asked."""
        self._is_done = True

    def run(self) -> None:
        """Wait for the end of the run, or for a limit."""
        try:
            self._loop()
        finally:
            self.wall_s = time.monotonic() - self._started
            if self._pidfd is not None:
                os.close(self._pidfd)

    def _has_ended(self) -> bool:
        """Return whether the process has ended, where the kernel has no descriptor for that."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._pid, flags) is not None
        except ChildProcessError:
            return True

    def _loop(self) -> None:
        limits = self._limits
        check_at = self._started + (limits.cpu_s + _GRACE_S) / _CPUS
        memory_at = self._started + _MEMORY_PAUSE_S if limits.memory is not None else math.inf
        while True:
            deadline = self._started + limits.wall_s + _GRACE_S
            left = min(deadline, check_at, memory_at) - time.monotonic()
            if self._pidfd is None:
                left = min(left, _POLL_S)
                if self._has_ended():
                    self._exited(0)
                    return
            for fd, events in self._poll.poll(max(0, left * 1000)):
                if not self._handlers[fd](events):
                    self._poll.unregister(fd)
                    del self._handlers[fd]
            if self._is_done:
                return
            now = time.monotonic()
            deadline = self._started + limits.wall_s + _GRACE_S
            if now >= min(check_at, deadline):
                used_s = self.cpu_s()
                if used_s > limits.cpu_s + _GRACE_S:
                    self.ended_by = "cpu"
                    return
                if now >= deadline:
                    is_idle = used_s < _IDLE_SHARE * (now - self._started)
                    self.ended_by = "idle" if is_idle else "wall"
                    return
                pause_s = (limits.cpu_s + _GRACE_S - used_s) / _CPUS
                check_at = now + max(_LEAST_PAUSE_S, pause_s)
            if limits.memory is not None and now >= memory_at:
                if memory.over_limit({"run": (None, limits.memory)}):
                    self.ended_by = "memory"
                    return
                took_s = time.monotonic() - now
                memory_at = now + max(_MEMORY_PAUSE_S, _MEMORY_REST * took_s)

    def cpu_s(self) -> float:
        """Return the CPU seconds that living processes have used since the start of the run, with
        those of the children that they waited for.
        """
        return max(0.0, living_cpu(self._spared) - self._baseline_s)


def living_cpu(spared: Collection[int]) -> float:
    """Return the CPU seconds of living processes and of the children that they waited for.

    Args:
        spared: Processes that do not count.
    """
    total = 0.0
    for pid in processes(spared):
        with contextlib.suppress(OSError):
            words = linux.read_proc(f"{pid}/stat").rpartition(b")")[2].split()
            total += (int(words[13]) + int(words[14])) / _TICKS
            try:
                # The clock of another process (clock_getcpuclockid): exact, and not in ticks.
                total += time.clock_gettime((~pid) << 3 | 2)
            except OSError:
                total += (int(words[11]) + int(words[12])) / _TICKS
    return total


def run_delay(pid: int) -> float | None:
    """Return how many seconds a process that was not waited for could run and did not.

    None where the kernel does not count them.
    """
    try:
        return int(linux.read_proc(f"{pid}/schedstat").split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


def processes(spared: Collection[int]) -> list[int]:
    """Return all processes but the `spared`."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in spared]


def peak_memory(pids: Collection[int]) -> int:
    """Return the largest resident memory that one of the processes has had, in bytes."""
    peak = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError):
            after = linux.read_proc(f"{pid}/status").partition(b"\nVmHWM:")[2]
            peak = max(peak, int(after.split(None, 1)[0]) * 1024)
    return peak


def kill_everything() -> None:
    """Kill every process that this one may signal, but for itself."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def reap_everything(usage: Usage, main: int | None = None) -> int | None:
    """Wait for every child, which must have been killed or have ended.

    Args:
        usage: What they have used is added to it.
        main: Process whose status is asked for.

    Returns:
        The status of that process; None if it was not among them.
    """
    found = None
    while True:
        try:
            pid, status, spent = os.wait4(-1, 0)
        except ChildProcessError:
            return found
        usage.add(spent)
        if pid == main:
            found = status
