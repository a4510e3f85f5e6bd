"""Version order and version ranges of Maven."""

import re

__all__ = ["in_range", "order"]

_QUALIFIERS = {"alpha": -5, "beta": -4, "milestone": -3, "rc": -2, "cr": -2, "snapshot": -1, "": 0}
_QUALIFIERS |= {"ga": 0, "final": 0, "release": 0, "sp": 1, "a": -5, "b": -4, "m": -3}


def order(version: str) -> list[tuple[int, int, str]]:
    """Return the sort key of a version."""
    found: list[tuple[int, int, str]] = []
    for part in re.findall(r"\d+|[a-z]+", version.lower()):
        if part.isdigit():
            found.append((2, int(part), ""))
            continue
        while found and found[-1][1] == 0:
            found.pop()
        known = _QUALIFIERS.get(part)
        if known is None:
            found.append((1, 0, part))
        else:
            found.append((0 if known < 0 else 1, known, ""))
    while found and found[-1][1:] == (0, ""):
        found.pop()
    return [*found, (1, 0, "")]


def in_range(version: str, asked: str) -> bool:
    """Return whether a version is in one of the ranges, such as ``[1.0,2.0)``."""
    for part in re.findall(r"[\[(][^\])]*[\])]", asked):
        low, comma, high = (word.strip() for word in part[1:-1].partition(","))
        if not comma:
            if order(version) == order(low):
                return True
            continue
        above = not low or order(version) > order(low)
        above = above or (part[0] == "[" and order(version) == order(low))
        below = not high or order(version) < order(high)
        below = below or (part[-1] == "]" and order(version) == order(high))
        if above and below:
            return True
    return False
