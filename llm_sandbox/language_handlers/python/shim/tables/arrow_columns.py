"""Columns of Arrow tables for table records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ..preview import preview
from .cells import Cell, cell, cut
from .columns import MOST_COLUMNS, Column, Window, label

_MOST_ITEMS = 12
_DEEPEST = 4
_BY_PREFIX = (
    ("int", "integer"),
    ("uint", "integer"),
    ("halffloat", "number"),
    ("float", "number"),
    ("double", "number"),
    ("decimal", "number"),
    ("bool", "boolean"),
    ("string", "string"),
    ("large_string", "string"),
    ("date", "date"),
    ("timestamp", "datetime"),
    ("time", "time"),
    ("duration", "duration"),
    ("dictionary", "category"),
    ("list", "list"),
    ("large_list", "list"),
    ("fixed_size_list", "list"),
    ("map", "struct"),
    ("struct", "struct"),
    ("binary", "binary"),
    ("large_binary", "binary"),
    ("fixed_size_binary", "binary"),
)


def arrow_kind(dtype: str) -> str:
    """Return the record's type of a column.

    Args:
        dtype: Arrow type of the column, as text.

    Returns:
        The type as the record names it.
    """
    return next((kind for prefix, kind in _BY_PREFIX if dtype.startswith(prefix)), "other")


def read_arrow(table: Any, window: Window) -> tuple[str | None, list[Column]]:
    """Read the shown part of a table, a record batch or a chunked array.

    Args:
        table: Any of these.
        window: Rows to read.

    Returns:
        No name, and the columns.
    """
    if not hasattr(table, "schema"):
        return None, [_column("value", table, window)]
    names = table.schema.names[:MOST_COLUMNS]
    return None, [
        _column(label(name), table.column(position), window) for position, name in enumerate(names)
    ]


def _column(name: str, values: Any, window: Window) -> Column:
    cells = arrow_cells(values.slice(0, window.head), window.text)
    if window.tail:
        cells += arrow_cells(values.slice(window.rows - window.tail), window.text)
    dtype = str(values.type)
    return Column(name, arrow_kind(dtype), dtype, "value", cells)


def arrow_cells(values: Any, limit: int) -> list[Cell]:
    """Convert Arrow values to cells.

    Args:
        values: A short array.
        limit: Most characters of a text.

    Returns:
        The cells.
    """
    found: list[Cell] = []
    for scalar in values:
        plain = _plain(scalar, limit, 0)
        # Texts inside of lists are quoted, as everywhere.
        nested = isinstance(plain, (list, dict))
        found.append(preview(plain, limit) if nested else cell(plain, limit))
    return found


def _plain(scalar: Any, limit: int, depth: int) -> Any:
    """Convert the shown part of a scalar; ``as_py`` would convert all of it."""
    if not scalar.is_valid:
        return None
    kind = str(scalar.type)
    if kind.startswith(("timestamp[ns", "duration[ns")):
        return _fine(scalar, kind)  # `as_py` would import pandas
    if hasattr(scalar, "as_buffer"):
        buffer = scalar.as_buffer()
        raw = buffer.slice(0, min(buffer.size, 4 * (limit + 1))).to_pybytes()
        return raw if "binary" in kind else cut(raw.decode("utf-8", "ignore"), limit)
    if kind.startswith("dictionary"):
        return _plain(scalar.value, limit, depth)
    if kind.startswith(("list", "large_list", "fixed_size_list", "map")):
        # One more than is shown, so that the preview ends in an ellipsis.
        items = scalar.values.slice(0, _MOST_ITEMS + 1) if depth < _DEEPEST else []
        return [_plain(item, limit, depth + 1) for item in items]
    if kind.startswith("struct"):
        names = list(scalar)[: _MOST_ITEMS + 1] if depth < _DEEPEST else []
        return {name: _plain(scalar[name], limit, depth + 1) for name in names}
    return scalar.as_py()


def _fine(scalar: Any, kind: str) -> str:
    whole, nanoseconds = divmod(scalar.value, 1_000_000_000)
    fraction = f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""
    if kind.startswith("duration"):
        return f"{timedelta(seconds=whole)}{fraction}"
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=whole)
    text = moment.replace(tzinfo=None).isoformat() + fraction
    return f"{text}+00:00" if "tz=" in kind else text
