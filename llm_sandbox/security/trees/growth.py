"""Operations on texts whose result may be much longer than what they are given."""

import re
from collections.abc import Callable, Sequence

__all__ = ["filled", "joined", "replaced"]

_LONGEST = 100_000


def replaced(text: str, old: str, new: str, count: int = -1) -> str:
    """Return what `str.replace` returns.

    Raises:
        ValueError: It would be too long.
    """
    _check(len(text) + text.count(old) * len(new))
    return text.replace(old, new, count)


def joined(by: str, parts: Sequence[str]) -> str:
    """Return what `str.join` returns.

    Raises:
        ValueError: It would be too long.
    """
    _check(sum(map(len, parts)) + len(by) * len(parts))
    return by.join(parts)


def filled(pattern: str, template: str, field: Callable[[re.Match[str]], str]) -> str:
    """Return a template with its fields filled in.

    Args:
        pattern: Regular expression of a field.
        template: The template.
        field: Returns what stands for a field.

    Raises:
        ValueError: It would be too long.
    """
    left = _LONGEST - len(template)

    def one(found: re.Match[str]) -> str:
        nonlocal left
        text = field(found)
        left -= len(text)
        _check(_LONGEST - left)
        return text

    return re.sub(pattern, one, template)


def _check(length: int) -> None:
    if length > _LONGEST:
        raise ValueError("too long")
