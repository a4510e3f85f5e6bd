"""Numbers in hostile bytes: a field that is not wholly there is None, and nothing raises."""

__all__ = ["big", "little", "number"]


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
