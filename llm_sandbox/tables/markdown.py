"""Tables as Markdown text."""

import re

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.tables.column import Cell, Column
from llm_sandbox.tables.table import Row, Table

__all__ = ["escape", "to_markdown"]

_LONGEST = 100
_MOST_NAMES = 20
_SPECIAL = re.compile(r"[\\`*|<]|!(?=\[)|\](?=[(\[:])|&(?=[#\w])|~(?=~)|_(?=_)")


def to_markdown(table: Table, max_rows: int, max_columns: int) -> str:
    """Return a table as Markdown; see `Table.to_markdown`."""
    for name, value, least in (("max_rows", max_rows, 2), ("max_columns", max_columns, 1)):
        if value < least:
            raise ValidationError(f"{name} must be a whole number from {least}", parameter=name)
    columns = table.columns[:max_columns]
    first, last = _ends(table, max_rows)
    blocks = []
    if columns:
        lines = [_line([escape(column.name) or " " for column in columns]), _ruler(columns)]
        lines += [_row(row, columns) for row in first]
        gap = table.shape[0] - len(first) - len(last)
        if gap:
            plural = "s" if gap != 1 else ""
            words = f"… {gap:,} row{plural} left out …"
            lines.append(_line([words, *[""] * (len(columns) - 1)]))
        lines += [_row(row, columns) for row in last]
        blocks.append("\n".join(lines))
    left = table.columns[max_columns:]
    more = len(left) + table.omitted_columns
    if more:
        most = min(_MOST_NAMES, max_columns)
        names = ", ".join(escape(column.name) for column in left[:most])
        ending = ", …" if names and more > most else ""
        plural = "s" if more != 1 else ""
        listed = f": {names}{ending}" if names else ""
        blocks.append(f"{more:,} more column{plural} left out{listed}")
    rows, width = table.shape
    if not table.rows or not columns:
        blocks.insert(
            0, f"({rows:,} row{'s' * (rows != 1)} x {width:,} column{'s' * (width != 1)})"
        )
    return "\n\n".join(blocks) + "\n"


def _ends(table: Table, max_rows: int) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    if len(table.rows) <= max_rows:
        return table.head, table.tail
    above, below = max_rows - max_rows // 2, max_rows // 2
    first = table.head[:above]
    return first, table.rows[max(len(first), len(table.rows) - below) :]


def escape(text: str) -> str:
    """Return text that shows as it is on one line of Markdown, in a table as well."""
    # trust: text comes from inside; it must start no link, image, tag or cell.
    line = " ".join(strip_controls(text).split())
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return _SPECIAL.sub(lambda match: "\\" + match[0], line)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ruler(columns: tuple[Column, ...]) -> str:
    return _line(["---:" if column.type.is_number else "---" for column in columns])


def _row(row: Row, columns: tuple[Column, ...]) -> str:
    return _line([_cell(value) for value in row[: len(columns)]])


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.8g}"
    return str(value) if abs(value) < 10**20 else f"{float(value):.8g}"
