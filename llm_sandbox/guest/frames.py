"""Frames: Jupyter messages as length-prefixed records on one byte stream; used by both ends.

``u32 size | u8 channel | u8 buffers`` then `size` bytes: ``u32 JSON length | JSON | (u32 length |
bytes) * buffers``, little endian. Bulk text and images travel as buffers and never inside the JSON:
the JSON's ``bulk`` key lists, for each of the first buffers, the path in the message's content
where its text belongs; the rest are the message's own buffers. A value of a JSON type travels there
as JSON text, so that it is parsed on demand. Where a message would otherwise be over the limits of
`json_limits`, its long texts follow each other in one more buffer, with path and length of each in
the key ``texts``; or its whole content is one, with an empty path.
"""

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .json_limits import find_excess

SHELL, CONTROL, STDIN, IOPUB = range(4)
CHANNEL_NAMES = ("shell", "control", "stdin", "iopub")

HEADER = struct.Struct("<IBB")
_LENGTH = struct.Struct("<I")
_LONG_TEXT = 2048
_LONGEST_ID = 1000
_DISPLAYS = ("display_data", "execute_result", "update_display_data")

_encoder = json.JSONEncoder(default=str, separators=(",", ":"))

Message = dict[str, Any]
Buffer = bytes | memoryview


class Frame(NamedTuple):
    """One decoded frame."""

    channel: int
    message: Message
    buffers: list[memoryview]
    size: int
    """Bytes of the body."""


class FrameError(ValueError):
    """Invalid frame: the peer is broken or hostile."""


def encode(channel: int, message: Message, buffers: Sequence[Buffer] = ()) -> list[Buffer]:
    """Encode one frame as pieces for a vectored write; the buffers are not copied.

    Args:
        channel: One of the four channel numbers of this module.
        message: Header, parent header, metadata and content; plus ``bulk`` if bulk was lifted.
        buffers: Raw buffers, the lifted ones first.
    """
    body = _encoder.encode(message).encode()
    return encode_raw(channel, body, buffers)


def encode_light(channel: int, message: Message, buffers: Sequence[Buffer] = ()) -> list[Buffer]:
    """Encode as `encode`, with content moved out of the JSON where that is over its limits."""
    pieces = encode_parts(channel, message, buffers)
    if pieces is not None:
        return pieces
    content = _encoder.encode(message["content"]).encode()
    body = _encoder.encode({**message, "content": {}, "bulk": [[]]}).encode()
    return encode_raw(channel, body, [content, *buffers])


def encode_parts(
    channel: int, message: Message, buffers: Sequence[Buffer] = ()
) -> list[Buffer] | None:
    """Encode as `encode_light`, but for a message whose content is read in parts.

    Returns:
        None if the JSON is over its limits without its long texts.
    """
    lighter, lifted = lift_bulk(message)
    body = _encoder.encode(lighter).encode()
    if find_excess(body) is not None:
        lighter, lifted = _lift_texts(lighter, lifted)
        body = _encoder.encode(lighter).encode()
        if find_excess(body) is not None:
            return None
    return encode_raw(channel, body, [*lifted, *buffers])


def encode_display(
    channel: int, record: Message, buffers: Sequence[Buffer], limit: int
) -> list[Buffer]:
    """Encode a display message, or a note in place of one that is over the limits.

    Args:
        channel: One of the four channel numbers of this module.
        record: The message.
        buffers: The message's own buffers.
        limit: Most bytes.
    """
    pieces = encode_parts(channel, record, buffers)
    if pieces is None:
        size = len(json.dumps(record["content"], default=str))
        note = f"<a display of {size} bytes, with more parts than a display may have: left out>"
    else:
        size = sum(map(len, pieces))
        if size <= limit:
            return pieces
        note = f"<a display of {size} bytes, over the limit of {limit}: left out>"
    original = record["content"]
    known = (original.get("transient") or {}).get("display_id")
    content = {
        "data": {"text/plain": note},
        "metadata": {"llm_sandbox": {"left_out_bytes": size}},
        "transient": {"display_id": known[:_LONGEST_ID]} if isinstance(known, str) else {},
    }
    if "execution_count" in original:
        content["execution_count"] = original["execution_count"]
    return encode(channel, {**record, "content": content})


def encode_raw(channel: int, body: bytes, buffers: Sequence[Buffer] = ()) -> list[Buffer]:
    """Encode as `encode`, for a message that is JSON already."""
    size = 4 + len(body) + sum(4 + len(piece) for piece in buffers)
    pieces: list[Buffer] = [
        HEADER.pack(size, channel, len(buffers)) + _LENGTH.pack(len(body)),
        body,
    ]
    for piece in buffers:
        pieces += (_LENGTH.pack(len(piece)), piece)
    return pieces


def decode(
    body: memoryview, count: int, *, limited: bool = False
) -> tuple[Message, list[memoryview]]:
    """Decode a frame's body into its message and buffers.

    Args:
        body: The body.
        count: Number of its buffers.
        limited: Whether its JSON has to keep to `json_limits`.

    Raises:
        FrameError: The lengths do not add up, or the JSON is not an object or too large.
    """
    offset = 0

    def take() -> memoryview:
        nonlocal offset
        if offset + 4 > len(body):
            raise FrameError("invalid frame: ends inside a length")
        (length,) = _LENGTH.unpack_from(body, offset)
        piece = body[offset + 4 : offset + 4 + length]
        if len(piece) != length:
            raise FrameError("invalid frame: shorter than its parts")
        offset += 4 + length
        return piece

    text = bytes(take())
    excess = find_excess(text) if limited else None
    if excess is not None:
        raise FrameError(f"invalid frame: too large, {excess}")
    buffers = [take() for _ in range(count)]
    try:
        message = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"invalid frame: not JSON ({type(error).__name__})") from None
    if not isinstance(message, dict):
        raise FrameError("invalid frame: not a JSON object")
    return message, buffers


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class FrameReader:
    """Incremental parser of frames: add bytes by `feed`, iterate over complete frames.

    Args:
        max_size: Largest accepted body in bytes; a larger one is a `FrameError` before it is
            stored.
        limited: Whether the JSON of frames has to keep to `json_limits`, for a peer that may be
            hostile.
    """

    def __init__(self, max_size: int = 128 << 20, *, limited: bool = False) -> None:
        self._buffer = bytearray()
        self._max_size = max_size
        self._limited = limited

    def missing_bytes(self) -> int:
        """Return how many bytes the next frame still needs at least, a hint for the next read."""
        if len(self._buffer) < HEADER.size:
            return HEADER.size - len(self._buffer)
        size: int = HEADER.unpack_from(self._buffer)[0]
        return max(0, HEADER.size + size - len(self._buffer))

    @property
    def is_empty(self) -> bool:
        """Whether the received bytes end with a complete frame."""
        return not self._buffer

    def feed(self, data: Buffer) -> None:
        """Add received bytes."""
        self._buffer += data

    def __iter__(self) -> Iterator[Frame]:
        """Yield the complete frames."""
        while len(self._buffer) >= HEADER.size:
            size, channel, count = HEADER.unpack_from(self._buffer)
            if size > self._max_size:
                raise FrameError(f"invalid frame: {size} bytes, over the limit of {self._max_size}")
            if channel >= len(CHANNEL_NAMES):
                raise FrameError(f"invalid frame: unknown channel {channel}")
            end = HEADER.size + size
            if len(self._buffer) < end:
                return
            # The returned buffers must outlive the next `feed`: the frame takes the whole buffer if
            # nothing follows in it, and is copied otherwise.
            if len(self._buffer) == end:
                body = memoryview(self._buffer)[HEADER.size :]
                self._buffer = bytearray()
            else:
                body = memoryview(bytes(memoryview(self._buffer)[HEADER.size : end]))
                del self._buffer[:end]
            yield Frame(channel, *decode(body, count, limited=self._limited), size)


def lift_bulk(message: Message) -> tuple[Message, list[bytes]]:
    """Move long text of a stream or display out of the JSON.

    Args:
        message: A Jupyter message; not changed.

    Returns:
        The message with a ``bulk`` key, and the buffers in the same order.
    """
    content = message["content"]
    kind = message["header"]["msg_type"]
    paths: list[list[str]] = []
    buffers: list[bytes] = []
    if kind == "stream" and len(content["text"]) >= _LONG_TEXT:
        paths.append(["text"])
        buffers.append(content["text"].encode("utf-8", "surrogatepass"))
        content = {**content, "text": ""}
    elif kind in _DISPLAYS:
        data = dict(content["data"])
        for mime, value in data.items():
            if isinstance(value, (dict, list)) and mime.endswith("json"):
                text = _encoder.encode(value)
            elif isinstance(value, str):
                text = value
            else:
                continue
            if len(text) >= _LONG_TEXT:
                paths.append(["data", mime])
                buffers.append(text.encode("utf-8", "surrogatepass"))
        for path in paths:
            data[path[1]] = ""
        content = {**content, "data": data}
    if not paths:
        return message, []
    return {**message, "content": content, "bulk": paths}, buffers


def _lift_texts(message: Message, buffers: list[bytes]) -> tuple[Message, list[bytes]]:
    """Move every long text of a message's content out of the JSON.

    Args:
        message: A message; not changed.
        buffers: The buffers that were lifted before.

    Returns:
        The message with a key ``texts``, and the buffers with one more.
    """
    moved: list[tuple[tuple[str | int, ...], bytes]] = []

    def without(value: Any, path: tuple[str | int, ...]) -> Any:
        if isinstance(value, str) and len(value) >= _LONG_TEXT:
            moved.append((path, value.encode("utf-8", "surrogatepass")))
            return ""
        if isinstance(value, dict):
            return {
                key: without(item, (*path, key)) if isinstance(key, str) else item
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [without(item, (*path, number)) for number, item in enumerate(value)]
        return value

    try:
        content = without(message["content"], ())
    except RecursionError:
        return message, buffers
    texts = [(path, len(text)) for path, text in moved]
    joined = b"".join(text for _, text in moved)
    return {**message, "content": content, "texts": texts}, [*buffers, joined]


def restore_bulk(
    message: Message, buffers: list[memoryview], most: int | None = None
) -> list[memoryview]:
    """Put lifted text back into the content; the inverse of `lift_bulk`.

    Args:
        message: The message, which is changed.
        buffers: The buffers of its frame.
        most: Most bytes of text to put back; None for any number.

    Returns:
        The message's own buffers. Content that was moved as a whole becomes the bytes of its JSON.

    Raises:
        FrameError: The paths do not fit the content or the number of buffers.
    """
    paths, texts = message.pop("bulk", []), message.pop("texts", None)
    taken = len(paths) + (texts is not None)
    if not isinstance(paths, list) or taken > len(buffers):
        raise FrameError("invalid frame: more bulk paths than buffers")
    size = sum(map(len, buffers[:taken]))
    if most is not None and size > most:
        raise FrameError(f"invalid frame: {size} bytes of text, over the limit of {most}")
    for path, piece in zip(paths, buffers, strict=False):
        _put(message, path, piece)
    start = 0
    for path, length in texts or ():
        if type(length) is not int or length < 0:
            raise FrameError("invalid frame: a text without a length")
        _put(message, path, buffers[taken - 1][start : start + length])
        start += length
    if texts is not None and start != len(buffers[taken - 1]):
        raise FrameError("invalid frame: the lengths of its texts do not add up")
    return buffers[taken:]


def _put(message: Message, path: list[Any], piece: memoryview) -> None:
    if not path:
        message["content"] = bytes(piece)
        return
    target = message.get("content")
    try:
        for key in path[:-1]:
            target = target[key]  # type: ignore[index]
        target[path[-1]] = str(piece, "utf-8", "replace")  # type: ignore[index]
    except (TypeError, KeyError, IndexError):
        raise FrameError("invalid frame: a bulk path that is not in its content") from None
