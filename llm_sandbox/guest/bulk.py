"""Protocol of the file service: JSON records and chunks of bytes over a socket.

A record is ``u32 length | JSON object``. Bulk is chunks, ``u32 length | bytes``, ended by a zero
length, or by ``0xFFFFFFFF`` when the sender failed halfway.
"""

from __future__ import annotations

import errno
import io
import json
import socket
import struct
from collections.abc import Iterator

_LENGTH = struct.Struct("<I")
_FAILED = 0xFFFFFFFF
_MAX_CHUNK = 64 << 20

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]
else:
    Record = dict


class SenderFailed(Exception):
    """Failure of the peer to send the rest of its bulk data; the connection is at the
    next record.
    """


class Connection:
    """One end of a connection to a file service.

    Raises:
        EOFError: The peer is gone, or violates the protocol.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock

    def send_record(self, record: Record) -> None:
        """Send one JSON record."""
        body = json.dumps(record).encode()
        self._send(_LENGTH.pack(len(body)) + body)

    def receive_record(self, limit: int = _MAX_CHUNK) -> Record:
        """Receive one JSON record of at most `limit` bytes."""
        (length,) = _LENGTH.unpack(self._exactly(4))
        if length > limit:
            raise EOFError(f"invalid record: {length} bytes, over the limit of {limit}")
        try:
            record = json.loads(self._exactly(length))
        except (ValueError, RecursionError):
            raise EOFError("invalid record: not JSON") from None
        if not isinstance(record, dict):
            raise EOFError("invalid record: not a JSON object")
        return record

    def send_chunk(self, data: bytes | memoryview) -> None:
        """Send one chunk of bulk, which must not be empty."""
        self._send(_LENGTH.pack(len(data)))
        self._send(data)

    def end_chunks(self, *, failed: bool = False) -> None:
        """End the bulk: complete, or failed halfway."""
        self._send(_LENGTH.pack(_FAILED if failed else 0))

    def chunks(self) -> Iterator[bytes]:
        """Yield the chunks of bulk until its end.

        Raises:
            SenderFailed: The peer failed halfway.
        """
        while True:
            (length,) = _LENGTH.unpack(self._exactly(4))
            if length == 0:
                return
            if length == _FAILED:
                raise SenderFailed
            if length > _MAX_CHUNK:
                raise EOFError(f"invalid chunk: {length} bytes, over the limit of {_MAX_CHUNK}")
            yield self._exactly(length)

    def _send(self, data: bytes | memoryview) -> None:
        self.socket.sendall(data)

    def _receive(self, view: memoryview) -> int:
        return self.socket.recv_into(view)

    def _exactly(self, size: int) -> bytes:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            got = self._receive(view)
            if not got:
                raise EOFError("the connection ended")
            view = view[got:]
        return bytes(buffer)


class ChunkWriter(io.RawIOBase):
    """Writable file object that sends chunks, `limit` bytes in all at most."""

    def __init__(self, connection: Connection, limit: int) -> None:
        self._connection = connection
        self._left = limit

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._left -= len(view)
        if self._left < 0:
            raise OSError(errno.EFBIG, "it is over the size limit")
        if view:
            self._connection.send_chunk(view)
        return len(view)


class ChunkReader(io.RawIOBase):
    """Readable file object over received chunks."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = memoryview(next(self._chunks, b""))
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
