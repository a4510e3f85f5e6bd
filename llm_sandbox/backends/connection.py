"""The host's end of a supervisor: requests, answers, and news of what ended."""

import contextlib
import itertools
import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import IO, Any, Protocol

from llm_sandbox.backends.base import Ending, Exit
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ContainerGoneError,
    SandboxError,
)
from llm_sandbox.guest.control import ControlChannel, Message
from llm_sandbox.host.guest_numbers import GuestSignal, exit_status

__all__ = [
    "Command",
    "Launch",
    "RunningSupervisor",
    "SupervisorConnection",
    "SupervisorEnd",
    "launch_process",
]

Command = Callable[[int], tuple[list[str], list[int]]]
"""Makes a command line from the number of the inherited control descriptor, and names further
descriptors that are inherited, and closed here afterwards."""


@dataclass(frozen=True, slots=True)
class SupervisorEnd:
    """How a supervisor ended.

    Attributes:
        words: For people.
        oom_killed: Whether the kernel killed it, with all that it runs, for want of memory.
    """

    words: str
    oom_killed: bool = False

    @property
    def reason(self) -> str:
        """The `end_reason` of its machines."""
        return "oom" if self.oom_killed else "gone"


class RunningSupervisor(Protocol):
    """A supervisor that was started."""

    def wait(self) -> SupervisorEnd:
        """Wait until it has ended."""


Launch = Callable[[socket.socket, IO[bytes]], RunningSupervisor]
"""Starts a supervisor on the far end of its control connection; what it writes for people goes to
the file."""

_ANSWER_S = 60.0
_LOOK_S = 1.5
_START_S = 30.0
_INTERRUPTED_S = 3.0
_NEXT = "make a new one: nothing in this one is left"


def launch_process(command: Command) -> Launch:
    """Return what starts a supervisor as a process of this machine."""

    def launch(far: socket.socket, log: IO[bytes]) -> RunningSupervisor:
        inherited: list[int] = []
        try:
            words, inherited = command(far.fileno())
            return _Process(
                subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(far.fileno(), *inherited),
                    start_new_session=True,
                    close_fds=True,
                    env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                )
            )
        finally:
            for fd in inherited:
                os.close(fd)

    return launch


class _Process:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def wait(self) -> SupervisorEnd:
        return SupervisorEnd(f"exit status {self._process.wait()}")


class SupervisorConnection:
    """Starts a supervisor and talks to it.

    One thread starts it and then listens to it for as long as it lives: the kernel's parent-death
    signal is bound to the thread that started a process, so it must not be a passing one.

    Args:
        launch: Starts it.
        backend: Name for error messages.
        on_event: Called in the listening thread with every event but exits.
        channel: Makes this process's end of the control connection.
        look: Called, in a thread of its own, when an answer is slow to come; returns why none can
            come, or None when nothing is known to be in its way.

    Raises:
        BackendUnavailableError: The supervisor did not come up; the message has what it wrote.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        backend: str,
        on_event: Callable[[Message], None] = lambda message: None,
        channel: Callable[[socket.socket], ControlChannel] = ControlChannel,
        look: Callable[[], SandboxError | None] = lambda: None,
    ) -> None:
        self._backend = backend
        self._look = look
        self._looking = False
        self._on_event = on_event
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._answers: dict[int, Future[Message]] = {}
        self._endings: dict[str, Ending] = {}
        self._oom_of: dict[str, Callable[[], bool]] = {}
        self._closed = False
        self.owner = os.getpid()
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this is
        self._ready: Future[Message] = Future()
        near, far = socket.socketpair()
        self._channel = channel(near)
        self._thread = threading.Thread(
            target=self._live,
            args=(launch, far),
            name=f"llm-sandbox-{backend}",
            daemon=True,
        )
        self._thread.start()
        try:
            self.hello = self._ready.result(_START_S)
        except FutureTimeoutError:
            self.close()
            raise BackendUnavailableError(
                f"the {backend} supervisor did not answer in {_START_S:.0f} s", backend=backend
            ) from None
        except KeyboardInterrupt:
            # What is being started ends as soon as it has, and had better before this process.
            self.close(wait_s=_INTERRUPTED_S)
            raise

    def _live(self, launch: Launch, far: socket.socket) -> None:
        try:
            supervisor = launch(far, self._log)
        except Exception as error:  # noqa: BLE001 - raised where the connection was asked for
            self._ready.set_exception(error)
            self._closed = True
            self._let_go()
            return
        finally:
            far.close()
        try:
            while (record := self._channel.receive()) is not None:
                self._hear(record[0])
        except (OSError, KeyError, TypeError, ValueError):
            # trust: a supervisor that talks nonsense has been taken over, and is hung up on.
            with contextlib.suppress(OSError):
                self._channel.socket.shutdown(socket.SHUT_RDWR)
        self._closed = True
        self._fail_everything(supervisor.wait())
        self._let_go()

    def _let_go(self) -> None:
        with self._lock:
            self._last_words = self.log_tail()
            self._log.close()
        self._channel.close()

    def _hear(self, message: Message) -> None:
        if "event" not in message:
            with self._lock:
                answer = self._answers.pop(message["id"], None)
            if answer is not None:
                answer.set_result(message)
        elif message["event"] == "exit":
            self._ended(message)
        elif message["event"] == "ready":
            self._ready.set_result(message)
        else:
            self._on_event(message)

    def _ended(self, message: Message) -> None:
        with self._lock:
            ending = self._endings.pop(message["process"], None)
            oom = self._oom_of.pop(message["process"], None)
        if ending is not None:
            ending.set(_read_exit(message, oom))

    def _fail_everything(self, end: SupervisorEnd) -> None:
        error = self._gone()
        if not self._ready.done():
            words = self.log_tail() or end.words
            self._ready.set_exception(
                BackendUnavailableError(
                    f"the {self._backend} sandbox did not start: {words}", backend=self._backend
                )
            )
        with self._lock:
            answers, self._answers = self._answers, {}
            endings, self._endings = self._endings, {}
        for answer in answers.values():
            answer.set_exception(error)
        # Why the machines ended is known before anyone hears that a program in them has.
        self._on_event({"event": "gone", "reason": end.reason})
        for ending in endings.values():
            ending.set(Exit(137, signal=int(GuestSignal.SIGKILL), oom_killed=end.oom_killed))

    def request(
        self, op: str, fds: Sequence[int] = (), *, answer_s: float = _ANSWER_S, **fields: Any
    ) -> Message:
        """Ask for something and wait for the answer.

        Args:
            op: What.
            fds: Descriptors that go with it.
            answer_s: Seconds until no answer is an error, which is then `retryable`.
            fields: What else the supervisor has to know.

        Raises:
            ContainerGoneError: The supervisor has ended.
            BackendError: It could not do it; the message has its reason.
        """
        if self._closed or self.owner != os.getpid():
            raise self._gone()
        answer: Future[Message] = Future()
        with self._lock:
            number = next(self._ids)
            self._answers[number] = answer
            try:
                self._channel.send({"op": op, "id": number, **fields}, fds)
            except OSError:
                del self._answers[number]
                raise self._gone() from None
        try:
            reply = self._await(answer, answer_s)
        except FutureTimeoutError:
            with self._lock:
                self._answers.pop(number, None)
            raise BackendError(
                f"the sandbox did not answer {op!r} in {answer_s:.0f} s",
                op=op,
                backend=self._backend,
                retryable=True,
            ) from None
        if "gone" in reply:
            raise self._gone(op)
        if "error" in reply:
            raise BackendError(f"{op} failed: {reply['error']}", op=op, backend=self._backend)
        return reply

    def _await(self, answer: Future[Message], answer_s: float) -> Message:
        deadline = time.monotonic() + answer_s
        while True:
            left = deadline - time.monotonic()
            try:
                return answer.result(min(left, _LOOK_S))
            except FutureTimeoutError:
                if left <= _LOOK_S:
                    raise
            with self._lock:
                busy, self._looking = self._looking, True
            if not busy:
                name = f"llm-sandbox-look-{self._backend}"
                threading.Thread(target=self._look_why, name=name, daemon=True).start()

    def _look_why(self) -> None:
        obstacle = None
        try:
            obstacle = self._look()
        finally:
            with self._lock:
                self._looking = False
                answers = self._answers if obstacle is not None else {}
                if obstacle is not None:
                    self._answers = {}
        for answer in answers.values():
            answer.set_exception(obstacle)

    def _gone(self, op: str | None = None) -> ContainerGoneError:
        return ContainerGoneError("the sandbox has ended", op=op, backend=self._backend, hint=_NEXT)

    def watch(self, process_id: str, oom: Callable[[], bool]) -> Ending:
        """Return what will be set when the process ends; call before starting it.

        Args:
            process_id: The process's key.
            oom: Whether the kernel has killed for want of memory since it was last asked.
        """
        ending = Ending()
        with self._lock:
            self._endings[process_id] = ending
            self._oom_of[process_id] = oom
        return ending

    def forget(self, process_id: str) -> None:
        """Stop watching a process that did not start."""
        with self._lock:
            self._endings.pop(process_id, None)
            self._oom_of.pop(process_id, None)

    @property
    def is_alive(self) -> bool:
        """Whether requests can be made, by this process."""
        return not self._closed and self.owner == os.getpid()

    def log_tail(self, size: int = 4000) -> str:
        """The last of what the supervisor and its zygote wrote for people."""
        if self._log.closed:
            return self._last_words[-size:]
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - size))
        return self._log.read().decode("utf-8", "replace").strip()

    def close(self, wait_s: float | None = None) -> None:
        """Hang up, at which everything inside ends; with `wait_s`, wait that long for it to be
        gone.
        """
        if self.owner != os.getpid():
            return
        self._closed = True
        with contextlib.suppress(OSError):
            self._channel.socket.shutdown(socket.SHUT_RDWR)
        if wait_s is not None and threading.current_thread() is not self._thread:
            self._thread.join(wait_s)


def _read_exit(message: Message, oom: Callable[[], bool] | None) -> Exit:
    status: int = message["status"]
    code, number = exit_status(status)
    # A program that ended by itself just before its deadline was not ended by that.
    timed_out = bool(message["timed_out"]) and number == GuestSignal.SIGKILL
    oom_killed = False
    if not timed_out and code == 128 + GuestSignal.SIGKILL:
        # 137 without a signal: a shell that says how its last command ended. Asking takes the
        # kernel's count back, so it is not asked for any other end.
        oom_killed = bool(message["over_memory"]) or (oom is not None and oom())
    return Exit(
        exit_code=124 if timed_out else code,
        signal=number,
        timed_out=timed_out,
        oom_killed=oom_killed,
        cpu_s=message["cpu_s"],
        peak_memory_bytes=message["peak_rss"],
    )
