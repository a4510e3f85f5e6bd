"""Code run as a whole program: for machines whose Python cannot run a kernel, and for languages
without one.
"""

import collections
import contextlib
import os
import secrets
import select
import shlex
import threading
from collections.abc import Iterator, Mapping, Sequence

from llm_sandbox.backends.base import Exit, Machine
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.kernel.client import KernelRun
from llm_sandbox.kernel.collector import Collector, StreamName
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.limits import Deadline
from llm_sandbox.sandbox import PIPE, Process, Sandbox
from llm_sandbox.sandbox.process import exit_of
from llm_sandbox.sandbox.streams import OutputStream, iterate_bytes

__all__ = ["Programs"]

_PLACE = "/tmp"  # noqa: S108 - inside the sandbox
_SHELL_CHARACTERS = frozenset("|&;<>()$`*?~{}[]!#\\\"'\n")
_SHORTEST_S = 0.001


class Programs:
    """Runs each piece of code as a program of its own. For one thread at a time.

    Nobody watches such a program from inside: its result has no observations.

    Args:
        sandbox: Where.
        machine: The machine below it.
        handler: The language.
    """

    def __init__(
        self, sandbox: Sandbox, machine: Machine, handler: AbstractLanguageHandler
    ) -> None:
        self._sandbox = sandbox
        self._machine = machine
        self._handler = handler

    def run(
        self,
        code: str,
        collector: Collector,
        *,
        deadline: Deadline,
        env: Mapping[str, str],
        library_paths: Sequence[str] = (),
        stdin: Iterator[str] | None = None,
        stop: Stop | None = None,
    ) -> KernelRun:
        """Run code to its end; nothing that it started outlives it.

        Args:
            code: The program.
            collector: Gets what it puts out.
            deadline: When it is killed.
            env: What the caller added to the environment.
            library_paths: Where installed libraries are.
            stdin: Lines for its standard input; None for an empty one.
            stop: Kills it when it is asked.

        Raises:
            LaunchError: The machine lacks the program that runs this language.
            FileError: The code could not be written to the machine's ``/tmp``.
        """
        # Beside the working directory, whose files are the user's. The name never comes again: a
        # run cannot prepare what the next one executes.
        folder = f"{_PLACE}/.llm-sandbox-{secrets.token_hex(8)}"
        file = f"{folder}/main.{self._handler.file_extension}"
        self._sandbox.files.write_text(file, code)
        try:
            ended, stopped = Exit(0), False
            commands = self._handler.get_execution_commands(file)
            for number, command in enumerate(commands, 1):
                process = self._sandbox.exec(
                    *self._words(command),
                    env=self._environment(env, library_paths),
                    stdin=PIPE if stdin is not None and number == len(commands) else None,
                    timeout=_seconds(deadline),
                )
                stopped = _follow(process, collector, stdin, stop)
                ended = exit_of(process) or ended
                if ended.exit_code != 0 or stopped:
                    break
        finally:
            # If the machine has ended, its files have with it.
            with contextlib.suppress(SandboxError):
                self._machine.sweep()
                self._sandbox.files.remove(folder, recursive=True)
        used = {"cpu_s": ended.cpu_s, "peak_rss": ended.peak_memory_bytes}
        return KernelRun(
            "ended",
            reply={"llm_sandbox": used},
            exit=ended,
            late=ended.timed_out and not stopped,
            stopped=stopped,
        )

    def _words(self, command: str) -> tuple[str, ...]:
        if _SHELL_CHARACTERS.intersection(command):
            return ("sh", "-c", command)
        program, *rest = shlex.split(command)
        if program == self._handler.name == "python":
            # Where Python is called `python3` only, that is the one.
            program = self._machine.python() or program
        return (program, *rest)

    def _environment(self, env: Mapping[str, str], libraries: Sequence[str]) -> dict[str, str]:
        if self._handler.name != "python":
            return {}
        # A program finds modules beside itself; these are beside the user's files.
        paths = [self._sandbox.workdir, *libraries, env.get("PYTHONPATH", "")]
        return {
            "PYTHONPATH": ":".join(filter(None, paths)),
            "PYTHONUNBUFFERED": "1",
            "MPLBACKEND": env.get("MPLBACKEND", "Agg"),
        }


def _seconds(deadline: Deadline) -> float | None:
    left = deadline.remaining()
    return None if left is None else max(left, _SHORTEST_S)


def _follow(
    process: Process, collector: Collector, stdin: Iterator[str] | None, stop: Stop | None
) -> bool:
    """Gather what a program puts out until it has ended; returns whether it was stopped."""
    heard = _Heard(process)
    feeder = _Feeder(process, stdin) if process.stdin is not None and stdin is not None else None
    stopped = False
    try:
        while heard.is_open:
            if heard.wait(None if stopped else stop):
                stopped = True
                process.kill()
            for name, data in heard.take():
                collector.add_bytes(name, data)
        process.wait()
    except BaseException:
        process.kill()
        raise
    finally:
        heard.close()
    for name, stream in (("stdout", process.stdout), ("stderr", process.stderr)):
        collector.add_dropped({name: stream.dropped_bytes})
    if feeder is not None and feeder.failure is not None:
        raise feeder.failure
    return stopped


class _Heard:
    """Both outputs of a program, brought to one thread in the order in which they came."""

    def __init__(self, process: Process) -> None:
        self._pieces: collections.deque[tuple[StreamName, bytes]] = collections.deque()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._threads = [
            threading.Thread(target=self._hear, args=pair, name="llm-sandbox-hear", daemon=True)
            for pair in (("stdout", process.stdout), ("stderr", process.stderr))
        ]
        self._left = len(self._threads)
        for thread in self._threads:
            thread.start()

    def _hear(self, name: StreamName, stream: OutputStream) -> None:
        for data in iterate_bytes(stream):
            self._pieces.append((name, data))
            os.eventfd_write(self._wake, 1)
        self._pieces.append((name, b""))
        os.eventfd_write(self._wake, 1)

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self._left > 0

    def wait(self, stop: Stop | None) -> bool:
        """Wait until something came, or `stop` is asked; returns whether it was."""
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        if stop is not None:
            poll.register(stop, select.POLLIN)
        ready = [fd for fd, _ in poll.poll()]
        if self._wake in ready:
            os.eventfd_read(self._wake)
        return any(fd != self._wake for fd in ready)

    def take(self) -> Iterator[tuple[StreamName, bytes]]:
        """What has come."""
        while self._pieces:
            name, data = self._pieces.popleft()
            if data:
                yield name, data
            else:
                self._left -= 1

    def close(self) -> None:
        """Wait for the threads, which end when the program's streams do."""
        for thread in self._threads:
            thread.join()
        os.close(self._wake)


class _Feeder:
    """Writes lines to a program, no faster than it reads them."""

    def __init__(self, process: Process, lines: Iterator[str]) -> None:
        self.failure: BaseException | None = None
        self._process = process
        self._lines = lines
        threading.Thread(target=self._feed, name="llm-sandbox-feed", daemon=True).start()

    def _feed(self) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            for line in self._lines:
                stream.write(f"{line}\n")
                stream.drain()
        except BrokenPipeError:
            return  # it reads no more
        except BaseException as error:  # noqa: BLE001 - raised in the calling thread
            self.failure = error
            self._process.kill()
        finally:
            stream.write_eof()
