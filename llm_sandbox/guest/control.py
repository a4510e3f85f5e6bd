"""Control protocol: JSON records with file descriptors over a stream socket.

A record is ``u32 length | u8 number of descriptors | JSON``, little endian. Descriptors are passed
with the record's first byte. It is used between host and supervisor, and supervisor and zygote.
"""

from __future__ import annotations

import array
import collections
import json
import os
import socket
import struct
from collections.abc import Sequence

_HEADER = struct.Struct("<IB")
_MAX_RECORD = 64 << 20
_MAX_FDS = 16
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Message = dict[str, Any]
else:
    Message = dict


class ControlChannel:
    """One end of a control connection; one thread may send while another receives."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._buffer = bytearray()
        self._fds: collections.deque[int] = collections.deque()

    def fileno(self) -> int:
        """Return the socket's descriptor, for selectors."""
        return self.socket.fileno()

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        """Send one record, blocking while the peer is slow. The descriptors stay open here."""
        record = self._record(message, len(fds))
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        sent = self.socket.sendmsg([record], ancillary)
        if sent < len(record):
            self.socket.sendall(memoryview(record)[sent:])

    @staticmethod
    def _record(message: Message, count: int) -> bytes:
        body = json.dumps(message).encode()
        return _HEADER.pack(len(body), count) + body

    def receive(self) -> tuple[Message, list[int]] | None:
        """Receive one record; None when the peer is gone."""
        while True:
            record = self._take()
            if record is not None:
                return record
            if not self._fill():
                return None

    def pending(self) -> bool:
        """Return whether a whole record is already buffered, so that `receive` would not read."""
        if len(self._buffer) < _HEADER.size:
            return False
        length, _ = _HEADER.unpack_from(self._buffer)
        return len(self._buffer) >= _HEADER.size + int(length)

    def close(self) -> None:
        """Close the socket and every received descriptor that `receive` has not returned."""
        while self._fds:
            os.close(self._fds.popleft())
        self.socket.close()

    def _take(self) -> tuple[Message, list[int]] | None:
        if not self.pending():
            return None
        length, count = _HEADER.unpack_from(self._buffer)
        end = _HEADER.size + length
        message: Message = json.loads(bytes(self._buffer[_HEADER.size : end]))
        del self._buffer[:end]
        return message, [self._fds.popleft() for _ in range(count)]

    def _fill(self) -> bool:
        try:
            data, ancillary, _, _ = self.socket.recvmsg(
                1 << 16, socket.CMSG_SPACE(4 * _MAX_FDS), _CLOSE_ON_EXEC
            )
        except ConnectionResetError:
            return False
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                received = array.array("i")
                received.frombytes(payload[: len(payload) - len(payload) % received.itemsize])
                self._fds.extend(received)
        return self._add(data)

    def _add(self, data: bytes) -> bool:
        self._buffer += data
        if len(self._buffer) >= _HEADER.size and _HEADER.unpack_from(self._buffer)[0] > _MAX_RECORD:
            return False
        return bool(data)
