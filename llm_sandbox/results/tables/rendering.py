"""Tables as Markdown, CSV and HTML text."""

import csv
import io
from html import escape

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.results.cells import format_number, markdown_row, markdown_text, spreadsheet_text
from llm_sandbox.results.tables.table import Cell, Column, ColumnRole, Row, Table

__all__ = ["to_csv", "to_html", "to_markdown"]

_MOST_NAMES = 20


def to_markdown(table: Table, max_rows: int, max_columns: int) -> str:
    """Return a table as Markdown; see `Table.to_markdown`."""
    for name, value, least in (("max_rows", max_rows, 2), ("max_columns", max_columns, 1)):
        if value < least:
            raise ValidationError(f"{name} must be a whole number from {least}", parameter=name)
    columns = table.columns[:max_columns]
    first, last = _ends(table, max_rows)
    blocks = []
    if columns:
        lines = [
            markdown_row([markdown_text(column.name) or " " for column in columns]),
            _ruler(columns),
        ]
        lines += [_row(row, columns) for row in first]
        gap = table.shape[0] - len(first) - len(last)
        if gap:
            plural = "s" if gap != 1 else ""
            words = f"… {gap:,} row{plural} left out …"
            lines.append(markdown_row([words, *[""] * (len(columns) - 1)]))
        lines += [_row(row, columns) for row in last]
        blocks.append("\n".join(lines))
    left = table.columns[max_columns:]
    more = len(left) + table.omitted_columns
    if more:
        most = min(_MOST_NAMES, max_columns)
        names = ", ".join(markdown_text(column.name) for column in left[:most])
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


def _ruler(columns: tuple[Column, ...]) -> str:
    return markdown_row(["---:" if column.type.is_number else "---" for column in columns])


def _row(row: Row, columns: tuple[Column, ...]) -> str:
    return markdown_row([_cell(value) for value in row[: len(columns)]])


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return markdown_text(value)
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value)


def to_csv(table: Table, *, safe: bool) -> str:
    """Return a table as CSV; see `Table.to_csv`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_csv_cell(column.name, safe) for column in table.columns])
    writer.writerows([[_csv_cell(value, safe) for value in row] for row in table.rows])
    return text.getvalue()


def _csv_cell(value: Cell, safe: bool) -> Cell:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    return spreadsheet_text(value) if safe else value


_MOST_HTML_ROWS = 20


def to_html(table: Table) -> str:
    """Return a table as an HTML table without style or script."""
    head = "".join(f"<th>{_html_text(column.name)}</th>" for column in table.columns)
    half = _MOST_HTML_ROWS // 2
    rows = table.rows
    first, last = (rows, ()) if len(rows) <= _MOST_HTML_ROWS else (rows[:half], rows[-half:])
    if table.tail and not last:
        first, last = table.head, table.tail
    gap = table.shape[0] - len(first) - len(last)
    body = [_html_row(table, row) for row in first]
    if gap:
        words = f"… {gap:,} row{'s' * (gap != 1)} left out …"
        body.append(f'<tr><td colspan="{len(table.columns)}">{words}</td></tr>')
    body += [_html_row(table, row) for row in last]
    caption = f"<caption>{_html_text(table.describe())}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _html_row(table: Table, row: Row) -> str:
    cells = []
    for column, value in zip(table.columns, row, strict=False):
        tag = "th" if column.role is ColumnRole.INDEX else "td"
        align = ' style="text-align:right"' if column.type.is_number else ""
        cells.append(f"<{tag}{align}>{_html_text(value)}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"


def _html_text(value: Cell) -> str:
    # trust: names and texts come from inside.
    return "" if value is None else escape(strip_controls(str(value)))
