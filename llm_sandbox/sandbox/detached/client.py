"""A client's end of the connection to a daemon.

Records are those of `guest.control`: JSON objects with descriptors. A request has an ``op`` and an
``id``, and is answered by a record with that ``id``: its ``value``, or an ``error`` as
`SandboxError.to_dict` has it. What has no ``id`` is not answered. By itself the daemon tells

    exit      a program that the client follows has ended: ``follow``, ``exit``
    tags      the sandbox has other tags now
    ended     the sandbox has: ``reason, exit_code``
"""

import contextlib
import itertools
import os
import signal
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from llm_sandbox.backends.base import Ending, Exit
from llm_sandbox.exceptions import BackendError, ContainerGoneError, SandboxError, SecurityError
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.sandbox.detached.codec import decode
from llm_sandbox.sandbox.detached.state_dir import StateDir

__all__ = ["Answer", "DaemonClient", "connect", "peer_of"]

_ANSWER_S = 120.0
_CONNECT_S = 10.0
_PEER = struct.Struct("3i")
_KILLED = Exit(137, signal=int(signal.SIGKILL))

Answer = tuple[dict[str, Any], list[int]]


def peer_of(sock: socket.socket) -> tuple[int, int]:
    """Process id and user id of who is at the other end, as the kernel knows them."""
    found = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    pid, uid, _ = _PEER.unpack(found)
    return pid, uid


def connect(state_dir: StateDir, sandbox_id: str) -> ControlChannel:
    """Connect to a daemon.

    Raises:
        SecurityError: What listens there is somebody else's.
        ContainerGoneError: Nobody listens.
    """
    name = f"{sandbox_id}.sock"
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if not state_dir.is_own_socket(name):
            raise SecurityError(f"{state_dir.path}/{name} is no socket of this user's")
        sock.settimeout(_CONNECT_S)
        sock.connect(state_dir.socket_path(name))
        sock.settimeout(None)
        if peer_of(sock)[1] != os.geteuid():
            raise SecurityError(f"another user listens at {state_dir.path}/{name}")
    except OSError:
        sock.close()
        raise ContainerGoneError(f"the daemon of {sandbox_id} does not answer") from None
    except BaseException:
        sock.close()
        raise
    return ControlChannel(sock)


class DaemonClient:
    """Talks to a daemon; safe to use from several threads of the process that made it.

    Args:
        channel: The connection.
        backend: Name for error messages.
    """

    def __init__(self, channel: ControlChannel, backend: str = "") -> None:
        self.backend = backend
        self.end_reason: str | None = None
        self.exit_code: int | None = None
        self.tags: Mapping[str, str] = {}
        self.has_ended = threading.Event()
        self._owner = os.getpid()
        self._channel = channel
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._answers: dict[int, Future[Answer]] = {}
        self._endings: dict[int, Ending] = {}
        self._at_end: list[Callable[[], None]] = []
        threading.Thread(target=self._listen, name="llm-sandbox-rpc", daemon=True).start()

    # --- what the client says

    def request(
        self, op: str, fds: Sequence[int] = (), *, answer_s: float = _ANSWER_S, **fields: Any
    ) -> Answer:
        """Ask for something and wait for the answer.

        Returns:
            The answer, and the descriptors that came with it.

        Raises:
            ContainerGoneError: The sandbox has ended, or another process has connected.
            BackendError: No answer came in time.
            SandboxError: What the daemon said.
        """
        answer: Future[Answer] = Future()
        with self._lock:
            self._check()
            number = next(self._ids)
            self._answers[number] = answer
            try:
                self._channel.send({"op": op, "id": number, **fields}, fds)
            except OSError:
                del self._answers[number]
                raise self._gone() from None
        try:
            reply, received = answer.result(answer_s)
        except FutureTimeoutError:
            with self._lock:
                self._answers.pop(number, None)
            raise BackendError(
                f"the sandbox's daemon did not answer {op!r} in {answer_s:.0f} s",
                op=op,
                backend=self.backend,
                retryable=True,
            ) from None
        if "error" in reply:
            raise SandboxError.from_dict(reply["error"])
        return reply, received

    def ask(self, op: str, *, answer_s: float = _ANSWER_S, **fields: Any) -> Any:
        """Ask for a value alone."""
        return decode(self.request(op, answer_s=answer_s, **fields)[0].get("value"))

    def tell(self, op: str, **fields: Any) -> None:
        """Say something that is not answered; nothing happens where nobody listens."""
        with self._lock, contextlib.suppress(OSError):
            if self._owner == os.getpid() and not self.has_ended.is_set():
                self._channel.send({"op": op, **fields})

    def follow(self) -> tuple[int, Ending]:
        """What will be set when a program ends, and the number to ask for that by."""
        ending = Ending()
        with self._lock:
            number = next(self._ids)
            self._endings[number] = ending
            is_over = self.has_ended.is_set()
        if is_over:
            ending.set(_KILLED)
        return number, ending

    def forget(self, number: int) -> None:
        """Follow a program no longer."""
        with self._lock:
            self._endings.pop(number, None)

    def on_end(self, call: Callable[[], None]) -> None:
        """Have `call` called when the sandbox has ended, or was let go of."""
        self._at_end.append(call)
        if self.has_ended.is_set():
            call()

    def close(self) -> None:
        """Hang up."""
        if self._owner == os.getpid():
            with contextlib.suppress(OSError):
                self._channel.socket.shutdown(socket.SHUT_RDWR)

    def _check(self) -> None:
        if self.has_ended.is_set() or self._owner != os.getpid():
            raise self._gone()

    def _gone(self) -> ContainerGoneError:
        if self._owner != os.getpid():
            return ContainerGoneError(
                "the sandbox's connection belongs to the process that this one was forked from",
                backend=self.backend,
                hint="attach to the sandbox in this process: Sandbox.attach(id)",
            )
        return ContainerGoneError(
            f"the sandbox has ended ({self.end_reason or 'gone'})",
            backend=self.backend,
            hint="make a new one: nothing in this one is left",
        )

    # --- what the daemon says

    def _listen(self) -> None:
        with contextlib.suppress(OSError, KeyError, TypeError, ValueError):
            while (record := self._channel.receive()) is not None:
                self._hear(*record)
        with self._lock:
            if self.end_reason is None:
                self.end_reason = "gone"
            self.has_ended.set()
            answers, self._answers = self._answers, {}
            endings, self._endings = self._endings, {}
            self._channel.close()
        for answer in answers.values():
            answer.set_exception(self._gone())
        for ending in endings.values():
            ending.set(_KILLED)
        for call in self._at_end:
            call()

    def _hear(self, message: dict[str, Any], fds: list[int]) -> None:
        event = message.get("event")
        if event is None:
            with self._lock:
                answer = self._answers.pop(message["id"], None)
            if answer is not None:
                answer.set_result((message, fds))
                return
        elif event == "exit":
            with self._lock:
                ending = self._endings.pop(message["follow"], None)
            if ending is not None:
                ending.set(decode(message["exit"]))
        elif event == "tags":
            self.tags = dict(message["tags"])
        elif event == "ended" and self.end_reason is None:
            self.exit_code, self.end_reason = message["exit_code"], message["reason"]
        for fd in fds:
            os.close(fd)
