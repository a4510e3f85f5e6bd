"""Limits of a JSON text, checked before it is decoded.

Decoded, small values take up to thirty times the bytes of their text.
"""

import re

LARGEST_JSON = 1 << 20
"""Bytes of the JSON of one message."""
MOST_VALUES = 1 << 16
"""Values and keys of one message."""
MOST_SHOWN = 1 << 20
"""Values and keys of one displayed value, such as the data of a chart."""
DEEPEST = 100
"""Nesting of arrays and objects."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def find_excess(
    text: bytes, *, largest: int = LARGEST_JSON, most_values: int = MOST_VALUES
) -> str | None:
    """Describe which limit a JSON text exceeds.

    Args:
        text: The text. Invalid JSON is never underestimated.
        largest: Most bytes.
        most_values: Most values and keys.

    Returns:
        Text for an error message; None if the text may be decoded.
    """
    if len(text) > largest:
        return f"it has {len(text)} bytes of JSON, and may have {largest}"
    openers = text.count(b"[") + text.count(b"{")
    if openers <= DEEPEST and len(text) <= most_values:
        return None
    if openers <= DEEPEST and _count(text) <= most_values:
        return None
    # Strings may contain structural characters.
    bare = _STRING.sub(b"", text)
    count = _count(bare)
    if count > most_values:
        return f"its JSON has {count} values, and may have {most_values}"
    depth = deepest = 0
    for bracket in bare.translate(None, _NOT_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        return f"its JSON is nested {deepest} levels deep, and may be {DEEPEST}"
    return None


def _count(text: bytes) -> int:
    """Return an upper bound of the values and keys in a text."""
    return 1 + sum(map(text.count, (b",", b":", b"[", b"{")))
