"""Columns of pandas data frames and series for table records."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .arrow_columns import arrow_cells, arrow_kind
from .cells import Cell, cell
from .columns import MOST_COLUMNS, Column, Window, label

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_LEVELS = 10
_BY_KIND = {
    "i": "integer",
    "u": "integer",
    "f": "number",
    "b": "boolean",
    "M": "datetime",
    "m": "duration",
    "S": "binary",
    "U": "string",
}
_BY_CLASS = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "Decimal": "number",
    "bool": "boolean",
    "bytes": "binary",
    "date": "date",
    "datetime": "datetime",
    "Timestamp": "datetime",
    "time": "time",
    "timedelta": "duration",
    "Timedelta": "duration",
    "list": "list",
    "tuple": "list",
    "set": "list",
    "ndarray": "list",
    "dict": "struct",
}


def read_pandas(table: Any, window: Window) -> tuple[str | None, list[Column]]:
    """Read the shown part of a data frame or a series.

    Args:
        table: The frame or series.
        window: Rows to read.

    Returns:
        The name of a series, and the columns, those of the index first.
    """
    pandas = sys.modules["pandas"]
    columns = [] if is_trivial(table.index) else list(_index_columns(table.index, window))
    if isinstance(table, pandas.Series):
        name = None if table.name is None else label(table.name)
        columns.append(_column(name or "value", table, table.dtype, "value", window))
        return name, columns
    left = table.iloc[:, : MOST_COLUMNS - len(columns)]
    for position, name in enumerate(left.columns):
        series = left.iloc[:, position]
        columns.append(_column(label(name), series, series.dtype, "value", window))
    return None, columns


def is_trivial(index: Any) -> bool:
    """Return whether an index is only the position of a row.

    Args:
        index: A pandas index.

    Returns:
        Whether the index counts the rows from zero and has no name.
    """
    pandas = sys.modules["pandas"]
    if type(index) is not pandas.RangeIndex:
        return False
    return bool(index.start == 0 and index.step == 1 and index.name is None)


def index_names(index: Any) -> list[str]:
    """Return the names of the levels of an index.

    Args:
        index: A pandas index.

    Returns:
        A name for each level, also for an unnamed one.
    """
    several = index.nlevels > 1
    return [
        label(name) if name is not None else f"level_{number}" if several else "index"
        for number, name in enumerate(index.names)
    ]


def _index_columns(index: Any, window: Window) -> Iterator[Column]:
    names = index_names(index)
    for level in range(min(index.nlevels, _MOST_LEVELS)):
        parts = [part.get_level_values(level) for part in _parts(index, window)]
        dtype = parts[0].dtype
        cells = [found for part in parts for found in _cells(part, dtype, window.text)]
        yield Column(names[level], _type(dtype, parts), str(dtype), "index", cells)


def _column(name: str, series: Any, dtype: Any, role: str, window: Window) -> Column:
    parts = _parts(series.iloc, window)
    cells = [found for part in parts for found in _cells(part, dtype, window.text)]
    return Column(name, _type(dtype, parts), str(dtype), role, cells)


def _parts(sliced: Any, window: Window) -> list[Any]:
    head = sliced[: window.head]
    return [head, sliced[window.rows - window.tail :]] if window.tail else [head]


def _cells(values: Any, dtype: Any, limit: int) -> list[Cell]:
    if hasattr(dtype, "pyarrow_dtype"):
        return arrow_cells(values.array.__arrow_array__(), limit)
    if getattr(dtype, "storage", None) == "pyarrow":
        # Texts that are kept outside of Python would be copied whole.
        values = values.str.slice(0, limit + 1)
    return [cell(value, limit) for value in values.tolist()]


def _type(dtype: Any, parts: list[Any]) -> str:
    if hasattr(dtype, "pyarrow_dtype"):
        return arrow_kind(str(dtype.pyarrow_dtype))
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        return "category"
    if kind == "StringDtype":
        return "string"
    if kind in ("PeriodDtype", "IntervalDtype"):
        return "other"
    return _BY_KIND.get(dtype.kind) or _type_of_objects(parts)


def _type_of_objects(parts: list[Any]) -> str:
    found = {
        _BY_CLASS.get(type(value).__name__, "other")
        for part in parts
        for value in part.tolist()
        if not _is_missing(value)
    }
    if found == {"integer", "number"}:
        return "number"
    return found.pop() if len(found) == 1 else "other"


def _is_missing(value: Any) -> bool:
    kind = type(value)
    return (
        value is None
        or kind.__name__ in ("NaTType", "NAType")
        or (kind is float and value != value)
    )
