"""Frames: Jupyter messages as length-prefixed records on one byte stream.

``u32 size | u8 channel | u8 buffers`` then `size` bytes: ``u32 JSON length | JSON | (u32 length |
bytes) * buffers``, little endian. Bulk text and images travel as buffers and never inside the JSON:
the JSON's ``bulk`` key lists, for each of the first buffers, the path in the message's content
where its text belongs; the rest are the message's own buffers. A value of a JSON type travels there
as JSON text, which nobody need parse who does not want it. Both ends use this module.
"""

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

SHELL, CONTROL, STDIN, IOPUB = range(4)
CHANNEL_NAMES = ("shell", "control", "stdin", "iopub")

HEADER = struct.Struct("<IBB")
_LENGTH = struct.Struct("<I")

_encoder = json.JSONEncoder(default=str, separators=(",", ":"))

Message = dict[str, Any]
Buffer = bytes | memoryview


class Frame(NamedTuple):
    """One decoded frame."""

    channel: int
    message: Message
    buffers: list[memoryview]
    size: int
    """Bytes of its body."""


class FrameError(ValueError):
    """The stream does not hold frames: the peer is broken or hostile."""


def encode(channel: int, message: Message, buffers: Sequence[Buffer] = ()) -> list[Buffer]:
    """Encode one frame as pieces for a gathering write; the buffers are not copied.

    Args:
        channel: One of the four channel numbers of this module.
        message: Header, parent header, metadata and content; plus ``bulk`` if bulk was lifted.
        buffers: Raw bytes that follow, the lifted ones first.
    """
    body = _encoder.encode(message).encode()
    return encode_raw(channel, body, buffers)


def encode_raw(channel: int, body: bytes, buffers: Sequence[Buffer] = ()) -> list[Buffer]:
    """As `encode`, for a message that is JSON already."""
    size = 4 + len(body) + sum(4 + len(piece) for piece in buffers)
    pieces: list[Buffer] = [
        HEADER.pack(size, channel, len(buffers)) + _LENGTH.pack(len(body)),
        body,
    ]
    for piece in buffers:
        pieces += (_LENGTH.pack(len(piece)), piece)
    return pieces


def decode(body: memoryview, count: int) -> tuple[Message, list[memoryview]]:
    """Decode a frame's body into its message and buffers.

    Raises:
        FrameError: Lengths that do not add up, or JSON that is not an object.
    """
    offset = 0

    def take() -> memoryview:
        nonlocal offset
        if offset + 4 > len(body):
            raise FrameError("a frame ends inside a length")
        (length,) = _LENGTH.unpack_from(body, offset)
        piece = body[offset + 4 : offset + 4 + length]
        if len(piece) != length:
            raise FrameError("a frame is shorter than its parts")
        offset += 4 + length
        return piece

    text = bytes(take())
    buffers = [take() for _ in range(count)]
    try:
        message = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a frame is not JSON: {type(error).__name__}") from None
    if not isinstance(message, dict):
        raise FrameError("a frame is not a JSON object")
    return message, buffers


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class FrameReader:
    """Cuts a byte stream into frames. Bytes go in by `feed`, frames come out by iterating.

    Args:
        max_size: Largest body accepted, in bytes; a larger one is a `FrameError` before anything is
            stored.
    """

    def __init__(self, max_size: int = 128 << 20) -> None:
        self._buffer = bytearray()
        self._max_size = max_size

    def wanted(self) -> int:
        """How many more bytes the frame at hand needs at least; a hint for the next read."""
        if len(self._buffer) < HEADER.size:
            return HEADER.size - len(self._buffer)
        size: int = HEADER.unpack_from(self._buffer)[0]
        return max(0, HEADER.size + size - len(self._buffer))

    def feed(self, data: Buffer) -> None:
        """Add bytes as they arrived."""
        self._buffer += data

    def __iter__(self) -> Iterator[Frame]:
        """Yield the whole frames that are there."""
        while len(self._buffer) >= HEADER.size:
            size, channel, count = HEADER.unpack_from(self._buffer)
            if size > self._max_size:
                raise FrameError(f"a frame of {size} bytes is over the limit of {self._max_size}")
            if channel >= len(CHANNEL_NAMES):
                raise FrameError(f"there is no channel {channel}")
            end = HEADER.size + size
            if len(self._buffer) < end:
                return
            # The buffers handed out must outlive the next feed: the frame takes the whole buffer
            # along if nothing follows in it, and is copied otherwise.
            if len(self._buffer) == end:
                body = memoryview(self._buffer)[HEADER.size :]
                self._buffer = bytearray()
            else:
                body = memoryview(bytes(memoryview(self._buffer)[HEADER.size : end]))
                del self._buffer[:end]
            yield Frame(channel, *decode(body, count), size)


def lift_bulk(message: Message, threshold: int = 2048) -> tuple[Message, list[bytes]]:
    """Move long text of a message's content out of the JSON.

    Args:
        message: A Jupyter message; not changed.
        threshold: Texts of at least this many characters are moved.

    Returns:
        The message with a ``bulk`` key, and the buffers in the same order.
    """
    content = message["content"]
    kind = message["header"]["msg_type"]
    paths: list[list[str]] = []
    buffers: list[bytes] = []
    if kind == "stream" and len(content["text"]) >= threshold:
        paths.append(["text"])
        buffers.append(content["text"].encode("utf-8", "surrogatepass"))
        content = {**content, "text": ""}
    elif kind in ("display_data", "execute_result", "update_display_data"):
        data = dict(content["data"])
        for mime, value in data.items():
            if isinstance(value, dict) and mime.endswith("json"):
                text = _encoder.encode(value)
            elif isinstance(value, str):
                text = value
            else:
                continue
            if len(text) >= threshold:
                paths.append(["data", mime])
                buffers.append(text.encode("utf-8", "surrogatepass"))
        for path in paths:
            data[path[1]] = ""
        content = {**content, "data": data}
    if not paths:
        return message, []
    return {**message, "content": content, "bulk": paths}, buffers


def restore_bulk(message: Message, buffers: list[memoryview]) -> list[memoryview]:
    """Put lifted text back into the content; the inverse of `lift_bulk`.

    Returns:
        The buffers that are the message's own.

    Raises:
        FrameError: Paths that do not fit the content or the number of buffers.
    """
    paths = message.pop("bulk", [])
    if not isinstance(paths, list) or len(paths) > len(buffers):
        raise FrameError("a frame names more bulk than it carries")
    for path, piece in zip(paths, buffers, strict=False):
        target = message.get("content")
        try:
            for key in path[:-1]:
                target = target[key]  # type: ignore[index]
            target[path[-1]] = str(piece, "utf-8", "replace")  # type: ignore[index]
        except (TypeError, KeyError, IndexError):
            raise FrameError("a frame's bulk has no place in its content") from None
    return buffers[len(paths) :]
