"""Escape sequences of string literals, as JavaScript, Java, C++ and Go write them."""

import re

__all__ = ["unescape"]

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
    """Return what the content of a string literal stands for; what is no escape stays."""
    return _ESCAPE.sub(_one, text) if "\\" in text else text


def _one(found: re.Match[str]) -> str:
    letter = found[6]
    if letter is not None:
        return _LETTERS.get(letter, letter)
    code = int(found[5], 8) if found[5] else int(found[1] or found[2] or found[3] or found[4], 16)
    return chr(code) if code < 0x110000 else "\ufffd"
