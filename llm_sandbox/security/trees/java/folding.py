"""Constant folding of Java: methods of constants, and Unicode escapes outside of strings."""

import base64
import binascii
import re
from collections.abc import Callable

from llm_sandbox.security.trees.syntax_tree import OffsetMap
from llm_sandbox.security.trees.text_operations import filled, joined, replaced

__all__ = ["FUNCTIONS", "METHODS", "without_escapes"]

_LONGEST = 20_000
_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u+([0-9A-Fa-f]{4})")


def without_escapes(text: str) -> tuple[str, OffsetMap]:
    """Decode the Unicode escapes of a program, as Java does before parsing.

    Line ends become line feeds, as the grammar expects.
    """
    plain = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
    if "\\u" not in plain:
        return plain, OffsetMap()
    parts: list[str] = []
    new: list[int] = []
    old: list[int] = []
    at = length = 0
    for found in _ESCAPE.finditer(plain):
        start = found.end(1)
        kept = plain[at:start]
        parts += [kept, chr(int(found[2], 16))]
        length += len(kept) + 1
        at = found.end()
        new.append(length)
        old.append(at)
    return "".join([*parts, plain[at:]]), OffsetMap(tuple(new), tuple(old))


def _text(value: object) -> str:
    """Convert text, or a list of characters or codes, to text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(chr(each & 0xFFFF) if isinstance(each, int) else str(each) for each in value)
    if isinstance(value, int):
        return str(value)
    raise TypeError


def _repeat(text: str, count: int) -> str:
    if len(text) * count > _LONGEST:
        raise ValueError
    return text * count


def _decode(text: object) -> str:
    try:
        return base64.b64decode(_text(text)).decode("utf-8", "replace")
    except binascii.Error as error:
        raise ValueError from error


def _format(pattern: str, *given: object) -> str:
    rest = list(given)

    def one(found: re.Match[str]) -> str:
        if found[1] in "n%":
            return "\n" if found[1] == "n" else "%"
        value = rest.pop(0)
        return chr(value) if found[1] == "c" and isinstance(value, int) else _text(value)

    return filled(r"%(s|c|d|n|%)", pattern, one)


def _split(text: str, by: str) -> list[str]:
    return list(_text(text)) if by == "" else _text(text).split(by)


def _join(by: str, *items: object) -> str:
    first = items[0] if len(items) == 1 else None
    parts = first if isinstance(first, list) else list(items)
    return joined(by, [_text(part) for part in parts])


METHODS: dict[str, Callable[..., object]] = {
    "append": lambda text, more: _text(text) + _text(more),
    "charAt": lambda text, index: _text(text)[index],
    "concat": lambda text, more: _text(text) + _text(more),
    "formatted": _format,
    "getBytes": lambda text, *_: _text(text),
    "insert": lambda text, at, more: _text(text)[:at] + _text(more) + _text(text)[at:],
    "intern": _text,
    "normalize": _text,
    "repeat": _repeat,
    "replace": lambda text, old, new: replaced(_text(text), old, new),
    "replaceAll": lambda text, old, new: replaced(_text(text), old, new),
    "resolve": lambda one, other: other if other.startswith("/") else f"{one}/{other}",
    "reverse": lambda text: _text(text)[::-1],
    "split": _split,
    "strip": lambda text: _text(text).strip(),
    "substring": lambda text, *ends: _text(text)[
        slice(*ends) if len(ends) > 1 else slice(ends[0], None)
    ],
    "toAbsolutePath": _text,
    "toCharArray": _text,
    "toLowerCase": lambda text: _text(text).lower(),
    "toPath": _text,
    "toString": _text,
    "toUpperCase": lambda text: _text(text).upper(),
    "trim": lambda text: _text(text).strip(),
}
"""Method to the function on the text or list of characters, and the arguments."""

FUNCTIONS: dict[str, Callable[..., object]] = {
    "java.io.File": lambda *parts: "/".join(map(_text, parts)),
    "java.lang.Character.toString": lambda code: chr(code) if isinstance(code, int) else code,
    "java.lang.Integer.parseInt": lambda text, base=10: int(text, base),
    "java.lang.String": lambda text="", *_: _text(text),
    "java.lang.String.copyValueOf": _text,
    "java.lang.String.format": _format,
    "java.lang.String.join": _join,
    "java.lang.String.valueOf": _text,
    "java.lang.StringBuffer": lambda text="": "" if isinstance(text, int) else _text(text),
    "java.lang.StringBuilder": lambda text="": "" if isinstance(text, int) else _text(text),
    "java.net.URI": _text,
    "java.net.URI.create": _text,
    "java.nio.file.Path.of": lambda *parts: "/".join(map(_text, parts)),
    "java.nio.file.Paths.get": lambda *parts: "/".join(map(_text, parts)),
    "java.util.Base64.Decoder.decode": _decode,
}
"""Full name of a function or class to the function on plain arguments."""
