"""Connections of a machine's programs to a proxy, carried to the host over one byte stream.

The proxy is the gate of the host. What listens inside, on loopback, accepts connections and passes
on their bytes, as the multiplexer of a supervisor does with descriptors, in the other direction:
the inside opens streams, and the host accepts them. There is one kind of frame more:

    reset    the stream has failed: its bytes are no complete message, and its socket is reset
"""

from __future__ import annotations

import resource
import socket
import struct

from .constants import REFUSED, RELAYED
from .control import ControlChannel
from .descriptors import BOTH
from .mux import CONTROL, END, Multiplexer, StdioTransport, Stream

RESET = 5
MOST_CONNECTIONS = 512
"""Connections that are open at once; more are reset."""
WINDOW = 1 << 18
"""Bytes that wait on each side for a slow reader."""
LISTENING = struct.Struct("<cH")
"""Answer of the agent: `constants.RELAYED` and the port, before the frames."""

_OTHER_FDS = 32
_BACKLOG = 512
_LOOPBACK = "127.0.0.1"
OPENED = struct.Struct("<BBI2s")
"""Record of a new connection: one socket, with its number."""
_LINGER = {True: struct.pack("ii", 1, 0), False: struct.pack("ii", 0, 0)}


def serve(reply: socket.socket) -> None:
    """Listen on loopback, and carry connections until the host hangs up.

    Args:
        reply: The byte stream to the host. It gets `LISTENING` first, or `constants.REFUSED` and
            the error number in text.
    """
    try:
        listener = socket.create_server((_LOOPBACK, 0), backlog=_BACKLOG)
    except OSError as error:
        reply.sendall(REFUSED + str(error.errno or 0).encode())
        return
    reply.sendall(LISTENING.pack(RELAYED, listener.getsockname()[1]))
    ConnectionListener(reply, listener).run()


class ConnectionMultiplexer(Multiplexer):
    """Multiplexer whose streams are sockets that can be reset.

    Args:
        connection: The byte stream.
        control: The descriptor that is watched besides.
    """

    def __init__(self, connection: socket.socket, control: ControlChannel) -> None:
        transport = StdioTransport(connection.fileno(), connection.fileno())
        # A sender has at most one window of credit.
        super().__init__(transport, control, serves=False, window=WINDOW, most_waiting=WINDOW)

    def _handle(self, kind: int, number: int, payload: bytes) -> None:
        if kind != RESET:
            super()._handle(kind, number, payload)
            return
        stream = self._streams.get(number)
        if stream is not None:
            self._reset(stream)

    def _reset(self, stream: Stream) -> None:
        """Obey a peer whose stream has failed."""
        raise NotImplementedError

    def _send_end(self, stream: Stream, *, has_failed: bool) -> None:
        self._send(RESET if has_failed else END, stream.number)


class ConnectionListener(ConnectionMultiplexer):
    """Multiplexer of the connections that a listener accepts.

    Args:
        connection: The byte stream to the host.
        listener: The listener; its connections are those of programs.
    """

    def __init__(self, connection: socket.socket, listener: socket.socket) -> None:
        super().__init__(connection, ControlChannel(listener))
        listener.setblocking(False)
        self._listener = listener
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = max(1, min(MOST_CONNECTIONS, files - _OTHER_FDS))

    def _serve_control(self) -> bool:
        """Accept a connection; one too many is reset, as a program that waits is told nothing."""
        try:
            made, _ = self._listener.accept()
        except OSError:
            return True  # it has gone again
        if len(self._streams) >= self._most:
            _close(made.detach(), with_reset=True)
            return True
        # What is read is written at once: nothing is gained by waiting.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Programs must not take the end of this process for that of a message.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER[True])
        self._last += 1
        self._add(self._last, made.detach(), BOTH)
        self._send(CONTROL, 0, OPENED.pack(1, BOTH, self._last, b"{}"))
        return True

    def _reset(self, stream: Stream) -> None:
        if stream.interest:
            self._selector.unregister(stream.fd)
        del self._streams[stream.number]
        _close(stream.fd, with_reset=True)

    def _close(self, stream: Stream) -> None:
        _close(stream.fd, with_reset=False)

    def _close_streams(self) -> None:
        # The end of the host's gate is no end of a message.
        for stream in self._streams.values():
            _close(stream.fd, with_reset=True)


def _close(fd: int, *, with_reset: bool) -> None:
    """Close a socket, so that its peer gets an error or an end."""
    with socket.socket(fileno=fd) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER[with_reset])
