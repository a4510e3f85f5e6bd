"""How large values are, so that an operation is refused before it takes time or memory.

Everything is counted as often as it is repeated: a list that holds one list twice has the members
of two. What a range stands for is never gone through to count it.
"""

from __future__ import annotations

import ast
import re
from typing import Any

__all__ = [
    "LONGEST",
    "MOST_BITS",
    "MOST_WEIGHT",
    "are_short",
    "is_hashed_quickly",
    "is_printable",
    "is_small_modulus",
    "length_of_range",
    "put_in",
    "size_after",
    "weight",
    "written_size",
]

LONGEST = 1_000_000
"""Characters or bytes that a folded text may have."""
MOST_WEIGHT = 2_000_000
"""Weight of what one operation is given or gives, 200,000 numbers for example; see `weight`."""
MOST_BITS = 40_000
"""Bits of a number that is more than added to."""
_MEMBER = 10
_MOST_SHIFT = 4_096
_MOST_MODULUS = 256
_MOST_WRITTEN = 250_000
_MOST_DIGITS = 4
_MOST_COMPARED = 5_000_000
_SHORT = 64
_MOST_HASHED = 2_000
_NUMBER = re.compile(r"\d+")
_NESTED = re.compile(r"\{[^{}]*\{|\*")
_QUOTED = re.compile(r"![ra]|%[^%a-zA-Z]*[ra]|\([^)]*\)[^%a-zA-Z]*[ra]")
_QUOTING = 10


def length_of_range(found: range) -> int:
    """Return the length of a range, of those too that `len` refuses."""
    if not found:
        return 0
    return abs(found[-1] - found.start) // abs(found.step) + 1


def weight(value: Any, most: int = MOST_WEIGHT, *, lazy: bool = False) -> int:
    """Return the characters of a Python object, and 10 for each member, at most a little more.

    Args:
        value: The object: a constant, or lists, sets and dictionaries of such.
        most: Weight at which counting stops.
        lazy: Whether ranges weigh nothing, for what looks at the first members only.
    """
    total = 0
    waiting = [value]
    while waiting and total <= most:
        one = waiting.pop()
        if isinstance(one, (str, bytes)):
            total += len(one)
        elif isinstance(one, (list, tuple, set, frozenset)):
            total += _MEMBER * len(one)
            if total <= most:
                waiting.extend(one)
        elif isinstance(one, dict):
            total += 2 * _MEMBER * len(one)
            if total <= most:
                waiting.extend(one)
                waiting.extend(one.values())
        elif isinstance(one, range) and not lazy:
            total += _MEMBER * length_of_range(one)
        elif isinstance(one, int):
            total += one.bit_length() // 64
    return total


def size_after(kind: type[ast.operator], left: Any, right: Any) -> int | None:
    """Return the size of what a binary operator gives; None when it may not be worked out."""
    if isinstance(left, (int, float, complex)) and isinstance(right, (int, float, complex)):
        return _bits_after(kind, left, right)
    if kind is ast.Mult:
        times, base = (left, right) if isinstance(left, int) else (right, left)
        if not isinstance(times, int):
            return 0
        return _within(weight(base) * max(times, 0))
    if kind is ast.Mod and isinstance(left, (str, bytes)):
        return written_size(left, put_in(left, right), once=isinstance(right, tuple))
    return _within(weight(left) + weight(right), MOST_WEIGHT)


def _within(size: int, most: int = LONGEST) -> int | None:
    return size if size <= most else None


def _bits_after(kind: type[ast.operator], left: Any, right: Any) -> int | None:
    bits = [one.bit_length() for one in (left, right) if isinstance(one, int)]
    if kind in {ast.Pow, ast.LShift}:
        base = 64 if kind is ast.Pow else _MOST_SHIFT
        if (isinstance(left, int) and left.bit_length() > base) or abs(right) > _MOST_SHIFT:
            return None
        return 0
    if kind in {ast.Mult, ast.Mod, ast.FloorDiv, ast.Div} and sum(bits) > MOST_BITS:
        return None
    return sum(bits) // 64


def is_small_modulus(*numbers: Any) -> bool:
    """Return whether a power by a modulus is worked out quickly."""
    return all(not isinstance(n, int) or n.bit_length() <= _MOST_MODULUS for n in numbers)


def written_size(template: str | bytes, values: list[Any], *, once: bool = False) -> int | None:
    """Return how long a template may get at most when values are put in; None when too long.

    Args:
        template: For ``%`` or `str.format`.
        values: What is put in.
        once: Whether each value is put in once at most, and not as often as there are fields.
    """
    text = template if isinstance(template, str) else template.decode("latin-1")
    if len(text) > LONGEST // 8:
        return None
    digits = max((len(found) for found in _NUMBER.findall(text)), default=0)
    if digits > _MOST_DIGITS:
        return None
    width = 10**digits
    if _NESTED.search(text):
        # Widths that are values themselves.
        width += max((abs(one) for one in values if isinstance(one, int)), default=0)
    lengths = [_length(one) for one in values]
    if any(not isinstance(one, (str, bytes, int)) for one in values) or _QUOTED.search(text):
        lengths = [_QUOTING * length for length in lengths]
    fields = text.count("%") + text.count("{")
    written = sum(lengths) if once else fields * max(lengths, default=0)
    return _within(len(text) + fields * width + written)


def put_in(template: str | bytes, right: Any) -> list[Any]:
    """Return what ``%`` puts into a template: members of a tuple, or entries of a dictionary."""
    if isinstance(right, tuple):
        return list(right)
    if not isinstance(right, dict):
        return [right]
    text = template if isinstance(template, str) else template.decode("latin-1")
    every = text.count("%") == text.count("%(")
    return [*right.values()] if every else [*right.values(), right]


def _length(value: Any) -> int:
    return value.bit_length() + 8 if isinstance(value, int) else weight(value) + 400


def is_printable(*values: Any) -> bool:
    """Return whether what values look like in print is short."""
    return weight(list(values), _MOST_WRITTEN, lazy=True) <= _MOST_WRITTEN


def are_short(text: Any, *others: Any) -> bool:
    """Return whether others are searched in a text quickly, even where that compares each pair."""
    longest = max((len(one) for one in others if isinstance(one, (str, bytes))), default=0)
    return longest <= _SHORT or len(text) * longest <= _MOST_COMPARED


def is_hashed_quickly(members: Any) -> bool:
    """Return whether a set or dictionary of members is made in linear time.

    Large numbers can be chosen so that all fall on one place.
    """
    if isinstance(members, (str, bytes, range)) or len(members) <= _MOST_HASHED:
        return True
    return not any(
        isinstance(one, (complex, tuple)) or (isinstance(one, int) and one.bit_length() >= 60)
        for one in members
    )
