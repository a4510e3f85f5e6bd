"""Client of the sandbox daemon.

Messages are those of `guest.control`, JSON objects with descriptors; see `backends.rpc`. An answer
has a ``value``, or an ``error`` as of `SandboxError.to_dict`. Events of the daemon are

    exit      a followed program has ended: ``follow``, ``exit``
    tags      the sandbox has new tags
    ended     the sandbox has ended: ``reason``, ``exit_code``
"""

import os
import signal
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llm_sandbox.backends.base import Ending, Exit
from llm_sandbox.backends.rpc import Answer, RpcClient
from llm_sandbox.exceptions import ContainerGoneError, SandboxError, SecurityError
from llm_sandbox.guest.control import ControlChannel, Message
from llm_sandbox.sandbox.detached.codec import decode
from llm_sandbox.sandbox.detached.state_dir import StateDir

__all__ = ["DaemonClient", "connect", "peer_of"]

_ANSWER_S = 120.0
_CONNECT_S = 10.0
_PEER = struct.Struct("3i")
_KILLED = Exit(137, signal=int(signal.SIGKILL))


def peer_of(sock: socket.socket) -> tuple[int, int]:
    """Return process id and user id of the peer, as the kernel reports them."""
    pid, uid, _ = _PEER.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return pid, uid


def connect(state_dir: StateDir, sandbox_id: str) -> ControlChannel:
    """Connect to the daemon of a sandbox.

    Raises:
        SecurityError: The socket, or the process that listens on it, is another user's.
        ContainerGoneError: No process listens.
    """
    name = f"{sandbox_id}.sock"
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if not state_dir.is_own_socket(name):
            raise SecurityError(f"{state_dir.path}/{name} is not a socket of this user")
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
    """Client of a daemon; safe to use from several threads of one process.

    Args:
        channel: The connection.
    """

    def __init__(self, channel: ControlChannel) -> None:
        self.end_reason: str | None = None
        """Reason why the sandbox has ended; None while it lives."""
        self.exit_code: int | None = None
        self.tags: Mapping[str, str] = {}
        self._channel = channel
        self._has_ended = threading.Event()
        self._at_end: list[Callable[[], None]] = []
        self._rpc = RpcClient(
            channel,
            peer="the sandbox's daemon",
            gone=self._gone,
            failure=_failure,
            on_event=self._dispatch,
        )
        threading.Thread(target=self._listen, name="llm-sandbox-rpc", daemon=True).start()

    @property
    def backend(self) -> str:
        """Name of the sandbox's backend, for error messages."""
        return self._rpc.backend

    @backend.setter
    def backend(self, name: str) -> None:
        self._rpc.backend = name

    def request(
        self, op: str, fds: Sequence[int] = (), *, answer_s: float = _ANSWER_S, **fields: Any
    ) -> Answer:
        """Send a request and wait for the answer; see `RpcClient.request`."""
        return self._rpc.request(op, fds, answer_s=answer_s, **fields)

    def call(self, op: str, *, answer_s: float = _ANSWER_S, **fields: Any) -> Any:
        """Send a request and return the value of the answer."""
        return decode(self.request(op, answer_s=answer_s, **fields)[0].get("value"))

    def notify(self, op: str, **fields: Any) -> None:
        """Send a message that has no answer; do nothing if the daemon is gone."""
        self._rpc.notify(op, **fields)

    def follow(self, op: str, **fields: Any) -> tuple[Message, list[int], Ending]:
        """Send a request that starts, or attaches to, a program.

        Returns:
            The answer, the descriptors that came with it, and the exit of the program.
        """
        number, ending = self._rpc.watch()
        if self._has_ended.is_set():
            ending.set(_KILLED)
        try:
            reply, fds = self.request(op, follow=number, **fields)
        except BaseException:
            self._rpc.forget(number)
            raise
        return reply, fds, ending

    def on_end(self, call: Callable[[], None]) -> None:
        """Call `call` when the sandbox has ended, or this client was closed."""
        self._at_end.append(call)
        if self._has_ended.is_set():
            call()

    def close(self) -> None:
        """Disconnect; the sandbox lives on."""
        self._rpc.close()

    def _gone(self, op: str | None = None) -> ContainerGoneError:
        if self._rpc.owner != os.getpid():
            return ContainerGoneError(
                "the sandbox's connection belongs to the process that this one was forked from",
                op=op,
                backend=self.backend,
                hint="attach to the sandbox in this process: Sandbox.attach(id)",
            )
        return ContainerGoneError(
            f"the sandbox has ended ({self.end_reason or 'gone'})",
            op=op,
            backend=self.backend,
            hint="make a new one: nothing in this one is left",
        )

    def _listen(self) -> None:
        self._rpc.listen()
        if self.end_reason is None:
            self.end_reason = "gone"
        self._has_ended.set()
        self._channel.close()
        self._rpc.fail_requests(self._gone())
        self._rpc.end_all(_KILLED)
        for call in self._at_end:
            call()

    def _dispatch(self, message: Message) -> None:
        event = message["event"]
        if event == "exit":
            self._rpc.end(message["follow"], lambda: decode(message["exit"]))
        elif event == "tags":
            self.tags = dict(message["tags"])
        elif event == "ended" and self.end_reason is None:
            self.exit_code, self.end_reason = message["exit_code"], message["reason"]


def _failure(op: str, reply: Message) -> SandboxError | None:
    del op
    return SandboxError.from_dict(reply["error"]) if "error" in reply else None
