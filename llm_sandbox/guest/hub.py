"""Hub of a pod that outlives its clients: the host of its supervisor, within process 1.

Each client has a stream of its own, with a multiplexer and a control connection. Its requests go to
the supervisor, but for these:

    machine     makes the machine once; later clients get the same answer
    start       the program's output is kept; with ``entry``, the sandbox ends with the program
    programs    the programs that run, and those that ended last
    reattach    output of a program from its first byte. Descriptors: stdout, stderr, and for the
                entry stdin; its exit is reported as that of ``follow``
    keep        from now on it outlives its clients; ``words`` are for those that come later
    disown      it outlives the client that keeps it as its own
    tags        replaces the tags
    busy        a file transfer of the client begins or ends; it has no answer
    destroy     ends the pod, for a ``reason``
    leave       answered when the client has got all output

Events are those of the supervisor for all clients, and ``tags``. The last event is ``ended``, with
a ``reason`` and an ``exit_code``, which process 1 also leaves as its termination message.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import stat
import threading
import time

from . import pod
from .control import ControlChannel, Message
from .kept_output import Output
from .kept_programs import Program, Programs
from .mux import Multiplexer, StdioTransport
from .resumable import LinkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_CLIENTS = 6
"""Clients at a time: each costs threads, which count as processes of the pod's user."""
_TERMINATION = "/dev/termination-log"
_TIMED_OUT, _KILLED = 124, 137
_KILLED_EXIT = {
    "event": "exit",
    "status": int(signal.SIGKILL),
    "timed_out": False,
    "over_memory": False,
    "cpu_s": 0.0,
    "peak_rss": 0,
}
_LAST_OUTPUT_S = 0.5
_LEAVE_S = 8.0
_TICK_S = 0.05
_MOST_WAITING = 8 << 20
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


def start(supervisor: ControlChannel, orphan_after: float) -> None:
    """Start the threads of the hub.

    Args:
        supervisor: The host's end of the supervisor's control connection.
        orphan_after: Seconds without a relay after which a client is gone.
    """
    hub = Hub(supervisor, orphan_after)
    threading.Thread(target=hub.run, name="hub", daemon=True).start()
    streams: dict[bytes, pod.Carrier] = {}

    def find(name: bytes, received: int) -> pod.Carrier:
        carrier = streams.get(name)
        if carrier is not None:
            return carrier
        if received > 0:
            raise LinkError("the stream has ended")
        if len(streams) >= MOST_CLIENTS:
            raise LinkError(f"it has {MOST_CLIENTS} clients already, the most that it serves")
        carrier = streams[name] = _carry(hub, orphan_after, lambda: streams.pop(name, None))
        return carrier

    pod.Listener(pod.ADDRESS, None, find).start()


def _carry(hub: Hub, orphan_after: float, at_end: Callable[[], object]) -> pod.Carrier:
    """Add a client to the hub, and return the carrier of its stream."""
    near, far = socket.socketpair()
    control, other = socket.socketpair()
    stream = far.detach()
    carrier = pod.Carrier(near, orphan_after)

    def multiplex() -> None:
        try:
            transport = StdioTransport(stream, stream)
            Multiplexer(transport, ControlChannel(control), serves=True).run()
        finally:
            os.close(stream)

    def carry() -> None:
        try:
            carrier.run()
        finally:
            at_end()

    threading.Thread(target=multiplex, name="mux", daemon=True).start()
    threading.Thread(target=carry, name="stream", daemon=True).start()
    hub.add(ControlChannel(other))
    return carrier


class _Client:
    """A client, with the records that wait to be sent to it."""

    def __init__(self, channel: ControlChannel) -> None:
        self.channel = channel
        self.waiting = bytearray()
        self.busy = 0
        self.kernels: set[str] = set()
        self.leaves: int | None = None
        """Number of its request to leave."""

    def send(self, message: Message) -> None:
        self.waiting += ControlChannel._record(message, 0)


class Hub:
    """The loop of the hub.

    Args:
        supervisor: The host's end of the supervisor's control connection.
        orphan_after: Seconds without a client after which a pod ends that is not kept yet.
    """

    def __init__(self, supervisor: ControlChannel, orphan_after: float) -> None:
        self._supervisor = supervisor
        self._orphan_after = orphan_after
        self._selector = selectors.DefaultSelector()
        self._clients: set[_Client] = set()
        self._new: list[ControlChannel] = []
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._programs = Programs()
        self._asked: dict[int, tuple[_Client | None, int, str]] = {}
        """Requests to the supervisor: who made it, its number there, and the program's key."""
        self._last = 0
        self._replayed: dict[str, Message] = {}
        self._machine: str | None = None
        self._made: Message | None = None
        self._kept: Message | None = None
        self._owner: _Client | None = None
        self._has_owner = False
        self._idle_timeout: float | None = None
        self._active_at = self._last_client_at = time.monotonic()
        self._ended: tuple[str, int] | None = None
        self._ending_since = 0.0
        self._told = False
        self._destroyers: list[tuple[_Client, int]] = []

    def add(self, channel: ControlChannel) -> None:
        """Add a client. Any thread may call this."""
        self._new.append(channel)
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b"+")

    def run(self) -> None:
        """Serve clients until the pod ends, and then end process 1."""
        try:
            self._selector.register(self._wake_read, _READ)
            self._selector.register(self._supervisor, _READ)
            while not self._is_over():
                self._watch()
                for key, events in self._selector.select(self._pause()):
                    self._serve(key.fileobj, key.data, events)
                for program in self._programs.all():
                    program.sweep(self._tell_exit)
                self._look()
        finally:
            os._exit(0)

    # --- what happens

    def _serve(self, source: object, data: object, events: int) -> None:
        if source == self._wake_read:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake_read, 64)
        elif source is self._supervisor:
            self._hear()
        elif isinstance(data, _Client):
            self._serve_client(data, events)
        elif isinstance(data, Output):
            if data.source != -1:
                self._selector.unregister(data.source)
                data.read()
        elif isinstance(data, tuple):
            output, follower = data
            if follower.fd != -1:
                self._selector.unregister(follower.fd)
                output.write(follower)

    def _watch(self) -> None:
        """Tell the selector what is waited for, and take new clients."""
        wanted: dict[int, tuple[int, object]] = {}
        for output in self._programs.outputs():
            if output.wants_more:
                wanted[output.source] = _READ, output
            for follower in output.followers:
                if output.is_behind(follower):
                    wanted[follower.fd] = _WRITE, (output, follower)
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, Output | tuple) and wanted.get(key.fd) != key[2:]:
                # Its number may be another descriptor's by now.
                self._selector.unregister(key.fd)
        known = self._selector.get_map()
        while self._new:
            self._welcome(self._new.pop())
        for fd, (events, data) in wanted.items():
            if fd not in known:
                self._selector.register(fd, events, data)
        for client in self._clients:
            events = _READ | (_WRITE if client.waiting else 0)
            if known[client.channel.fileno()].events != events:
                self._selector.modify(client.channel, events, client)

    def _welcome(self, channel: ControlChannel) -> None:
        client = _Client(channel)
        self._clients.add(client)
        self._selector.register(channel, _READ, client)
        ready = self._replayed.get("ready")
        if ready is not None:
            client.send({**ready, "kept": self._kept})
            for name in ("zygote", "ended"):
                if name in self._replayed:
                    client.send(self._replayed[name])

    def _serve_client(self, client: _Client, events: int) -> None:
        try:
            if events & _WRITE:
                sent = client.channel.socket.send(client.waiting, socket.MSG_DONTWAIT)
                del client.waiting[:sent]
            if events & _READ:
                while True:
                    record = client.channel.receive()
                    if record is None:
                        self._hang_up(client)
                        return
                    self._take(client, *record)
                    if not client.channel.pending():
                        break
            if len(client.waiting) > _MOST_WAITING:
                self._hang_up(client)
        except BlockingIOError:
            pass
        except (OSError, LookupError, TypeError, ValueError):
            # trust: who talks nonsense is hung up on.
            self._hang_up(client)

    def _hang_up(self, client: _Client) -> None:
        if client not in self._clients:
            return
        self._clients.discard(client)
        self._selector.unregister(client.channel)
        client.channel.close()
        for key in client.kernels:
            self._ask("kill", process=key, children_only=False)
        self._programs.forget_client(client)
        self._active_at = self._last_client_at = time.monotonic()
        if client is self._owner:
            self._owner = None
            if self._has_owner:
                self._end("closed", _KILLED)

    # --- requests

    def _take(self, client: _Client, message: Message, fds: list[int]) -> None:
        op = message["op"]
        if op == "busy":
            client.busy = max(0, client.busy + (1 if message["begins"] else -1))
            self._active_at = time.monotonic()
            return
        given = list(fds)
        try:
            own = getattr(self, f"_op_{op}", None)
            if own is None:
                self._forward(client, message, fds)
                return
            answer = own(client, message, given)
            if answer is not None:
                client.send({"id": message["id"], **answer})
        finally:
            for fd in given:
                os.close(fd)

    def _forward(self, client: _Client | None, message: Message, fds: Sequence[int] = ()) -> None:
        key = message.get("process", "") if message["op"] in ("start", "kernel") else ""
        if message["op"] == "agent" and message.get("serves") != "files":
            self._active_at = time.monotonic()
        self._last += 1
        self._asked[self._last] = client, message.get("id", 0), key
        self._supervisor.send({**message, "id": self._last}, fds)
        if message["op"] == "kernel" and client is not None:
            client.kernels.add(key)

    def _ask(self, op: str, **fields: object) -> None:
        self._forward(None, {"op": op, **fields})

    def _op_machine(self, client: _Client, message: Message, fds: list[int]) -> Message | None:
        if self._made is not None:
            return self._made
        self._machine = message["spec"]["id"]
        self._forward(client, message, fds)
        return None

    def _op_start(self, client: _Client, message: Message, fds: list[int]) -> None:
        is_entry = bool(message.get("entry"))
        if not is_entry and stat.S_ISSOCK(os.fstat(fds[0]).st_mode):
            # An interpreter: it serves the client that started it, over a socket.
            client.kernels.add(message["process"])
            self._forward(client, message, fds)
            return
        pipes = [os.pipe(), os.pipe()]
        stdin = os.pipe() if is_entry else None
        program = Program(
            message["process"],
            message["argv"],
            [Output(read, self._programs.store) for read, _ in pipes],
            is_entry=is_entry,
            stdin=None if stdin is None else stdin[1],
            has_terminal=message.get("terminal") is not None,
        )
        if not is_entry:
            given = [fds.pop(1), fds.pop(1)]
            program.follow(client, given)
        self._programs.add(program)
        first = fds[0] if stdin is None else stdin[0]
        self._forward(client, message, [first, *(write for _, write in pipes)])
        for fd in ([] if stdin is None else [stdin[0]]) + [write for _, write in pipes]:
            os.close(fd)

    def _op_programs(self, client: _Client, message: Message, fds: list[int]) -> Message:
        return {"programs": [program.describe() for program in self._programs.all()]}

    def _op_reattach(self, client: _Client, message: Message, fds: list[int]) -> Message:
        program = self._programs.get(message["process"])
        if program is None:
            return {"missing": True}
        program.attach(client, message["follow"], fds, self._wake)
        return {"is_entry": program.is_entry, "has_terminal": program.has_terminal}

    def _op_keep(self, client: _Client, message: Message, fds: list[int]) -> Message:
        self._kept = {"words": message["words"], "tags": message["tags"]}
        self._idle_timeout = message["idle_timeout"]
        self._has_owner = bool(message["owned"])
        self._owner = client if self._has_owner else None
        self._active_at = time.monotonic()
        return {}

    def _op_disown(self, client: _Client, message: Message, fds: list[int]) -> Message:
        self._has_owner = False
        return {}

    def _op_tags(self, client: _Client, message: Message, fds: list[int]) -> Message:
        if self._kept is not None:
            self._kept["tags"] = message["tags"]
        self._tell({"event": "tags", "tags": message["tags"]})
        return {}

    def _op_destroy(self, client: _Client, message: Message, fds: list[int]) -> None:
        self._destroyers.append((client, message["id"]))
        self._end(str(message.get("reason") or "closed"), _KILLED)

    def _op_leave(self, client: _Client, message: Message, fds: list[int]) -> None:
        client.leaves = message["id"]

    # --- the supervisor

    def _hear(self) -> None:
        while True:
            record = self._supervisor.receive()
            if record is None:
                os._exit(0)
            message, fds = record
            for fd in fds:
                os.close(fd)
            if "event" in message:
                self._hear_event(message)
            elif message.get("id") in self._asked:
                self._hear_answer(message)
            if not self._supervisor.pending():
                return

    def _hear_answer(self, message: Message) -> None:
        client, number, key = self._asked.pop(message["id"])
        if key and ("launch_error" in message or "error" in message or "gone" in message):
            self._programs.remove(key)
            if client is not None:
                client.kernels.discard(key)
        if "user" in message and self._made is None:
            self._made = {name: value for name, value in message.items() if name != "id"}
        if client in self._clients and client is not None:
            client.send({**message, "id": number})

    def _hear_event(self, message: Message) -> None:
        event = message["event"]
        if event == "ready":
            self._replayed["ready"] = message
            self._tell({**message, "kept": self._kept})
            return
        if event == "ended" and message["reason"] != "memory":
            self._end(message["reason"], _TIMED_OUT if message["reason"] == "deadline" else _KILLED)
            return
        if event == "zygote":
            self._replayed["zygote"] = message
        if event == "exit":
            program = self._programs.get(message["process"])
            for client in self._clients:
                client.kernels.discard(message["process"])
            if program is not None:
                program.exit = message
                program.close_stdin()
            if program is None or not program.is_entry:
                self._active_at = time.monotonic()
        self._tell(message)

    def _tell(self, message: Message) -> None:
        for client in self._clients:
            client.send(message)

    def _tell_exit(self, client: object, message: Message) -> None:
        if isinstance(client, _Client) and client in self._clients:
            client.send(message)

    # --- the end

    def _pause(self) -> float | None:
        if self._ended is not None or self._programs.are_settling:
            return _TICK_S
        moments = []
        if self._kept is None and not self._clients:
            moments.append(self._last_client_at + self._orphan_after)
        if self._idle_timeout is not None and not self._is_active():
            moments.append(self._active_at + self._idle_timeout)
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _is_active(self) -> bool:
        return self._programs.are_active or any(
            client.busy or client.kernels for client in self._clients
        )

    def _look(self) -> None:
        """End the pod if it is time, or go on with its end."""
        now = time.monotonic()
        if self._ended is not None:
            self._go_on_ending(now)
            return
        if self._kept is None:
            if not self._clients and now - self._last_client_at >= self._orphan_after:
                self._end("closed", _KILLED)
            return
        entry = self._programs.entry
        if entry is not None and entry.take_input():
            self._active_at = now
        idle = self._idle_timeout
        if idle is not None and not self._is_active() and now - self._active_at >= idle:
            self._end("idle", _TIMED_OUT)
        if entry is not None and entry.exit is not None and not entry.awaits_terminal:
            code = os.waitstatus_to_exitcode(entry.exit["status"])
            code = _TIMED_OUT if entry.exit["timed_out"] else code
            self._end("exited", code if code >= 0 else 128 - code)

    def _end(self, reason: str, code: int) -> None:
        if self._ended is not None:
            return
        self._ended = reason, code
        self._ending_since = time.monotonic()
        for program in self._programs.all():
            if program.exit is None:
                self._ask("kill", process=program.key, children_only=False)
        self._ask("destroy", machine=self._machine)

    def _go_on_ending(self, now: float) -> None:
        assert self._ended is not None
        outputs = self._programs.outputs()
        if not self._told:
            late = now - self._ending_since >= _LAST_OUTPUT_S
            if self._asked and now - self._ending_since < _LEAVE_S:
                return
            if any(output.source != -1 for output in outputs) and not late:
                return
            for output in outputs:
                output.end()
            for program in self._programs.all():
                if program.exit is None:
                    program.exit = {**_KILLED_EXIT, "process": program.key}
                    self._tell(program.exit)
            self._told = True
            reason, code = self._ended
            message = {"event": "ended", "machine": self._machine}
            self._replayed["ended"] = {**message, "reason": reason, "exit_code": code}
            self._tell(self._replayed["ended"])
            for client, number in self._destroyers:
                self._tell_exit(client, {"id": number})
            self._destroyers.clear()
        for client in self._clients:
            if client.leaves is not None and not self._programs.follows(client):
                client.send({"id": client.leaves})
                client.leaves = None

    def _is_over(self) -> bool:
        if not self._told or self._ended is None:
            return False
        if self._clients and time.monotonic() - self._ending_since < _LEAVE_S:
            return False
        # Nothing of the pod may forge the message; as process 1 this one is spared.
        if os.getpid() == 1:
            with contextlib.suppress(OSError):
                os.kill(-1, signal.SIGKILL)
        reason, code = self._ended
        with contextlib.suppress(OSError), open(_TERMINATION, "w", encoding="utf-8") as file:
            json.dump({"reason": reason, "exit_code": code}, file)
        return True
