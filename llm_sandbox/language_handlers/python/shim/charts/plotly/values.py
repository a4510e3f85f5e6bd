"""Values of a plotly figure: typed arrays, numbers, dates and texts, parsed as plotly.js does."""

from __future__ import annotations

import array
import base64
import binascii
import math
import re
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = [
    "are_numbers",
    "clean_text",
    "date_of",
    "decode",
    "from_ms",
    "is_list",
    "items",
    "to_ms",
    "to_number",
]

_CODES = {
    "i1": "b", "u1": "B", "uint8c": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I",
    "f4": "f", "f8": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
    "int32": "i", "uint32": "I", "float32": "f", "float64": "d",
}  # fmt: skip
_DATE = re.compile(
    r"\s*(-?\d{4}|\d\d)(?:-(\d?\d)(?:-(\d?\d)(?:[ Tt]([01]?\d|2[0-3])(?::([0-5]\d)"
    r"(?::([0-5]\d(?:\.\d+)?))?)?(?:Z|z|[+-]\d\d(?::?\d\d)?)?)?)?)?\s*\Z"
)
_AROUND = re.compile(r"^['\"%,$#\s']+|[, ]|['\"%,$#\s']+$")
_NUMERIC = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*\Z")
_TAGS = re.compile(r"</?(?:b|i|u|s|em|strong|sup|sub|span|a|extra)(?:\s[^<>]*)?>", re.IGNORECASE)
_BREAKS = re.compile(r"<br\s*/?>", re.IGNORECASE)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_list(value: Any) -> bool:
    """Return whether a value is an array, decoded or not."""
    return isinstance(value, (list, tuple)) or (isinstance(value, dict) and "bdata" in value)


def decode(value: Any) -> Any:
    """Return a typed array as lists, and any other value unchanged.

    Args:
        value: Value in the figure.

    Returns:
        Lists, nested by the shape; ``None`` for an inconsistent array.
    """
    if not isinstance(value, dict) or "bdata" not in value:
        return value
    code = _CODES.get(str(value.get("dtype")).lstrip("<|="))
    if code is None or not isinstance(value["bdata"], str):
        return None
    try:
        raw = base64.b64decode(value["bdata"], validate=True)
        typed = array.array(code)
        typed.frombytes(raw)
    except (binascii.Error, ValueError):
        return None
    if sys.byteorder == "big":
        typed.byteswap()
    flat = typed.tolist()
    return _shape(flat, value["shape"]) if value.get("shape") is not None else flat


def _shape(flat: list[Any], shape: Any) -> Any:
    sizes = [part for part in str(shape).strip("()[] ").split(",") if part.strip()]
    try:
        lengths = [int(part) for part in sizes]
    except ValueError:
        return None
    if not lengths or min(lengths) < 0 or math.prod(lengths) != len(flat):
        return None
    nested: list[Any] = flat
    for length in reversed(lengths[1:]):
        if length == 0:
            return [[] for _ in range(lengths[0])]
        nested = [nested[start : start + length] for start in range(0, len(nested), length)]
    return nested


def items(value: Any) -> list[Any] | None:
    """Return an array as a list, decoded.

    Args:
        value: Value in the figure.

    Returns:
        A list, or ``None`` if the value is not an array.
    """
    value = decode(value)
    return list(value) if isinstance(value, (list, tuple)) else None


def to_number(value: Any) -> float | None:
    """Return a value as plotly.js puts it on a linear axis.

    Args:
        value: A number, or text that holds one.

    Returns:
        The number, or ``None``.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) else None
    if isinstance(value, str) and len(value) <= 100:
        text = _AROUND.sub("", value)
        if _NUMERIC.match(text):
            number = float(text)
            if not math.isfinite(number):
                return None
            return int(text) if text.strip().lstrip("+-").isdigit() else number
    return None


def are_numbers(values: list[Any]) -> bool:
    """Return whether all values are numbers already, so that no conversion is needed."""
    return set(map(type, values)) <= {int, float}


def date_of(value: Any) -> datetime | None:
    """Return a date as plotly.js parses it: ignoring its time zone.

    Args:
        value: Text, or milliseconds since 1970.

    Returns:
        The date without a time zone, or ``None``.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return from_ms(value)
    if not isinstance(value, str) or len(value) > 100:
        return None
    match = _DATE.match(value)
    if match is None:
        return None
    year, month, day, hour, minute, second = match.groups()
    number = int(year)
    if len(year) == 2:
        # The window of two digits that plotly.js uses.
        now = datetime.now(UTC).year
        number = (number + 2000 - now + 70) % 100 + now - 70
    try:
        start = datetime(number, int(month or 1), int(day or 1))  # noqa: DTZ001 - has no zone
    except ValueError:
        return None
    seconds = float(second or 0)
    return start + timedelta(hours=int(hour or 0), minutes=int(minute or 0), seconds=seconds)


def from_ms(value: float) -> datetime | None:
    """Return milliseconds since 1970 as a date without a time zone.

    Args:
        value: The milliseconds.

    Returns:
        The date, or ``None`` beyond the years 1 to 9999.
    """
    try:
        return (_EPOCH + timedelta(milliseconds=value)).replace(tzinfo=None)
    except (OverflowError, ValueError):
        return None


def to_ms(value: datetime) -> float:
    """Return a date without a time zone as milliseconds since 1970.

    Args:
        value: The date.

    Returns:
        Milliseconds; an integer if they are whole.
    """
    delta = value.replace(tzinfo=UTC) - _EPOCH
    micro = delta // timedelta(microseconds=1)
    return micro // 1000 if micro % 1000 == 0 else micro / 1000


def clean_text(value: Any) -> str | None:
    """Return text without the tags that plotly.js renders as styles.

    Args:
        value: Text, or an object that has a ``text``.

    Returns:
        The text; ``None`` if it is empty.
    """
    if isinstance(value, dict):
        value = value.get("text")
    if value is None or isinstance(value, (list, dict)):
        return None
    text = _TAGS.sub("", _BREAKS.sub("\n", str(value))).strip()
    return text or None
