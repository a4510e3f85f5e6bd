"""Outputs of a run in the words of E2B's code interpreter, one JSON object a line."""

import json
import time
from collections.abc import Iterator, Mapping

from llm_sandbox.results.bundles import CHART_MIME, TABLE_MIME
from llm_sandbox.results.charts import Chart
from llm_sandbox.results.outputs import (
    DisplayOutput,
    ErrorOutput,
    ExecutionError,
    Output,
    ResultOutput,
    StreamOutput,
    UpdateOutput,
)

__all__ = ["error_line", "line", "lines_of"]

_FORMS = {
    "text/plain": "text",
    "text/html": "html",
    "text/markdown": "markdown",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpeg",
    "application/pdf": "pdf",
    "text/latex": "latex",
    "application/json": "json",
    "application/javascript": "javascript",
}
_QUOTES = ("'", '"')


def line(kind: str, **fields: object) -> bytes:
    """Return an event as a line of JSON."""
    return json.dumps({"type": kind, **fields}).encode() + b"\n"


def lines_of(output: Output) -> Iterator[bytes]:
    """Yield the events of one output."""
    if isinstance(output, StreamOutput):
        yield line(output.name, text=output.text, timestamp=time.time_ns())
    elif isinstance(output, ErrorOutput):
        yield line(
            "error", name=output.name, value=output.value, traceback="\n".join(output.traceback)
        )
    elif isinstance(output, DisplayOutput | UpdateOutput | ResultOutput):
        is_main = isinstance(output, ResultOutput)
        yield line("result", is_main_result=is_main, **_forms(output.data))


def error_line(error: ExecutionError, traceback: str = "") -> bytes:
    """Return an error that the interpreter has not shown, as an event."""
    return line("error", name=error.name, value=error.value, traceback=traceback or error.value)


def _forms(data: Mapping[str, object]) -> dict[str, object]:
    # trust: a bundle from inside; it is passed on as data, and clients decide what to render.
    forms: dict[str, object] = {}
    extra: dict[str, object] = {}
    for mime in data:
        value = data[mime]
        if mime in (CHART_MIME, TABLE_MIME):
            forms.update(_record(mime, value, extra))
        elif mime == "text/plain" and isinstance(value, str):
            forms["text"] = _unquoted(value)
        else:
            name = _FORMS.get(mime)
            (extra if name is None else forms)[name or mime] = value
    if extra:
        forms["extra"] = extra
    return forms


def _record(mime: str, value: object, extra: dict[str, object]) -> dict[str, object]:
    if mime == TABLE_MIME:
        columns = _columns(value)
        return {} if columns is None else {"data": columns}
    chart = Chart.from_record(value)
    if chart is None:
        return {}
    described = chart.to_e2b()
    described.setdefault("elements", [])
    if described["type"] == "unknown":
        extra[mime] = chart.to_dict()
    return {"chart": described}


def _columns(record: object) -> dict[str, object] | None:
    """Return the columns of a table, if its record has all of its rows."""
    from llm_sandbox.results.tables import ColumnRole, Table

    table = Table.from_record(record)
    if table is None or table.is_truncated:
        return None
    return {
        column.name: [row[place] for row in table.rows]
        for place, column in enumerate(table.columns)
        if column.role is ColumnRole.VALUE
    }


def _unquoted(text: str) -> str:
    """Return the representation of a value without one layer of quotes."""
    if len(text) > 1 and text[0] in _QUOTES and text[-1] == text[0]:
        return text[1:-1]
    return text
