"""Request handler of a daemon for one client."""

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.base import Ending, Exit, RawKernel
from llm_sandbox.exceptions import BackendError, ContainerGoneError, SandboxError
from llm_sandbox.guest.control import ControlChannel, Message
from llm_sandbox.guest.descriptors import open_pipe
from llm_sandbox.sandbox.detached.client import peer_of
from llm_sandbox.sandbox.detached.codec import decode, encode
from llm_sandbox.sandbox.detached.kernel import SessionKernel
from llm_sandbox.sandbox.detached.machine import answer
from llm_sandbox.sandbox.detached.programs import Follower, Program

if TYPE_CHECKING:
    from llm_sandbox.sandbox.detached.daemon import SandboxDaemon

__all__ = ["ClientHandler"]

_SEND_S = 10
_GONE_S = 0.5
_PIECE = 1 << 16


@dataclass
class _Reply:
    """Reply to a request."""

    value: Any = None
    fds: list[int] = field(default_factory=list)
    """Descriptors to send, closed here afterwards."""
    then: Callable[[], None] = lambda: None
    """Callback after the reply was sent."""


class ClientHandler:
    """Handler of one client's requests until it disconnects.

    Args:
        daemon: The daemon.
        channel: The connection; the other end is a process of the same user.
    """

    def __init__(self, daemon: "SandboxDaemon", channel: ControlChannel) -> None:
        # A client that is stopped holds up nobody but itself.
        channel.socket.setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _SEND_S, 0)
        )
        self._keeper = daemon
        self._channel = channel
        self._sending = threading.Lock()
        self._state = threading.Lock()
        self._busy = 0
        self._following = 0
        self._kernels: set[str] = set()
        self.has_hung_up = threading.Event()

    def start(self) -> None:
        """Serve the client in a thread."""
        threading.Thread(target=self.serve, name="llm-sandbox-serve", daemon=True).start()

    def serve(self) -> None:
        """Serve the client until it disconnects."""
        try:
            while (record := self._channel.receive()) is not None:
                message, fds = record
                if "id" not in message:
                    self._take_note(message)
                    continue
                threading.Thread(
                    target=self._answer, args=(message, fds), name="llm-sandbox-op", daemon=True
                ).start()
        except (OSError, KeyError, TypeError, ValueError):
            pass  # trust: who talks nonsense is hung up on
        finally:
            self._hang_up()

    def _hang_up(self) -> None:
        self.has_hung_up.set()
        if self._keeper.kernel is not None:
            self._keeper.kernel.leave(self, settled=False)
        self._keeper.forget(self)
        with self._state:
            kernels, self._kernels, self._busy = self._kernels, set(), 0
        for kernel in kernels:
            with contextlib.suppress(SandboxError):
                self._keeper.machine.kill(kernel)
        with self._sending:
            self._channel.close()

    @property
    def is_active(self) -> bool:
        """Whether the client transfers files, or holds the session's kernel."""
        return self._busy > 0 or bool(self._kernels)

    @property
    def is_following(self) -> bool:
        """Whether output is still being sent to the client."""
        return self._following > 0

    def send_event(self, event: str, **fields: Any) -> None:
        """Send an event."""
        self._send({"event": event, **fields})

    def close(self) -> None:
        """Disconnect the client."""
        with contextlib.suppress(OSError):
            self._channel.socket.shutdown(socket.SHUT_RDWR)

    def _send(self, message: Message, fds: list[int] | None = None) -> None:
        with self._sending:
            try:
                if not self.has_hung_up.is_set():
                    self._channel.send(message, fds or ())
            except OSError:
                # Half a record may have been sent.
                self.close()

    def _take_note(self, message: Message) -> None:
        if message["op"] in ("busy", "turn"):
            self._count(1 if message["begins"] else -1)
            if message["op"] == "turn" and self._keeper.kernel is not None:
                self._keeper.kernel.turn(self, bool(message["begins"]))

    def _count(self, change: int) -> None:
        """Record that the client has begun, or ended, an activity."""
        with self._state:
            self._busy = max(0, self._busy + change)
        self._keeper.note_activity()

    def _answer(self, message: Message, fds: list[int]) -> None:
        reply = _Reply()
        try:
            reply = getattr(self, f"_op_{message['op']}")(message, fds) or reply
            self._send({"id": message["id"], "value": encode(reply.value)}, reply.fds)
            reply.then()
        except SandboxError as error:
            self._send({"id": message["id"], "error": error.to_dict()})
        except Exception as error:  # noqa: BLE001 - sent to the client
            failure = BackendError(f"the daemon failed: {type(error).__name__}: {error}")
            self._send({"id": message["id"], "error": failure.to_dict()})
        finally:
            for fd in (*fds, *reply.fds):
                os.close(fd)

    # --- programs

    def _op_hello(self, message: Message, fds: list[int]) -> _Reply:
        return _Reply(self._keeper.info())

    def _op_start(self, message: Message, fds: list[int]) -> _Reply:
        program, stdin = self._keeper.programs.start(decode(message["spec"]))
        reply = self._followed(program, message["follow"])
        if stdin is not None:
            reply.fds.append(stdin)
        return reply

    def _followed(self, program: Program, number: int) -> _Reply:
        follower = Follower(program, lambda ended: self._tell_exit(number, ended))
        with self._state:
            self._following += 1
        return _Reply(program.process.id, list(follower.reads), follower.start)

    def _tell_exit(self, number: int, ended: Exit) -> None:
        self.send_event("exit", follow=number, exit=encode(ended))
        with self._state:
            self._following -= 1
        self._keeper.note_activity()

    def _op_programs(self, message: Message, fds: list[int]) -> _Reply:
        return _Reply(self._keeper.programs.describe())

    def _op_reattach(self, message: Message, fds: list[int]) -> _Reply:
        program = self._keeper.programs.get(message["process"])
        reply = self._followed(program, message["follow"])
        if program.is_entry and program.process.stdin is not None and program.runs:
            read, write = open_pipe()
            reply.fds.append(write)
            threading.Thread(
                target=self._feed, args=(program, read), name="llm-sandbox-feed", daemon=True
            ).start()
        return reply

    def _feed(self, program: Program, fd: int) -> None:
        """Copy a client's input to the entry command, which stays open after the client is gone."""
        stdin = program.process.stdin
        assert stdin is not None  # noqa: S101 - asked before
        with contextlib.suppress(OSError, SandboxError), os.fdopen(fd, "rb", buffering=0) as source:
            while data := source.read(_PIECE):
                self._keeper.note_activity()
                stdin.write(data)
                stdin.drain()
            if not self.has_hung_up.wait(_GONE_S):
                stdin.write_eof()

    def _op_claim(self, message: Message, fds: list[int]) -> _Reply:
        claim, raw = self._session.claim(self, peer_of(self._channel.socket)[0])
        if raw is None:
            return _Reply(claim)
        return self._kernel_reply(raw, message["follow"], claim)

    def _op_note(self, message: Message, fds: list[int]) -> None:
        self._session.note(self, str(message["state"]))

    def _op_leave(self, message: Message, fds: list[int]) -> None:
        self._session.leave(self, settled=bool(message["settled"]))

    @property
    def _session(self) -> SessionKernel:
        if self._keeper.kernel is None:
            raise BackendError("no session lives in this sandbox")
        return self._keeper.kernel

    def _kernel_reply(self, raw: RawKernel, number: int, value: Any) -> _Reply:
        """Return the reply that passes the kernel's descriptors to the client."""

        def follow() -> None:
            ended = raw.ending.wait()
            if ended is not None:
                self.send_event("exit", follow=number, exit=encode(ended))

        def then() -> None:
            threading.Thread(target=follow, name="llm-sandbox-end", daemon=True).start()

        return _Reply(value, [raw.stream.detach(), raw.stdout, raw.stderr], then)

    def _op_kernel(self, message: Message, fds: list[int]) -> _Reply:
        if self._keeper.kernel is not None and self._keeper.kernel.is_held_by(self):
            spec = decode(message["spec"])
            self._count(1)
            try:
                own = self._session.start(self, lambda: self._keeper.start_kernel(spec))
            finally:
                self._count(-1)
            return self._kernel_reply(own, message["follow"], (own.id, own.cold))
        raw = self._keeper.start_kernel(decode(message["spec"]))
        with self._state:
            self._kernels.add(raw.id)

        def then() -> None:
            self._await_kernel(raw.id, raw.ending, message["follow"])

        given = [raw.stream.detach(), raw.stdout, raw.stderr]
        return _Reply((raw.id, raw.cold), given, then)

    def _await_kernel(self, kernel: str, ending: Ending, number: int) -> None:
        if self.has_hung_up.is_set():
            with contextlib.suppress(SandboxError):
                self._keeper.machine.kill(kernel)
        ended = ending.wait()
        with self._state:
            self._kernels.discard(kernel)
        if ended is not None:
            self.send_event("exit", follow=number, exit=encode(ended))
        self._keeper.note_activity()

    # --- the machine

    def _op_files(self, message: Message, fds: list[int]) -> _Reply:
        return _Reply(fds=[self._keeper.machine.open_files().detach()])

    def _op_prepare_files(self, message: Message, fds: list[int]) -> None:
        self._keeper.machine.prepare_files()

    def _op_connect(self, message: Message, fds: list[int]) -> _Reply:
        self._keeper.note_activity()
        try:
            return _Reply(fds=[self._keeper.machine.connect(message["port"]).detach()])
        except OSError as error:
            return _Reply(error.errno)

    def _op_network(self, message: Message, fds: list[int]) -> _Reply:
        return _Reply(answer(self._keeper.network, message["what"], decode(message["value"])))

    def _op_signal(self, message: Message, fds: list[int]) -> _Reply:
        return _Reply(self._keeper.machine.signal(message["process"], message["number"]))

    def _op_resize(self, message: Message, fds: list[int]) -> _Reply:
        size = message["rows"], message["cols"]
        return _Reply(self._keeper.machine.resize(message["process"], *size))

    def _op_kill(self, message: Message, fds: list[int]) -> _Reply:
        children_only = message["children_only"]
        return _Reply(self._keeper.machine.kill(message["process"], children_only=children_only))

    def _op_sweep(self, message: Message, fds: list[int]) -> None:
        self._keeper.machine.sweep()

    def _op_limit_events(self, message: Message, fds: list[int]) -> _Reply:
        return _Reply(self._keeper.machine.limit_events())

    def _op_language_folder(self, message: Message, fds: list[int]) -> _Reply:
        return _Reply(self._keeper.machine.language_folder(message["language"]))

    def _op_install(self, message: Message, fds: list[int]) -> None:
        self._keeper.machine.install_packages(list(message["specs"]))

    def _op_snapshot(self, message: Message, fds: list[int]) -> _Reply:
        with os.fdopen(os.dup(fds[0]), "rb") as file:
            file.seek(0)
            workdir = file.read()
        site = decode(message["site"])
        name, ends = message["name"], message["expires_at"]
        return _Reply(self._keeper.machine.snapshot(workdir, name, site, expires_at=ends))

    # --- its life

    def _op_deadline(self, message: Message, fds: list[int]) -> None:
        self._keeper.set_deadline(message["seconds"])

    def _op_limits(self, message: Message, fds: list[int]) -> None:
        self._keeper.machine.update_limits(decode(message["limits"]))

    def _op_tags(self, message: Message, fds: list[int]) -> None:
        self._keeper.set_tags(decode(message["tags"]))

    def _op_disown(self, message: Message, fds: list[int]) -> None:
        self._keeper.disown()

    def _op_end(self, message: Message, fds: list[int]) -> None:
        deadline = time.monotonic() + message["within"]
        if not self._keeper.end(message["reason"], deadline):
            raise ContainerGoneError("the sandbox has ended")
