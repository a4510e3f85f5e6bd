"""Connection of process 1 of a pod: the stream that relays bring, one relay after the other.

A relay is a program that is executed in the pod beside process 1, and copies its standard input and
output to a socket of process 1. Programs of the pod may have the same user as process 1, which they
cannot signal: so the stream is carried by threads of it, not by other processes.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time

from . import linux
from .control import ControlChannel
from .mux import Multiplexer, StdioTransport
from .resumable import (
    END,
    KEY_SIZE,
    FramedConnection,
    LinkError,
    ResumableStream,
    SocketConnection,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ADDRESS = "\0llm-sandbox"
"""Address of the socket of process 1, in the pod's network: no file, which could be replaced."""
_MOST_HANDSHAKES = 8
_RELAY_SILENCE_S = 60.0
_CHUNK = 1 << 16


READY = b"listening\n"
"""Output of a supervisor that has its key, once relays may connect."""


def start(control: int, plan: dict[str, Any], streams: tuple[int, int]) -> None:
    """Start the threads that connect the supervisor with its host.

    Args:
        control: Descriptor of the control connection.
        plan: ``orphan_after``: seconds without a host after which the connection ends, and with it
            the supervisor. ``address``: of its socket; absent for that of process 1. Where it is
            given, other programs run beside the supervisor, so that the key comes over its own
            standard input, and not with the first relay. ``keeps``: whether the supervisor goes on
            without clients; see `hub`.
        streams: Descriptors of the supervisor's own standard input and output.
    """
    # Others of its user could read the key in its memory.
    linux.set_undumpable()
    # A relay may be gone when it is written to. Programs inherit no handler, but they would
    # inherit that a signal is ignored.
    signal.signal(signal.SIGPIPE, lambda *_: None)
    if plan.get("keeps"):
        from . import hub

        hub.start(ControlChannel(socket.socket(fileno=control)), plan["orphan_after"])
        return
    near, far = socket.socketpair()
    stream = far.detach()
    channel = ControlChannel(socket.socket(fileno=control))

    def multiplex() -> None:
        try:
            Multiplexer(StdioTransport(stream, stream), channel, serves=True).run()
        finally:
            os.close(stream)

    address, key = plan.get("address"), None
    if address is not None:
        key = _read_key(streams[0])
    carrier = Carrier(near, plan["orphan_after"])
    listener = Listener(address or ADDRESS, key, lambda *_: carrier)
    if address is not None:
        os.write(streams[1], READY)
        # Who has started it closes these, and goes.
        null = os.open(os.devnull, os.O_RDWR)
        for stream_of_start in (*streams, 2):
            os.dup2(null, stream_of_start)
    threading.Thread(target=multiplex, name="mux", daemon=True).start()
    threading.Thread(target=carrier.run, name="stream", daemon=True).start()
    listener.start()


def _read_key(stream: int) -> bytes:
    key = b""
    while len(key) < KEY_SIZE:
        data = os.read(stream, KEY_SIZE - len(key))
        if not data:
            raise EOFError("no key came")
        key += data
    return key


class Carrier:
    """Stream of one client, over the relays that come for it, one after the other.

    Args:
        local: The local socket of the stream.
        orphan_after: Seconds without a relay after which the stream ends.
    """

    def __init__(self, local: socket.socket, orphan_after: float | None) -> None:
        self._stream = ResumableStream(local, lambda: self._next is not None)
        self._orphan_after = orphan_after
        self._next: tuple[FramedConnection, int] | None = None
        self._arrival = threading.Condition()

    def run(self) -> None:
        """Serve relays until the stream ends, or nobody has come for too long."""
        try:
            while not self._stream.ended:
                with self._arrival:
                    if not self._arrival.wait_for(lambda: self._next, self._orphan_after):
                        return
                    found, self._next = self._next, None
                if found is None:
                    continue
                framed, passed_on = found
                try:
                    with contextlib.suppress(LinkError, OSError):
                        framed.welcome(self._stream.received)
                        self._stream.run(framed, passed_on)
                finally:
                    framed.connection.close()
        finally:
            self._stream.close()

    def offer(self, framed: FramedConnection, passed_on: int) -> None:
        """Give it a relay, in place of the present one."""
        with self._arrival:
            if self._next is not None:
                self._next[0].connection.close()
            self._next = framed, passed_on
            self._arrival.notify()
        self._stream.wake()


class Listener:
    """Socket that relays connect to.

    Args:
        address: Its address.
        key: The key; None for that of the first relay.
        find: Returns the carrier of a stream, by its name and the number of bytes that the client
            has received, or raises the `LinkError` that refuses it. One thread at a time calls it.
    """

    def __init__(
        self, address: str, key: bytes | None, find: Callable[[bytes, int], Carrier]
    ) -> None:
        self._key = key
        self._find = find
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(_MOST_HANDSHAKES)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(_MOST_HANDSHAKES)

    def start(self) -> None:
        """Let relays connect, in a thread."""
        threading.Thread(target=self._accept, name="relays", daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            if not self._slots.acquire(blocking=False):
                client.close()
                continue
            threading.Thread(target=self._admit, args=(client,), daemon=True).start()

    def _admit(self, client: socket.socket) -> None:
        """Let a client that knows the key take the place of the present one."""
        # trust: any program of the pod can connect.
        framed = FramedConnection(SocketConnection(client))
        try:
            key, passed_on = framed.authenticate(self._key)
            with self._lock:
                if key != (self._key or key):
                    raise LinkError("another client was the first")
                self._key = key
                try:
                    carrier = self._find(framed.stream, passed_on)
                except LinkError as error:
                    framed.send(END, str(error).encode())
                    raise
            carrier.offer(framed, passed_on)
        except (LinkError, OSError):
            client.close()
        finally:
            self._slots.release()


def relay(address: str = ADDRESS) -> None:
    """Entry point of a relay: copy between its standard streams and a supervisor.

    Args:
        address: Address of the supervisor's socket.
    """
    linux.set_undumpable()
    server = socket.socket(socket.AF_UNIX)
    server.connect(address)
    heard = time.monotonic()
    while True:
        ready = select.select([0, server.fileno()], [], [], _RELAY_SILENCE_S)[0]
        if 0 in ready:
            data = os.read(0, _CHUNK)
            heard = time.monotonic()
            if not data:
                return
            server.sendall(data)
        if server.fileno() in ready:
            data = server.recv(_CHUNK)
            if not data:
                return
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]
        if time.monotonic() - heard > _RELAY_SILENCE_S:
            return
