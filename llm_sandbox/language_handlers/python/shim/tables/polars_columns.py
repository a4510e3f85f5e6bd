"""Columns of polars data frames and series for table records."""

from __future__ import annotations

import sys
from typing import Any

from .cells import Cell, cell, cut
from .columns import MOST_COLUMNS, Column, Window, label

_BY_NAME = {
    "Boolean": "boolean",
    "Date": "date",
    "Datetime": "datetime",
    "Time": "time",
    "Duration": "duration",
    "Categorical": "category",
    "Enum": "category",
    "String": "string",
    "Utf8": "string",
    "List": "list",
    "Array": "list",
    "Struct": "struct",
    "Binary": "binary",
    "Decimal": "number",
}


def read_polars(table: Any, window: Window) -> tuple[str | None, list[Column]]:
    """Read the shown part of a data frame or a series.

    Args:
        table: The frame or series.
        window: Rows to read.

    Returns:
        The name of a series, and the columns.
    """
    polars = sys.modules["polars"]
    if isinstance(table, polars.Series):
        name = label(table.name) if table.name else None
        return name, [_column(name or "value", table, window)]
    some = table[:, :MOST_COLUMNS]
    return None, [_column(label(series.name), series, window) for series in some.get_columns()]


def _column(name: str, series: Any, window: Window) -> Column:
    parts = [series.head(window.head)]
    if window.tail:
        parts.append(series.tail(window.tail))
    cells = [found for part in parts for found in _cells(part, window.text)]
    return Column(name, _type(series.dtype), str(series.dtype), "value", cells)


def _type(dtype: Any) -> str:
    name = str(dtype.base_type())
    if name.startswith(("Int", "UInt")):
        return "integer"
    if name.startswith("Float"):
        return "number"
    return _BY_NAME.get(name, "other")


def _cells(series: Any, limit: int) -> list[Cell]:
    kind = _type(series.dtype)
    if kind in ("list", "struct"):
        return _nested(series, limit)
    if kind == "string":
        series = series.str.slice(0, limit + 1)
    elif kind == "binary":
        series = series.bin.slice(0, limit + 1)
    elif kind == "category":
        series = series.cast(sys.modules["polars"].String)
    return [cell(value, limit) for value in series.to_list()]


def _nested(series: Any, limit: int) -> list[Cell]:
    """Return cells formatted by polars, as it displays the table: a list may have millions of
    values.
    """
    missing = series.is_null().to_list()
    write = series._s.get_fmt
    return [None if absent else cut(write(row, limit), limit) for row, absent in enumerate(missing)]
