"""Jupyter messages on a websocket: the form of old clients, and ``v1.kernel.websocket``."""

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from llm_sandbox.exceptions import ValidationError

__all__ = ["PROTOCOL_V1", "Packed", "Received", "unpack"]

PROTOCOL_V1 = "v1.kernel.websocket.jupyter.org"
"""Name of the newer form, as clients offer it."""

_PARTS = ("header", "parent_header", "metadata", "content")
_CHANNELS = ("shell", "control", "stdin")
_MOST_PARTS = 1 << 12
_OVERHEAD = 512


@dataclass(frozen=True)
class Packed:
    """Message of a kernel, ready to be sent in either form."""

    channel: str
    """Channel of the message."""
    kind: str
    """Message type."""
    message_id: str
    """Its id."""
    parts: tuple[bytes, ...]
    """Header, parent header, metadata and content, each as JSON."""
    buffers: tuple[bytes, ...]
    """Binary buffers."""

    @classmethod
    def pack(
        cls, channel: str, message: Mapping[str, Any], buffers: Sequence[memoryview | bytes] = ()
    ) -> "Packed":
        """Return a message, packed.

        Raises:
            TypeError: It is nothing that JSON can say.
            ValueError: The same.
        """
        header = message["header"]
        parts = tuple(_encode(message[name]) for name in _PARTS)
        own = tuple(bytes(buffer) for buffer in buffers)
        return cls(channel, str(header["msg_type"]), str(header["msg_id"]), parts, own)

    @property
    def size(self) -> int:
        """Bytes of the message in memory."""
        return _OVERHEAD + sum(map(len, self.parts)) + sum(map(len, self.buffers))

    def encode(self, *, is_v1: bool) -> str | bytes:
        """Return the message as a websocket carries it.

        Args:
            is_v1: Whether the client speaks `PROTOCOL_V1`.
        """
        return self._v1() if is_v1 else self._legacy()

    def _v1(self) -> bytes:
        pieces = [self.channel.encode(), *self.parts, *self.buffers]
        offsets = [8 * (len(pieces) + 2)]
        for piece in pieces:
            offsets.append(offsets[-1] + len(piece))
        numbers = struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets)
        return b"".join([numbers, *pieces])

    def _legacy(self) -> str | bytes:
        fields = [
            *zip(_PARTS, self.parts, strict=True),
            ("msg_id", _encode(self.message_id)),
            ("msg_type", _encode(self.kind)),
            ("channel", _encode(self.channel)),
        ]
        text = b",".join(b'"%s":%s' % (name.encode(), value) for name, value in fields)
        if not self.buffers:
            return (b'{%s,"buffers":[]}' % text).decode()
        pieces = [b"{%s}" % text, *self.buffers]
        offsets = [4 * (len(pieces) + 1)]
        for piece in pieces[:-1]:
            offsets.append(offsets[-1] + len(piece))
        numbers = struct.pack(f"!{len(offsets) + 1}I", len(pieces), *offsets)
        return b"".join([numbers, *pieces])


def _encode(value: Any) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        # Browsers take no text that has a NaN.
        return json.dumps(_finite(value), separators=(",", ":")).encode()


def _finite(value: Any) -> Any:
    """Return a value with text in place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True)
class Received:
    """Message of a client."""

    channel: str
    """Channel of the message: ``shell``, ``control`` or ``stdin``."""
    message: dict[str, Any]
    """Header, parent header, metadata and content."""
    buffers: tuple[bytes, ...]
    """Binary buffers."""
    size: int
    """Bytes of the message on the websocket."""


def unpack(data: str | bytes, *, is_v1: bool) -> Received:
    """Return a message of a client.

    Args:
        data: What the websocket has carried.
        is_v1: Whether the client speaks `PROTOCOL_V1`.

    Raises:
        ValidationError: It is no message of Jupyter.
    """
    try:
        if is_v1 and isinstance(data, bytes):
            channel, message, buffers = _read_v1(data)
        else:
            channel, message, buffers = _read_legacy(data)
        return _checked(channel, message, buffers, len(data))
    except (ValueError, TypeError, LookupError, AttributeError, struct.error, RecursionError):
        raise ValidationError("invalid message: expected one of Jupyter's protocol") from None


def _read_v1(data: bytes) -> tuple[Any, dict[str, Any], list[bytes]]:
    (count,) = struct.unpack_from("<Q", data)
    if not len(_PARTS) + 2 <= count <= _MOST_PARTS:
        raise ValueError(count)
    offsets = struct.unpack_from(f"<{count}Q", data, 8)
    channel, *pieces = [data[start:end] for start, end in pairwise(offsets)]
    parts = [json.loads(piece) for piece in pieces[: len(_PARTS)]]
    message = dict(zip(_PARTS, parts, strict=True))
    return channel.decode(), message, pieces[len(_PARTS) :]


def _read_legacy(data: str | bytes) -> tuple[Any, dict[str, Any], list[bytes]]:
    buffers: list[bytes] = []
    if isinstance(data, bytes):
        (count,) = struct.unpack_from("!I", data)
        if not 1 <= count <= _MOST_PARTS:
            raise ValueError(count)
        offsets = struct.unpack_from(f"!{count}I", data, 4)
        pieces = [data[start:end] for start, end in pairwise([*offsets, len(data)])]
        data, buffers = pieces[0].decode(), pieces[1:]
    message = json.loads(data)
    return message.get("channel"), message, buffers


def _checked(
    channel: Any, message: Mapping[str, Any], buffers: Sequence[bytes], size: int
) -> Received:
    own: dict[str, Any] = {name: message.get(name) or {} for name in _PARTS}
    if not all(isinstance(part, dict) for part in own.values()):
        raise TypeError("a part is no object")
    header = own["header"]
    kind = header["msg_type"]
    if not isinstance(kind, str) or not isinstance(header["msg_id"], str):
        raise TypeError("the header has no type or no id")
    if channel is None:
        # jupyter_server's client for gateways names none.
        channel = "stdin" if kind == "input_reply" else "shell"
    if channel not in _CHANNELS:
        raise ValueError(channel)
    return Received(channel, own, tuple(buffers), size)
