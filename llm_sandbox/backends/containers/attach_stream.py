"""Attach connections of an engine: the standard streams of a container as one byte stream."""

import contextlib
import select
import socket
import ssl
import struct
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Any

__all__ = ["AttachTransport", "plain_socket"]

_HEADER = struct.Struct(">BxxxI")
_STDOUT = 1
_CHUNK = 1 << 18
_PIECE = 1 << 16


class AttachTransport:
    """Transport for `guest.mux.Multiplexer` over an attach or exec connection of the engine.

    The engine puts a header of eight bytes before each chunk of output: its stream and its size.

    Args:
        connection: The connection, after the engine has upgraded it.
        log: Receives the standard error of the container.
    """

    def __init__(self, connection: socket.socket, log: IO[bytes]) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._log = log
        self.reads_from = self.writes_to = connection.fileno()
        self._header = bytearray()
        self._left = 0
        self._is_output = False

    def receive(self) -> bytes | None:
        """See `guest.mux.Transport`."""
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            return None
        return self._strip(memoryview(data)) if data else None

    def send(self, pieces: Sequence[bytes | memoryview]) -> int:
        """See `guest.mux.Transport`."""
        return self._socket.sendmsg(pieces)

    def _strip(self, data: memoryview) -> bytes:
        found: list[memoryview] = []
        while data:
            if not self._left:
                missing = _HEADER.size - len(self._header)
                self._header += data[:missing]
                data = data[missing:]
                if len(self._header) == _HEADER.size:
                    stream, self._left = _HEADER.unpack(self._header)
                    self._is_output = stream == _STDOUT
                    self._header.clear()
                continue
            piece, data = data[: self._left], data[self._left :]
            self._left -= len(piece)
            if self._is_output:
                found.append(piece)
            else:
                with contextlib.suppress(ValueError):  # the log is closed
                    self._log.write(piece)
                    self._log.flush()
        return b"".join(found)


def plain_socket(connection: Any) -> socket.socket:
    """Return a plain socket, which can be polled together with others, for a docker-py connection.

    A connection to a local engine, without encryption, is one already. For others, threads relay
    between the connection and a socket pair.

    Args:
        connection: The socket that docker-py returned; it is closed when either side closes.
    """
    inner = getattr(connection, "_sock", connection)
    if type(inner) is socket.socket:
        own = inner.dup()
        connection.close()
        inner.close()
        return own
    return _relay(inner)


def _relay(connection: Any) -> socket.socket:
    near, far = socket.socketpair()
    if isinstance(connection, ssl.SSLSocket):
        _in_thread(_relay_tls, connection, far)
        return near
    if hasattr(connection, "settimeout"):
        connection.settimeout(None)  # or it would end after a minute of silence
    _in_thread(_relay_inwards, connection, far)
    _in_thread(_relay_outwards, far, connection)
    return near


def _in_thread(work: Any, *ends: Any) -> None:
    threading.Thread(target=work, args=ends, name="llm-sandbox-relay", daemon=True).start()


def _relay_tls(tls: ssl.SSLSocket, plain: socket.socket) -> None:
    # One thread for both directions, as two threads cannot share a TLS connection.
    try:
        with contextlib.suppress(OSError):  # errors of TLS are among them
            _TlsRelay(tls, plain).run()
    finally:
        plain.close()
        # The response object that docker-py keeps with it holds it open.
        answer = getattr(tls, "_response", None)
        if answer is not None:
            answer.close()
        tls.close()


class _TlsRelay:
    def __init__(self, tls: ssl.SSLSocket, plain: socket.socket) -> None:
        tls.setblocking(False)
        plain.setblocking(False)
        self._tls, self._plain = tls, plain
        self._inwards = self._outwards = memoryview(b"")
        self._tls_waits_for = 0

    def run(self) -> None:
        """Relay until either side closes."""
        while True:
            self._tls_waits_for = 0
            moved = False
            with contextlib.suppress(BlockingIOError):
                if not self._inwards:
                    self._inwards = memoryview(self._plain.recv(_PIECE))
                    if not self._inwards:
                        return
            with self._tls_may_wait():
                if self._inwards:
                    self._inwards = self._inwards[self._tls.send(self._inwards) :]
                    moved = True
            # Tried each time: poll does not see data that is decrypted and not yet received.
            with self._tls_may_wait():
                if not self._outwards:
                    self._outwards = memoryview(self._tls.recv(_PIECE))
                    if not self._outwards:
                        return
            with contextlib.suppress(BlockingIOError):
                if self._outwards:
                    self._outwards = self._outwards[self._plain.send(self._outwards) :]
                    moved = True
            if not moved:
                self._wait()

    @contextlib.contextmanager
    def _tls_may_wait(self) -> Iterator[None]:
        try:
            yield
        except ssl.SSLWantReadError:
            self._tls_waits_for |= select.POLLIN
        except ssl.SSLWantWriteError:
            self._tls_waits_for |= select.POLLOUT

    def _wait(self) -> None:
        waiting = select.poll()
        reads = 0 if self._inwards else select.POLLIN
        writes = select.POLLOUT if self._outwards else 0
        for end, events in ((self._tls, self._tls_waits_for), (self._plain, reads | writes)):
            # A closed end without events of interest would be reported again and again.
            if events:
                waiting.register(end, events)
        waiting.poll()


def _relay_inwards(source: Any, target: socket.socket) -> None:
    """Relay from the engine to the host."""
    buffer = bytearray(_PIECE)
    receive_into = getattr(source, "recv_into", None)
    with contextlib.suppress(Exception):  # each library has its own errors
        while True:
            if receive_into is not None:
                size = receive_into(memoryview(buffer))
                data = bytes(memoryview(buffer)[:size])
            else:
                data = source.recv(_PIECE) if hasattr(source, "recv") else source.read(_PIECE)
            if not data:
                break
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


def _relay_outwards(source: socket.socket, target: Any) -> None:
    """Relay from the host to the engine; the end of the host's data ends both directions."""
    with contextlib.suppress(Exception):
        while data := source.recv(_PIECE):
            target.sendall(data)
    with contextlib.suppress(Exception):
        if hasattr(target, "shutdown"):
            target.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(Exception):
        target.close()
    source.close()
