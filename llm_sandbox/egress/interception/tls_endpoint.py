"""TLS endpoint over a non-blocking socket."""

import contextlib
import socket
import ssl

__all__ = ["TlsEndpoint"]

_CHUNK = 1 << 16
_MOST_WAITING = 1 << 18


class TlsEndpoint:
    """Client or server side of a TLS connection.

    Args:
        sock: The socket, non-blocking.
        context: The TLS context.
        name: The server name to request; None for the server side.
    """

    def __init__(
        self, sock: socket.socket, context: ssl.SSLContext, name: str | None = None
    ) -> None:
        self._sock = sock
        self._coming, self._going = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._coming, self._going, server_side=name is None, server_hostname=name
        )
        self._unsent = memoryview(b"")
        self.clean = False
        """Whether the peer closed TLS properly."""

    def begin_with(self, data: bytes) -> None:
        """Process bytes that were read from the socket before."""
        self._coming.write(data)

    @property
    def full(self) -> bool:
        """Whether the send buffer is full."""
        return len(self._unsent) + self._going.pending > _MOST_WAITING

    def shake_hands(self) -> bool:
        """Continue the handshake, and return whether it is complete.

        Raises:
            ssl.SSLError: The peer, or its certificate, is not acceptable.
            OSError: The connection has failed.
        """
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self.flush()
                if not self._fill():
                    return False
            except ssl.SSLError:
                self.flush()  # the alert
                raise
            else:
                self.flush()
                return True

    def read(self) -> bytes | None:
        """Return received data; None if there is none yet, and ``b""`` at the end.

        Raises:
            ssl.SSLError: The data is invalid.
            OSError: The connection has failed.
        """
        while True:
            try:
                data = self._tls.read(_CHUNK)
            except ssl.SSLWantReadError:
                if not self._fill():
                    return None
            except ssl.SSLZeroReturnError:
                self.clean = True
                return b""
            except ssl.SSLEOFError:
                return b""
            else:
                self.clean = not data
                return data

    def write(self, data: bytes) -> None:
        """Queue bytes for sending."""
        if data:
            self._tls.write(data)

    def send_close(self) -> None:
        """Send the closing alert."""
        with contextlib.suppress(ssl.SSLError):  # the peer has not closed yet
            self._tls.unwrap()
        self.flush()

    def flush(self) -> bool:
        """Send as much as is possible, and return whether nothing is left.

        Raises:
            OSError: The connection has failed.
        """
        while True:
            if not self._unsent:
                self._unsent = memoryview(self._going.read(_MOST_WAITING))
                if not self._unsent:
                    return True
            try:
                sent = self._sock.send(self._unsent)
            except BlockingIOError:
                return False
            self._unsent = self._unsent[sent:]

    def _fill(self) -> bool:
        """Receive from the socket, and return whether anything arrived, the end included."""
        try:
            data = self._sock.recv(_CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._coming.write(data)
        else:
            self._coming.write_eof()
        return True
