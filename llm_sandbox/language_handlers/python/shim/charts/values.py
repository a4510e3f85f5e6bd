"""Conversion of values of any library to plain JSON values."""

from __future__ import annotations

import datetime
import itertools
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

TEXT_LIMIT = 500
"""Most characters that are kept of one string."""

_DEPTH = 4
_INTEGER_LIMIT = 1 << 63
_MIDNIGHT = datetime.time()
_HEX = re.compile(r"#([0-9a-fA-F]{3,8})\Z")
_RGB = re.compile(r"rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)[^)]*\)\Z")


def text(value: Any) -> str | None:
    """Return a value as text.

    Args:
        value: Anything; a value that cannot be converted counts as None.

    Returns:
        At most ``TEXT_LIMIT`` characters; ``None`` for None and for empty text.
    """
    if value is None:
        return None
    try:
        found = value if isinstance(value, str) else str(value)
    except Exception:  # noqa: BLE001 - objects of the user raise anything
        return None
    # A lone surrogate could not leave as UTF-8.
    return str(found[:TEXT_LIMIT]).encode("utf-8", "replace").decode() or None


def color(value: Any) -> str | None:
    """Return a colour as ``#rrggbb``.

    Args:
        value: A ``#`` notation, ``rgb(...)`` or ``rgba(...)`` with numbers up to 255, or three or
            four numbers between 0 and 1.

    Returns:
        The colour without its transparency; ``None`` for anything else, such as a name.
    """
    try:
        if isinstance(value, str):
            return _color_of_text(value.strip())
        if len(value) not in (3, 4):
            return None
        return _hexadecimal([float(part) * 255 for part in value[:3]])
    except (TypeError, ValueError, OverflowError):
        return None


def _color_of_text(value: str) -> str | None:
    found = _HEX.match(value)
    if found is not None:
        digits = found[1].lower()
        if len(digits) in (3, 4):
            digits = "".join(digit * 2 for digit in digits)
        return f"#{digits[:6]}" if len(digits) in (6, 8) else None
    found = _RGB.match(value)
    return _hexadecimal([float(part) for part in found.groups()]) if found is not None else None


def _hexadecimal(parts: list[float]) -> str:
    return "#" + "".join(f"{min(255, max(0, round(part))):02x}" for part in parts)


def column(values: Any) -> list[Any]:
    """Return a sequence of values as plain JSON values.

    Args:
        values: A list, a numpy array, a pandas series or index, or any iterable; it may nest.

    Returns:
        Finite numbers, strings, booleans, ``None`` for what is missing, and lists where it
        nests. Dates become ``2024-01-31`` when all of the column are midnights and
        ``2024-01-31T12:00:00`` otherwise.
    """
    return _column(values, _DEPTH)


def plain(value: Any) -> Any:
    """Return one value as a plain JSON value.

    Args:
        value: Anything.

    Returns:
        The result of ``column`` for a column that holds only this value.
    """
    if type(value) is float:
        return value if math.isfinite(value) else None
    if value is None or type(value) is str or type(value) is int:
        return _scalar(value, _DEPTH)
    return _column([value], _DEPTH)[0]


def _column(values: Any, depth: int) -> list[Any]:
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if not isinstance(values, (numpy.ndarray, list, tuple)):
            values = _array(values)
        if isinstance(values, numpy.ndarray):
            return _numpy_column(numpy, values, depth)
    if not isinstance(values, (list, tuple)):
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            values = [values]
        values = list(values)
    if set(map(type, values)) == {float}:
        return [value if math.isfinite(value) else None for value in values]
    return _with_dates([_scalar(value, depth) for value in values])


def _array(values: Any) -> Any:
    """Convert a pandas series, index or extension array to an array or a list."""
    for name in ("to_numpy", "tolist"):
        method = getattr(values, name, None)
        if callable(method):
            return method()
    return values


def _numpy_column(numpy: Any, values: Any, depth: int) -> list[Any]:
    if values.ndim == 0:
        values = values.reshape(1)
    if values.ndim > 1:
        return [_numpy_column(numpy, row, depth - 1) for row in values] if depth else []
    if isinstance(values, numpy.ma.MaskedArray):
        hidden = numpy.ma.getmaskarray(values)
        found = _numpy_column(numpy, numpy.asarray(values.data), depth)
        return [None if skip else value for value, skip in zip(found, hidden.tolist(), strict=True)]
    kind = values.dtype.kind
    if kind == "f":
        listed: list[Any] = values.astype(float, copy=False).tolist()
        if numpy.isfinite(values).all():
            return listed
        return [value if math.isfinite(value) else None for value in listed]
    if kind in "bi" or (kind == "u" and values.dtype.itemsize < 8):
        whole: list[Any] = values.tolist()
        return whole
    if kind == "M":
        # Years outside of datetime's range stay objects or integers: they become text.
        return _with_dates([_scalar(value, depth) for value in _moments(values)])
    if kind == "m":
        seconds = values / numpy.timedelta64(1, "s")
        return _numpy_column(numpy, seconds, depth)
    return _with_dates([_scalar(value, depth) for value in values.tolist()])


def _moments(values: Any) -> list[Any]:
    found: list[Any] = values.astype("datetime64[us]").tolist()
    return [str(value) if isinstance(value, int) else value for value in found]


def _with_dates(values: list[Any]) -> list[Any]:
    """Format dates and times, which are still objects, in the same way throughout a column."""
    dates = [value for value in values if isinstance(value, datetime.date)]
    if not dates:
        return values
    midnights = all(
        not isinstance(value, datetime.datetime) or value.time() == _MIDNIGHT for value in dates
    )
    return [
        _iso(value, midnights) if isinstance(value, datetime.date) else value for value in values
    ]


def _iso(value: datetime.date, midnight: bool) -> str:
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if midnight else value.isoformat()
    return value.isoformat() if midnight else f"{value.isoformat()}T00:00:00"


def _scalar(value: Any, depth: int) -> Any:
    """Return a plain value, a list of such, or a date for ``_with_dates``."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value) or ""
    if isinstance(value, int):
        return int(value) if -_INTEGER_LIMIT <= value < _INTEGER_LIMIT else _number(value)
    if isinstance(value, (float, Decimal, Fraction)):
        return _number(value)
    if isinstance(value, datetime.date):
        return value if value == value else None  # NaT is a datetime to Python
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        return _nested(value, depth)
    start = getattr(value, "start_time", None)  # a period of pandas
    if isinstance(start, datetime.datetime):
        return start
    return text(value)


def _nested(value: Any, depth: int) -> Any:
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "ndim", None) == 0:
        inner = item()
        # A longdouble's item() is itself.
        return _scalar(inner, depth) if type(inner) is not type(value) else _number(value)
    if depth <= 1:
        return text(value)
    return _column(value, depth - 1)


def _number(value: Any) -> float | None:
    try:
        found = float(value)
    except (OverflowError, ValueError, TypeError):
        return None
    return found if math.isfinite(found) else None


def ascending(values: Sequence[Any]) -> bool:
    """Return whether numbers or dates never decrease.

    Args:
        values: Plain values, or an array of numbers or dates.

    Returns:
        Whether they are in ascending order; False for text that is not a date.
    """
    numpy = sys.modules.get("numpy")
    try:
        if numpy is not None and isinstance(values, numpy.ndarray) and values.dtype.kind in "fiuM":
            return bool((values[1:] >= values[:-1]).all())
        if any(isinstance(value, str) and value[4:5] != "-" for value in values[:1]):
            return False
        return all(a <= b for a, b in itertools.pairwise(values))
    except (TypeError, ValueError):
        return False
