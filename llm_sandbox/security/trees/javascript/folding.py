"""Constant folding of JavaScript: methods and functions of constants."""

import base64
import binascii
import re
from collections.abc import Callable
from urllib.parse import unquote

from llm_sandbox.security.trees.text_operations import joined, replaced

__all__ = ["FUNCTIONS", "METHODS"]

_LONGEST = 20_000
_LONGEST_CHAIN = 4_000
_LONGEST_LIST = 64


def _slice(text: str, start: int = 0, end: int | None = None) -> str:
    return text[slice(start, end)]


def _substring(text: str, start: int, end: int | None = None) -> str:
    end = len(text) if end is None else end
    low, high = sorted((max(start, 0), max(end, 0)))
    return text[low:high]


def _substr(text: str, start: int, length: int | None = None) -> str:
    start = max(len(text) + start, 0) if start < 0 else start
    return text[start:] if length is None else text[start : start + max(length, 0)]


def _repeat(text: str, count: int) -> str:
    if len(text) * count > _LONGEST:
        raise ValueError
    return text * count


def _join(items: list[object], by: str = ",") -> str:
    _check(list, items)
    return joined(by, list(map(_shown, items)))


def _shown(value: object) -> str:
    if not isinstance(value, str | int):
        raise TypeError
    return str(value)


def _check(kind: type, value: object) -> None:
    if not isinstance(value, kind):
        raise TypeError


def _split(text: str, by: str) -> list[str]:
    _check(str, text)
    return list(text) if by == "" else text.split(by)


def _reverse(items: list[object]) -> list[object]:
    _check(list, items)
    return items[::-1]


def _concat(one: str | list[object], *others: object) -> str | list[object]:
    if isinstance(one, str):
        text = one + "".join(map(_shown, others))
        if len(text) > _LONGEST_CHAIN:
            raise ValueError
        return text
    joined = list(one)
    for other in others:
        joined.extend(other if isinstance(other, list) else [other])
    if len(joined) > _LONGEST_LIST:
        raise ValueError
    return joined


def _char_code(text: str, index: int = 0) -> int:
    _check(str, text)
    return ord(text[index])


def _char(text: str, index: int = 0) -> str:
    _check(str, text)
    return text[index]


def _pad_start(text: str, width: int, by: str = " ") -> str:
    if width * len(by) > _LONGEST or not by:
        raise ValueError
    return (by * width)[: max(width - len(text), 0)] + text


def _to_string(value: object, base: object = None) -> str:
    if isinstance(value, int) and isinstance(base, int) and 2 <= base <= 36:
        return _in_base(value, base)
    if isinstance(value, list):
        return _join(value)
    return _shown(value)


def _in_base(value: int, base: int) -> str:
    digits, rest = "", abs(value)
    while rest or not digits:
        rest, digit = divmod(rest, base)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return f"-{digits}" if value < 0 else digits


METHODS: dict[str, Callable[..., object]] = {
    "at": _char,
    "charAt": _char,
    "charCodeAt": _char_code,
    "codePointAt": _char_code,
    "concat": _concat,
    "join": _join,
    "padStart": _pad_start,
    "repeat": _repeat,
    "replace": lambda text, old, new: replaced(text, old, new, 1),
    "replaceAll": replaced,
    "reverse": _reverse,
    "slice": _slice,
    "split": _split,
    "substr": _substr,
    "substring": _substring,
    "toLowerCase": lambda text: text.lower(),
    "toString": _to_string,
    "toUpperCase": lambda text: text.upper(),
    "trim": lambda text: text.strip(),
    "valueOf": _to_string,
}
"""Method to the function on the object, as text or list, and the arguments."""


def _from_codes(*codes: int) -> str:
    return "".join(chr(code & 0xFFFF if code < 0x10000 else code) for code in codes)


def _base64(text: str) -> str:
    text = re.sub(r"\s", "", text).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode("latin-1")
    except binascii.Error as error:
        raise ValueError from error


def _buffer(value: object, encoding: str = "utf8") -> str:
    if isinstance(value, list):
        return bytes(int(code) & 255 for code in value).decode("utf-8", "replace")
    _check(str, value)
    text = str(value)
    if encoding.lower().startswith("base64"):
        return _base64(text)
    if encoding == "hex":
        return bytes.fromhex(text).decode("utf-8", "replace")
    return text


def _percent(text: str) -> str:
    _check(str, text)
    return unquote(text)


def _escaped(text: str) -> str:
    wide = re.sub(r"%u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), text)
    return unquote(wide, "latin-1")


def _integer(text: object, base: int = 10) -> int:
    found = re.match(r"\s*[+-]?(?:0[xX])?[0-9A-Za-z]{1,20}", _shown(text))
    if found is None:
        raise ValueError
    return int(found[0], 16 if found[0].lower().lstrip("+-").startswith("0x") else base)


FUNCTIONS: dict[str, Callable[..., object]] = {
    "Array.from": list,
    "Array.of": lambda *items: list(items),
    "Buffer": _buffer,
    "Buffer.from": _buffer,
    "Number": _integer,
    "String": _to_string,
    "String.fromCharCode": _from_codes,
    "String.fromCodePoint": _from_codes,
    "String.raw": _shown,
    "atob": _base64,
    "decodeURI": _percent,
    "decodeURIComponent": _percent,
    "parseInt": _integer,
    "querystring.unescape": _percent,
    "unescape": _escaped,
}
"""Full name to the function on plain arguments."""
