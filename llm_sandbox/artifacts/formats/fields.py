"""Numbers and chunks in hostile bytes: an incomplete field is None, and nothing raises."""

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Chunk", "big", "chunks", "little", "number"]

_CHUNKS = 20_000
"""Most chunks that are read."""


class Chunk(NamedTuple):
    """Chunk of a RIFF or IFF container."""

    name: bytes
    """Name of four characters."""
    body: int
    """Offset of the content."""
    length: int
    """Claimed length of the content in bytes."""


def chunks(
    content: bytes, *, first_is_low: bool, offset: int = 12, stop: int | None = None
) -> Iterator[Chunk]:
    """Yield the chunks of a RIFF (least significant byte first) or IFF container.

    Args:
        content: A file, possibly hostile.
        first_is_low: Whether sizes have their least significant byte first.
        offset: Offset of the first chunk.
        stop: Offset at which the container ends; None for the end of the file.
    """
    stop = len(content) if stop is None else min(stop, len(content))
    # trust: a file from inside; every step moves forward, and their number is limited.
    for _ in range(_CHUNKS):
        length = number(content, offset + 4, 4, first_is_low=first_is_low)
        if length is None or offset + 8 > stop:
            break
        yield Chunk(content[offset : offset + 4], offset + 8, length)
        offset += 8 + length + length % 2


def big(content: bytes, offset: int, size: int) -> int | None:
    """Return an unsigned big-endian number; None when it is incomplete.

    Args:
        content: A file, possibly hostile.
        offset: Offset of the number.
        size: Length of the number in bytes.
    """
    field = _field(content, offset, size)
    return None if field is None else int.from_bytes(field)


def little(content: bytes, offset: int, size: int) -> int | None:
    """Return an unsigned little-endian number; None when it is incomplete.

    Args:
        content: A file, possibly hostile.
        offset: Offset of the number.
        size: Length of the number in bytes.
    """
    field = _field(content, offset, size)
    return None if field is None else int.from_bytes(field, "little")


def number(content: bytes, offset: int, size: int, *, first_is_low: bool) -> int | None:
    """Return an unsigned number of a format that exists in both byte orders.

    Args:
        content: A file, possibly hostile.
        offset: Offset of the number.
        size: Length of the number in bytes.
        first_is_low: Whether the number is little-endian.
    """
    return (little if first_is_low else big)(content, offset, size)


def _field(content: bytes, offset: int, size: int) -> bytes | None:
    # trust: an offset from inside may be negative, which a slice would count from the end.
    if offset < 0 or offset + size > len(content):
        return None
    return content[offset : offset + size]
