"""Connections to the proxy of a sandbox, as they arrive over one byte stream from inside."""

import os
import socket
import threading
from typing import Protocol

from llm_sandbox.guest.connections import (
    MOST_CONNECTIONS,
    OPENED,
    RESET,
    ConnectionMultiplexer,
)
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.guest.descriptors import BOTH
from llm_sandbox.guest.mux import ProtocolError, Stream

__all__ = ["CarriedConnections", "ConnectionUser"]

_MOST_STREAMS = 2 * MOST_CONNECTIONS
_ENDED_S = 10.0


class ConnectionUser(Protocol):
    """The part of a gate that is told of connections, in another thread than its own."""

    def arrived(self, number: int, sock: socket.socket) -> None:
        """Called with a new connection."""

    def failed(self, number: int) -> None:
        """Called when a program has reset its connection."""

    def cut(self, done: threading.Event) -> None:
        """Called at the end of the byte stream; sets the event when all connections are closed."""


class CarriedConnections(ConnectionMultiplexer):
    """Multiplexer of connections that something inside accepts, in a thread of its own.

    Args:
        stream: The byte stream; owned from now on.
        user: The user of the connections.
    """

    def __init__(self, stream: socket.socket, user: ConnectionUser) -> None:
        # There are no records from this end.
        silent, self._held = socket.socketpair()
        super().__init__(stream, ControlChannel(silent))
        self._stream = stream
        self._user = user
        self._failed: set[int] = set()
        threading.Thread(target=self._carry, name="connections", daemon=True).start()

    def mark_failed(self, number: int) -> None:
        """Have the program of a connection get an error when this end of it is closed next."""
        if number in self._streams:
            self._failed.add(number)

    def _carry(self) -> None:
        try:
            self.run()
        except (ProtocolError, OSError):
            pass  # trust: what is wrong inside closes the network of that sandbox
        finally:
            self._stream.close()
            self._held.close()

    def _receive_control(self, payload: bytes) -> None:
        # trust: comes from inside: one kind of record, and a bounded number of streams.
        if len(payload) != OPENED.size:
            raise ProtocolError("invalid record of a connection")
        count, kind, number, rest = OPENED.unpack(payload)
        if (count, kind, rest) != (1, BOTH, b"{}") or number in self._streams:
            raise ProtocolError("invalid record of a connection")
        try:
            if len(self._streams) >= _MOST_STREAMS:
                raise OSError
            mine, theirs = socket.socketpair()
        except OSError:
            self._send(RESET, number)
            return
        self._failed.discard(number)
        self._add(number, mine.detach(), BOTH)
        self._user.arrived(number, theirs)

    def _reset(self, stream: Stream) -> None:
        stream.pending.clear()
        stream.arrivals.clear()
        stream.pending_bytes = 0
        # First, so that the end of this socket is not taken for that of a message.
        self._user.failed(stream.number)
        stream.ending = True
        stream.writing = False
        self._update(stream)

    def _send_end(self, stream: Stream, *, has_failed: bool) -> None:
        has_failed = has_failed or stream.number in self._failed
        self._failed.discard(stream.number)
        super()._send_end(stream, has_failed=has_failed)

    def _close_streams(self) -> None:
        done = threading.Event()
        self._user.cut(done)
        done.wait(_ENDED_S)
        for stream in self._streams.values():
            os.close(stream.fd)
