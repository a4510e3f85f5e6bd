"""Tables as CSV text."""

import csv
import io
import re

from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.tables.column import Cell
from llm_sandbox.tables.table import Table

__all__ = ["to_csv"]

_FORMULA = re.compile(r"[=+@\t\r\n＝＋－＠]|-(?![\d\s.,:-]*$)")  # noqa: RUF001 - full width, as written


def to_csv(table: Table, *, safe: bool) -> str:
    """Return a table as CSV; see `Table.to_csv`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_cell(column.name, safe) for column in table.columns])
    writer.writerows([[_cell(value, safe) for value in row] for row in table.rows])
    return text.getvalue()


def _cell(value: Cell, safe: bool) -> Cell:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    # trust: text comes from inside; a spreadsheet would run it as a formula.
    text = strip_controls(value) if safe else value
    return f"'{text}" if safe and _FORMULA.match(text) else text
