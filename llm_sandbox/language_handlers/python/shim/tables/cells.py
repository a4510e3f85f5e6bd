"""Cells of table records: values of any library as JSON scalars."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from ..naming import qualified_name
from ..preview import preview

Cell: TypeAlias = "str | int | float | bool | None"

_LARGEST_INT_BITS = 1024
_MISSING = ("NaTType", "NAType")
_CONTAINERS = (list, tuple, dict, set, frozenset, bytes, bytearray)


def cell(value: Any, limit: int) -> Cell:
    """Convert a value to a cell.

    Args:
        value: Value in a table.
        limit: Most characters of a text.

    Returns:
        The value itself if JSON has its type, None for a missing value, text for the rest.
    """
    kind = type(value)
    if value is None or kind is bool:
        return bool(value) if kind is bool else None
    if kind is str:
        return cut(value, limit)
    if kind is int:
        return int(value) if value.bit_length() <= _LARGEST_INT_BITS else preview(value)
    if kind is float:
        return float(value) if math.isfinite(value) else None if value != value else str(value)
    if kind.__name__ in _MISSING:
        return None
    return _other(value, kind, limit)


def cut(text: str, limit: int) -> str:
    """Shorten a text, with a visible mark.

    Args:
        text: The text.
        limit: Most characters.

    Returns:
        The text, or its beginning and an ellipsis.
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _other(value: Any, kind: type, limit: int) -> Cell:
    if kind.__module__ == "numpy":
        return _numpy(value, limit)
    if kind in _CONTAINERS:
        return preview(value, limit)
    try:
        if isinstance(value, Decimal):
            return None if value.is_nan() else cut(str(value), limit)
        if isinstance(value, (datetime, date, time)):
            return value.isoformat()
        if isinstance(value, timedelta):
            return str(value)
        if (vars(object)["__str__"], vars(object)["__repr__"]) == _texts(kind):
            return f"<{qualified_name(kind)} object>"  # without an address that no run repeats
        # What the library does to draw the table, too.
        return cut(str(value), limit)
    except Exception:  # noqa: BLE001 - a broken object must not cost the table
        return f"<{qualified_name(kind)} object>"


def _texts(kind: type) -> tuple[Any, Any]:
    return kind.__str__, kind.__repr__


def _numpy(value: Any, limit: int) -> Cell:
    if hasattr(value, "shape") and value.shape:
        return preview(value, limit)
    plain = value.item()
    # Moments finer than a microsecond come out as bare numbers.
    if value.dtype.kind in "mM" or type(plain) is type(value):
        text = str(value)
        return None if text in ("NaT", "nan") else cut(text, limit)
    return cell(plain, limit)
