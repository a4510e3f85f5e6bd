"""A plain socket for an engine's connection that is none: one with TLS, or one of SSH."""

import contextlib
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["plain_socket"]

_CHUNK = 1 << 16


def plain_socket(connection: Any) -> socket.socket:
    """Return a socket that can be waited for together with others; threads carry between the two.

    Args:
        connection: What docker-py calls a socket; it is closed when either side hangs up.
    """
    near, far = socket.socketpair()
    if isinstance(connection, ssl.SSLSocket):
        _in_thread(_carry_tls, connection, far)
        return near
    if hasattr(connection, "settimeout"):
        connection.settimeout(None)  # or it would end where nothing is said for a minute
    _in_thread(_carry_in, connection, far)
    _in_thread(_carry_out, far, connection)
    return near


def _in_thread(work: Any, *ends: Any) -> None:
    threading.Thread(target=work, args=ends, name="llm-sandbox-bridge", daemon=True).start()


def _carry_tls(tls: ssl.SSLSocket, plain: socket.socket) -> None:
    # One thread for both directions: a TLS connection is not for two at once.
    try:
        with contextlib.suppress(OSError):  # which a failure of TLS is as well
            _TlsBridge(tls, plain).run()
    finally:
        plain.close()
        # The answer that docker-py keeps with it holds it open.
        answer = getattr(tls, "_response", None)
        if answer is not None:
            answer.close()
        tls.close()


class _TlsBridge:
    def __init__(self, tls: ssl.SSLSocket, plain: socket.socket) -> None:
        tls.setblocking(False)
        plain.setblocking(False)
        self._tls, self._plain = tls, plain
        self._inwards = self._outwards = memoryview(b"")
        self._tls_waits_for = 0

    def run(self) -> None:
        """Carry until either side hangs up."""
        while True:
            self._tls_waits_for = 0
            carried = False
            with contextlib.suppress(BlockingIOError):
                if not self._inwards:
                    self._inwards = memoryview(self._plain.recv(_CHUNK))
                    if not self._inwards:
                        return
            with self._tls_may_wait():
                if self._inwards:
                    self._inwards = self._inwards[self._tls.send(self._inwards) :]
                    carried = True
            # Tried each time: of what is decrypted and not yet taken, no descriptor tells.
            with self._tls_may_wait():
                if not self._outwards:
                    self._outwards = memoryview(self._tls.recv(_CHUNK))
                    if not self._outwards:
                        return
            with contextlib.suppress(BlockingIOError):
                if self._outwards:
                    self._outwards = self._outwards[self._plain.send(self._outwards) :]
                    carried = True
            if not carried:
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
            # One that is only heard to have hung up would be heard again and again.
            if events:
                waiting.register(end, events)
        waiting.poll()


def _carry_in(source: Any, target: socket.socket) -> None:
    """Carry what the engine says."""
    buffer = bytearray(_CHUNK)
    receive_into = getattr(source, "recv_into", None)
    with contextlib.suppress(Exception):  # what errors it has is its library's matter
        while True:
            if receive_into is not None:
                size = receive_into(memoryview(buffer))
                data = bytes(memoryview(buffer)[:size])
            else:
                data = source.recv(_CHUNK) if hasattr(source, "recv") else source.read(_CHUNK)
            if not data:
                break
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


def _carry_out(source: socket.socket, target: Any) -> None:
    """Carry what the host says; its end ends both directions."""
    with contextlib.suppress(Exception):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    with contextlib.suppress(Exception):
        if hasattr(target, "shutdown"):
            target.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(Exception):
        target.close()
    source.close()
