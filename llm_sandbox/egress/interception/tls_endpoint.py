"""One end of a TLS connection over a socket that nothing waits for."""

import contextlib
import socket
import ssl

__all__ = ["TlsEndpoint"]

_CHUNK = 1 << 16
_MOST_WAITING = 1 << 18


class TlsEndpoint:
    """Reads and writes what is in a connection.

    Args:
        sock: The socket, non-blocking.
        context: What the connection is made by.
        name: The name that is asked for; None at the server's end.
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
        """Whether the other end said that it ends."""

    def begin_with(self, data: bytes) -> None:
        """Take what was read from the socket already."""
        self._coming.write(data)

    @property
    def full(self) -> bool:
        """Whether what is to be sent has to be sent first."""
        return len(self._unsent) + self._going.pending > _MOST_WAITING

    def shake_hands(self) -> bool:
        """Go on with the handshake; whether it is done.

        Raises:
            ssl.SSLError: The other end, or its certificate, is not acceptable.
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
                self.flush()  # it is told why
                raise
            else:
                self.flush()
                return True

    def read(self) -> bytes | None:
        """Return what has come; None if nothing has, and nothing at all (``b""``) at the end.

        Raises:
            ssl.SSLError: It cannot be read.
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
        """Take bytes to be sent."""
        if data:
            self._tls.write(data)

    def say_end(self) -> None:
        """Tell the other end that nothing follows."""
        with contextlib.suppress(ssl.SSLError):  # it has not said the same yet
            self._tls.unwrap()
        self.flush()

    def flush(self) -> bool:
        """Send what can be sent; whether nothing is left.

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
        """Take in what has come; whether anything has."""
        try:
            data = self._sock.recv(_CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._coming.write(data)
        else:
            self._coming.write_eof()
        return True
