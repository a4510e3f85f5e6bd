"""Limits of a JSON text, judged before it is decoded: decoded, small values take up to thirty times
the bytes of their text.
"""

import re

LARGEST_JSON = 1 << 20
"""Bytes of the JSON of one message."""
MOST_VALUES = 1 << 16
"""Values and keys of one message."""
MOST_SHOWN = 1 << 20
"""Values and keys of one thing to look at, such as the data of a chart."""
DEEPEST = 100
"""Arrays and objects inside each other."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def find_excess(
    text: bytes, *, largest: int = LARGEST_JSON, most_values: int = MOST_VALUES
) -> str | None:
    """Say what of a JSON text is over the limits.

    Args:
        text: The text. What is said of text that is no JSON is at least what it would become.
        largest: Most bytes.
        most_values: Most values and keys.

    Returns:
        Words for an error; None where it may be decoded.
    """
    if len(text) > largest:
        return f"it has {len(text)} bytes of JSON, and may have {largest}"
    openers = text.count(b"[") + text.count(b"{")
    if openers <= DEEPEST and len(text) <= most_values:
        return None
    if openers <= DEEPEST and _count(text) <= most_values:
        return None
    # What stands in strings looks like structure.
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
    """How many values and keys a text holds at most."""
    return 1 + sum(map(text.count, (b",", b":", b"[", b"{")))
