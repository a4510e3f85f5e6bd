"""Table record of a displayed table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arrow_columns import read_arrow
from .columns import MOST_COLUMNS, Window
from .pandas_columns import read_pandas
from .polars_columns import read_polars
from .sources import recognise

if TYPE_CHECKING:
    from ..handles import Handles

_READERS = {"pandas": read_pandas, "polars": read_polars, "pyarrow": read_arrow}


def record_of(value: Any, handles: Handles) -> dict[str, Any] | None:
    """Describe a displayed table.

    Args:
        value: The displayed object.
        handles: Handles to register the table with, so that the host can request the rest.

    Returns:
        The record; ``None`` if the object is not a table, or cannot be read.
    """
    try:
        found = recognise(value)
        if found is None:
            return None
        library, table = found
        shape = _shape(table)
        window = Window.over(*shape)
        name, columns = _READERS[library](table, window)
        columns = columns[:MOST_COLUMNS]
        for column in columns:
            column.shorten_dates()
        rows = list(zip(*(column.cells for column in columns), strict=True))
        return {
            "version": 1,
            "library": library,
            "name": name,
            "columns": [
                {"name": c.name, "type": c.type, "dtype": c.dtype[:500], "role": c.role}
                for c in columns
            ],
            "shape": list(shape),
            "head": [list(row) for row in rows[: window.head]],
            "tail": [list(row) for row in rows[window.head :]],
            "handle": handles.name(table),
        }
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a polars panic is no Exception
        return None


def _shape(table: Any) -> tuple[int, int]:
    shape = getattr(table, "shape", None)
    if shape is None:  # a chunked array
        return len(table), 1
    return int(shape[0]), int(shape[1]) if len(shape) > 1 else 1
