"""Programs that clients run in a sandbox: numbered, followed by any number of clients."""

import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from llm_sandbox.backends.base import Exit
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.exceptions import ProcessNotFoundError, UnsupportedError
from llm_sandbox.sandbox import PIPE, Process, Sandbox
from llm_sandbox.sandbox.process import exit_of, spools_of
from llm_sandbox.sandbox.spool import Spool
from llm_sandbox.server.followers import Follower

__all__ = ["Piece", "Program", "ProgramTable"]

_REMEMBERED = 16
"""Programs that have ended and are still known by their number, with their output."""
_MOST = 64
"""Programs of one sandbox that run at once, each of which costs the server two threads."""
_FIRST_NUMBER = 1000

Piece = tuple[Literal["stdout", "stderr"], bytes]
"""Stream, and bytes of it."""


@dataclass
class Program:
    """Program with a number, which clients know it by; it goes on when they leave."""

    number: int
    process: Process
    envs: Mapping[str, str]
    cwd: str | None
    tag: str | None
    has_terminal: bool
    _followers: set[Follower] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _has_ended: bool = False

    def watch(self) -> None:
        """Start to notify followers, until the program has ended."""
        for spool in spools_of(self.process):
            threading.Thread(
                target=self._watch, args=(spool,), name="llm-sandbox-follow", daemon=True
            ).start()

    def _watch(self, spool: Spool) -> None:
        seen = 0
        while spool.follow(seen, 1):
            seen = spool.total
            self._notify()
        self.process.wait()
        out, err = spools_of(self.process)
        if out.ended_at is not None and err.ended_at is not None:
            self._has_ended = True
        self._notify()

    def _notify(self) -> None:
        with self._lock:
            followers = list(self._followers)
        for follower in followers:
            follower.wake()

    @property
    def exit(self) -> Exit | None:
        """How it ended; None while it runs."""
        return exit_of(self.process)

    @property
    def dropped_bytes(self) -> int:
        """Number of bytes of its output beyond the limit, which no client gets."""
        return self.process.stdout.dropped_bytes + self.process.stderr.dropped_bytes

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return self.process.poll() is None

    async def follow(self, *, from_start: bool, keepalive_s: float) -> AsyncIterator[Piece | None]:
        """Yield output as it arrives, until both streams have ended; None after each silence.

        Args:
            from_start: Whether output of the past is included.
            keepalive_s: Length of a silence, in seconds.
        """
        spools = dict(zip(("stdout", "stderr"), spools_of(self.process), strict=True))
        places = {name: 0 if from_start else spool.kept for name, spool in spools.items()}
        follower = Follower()
        with self._lock:
            self._followers.add(follower)
        try:
            while True:
                ended = self._has_ended
                follower.clear()
                found = False
                for name, spool in spools.items():
                    while spool.kept > places[name]:
                        found = True
                        data = spool.read(places[name], 1 << 16)
                        places[name] += len(data)
                        yield ("stdout" if name == "stdout" else "stderr"), data
                if ended:
                    return
                if not found and not await follower.wait(keepalive_s):
                    yield None
        finally:
            with self._lock:
                self._followers.discard(follower)


class ProgramTable:
    """Programs of one sandbox by number: those that run, and the last that have ended.

    Safe to use from several threads.

    Args:
        sandbox: The sandbox.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._programs: dict[int, Program] = {}
        self._next = _FIRST_NUMBER

    def start(
        self,
        argv: tuple[str, ...],
        *,
        envs: Mapping[str, str],
        cwd: str | None,
        tag: str | None,
        terminal: Terminal | None,
        stdin: bool,
        timeout_s: float | None,
    ) -> Program:
        """Start a program.

        Args:
            argv: The program and its arguments.
            envs: Environment variables beside the sandbox's own.
            cwd: Working directory; None for the sandbox's.
            tag: Label of the client's.
            terminal: Terminal; None for pipes.
            stdin: Whether its standard input is open.
            timeout_s: Seconds until it is killed with all its descendants; None for no limit.

        Raises:
            LaunchError: It could not be started.
            UnsupportedError: Too many run already.
        """
        if sum(1 for _ in self.running()) >= _MOST:
            raise UnsupportedError(f"more than {_MOST} programs of one sandbox at once")
        process = self._sandbox.exec(
            *argv,
            env=envs,
            cwd=cwd,
            stdin=PIPE if stdin or terminal is not None else None,
            timeout=timeout_s,
            pty=False if terminal is None else terminal,
        )
        with self._lock:
            number, self._next = self._next, self._next + 1
            program = Program(number, process, envs, cwd, tag, terminal is not None)
            self._programs[number] = program
            ended = [key for key, one in self._programs.items() if not one.is_running]
            for key in ended[:-_REMEMBERED]:
                del self._programs[key]
        program.watch()
        return program

    def get(self, number: int | None = None, tag: str | None = None) -> Program:
        """Return a program by its number or its tag, the latest of that tag.

        Raises:
            ProcessNotFoundError: There is none.
        """
        with self._lock:
            if number in self._programs:
                return self._programs[number]
            for program in reversed(self._programs.values()):
                if tag is not None and program.tag == tag:
                    return program
        raise ProcessNotFoundError(str(number if tag is None else tag))

    def running(self) -> Iterator[Program]:
        """Yield the programs that run, oldest first."""
        with self._lock:
            known = list(self._programs.values())
        yield from (program for program in known if program.is_running)
