"""Programs of a detached sandbox, with their output, independent of clients."""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from llm_sandbox.backends.base import Exit, Machine, ProcessSpec, RunningProgram
from llm_sandbox.exceptions import ProcessNotFoundError
from llm_sandbox.guest.descriptors import open_pipe
from llm_sandbox.sandbox.process import Process, exit_of, spools_of
from llm_sandbox.sandbox.redirect import check_streams
from llm_sandbox.sandbox.spool import Spool

__all__ = ["Follower", "Program", "Programs"]

_MOST_ENDED = 128
_MOST_BYTES = 1 << 30


@dataclass
class Program:
    """Program of a detached sandbox."""

    process: Process
    is_entry: bool = False
    started_at: float = field(default_factory=time.time)

    def describe(self) -> RunningProgram:
        """Return the description of the program for clients."""
        return RunningProgram(
            self.process.id,
            self.process.command,
            self.started_at,
            exit_of(self.process),
            self.is_entry,
        )

    @property
    def runs(self) -> bool:
        """Whether the program runs."""
        return exit_of(self.process) is None

    @property
    def size(self) -> int:
        """Number of stored output bytes."""
        return sum(spool.kept for spool in spools_of(self.process))


class Programs:
    """Running programs, and the last ones that have ended. Safe between threads.

    Args:
        machine: Machine of the programs.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._lock = threading.Lock()
        self._by_id: dict[str, Program] = {}
        self.entry: Program | None = None
        """Entry command of the sandbox."""

    def start(self, spec: ProcessSpec, *, is_entry: bool = False) -> tuple[Program, int | None]:
        """Start a program.

        Returns:
            The program, and the descriptor of its standard input; None if it has no input, or is
            the entry command, whose input stays with this process.
        """
        started = time.monotonic()
        check_streams(self._machine, spec)
        raw = self._machine.start(spec)
        stdin = None
        if not is_entry:
            stdin, raw.stdin = raw.stdin, None
        program = Program(Process(self._machine, raw, spec.argv, started=started), is_entry)
        with self._lock:
            self._by_id[raw.id] = program
            if is_entry:
                self.entry = program
            self._evict()
        return program, stdin

    def _evict(self) -> None:
        """Remove the oldest ended programs beyond the limits of number and output."""
        ended = [one for one in self._by_id.values() if not one.runs and not one.is_entry]
        size = sum(one.size for one in ended)
        for number, one in enumerate(ended):
            if len(ended) - number <= _MOST_ENDED and size <= _MOST_BYTES:
                return
            size -= one.size
            del self._by_id[one.process.id]

    def get(self, process_id: str) -> Program:
        """Return a program by its id.

        Raises:
            ProcessNotFoundError: No such program is known.
        """
        with self._lock:
            found = self._by_id.get(process_id)
        if found is None:
            raise ProcessNotFoundError(process_id)
        return found

    def describe(self) -> list[RunningProgram]:
        """Return the descriptions of all programs, oldest first."""
        with self._lock:
            return [one.describe() for one in self._by_id.values()]

    @property
    def are_active(self) -> bool:
        """Return whether a program runs besides the entry command."""
        with self._lock:
            return any(one.runs and not one.is_entry for one in self._by_id.values())


class Follower:
    """Copier of a program's output to one client, followed by the exit.

    Args:
        program: The program.
        on_exit: Callback with the exit, after all output was copied.
    """

    def __init__(self, program: Program, on_exit: Callable[[Exit], None]) -> None:
        self._program = program
        self._on_exit = on_exit
        self._lock = threading.Lock()
        self._left = 2
        self._writes: list[tuple[Spool, int]] = []
        self.reads: list[int] = []
        """Read ends for the client: standard output and error."""
        for spool in spools_of(program.process):
            read, write = open_pipe()
            self.reads.append(read)
            self._writes.append((spool, write))

    def start(self) -> None:
        """Start copying, in two threads."""
        for spool, fd in self._writes:
            threading.Thread(
                target=self._carry, args=(spool, fd), name="llm-sandbox-follow", daemon=True
            ).start()

    def _carry(self, spool: Spool, fd: int) -> None:
        offset = 0
        # A client that is gone, or reads no more, misses what it does not want.
        with contextlib.suppress(OSError):
            while data := spool.follow(offset):
                offset += len(data)
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
        os.close(fd)
        with self._lock:
            self._left -= 1
            is_last = self._left == 0
        if is_last:
            self._program.process.wait()
            ended = exit_of(self._program.process)
            if ended is not None:
                self._on_exit(ended)
