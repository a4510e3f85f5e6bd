"""Kernel of a sandbox with its clients: its thread, what they missed, its restarts, its end."""

import collections
import contextlib
import select
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Protocol

from llm_sandbox.exceptions import ContainerGoneError, SandboxError, ValidationError
from llm_sandbox.guest import frames
from llm_sandbox.host.wake import Wake
from llm_sandbox.jupyter.languages import NotebookLanguage
from llm_sandbox.jupyter.relay import Relay, Request, allow
from llm_sandbox.jupyter.replies import KernelReplies, RunnerReplies
from llm_sandbox.server.jupyter.wire import Packed, Received
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from llm_sandbox.server.jupyter.notebook_sessions import NotebookSession

__all__ = ["Client", "GatewayKernel"]

_TICK_MS = 100
_START_S = 60.0
_MOST_BACKLOG = 64 << 20
"""Bytes of requests that may wait for a kernel."""
_MOST_MISSED = 8 << 20
"""Bytes that are kept for a client that has gone and may come again."""
_RESTART = "restart"


class Client(Protocol):
    """Front end of a kernel, connected."""

    session_id: str | None
    """Name by which it is known again when it comes back; None without one."""

    @property
    def is_full(self) -> bool:
        """True if the client has enough to read."""

    def deliver(self, packed: Packed) -> None:
        """Send it a message, without waiting."""

    def end(self, reason: str) -> None:
        """Disconnect it, without waiting."""


class GatewayKernel:
    """Kernel with any number of clients; thread-safe. A kernel that dies is started again.

    Args:
        session: Session whose kernel it is.
        language: Its language.
        begin_run: Called when code begins to run; returns what is called when it has ended.
        on_shutdown: Called when a client has asked for the kernel's end.
    """

    def __init__(
        self,
        session: BaseSession,
        language: NotebookLanguage,
        begin_run: Callable[[], contextlib.AbstractContextManager[None]],
        on_shutdown: Callable[[], object],
    ) -> None:
        self._session = session
        self._language = language
        self._begin_run = begin_run
        self._on_shutdown = on_shutdown
        self._version = "" if language.is_python else language.find_version(session.sandbox)
        self._run = contextlib.ExitStack()
        self._is_running = False
        self._lock = threading.Lock()
        self._wake = Wake()
        self._is_closing = False
        self._has_ended = False
        self._ready = threading.Event()
        self._clients: list[Client] = []
        self._missed = _Missed()
        self._inbox: collections.deque[Request] = collections.deque()
        self._backlog = 0
        self._restarts: list[Future[None]] = []
        self.state = "starting"
        """``starting``, ``idle``, ``busy``, ``restarting`` or ``dead``."""
        self.active_at = time.time()
        """When a client or the kernel has last said something, in seconds since 1970."""
        self.notebook: NotebookSession | None = None
        """Notebook of the kernel; None where no client has named one."""
        self._relay: Relay | None = self._start()
        self._thread = threading.Thread(target=self._serve, name="llm-sandbox-kernel", daemon=True)
        self._thread.start()
        self._ready.wait(_START_S)

    def _start(self) -> Relay:
        """Take the session's kernel, which answers before anybody connects."""
        lent = self._session.lend_kernel()
        self._ready.clear()
        replies = (
            KernelReplies()
            if self._language.is_python
            else RunnerReplies(self._language, self._version)
        )
        relay = Relay(lent.raw, lent.signal, allow, replies, self)
        header = {"msg_id": "", "msg_type": "kernel_info_request", "session": "", "username": ""}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": {}}
        relay.hear(Request(None, "shell", message))
        return relay

    # --- clients

    @property
    def connections(self) -> int:
        """Number of clients."""
        return len(self._clients)

    def connect(self, client: Client) -> None:
        """Add a client, which gets what it missed if it is the one that left last.

        Raises:
            ContainerGoneError: The kernel has ended.
        """
        with self._lock:
            if self._has_ended:
                raise ContainerGoneError("the kernel has ended")
            for packed in self._missed.take(client.session_id):
                client.deliver(packed)
            self._clients.append(client)

    def disconnect(self, client: Client) -> None:
        """Remove a client."""
        with self._lock:
            if client in self._clients:
                self._clients.remove(client)
                if not self._clients:
                    self._missed = _Missed(client.session_id)
        self.rouse()

    def hear(self, client: Client, received: Received) -> None:
        """Take a message of a client.

        Raises:
            ValidationError: Too many of them wait for the kernel.
        """
        with self._lock:
            if self._has_ended:
                return
            if self._backlog + received.size > _MOST_BACKLOG:
                raise ValidationError("too many requests wait for the kernel")
            self._backlog += received.size
            self._inbox.append(
                Request(client, received.channel, received.message, received.buffers, received.size)
            )
        self.active_at = time.time()
        self.rouse()

    def interrupt(self) -> None:
        """Interrupt the running code."""
        relay = self._relay
        if relay is not None:
            relay.interrupt()
            self.rouse()

    def restart(self) -> None:
        """Replace the interpreter by a fresh one; files stay.

        Raises:
            ContainerGoneError: The sandbox has ended.
        """
        done: Future[None] = Future()
        with self._lock:
            if self._has_ended:
                raise ContainerGoneError("the sandbox has ended")
            self._restarts.append(done)
        self.rouse()
        done.result()

    def close(self) -> None:
        """End the kernel, and wait for its end."""
        self._is_closing = True
        self.rouse()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def rouse(self) -> None:
        """Have the kernel's thread look again at what there is to do."""
        with self._lock:
            if not self._has_ended:
                self._wake.set()

    # --- messages of the kernel: `relay.Outlet`

    def reply(
        self, request: Request, channel: str, message: dict[str, Any], buffers: Sequence[memoryview]
    ) -> None:
        """Send a message to the client that a request came from."""
        if request.origin is None:
            self._ready.set()
            return
        packed = Packed.pack(channel, message, buffers)
        asker: Client = request.origin
        with self._lock:
            if asker in self._clients:
                asker.deliver(packed)
            elif not self._clients:
                self._missed.add(packed)
            elif asker.session_id is not None:
                for client in self._clients:
                    if client.session_id == asker.session_id:
                        client.deliver(packed)

    def publish(self, message: dict[str, Any], buffers: Sequence[memoryview]) -> None:
        """Send a message to all clients."""
        packed = Packed.pack("iopub", message, buffers)
        self.active_at = time.time()
        with self._lock:
            for client in self._clients:
                client.deliver(packed)
            if not self._clients:
                self._missed.add(packed)

    # --- the thread

    def _serve(self) -> None:
        try:
            while not self._is_closing and self._session.sandbox.end_reason is None:
                relay = self._relay
                if relay is None:
                    self._await_restart()
                else:
                    self._end_of(relay, self._carry(relay))
        finally:
            if self._relay is not None:
                self._end_of(self._relay, None)
            self._end()

    def _carry(self, relay: Relay) -> str | None:
        """Carry messages; return why that ended, None for the end of everything."""
        pipes = set(relay.pipes)
        while not self._is_closing:
            if self._restarts:
                return _RESTART
            if relay.is_stopping:
                return _RESTART if relay.wants_restart else None
            try:
                if not self._step(relay, pipes):
                    return ""
            except frames.FrameError:
                return "it violated the protocol"  # trust: it is ended, and started afresh
            self._note(relay)
        return None

    def _step(self, relay: Relay, pipes: set[int]) -> bool:
        """Wait for something to do, and do it; return False when the kernel has gone."""
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        # A client that reads slowly holds up the program, until it has read or is dropped.
        has_room = not any(client.is_full for client in list(self._clients))
        for fd in pipes if has_room else ():
            poll.register(fd, select.POLLIN)
        events = (select.POLLIN if has_room else 0) | (select.POLLOUT if relay.wants_write else 0)
        if events:
            poll.register(relay.stream, events)
        ready = dict(poll.poll(_TICK_MS))
        self._wake.clear()
        while self._inbox:
            relay.hear(self._inbox.popleft())
        # What was printed stands before what comes after it.
        for fd in pipes & ready.keys():
            if not relay.read_pipe(fd):
                pipes.discard(fd)
        is_readable = ready.get(relay.stream, 0) & ~select.POLLOUT
        if is_readable and not relay.read_kernel():
            return False
        relay.tick()
        relay.push()
        return bool(ready) or not relay.has_ended

    def _note(self, relay: Relay) -> None:
        with self._lock:
            self._backlog = relay.backlog + sum(one.size for one in self._inbox)
        if not self._ready.is_set():
            return
        current = relay.current
        state = "idle" if current is None else "busy"
        runs = current is not None and current.kind == "execute_request"
        if state != self.state:
            self.state = state
            self.active_at = time.time()
        if runs and not self._is_running:
            self._run.enter_context(self._begin_run())
            self._is_running = True
        elif self._is_running and not runs:
            self._stop_counting()

    def _stop_counting(self) -> None:
        self._run.close()
        self._is_running = False

    def _end_of(self, relay: Relay, why: str | None) -> None:
        """Tell everybody of a kernel's end, and start another one where that is wanted."""
        was_ready = self._ready.is_set()
        self._relay = None
        ended = relay.close()
        self._stop_counting()
        restarts = self._take_restarts()
        gone = self._session.sandbox.end_reason
        if gone is not None:
            words = f"the sandbox has ended ({gone})"
        elif restarts or why == _RESTART:
            words = "the kernel was restarted"
        elif why is None:
            words = "the kernel was ended"
        else:
            words = f"the kernel died ({why or (ended.words if ended else 'for unknown reasons')})"
        wants_next = gone is None and (bool(restarts) or (why is not None and was_ready))
        # Front ends take "restarting" for the end of a kernel that nobody wanted to end.
        next_state = "starting" if restarts else "restarting"
        self.state = next_state if wants_next else "dead"
        relay.give_up(f"{words}; variables are gone, files are kept" if wants_next else words)
        relay.announce(self.state)
        if wants_next and not self._renew():
            relay.announce(self.state)
        self._settle(restarts)
        if relay.is_stopping and not wants_next:
            self._is_closing = True
            self._on_shutdown()

    def _renew(self) -> bool:
        """Start another kernel; return False where that cannot be."""
        try:
            self._session.restart()
            self._relay = self._start()
        except SandboxError:
            self.state = "dead"
            return False
        self.state = "starting"
        return True

    def _settle(self, restarts: Sequence["Future[None]"]) -> None:
        for done in restarts:
            if self._relay is None:
                done.set_exception(ContainerGoneError("the kernel could not be started again"))
            else:
                done.set_result(None)

    def _take_restarts(self) -> list[Future[None]]:
        with self._lock:
            taken, self._restarts = self._restarts, []
        return taken

    def _await_restart(self) -> None:
        """Wait until a kernel that is dead is to be started again."""
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        poll.poll(_TICK_MS)
        self._wake.clear()
        restarts = self._take_restarts()
        if restarts:
            self._renew()
            self._settle(restarts)

    def _end(self) -> None:
        self.state = "dead"
        self._ready.set()
        with self._lock:
            self._has_ended = True
            self._wake.close()
            clients, self._clients = self._clients, []
            restarts, self._restarts = self._restarts, []
        for client in clients:
            client.end("the kernel has ended")
        for done in restarts:
            done.set_exception(ContainerGoneError("the sandbox has ended"))


class _Missed:
    """Messages of a kernel without clients, for the one that left last.

    Args:
        session_id: Name of that client; None without one.
    """

    def __init__(self, session_id: str | None = None) -> None:
        self._session_id = session_id
        self._kept: collections.deque[Packed] = collections.deque()
        self._size = 0
        self._dropped = 0

    def add(self, packed: Packed) -> None:
        """Keep a message; the oldest ones are dropped when there are too many."""
        self._kept.append(packed)
        self._size += packed.size
        while self._size > _MOST_MISSED:
            self._size -= self._kept.popleft().size
            self._dropped += 1

    def take(self, session_id: str | None) -> list[Packed]:
        """Return everything for a client that comes, and keep nothing."""
        kept, dropped = list(self._kept), self._dropped
        self._kept.clear()
        self._size = self._dropped = 0
        if session_id != self._session_id:
            return []
        return [_note_of(dropped, kept[0]), *kept] if dropped and kept else kept


def _note_of(dropped: int, first: Packed) -> Packed:
    """Return a message that says how many are missing before another one."""
    words = f"[{dropped} messages came while no client was connected, and are left out]\n"
    header = {"msg_id": f"{first.message_id}-0", "msg_type": "stream", "session": ""}
    message = {
        "header": {**header, "username": "kernel", "date": "", "version": "5.3"},
        "parent_header": {},
        "metadata": {},
        "content": {"name": "stderr", "text": words},
    }
    return Packed.pack("iopub", message)
