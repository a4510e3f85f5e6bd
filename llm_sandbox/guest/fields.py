"""Protocol between a wrapper kernel and its interpreter: messages of fields, easy in any language.

A message is a run of fields and then an empty line. A field is ``NAME SIZE`` on a line, SIZE bytes,
and a line end, which is not counted::

    kind 3
    run
    code 8
    print(1)

The first field is always ``kind``.
"""

from __future__ import annotations

_LONGEST_LINE = 200
_LARGEST = 1 << 30

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Fields = dict[str, bytes]
else:
    Fields = dict


class FieldError(ValueError):
    """Invalid message: the interpreter is broken or hostile."""


def encode(kind: str, fields: Iterable[tuple[str, str | bytes]] = ()) -> bytes:
    """Encode one message."""
    pieces: list[bytes] = []
    for name, value in (("kind", kind), *fields):
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        pieces += (f"{name} {len(data)}\n".encode(), data, b"\n")
    pieces.append(b"\n")
    return b"".join(pieces)


class FieldReader:
    """Incremental parser of messages: add bytes by `feed`, iterate over complete messages.

    Args:
        largest: Most bytes of one message.
    """

    def __init__(self, largest: int = _LARGEST) -> None:
        self._buffer = bytearray()
        self._at = 0
        self._fields: Fields = {}
        self._largest = largest
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        self._buffer += data

    def __iter__(self) -> Iterator[Fields]:
        """Yield the complete messages.

        Raises:
            FieldError: The bytes are invalid.
        """
        while True:
            end = self._buffer.find(b"\n", self._at, self._at + _LONGEST_LINE)
            if end < 0:
                if len(self._buffer) - self._at >= _LONGEST_LINE:
                    raise FieldError("invalid message: no end of a line")
                self._forget()
                return
            if end == self._at:
                message, self._fields, self._size = self._fields, {}, 0
                self._at = end + 1
                if "kind" not in message:
                    raise FieldError("invalid message: no kind")
                yield message
                continue
            name, size = self._read_head(bytes(self._buffer[self._at : end]))
            after = end + 1 + size
            if len(self._buffer) <= after:
                self._forget()
                return
            if self._buffer[after] != 10:
                raise FieldError(f"invalid message: the field {name!r} is not as long as its size")
            self._fields[name] = bytes(memoryview(self._buffer)[end + 1 : after])
            self._size += size
            self._at = after + 1

    def _read_head(self, line: bytes) -> tuple[str, int]:
        name, _, number = line.rpartition(b" ")
        if not name or not number.isdigit():
            raise FieldError("invalid message: no head NAME SIZE on a line")
        size = int(number)
        if self._size + size > self._largest:
            raise FieldError(f"invalid message: too large, over {self._largest} bytes")
        return name.decode("utf-8", "replace"), size

    def _forget(self) -> None:
        if self._at:
            del self._buffer[: self._at]
            self._at = 0
