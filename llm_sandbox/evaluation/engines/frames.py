"""Frames: bytes with their length in front, on a stream."""

from typing import BinaryIO

__all__ = ["read_frame", "write_frame"]

_LENGTH_BYTES = 8


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next frame; None at the end, also within a frame.

    Args:
        stream: The stream, buffered.
    """
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = int.from_bytes(head, "big")
    data = stream.read(length)
    return data if len(data) == length else None


def write_frame(stream: BinaryIO, data: bytes) -> None:
    """Write a frame.

    Args:
        stream: The stream, buffered.
        data: The bytes.

    Raises:
        OSError: Nobody reads.
    """
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "big"))
    stream.write(data)
    stream.flush()
