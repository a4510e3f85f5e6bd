"""Escape sequences of string literals, and text operations with a limit on their results."""

import re
from collections.abc import Callable, Sequence

__all__ = ["filled", "joined", "replaced", "unescape"]

_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u\{([0-9A-Fa-f]{1,6})\}|u+([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})"
    r"|([0-7]{1,3})|(\r\n|[\s\S]))"
)
_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "a": "\a",
    "e": "\x1b",
    "s": " ",
    "\n": "",
    "\r": "",
    "\r\n": "",
}


def unescape(text: str) -> str:
    """Decode the escapes of a string literal; other text is unchanged."""
    return _ESCAPE.sub(_one, text) if "\\" in text else text


def _one(found: re.Match[str]) -> str:
    letter = found[6]
    if letter is not None:
        return _LETTERS.get(letter, letter)
    code = int(found[5], 8) if found[5] else int(found[1] or found[2] or found[3] or found[4], 16)
    return chr(code) if code < 0x110000 else "\ufffd"


_LONGEST = 100_000


def replaced(text: str, old: str, new: str, count: int = -1) -> str:
    """Replace like `str.replace`.

    Raises:
        ValueError: The result would be too long.
    """
    _check(len(text) + text.count(old) * len(new))
    return text.replace(old, new, count)


def joined(by: str, parts: Sequence[str]) -> str:
    """Join like `str.join`.

    Raises:
        ValueError: The result would be too long.
    """
    _check(sum(map(len, parts)) + len(by) * len(parts))
    return by.join(parts)


def filled(pattern: str, template: str, field: Callable[[re.Match[str]], str]) -> str:
    """Fill in the fields of a template.

    Args:
        pattern: Regular expression of a field.
        template: The template.
        field: Returns the replacement of a field.

    Raises:
        ValueError: The result would be too long.
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
