"""The standard streams of a container as one byte stream, with its standard error set aside."""

import contextlib
import socket
import struct
from collections.abc import Sequence
from typing import IO, Any

from llm_sandbox.backends.containers.socket_relay import plain_socket

__all__ = ["AttachTransport", "plain_socket_of"]

_HEADER = struct.Struct(">BxxxI")
_STDOUT = 1
_CHUNK = 1 << 18


class AttachTransport:
    """What `guest.mux.Multiplexer` runs over: an attach or exec connection of the engine.

    The engine marks what comes from the container with eight bytes: which stream, and how much.

    Args:
        connection: The connection, after the engine has switched it over.
        log: Takes what the container writes to standard error.
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
                with contextlib.suppress(ValueError):  # closed: nobody will read it
                    self._log.write(piece)
                    self._log.flush()
        return b"".join(found)


def plain_socket_of(connection: Any) -> socket.socket:
    """Return a plain socket for what docker-py calls the socket of a connection.

    With a local engine, and without encryption, it is one. Otherwise threads carry between it and a
    plain one, as only those can be waited for together with others.
    """
    inner = getattr(connection, "_sock", connection)
    if type(inner) is socket.socket:
        own = inner.dup()
        connection.close()
        inner.close()
        return own
    return plain_socket(inner)
