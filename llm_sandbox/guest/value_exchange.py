"""Exchange of one call with a candidate: arguments go in, a value or an error comes back.

The frame that comes back is ``u32 length | JSON facts | header | blob``, where the facts have the
sizes of the two parts, which are those of the codec of values.
"""

from __future__ import annotations

import contextlib
import json
import select
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

_LENGTH = struct.Struct("<I")
_MOST_FACTS = 1 << 16
_READ = 1 << 18


def encode_frame(facts: dict[str, Any], parts: tuple[bytes, bytes]) -> bytes:
    """Return the frame of a value."""
    head = json.dumps(facts | {"sizes": [len(part) for part in parts]}).encode()
    return b"".join((_LENGTH.pack(len(head)), head, *parts))


class ValueExchange:
    """The runner's end of an exchange.

    Args:
        stream: Connection to the process of the call.
        parts: Header and blob of the arguments.
        limit: Most bytes of the value.

    Attributes:
        facts: What came with the value; None until all of it came.
        parts: Header and blob of the value.
    """

    def __init__(self, stream: socket.socket, parts: list[bytes], limit: int) -> None:
        self.stream = stream
        self.facts: dict[str, Any] | None = None
        self.parts = [b"", b""]
        self._out = memoryview(b"".join(parts))
        self._in = bytearray()
        self._limit = limit
        stream.setblocking(False)

    @property
    def events(self) -> int:
        """Events of the connection that are waited for."""
        return select.POLLIN | (select.POLLOUT if self._out else 0)

    def advance(self) -> bool:
        """Send and receive what can be; return False at the end, of a value or of its maker."""
        if self._out:
            try:
                self._out = self._out[self.stream.send(self._out) :]
            except BlockingIOError:
                pass
            except OSError:
                self._out = memoryview(b"")
        try:
            data = self.stream.recv(_READ)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._in += data
        return bool(data) and len(self._in) <= self._limit + _MOST_FACTS and self._parse()

    def _parse(self) -> bool:
        if len(self._in) < _LENGTH.size:
            return True
        (size,) = _LENGTH.unpack_from(self._in)
        begin = _LENGTH.size + size
        if size > _MOST_FACTS or len(self._in) < begin:
            return bool(size <= _MOST_FACTS)
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            facts = json.loads(bytes(self._in[_LENGTH.size : begin]))
            header, blob = (int(part) for part in facts["sizes"])
            if min(header, blob) < 0 or header + blob > self._limit:
                return False
            if len(self._in) < begin + header + blob:
                return True
            middle = begin + header
            self.parts = [bytes(self._in[begin:middle]), bytes(self._in[middle : middle + blob])]
            self.facts = facts
        return False
