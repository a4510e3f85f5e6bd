"""Tables as HTML."""

from html import escape

from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.tables.column import Cell, ColumnRole
from llm_sandbox.tables.table import Row, Table

__all__ = ["to_html"]

_MOST_ROWS = 20


def to_html(table: Table) -> str:
    """Return a table as an HTML table without any style or script of its own."""
    head = "".join(f"<th>{_text(column.name)}</th>" for column in table.columns)
    half = _MOST_ROWS // 2
    rows = table.rows
    first, last = (rows, ()) if len(rows) <= _MOST_ROWS else (rows[:half], rows[-half:])
    if table.tail and not last:
        first, last = table.head, table.tail
    gap = table.shape[0] - len(first) - len(last)
    body = [_row(table, row) for row in first]
    if gap:
        words = f"… {gap:,} row{'s' * (gap != 1)} left out …"
        body.append(f'<tr><td colspan="{len(table.columns)}">{words}</td></tr>')
    body += [_row(table, row) for row in last]
    caption = f"<caption>{_text(table.describe())}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _row(table: Table, row: Row) -> str:
    cells = []
    for column, value in zip(table.columns, row, strict=False):
        tag = "th" if column.role is ColumnRole.INDEX else "td"
        align = ' style="text-align:right"' if column.type.is_number else ""
        cells.append(f"<{tag}{align}>{_text(value)}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"


def _text(value: Cell) -> str:
    # trust: names and texts come from inside.
    return "" if value is None else escape(strip_controls(str(value)))
