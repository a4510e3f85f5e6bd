"""Table records: the JSON form of tables, as received from inside and as stored in results."""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from llm_sandbox.results.tables.table import Cell, Column, ColumnRole, ColumnType, Row, Table

__all__ = ["VERSION", "read_record", "to_record"]

VERSION = 1
"""Version of the JSON form of tables."""

_MOST_COLUMNS = 50
_MOST_ROWS = 100
_LONGEST = 500
_LONGEST_WORD = 100
_LARGEST = 2**62
_WIDEST = 1024
"""Most bits of an integer: the text of longer ones may not be parsed back."""

_Word = TypeVar("_Word", bound=StrEnum)


def to_record(table: Table) -> dict[str, object]:
    """Return a table as its record."""
    return {
        "version": VERSION,
        "library": table.library,
        "name": table.name,
        "columns": [
            {"name": c.name, "type": c.type.value, "dtype": c.dtype, "role": c.role.value}
            for c in table.columns
        ],
        "shape": list(table.shape),
        "head": [list(row) for row in table.head],
        "tail": [list(row) for row in table.tail],
        "handle": table.handle,
    }


def read_record(record: object) -> dict[str, Any] | None:
    """Return the fields of a table from a record; None if the record does not describe a table."""
    # trust: every part of a record is whatever code inside wanted it to be.
    if not isinstance(record, Mapping) or record.get("version") is True:
        return None
    if record.get("version") != VERSION or not isinstance(record.get("columns"), list):
        return None
    columns = tuple(_column(item) for item in record["columns"][:_MOST_COLUMNS])
    head = _rows(record.get("head"), len(columns))
    tail = _rows(record.get("tail"), len(columns)) if head else ()
    present = sum(column.role is ColumnRole.VALUE for column in columns)
    rows, wide = _shape(record.get("shape"))
    return {
        "columns": columns,
        # Not less than what is here, or it would count what is left out below zero.
        "shape": (max(rows, len(head) + len(tail)), max(wide, present)),
        "head": head,
        "tail": tail,
        "library": _text(record.get("library"), _LONGEST_WORD) or "",
        "name": _text(record.get("name"), _LONGEST),
        "handle": _text(record.get("handle"), _LONGEST_WORD) or "",
    }


def _text(value: object, limit: int) -> str | None:
    return str(value[:limit]) if isinstance(value, str) else None


def _word(kind: type[_Word], value: object, otherwise: _Word) -> _Word:
    return kind(value) if isinstance(value, str) and value in list(kind) else otherwise


def _column(item: object) -> Column:
    if not isinstance(item, Mapping):
        return Column("")
    return Column(
        _text(item.get("name"), _LONGEST) or "",
        _word(ColumnType, item.get("type"), ColumnType.OTHER),
        _text(item.get("dtype"), _LONGEST) or "",
        _word(ColumnRole, item.get("role"), ColumnRole.VALUE),
    )


def _rows(rows: object, width: int) -> tuple[Row, ...]:
    if not isinstance(rows, list) or not width:
        return ()
    found = []
    for row in rows[:_MOST_ROWS]:
        cells = row[:width] if isinstance(row, list) else []
        found.append((*map(_cell, cells), *[None] * (width - len(cells))))
    return tuple(found)


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, (bool, str)):
        return _text(value, _LONGEST) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _WIDEST else None
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    return None


def _shape(shape: object) -> tuple[int, int]:
    sizes = shape[:2] if isinstance(shape, list) else []
    good = [
        size if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < _LARGEST else 0
        for size in (*sizes, 0, 0)
    ]
    return good[0], good[1]
