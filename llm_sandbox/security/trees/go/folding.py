"""Constant folding of Go: functions of constants."""

import base64
import binascii
import re
from collections.abc import Callable

from llm_sandbox.security.trees.text_operations import filled, joined, replaced

__all__ = ["FUNCTIONS", "as_text"]

_LONGEST = 20_000


def as_text(value: object) -> str:
    """Convert text, a list of bytes or runes, or one rune to text.

    Raises:
        TypeError: The value has another type.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return chr(value)
    if isinstance(value, list):
        return "".join(as_text(each) for each in value)
    raise TypeError


def _decode(text: object) -> str:
    try:
        whole = as_text(text).rstrip("=").replace("-", "+").replace("_", "/")
        return base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8", "replace")
    except binascii.Error as error:
        raise ValueError from error


def _hex(text: object) -> str:
    return bytes.fromhex(as_text(text)).decode("utf-8", "replace")


def _repeat(text: str, count: int) -> str:
    if len(text) * count > _LONGEST:
        raise ValueError
    return text * count


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return replaced(as_text(text), old, new, count)


def _join(items: list[object], by: str) -> str:
    return joined(by, [str(each) for each in items])


def _path(*parts: str) -> str:
    return re.sub(r"/+", "/", "/".join(parts))


def _format(pattern: str, *given: object) -> str:
    rest = list(given)

    def one(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        value = rest.pop(0)
        if found[1] == "c" and isinstance(value, int):
            return chr(value)
        return str(value)

    return filled(r"%([svdcqx%])", pattern, one)


def _print(*given: object) -> str:
    return "".join(str(each) for each in given)


_DECODERS = ("StdEncoding", "URLEncoding", "RawStdEncoding", "RawURLEncoding")

FUNCTIONS: dict[str, Callable[..., object]] = {
    **{f"encoding/base64.{name}.DecodeString": _decode for name in _DECODERS},
    "encoding/hex.DecodeString": _hex,
    "fmt.Sprint": _print,
    "fmt.Sprintf": _format,
    "path.Join": _path,
    "path/filepath.Join": _path,
    "strings.Join": _join,
    "strings.Repeat": _repeat,
    "strings.Replace": _replace,
    "strings.ReplaceAll": _replace,
    "strings.Split": lambda text, by: text.split(by) if by else list(text),
    "strings.ToLower": lambda text: text.lower(),
    "strings.ToUpper": lambda text: text.upper(),
    "strings.Trim": lambda text, letters: text.strip(letters),
    "strings.TrimPrefix": lambda text, prefix: text.removeprefix(prefix),
    "strings.TrimSpace": lambda text: text.strip(),
    "strings.TrimSuffix": lambda text, suffix: text.removesuffix(suffix),
    "C.CString": as_text,
}
"""Full name to the function on plain values."""
