"""Parsing of sizes and counts."""

import re

from llm_sandbox.exceptions import ValidationError

__all__ = ["check_count", "parse_size"]

_KIB = 1024
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmgt]?)(?:i?b)?", re.ASCII | re.IGNORECASE)
_LARGEST = 2**63 - 1


def parse_size(text: str | int, name: str = "size") -> int:
    """Parse a size in bytes from text like ``"512m"``, ``"1.5 GiB"`` or ``"4096"``.

    Units are powers of 1024, with or without ``b`` and ``ib``, in any letter case.

    Args:
        text: Size; an int is in bytes.
        name: Parameter name for errors.

    Raises:
        ValidationError: `text` is not a positive size.
    """
    size: object = text
    if isinstance(text, str):
        match = _SIZE.fullmatch(text.strip()) if len(text) <= 40 else None
        if match is None:
            raise ValidationError(f"{name} must be a size such as 512m or 1GiB", parameter=name)
        size = int(float(match[1]) * _KIB ** " kmgt".index(match[2].lower() or " "))
    return check_count(name, size, 1)


def check_count(name: str, value: object, smallest: int) -> int:
    """Return a valid integer from `smallest` to the kernel's maximum.

    Args:
        name: Parameter name for errors.
        value: Number to check.
        smallest: Minimum.

    Raises:
        ValidationError: `value` is invalid.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not smallest <= value <= _LARGEST:
        raise ValidationError(
            f"{name} must be a whole number from {smallest} to {_LARGEST}", parameter=name
        )
    return value
