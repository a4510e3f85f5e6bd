"""Numbers and chunks in hostile bytes: a field that is incomplete is None, and nothing raises."""

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Chunk", "big", "chunks", "little", "number"]

_CHUNKS = 20_000
"""Most chunks that are read."""


class Chunk(NamedTuple):
    """One chunk of a RIFF or IFF container."""

    name: bytes
    """Four characters."""
    body: int
    """Offset of its content."""
    length: int
    """Claimed bytes of its content."""


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
    """Return an unsigned number, most significant byte first; None when it is not all there.

    Args:
        content: A file, possibly hostile.
        offset: Where the number begins.
        size: Its bytes.
    """
    field = _field(content, offset, size)
    return None if field is None else int.from_bytes(field)


def little(content: bytes, offset: int, size: int) -> int | None:
    """Return an unsigned number, least significant byte first; None when it is not all there.

    Args:
        content: A file, possibly hostile.
        offset: Where the number begins.
        size: Its bytes.
    """
    field = _field(content, offset, size)
    return None if field is None else int.from_bytes(field, "little")


def number(content: bytes, offset: int, size: int, *, first_is_low: bool) -> int | None:
    """Return an unsigned number of a format that comes in both orders of bytes.

    Args:
        content: A file, possibly hostile.
        offset: Where the number begins.
        size: Its bytes.
        first_is_low: Whether the least significant byte stands first.
    """
    return (little if first_is_low else big)(content, offset, size)


def _field(content: bytes, offset: int, size: int) -> bytes | None:
    # trust: an offset from inside may be negative, which a slice would count from the end.
    if offset < 0 or offset + size > len(content):
        return None
    return content[offset : offset + size]
