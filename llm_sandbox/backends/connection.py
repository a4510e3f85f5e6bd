"""Connection to a supervisor: its start, requests, and the endings of its processes."""

import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import IO, Any, Protocol

from llm_sandbox.backends.base import Ending, Exit
from llm_sandbox.backends.rpc import RpcClient
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
    "read_exit",
]

Command = Callable[[int], tuple[list[str], list[int]]]
"""Makes a command line from the number of the inherited control descriptor, and names further
descriptors that are inherited, and closed here afterwards."""


@dataclass(frozen=True, slots=True)
class SupervisorEnd:
    """End of a supervisor.

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
    """Running supervisor."""

    def wait(self) -> SupervisorEnd:
        """Wait until it has ended."""


Launch = Callable[[socket.socket, IO[bytes]], RunningSupervisor]
"""Starts a supervisor on the far end of its control connection; what it writes for people goes to
the file."""

_ANSWER_S = 60.0
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
    """Starts a supervisor and makes requests to it.

    One thread starts it and then listens to it for as long as it lives: the kernel's parent-death
    signal is bound to the thread that started a process, so that thread must not end first.

    Args:
        launch: Starts the supervisor.
        backend: Name for error messages.
        on_event: Called in the listening thread with every event but exits.
        channel: Creates this process's end of the control connection.
        diagnose: See `RpcClient`.
        start_s: Seconds within which the supervisor has to start.

    Raises:
        BackendUnavailableError: The supervisor did not start; the message has its log.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        backend: str,
        on_event: Callable[[Message], None] = lambda message: None,
        channel: Callable[[socket.socket], ControlChannel] = ControlChannel,
        diagnose: Callable[[], SandboxError | None] = lambda: None,
        start_s: float = _START_S,
    ) -> None:
        self._backend = backend
        self._on_event = on_event
        self._oom_of: dict[str, Callable[[], bool]] = {}
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this is
        self._ready: Future[Message] = Future()
        near, far = socket.socketpair()
        self._channel = channel(near)
        self._rpc = RpcClient(
            self._channel,
            peer="the sandbox",
            gone=self._gone,
            failure=self._failure,
            on_event=self._dispatch,
            diagnose=diagnose,
        )
        self._rpc.backend = backend
        self._thread = threading.Thread(
            target=self._live,
            args=(launch, far),
            name=f"llm-sandbox-{backend}",
            daemon=True,
        )
        self._thread.start()
        try:
            self.hello = self._ready.result(start_s)
        except FutureTimeoutError:
            self.close()
            raise BackendUnavailableError(
                f"the {backend} supervisor did not answer in {start_s:.0f} s", backend=backend
            ) from None
        except KeyboardInterrupt:
            # The supervisor ends as soon as it has started, and must do so before this process.
            self.close(wait_s=_INTERRUPTED_S)
            raise

    @property
    def owner(self) -> int:
        """Process id of the only process that may use the connection."""
        return self._rpc.owner

    def _live(self, launch: Launch, far: socket.socket) -> None:
        try:
            supervisor = launch(far, self._log)
        except Exception as error:  # noqa: BLE001 - raised by the constructor
            self._ready.set_exception(error)
            self._rpc.close()
            self._release()
            return
        finally:
            far.close()
        self._rpc.listen()
        self._fail_everything(supervisor.wait())
        self._release()

    def _release(self) -> None:
        self._last_words = self.log_tail()
        self._log.close()
        self._channel.close()

    def _dispatch(self, message: Message) -> None:
        event = message["event"]
        if event == "exit":
            process = message["process"]
            oom = self._oom_of.pop(process, None)
            self._rpc.end(process, lambda: read_exit(message, oom))
        elif event == "ready":
            self._ready.set_result(message)
        else:
            self._on_event(message)

    def _fail_everything(self, end: SupervisorEnd) -> None:
        if not self._ready.done():
            words = self.log_tail() or end.words
            self._ready.set_exception(
                BackendUnavailableError(
                    f"the {self._backend} sandbox did not start: {words}", backend=self._backend
                )
            )
        self._rpc.fail_requests(self._gone())
        # Machines must know why they ended before the endings of their programs are set.
        self._on_event({"event": "gone", "reason": end.reason})
        self._rpc.end_all(Exit(137, signal=int(GuestSignal.SIGKILL), oom_killed=end.oom_killed))

    def request(
        self, op: str, fds: Sequence[int] = (), *, answer_s: float = _ANSWER_S, **fields: Any
    ) -> Message:
        """Send a request and wait for the answer; see `RpcClient.request`.

        Raises:
            ContainerGoneError: The supervisor has ended.
            BackendError: The operation failed; the message has the reason.
        """
        return self._rpc.request(op, fds, answer_s=answer_s, **fields)[0]

    def notify(self, op: str, **fields: Any) -> None:
        """Send a message that has no answer; do nothing if the supervisor is gone."""
        self._rpc.notify(op, **fields)

    def _failure(self, op: str, reply: Message) -> SandboxError | None:
        if "gone" in reply:
            return self._gone(op)
        if "error" in reply:
            return BackendError(f"{op} failed: {reply['error']}", op=op, backend=self._backend)
        return None

    def _gone(self, op: str | None = None) -> ContainerGoneError:
        return ContainerGoneError("the sandbox has ended", op=op, backend=self._backend, hint=_NEXT)

    def watch(self, process_id: str, oom: Callable[[], bool]) -> Ending:
        """Return the ending of a process; call before starting it.

        Args:
            process_id: Id of the process.
            oom: Returns whether the kernel has killed for lack of memory since the last call.
        """
        self._oom_of[process_id] = oom
        return self._rpc.watch(process_id)[1]

    def forget(self, process_id: str) -> None:
        """Forget the ending of a process that did not start."""
        self._rpc.forget(process_id)
        self._oom_of.pop(process_id, None)

    @property
    def is_alive(self) -> bool:
        """Whether this process can make requests."""
        return self._rpc.is_alive

    def log_tail(self, size: int = 4000) -> str:
        """Return the end of the log of the supervisor and its zygote."""
        if self._log.closed:
            return self._last_words[-size:]
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - size))
        return self._log.read().decode("utf-8", "replace").strip()

    def close(self, wait_s: float | None = None) -> None:
        """Disconnect, which ends everything inside.

        Args:
            wait_s: Seconds to wait for the supervisor's end; None to return at once.
        """
        if self.owner != os.getpid():
            return
        self._rpc.close()
        if wait_s is not None and threading.current_thread() is not self._thread:
            self._thread.join(wait_s)


def read_exit(message: Message, oom: Callable[[], bool] | None = None) -> Exit:
    """Return the exit that a supervisor has reported.

    Args:
        message: The event.
        oom: As for `SupervisorConnection.watch`; None where that is not known.
    """
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
