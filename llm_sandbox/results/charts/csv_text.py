"""Charts as CSV text."""

import json
import re
from collections.abc import Iterator

from llm_sandbox.results.cells import spreadsheet_text
from llm_sandbox.results.charts.chart import Chart
from llm_sandbox.results.charts.kinds import ChartKind, SeriesKind
from llm_sandbox.results.charts.series import Value, list_rows

__all__ = ["to_csv"]

_QUOTED = re.compile(r'[",\r\n]|^\s|\s$|^$')


def to_csv(chart: Chart, *, safe: bool = True) -> str:
    """Return a chart's points as CSV; see `Chart.to_csv`.

    A figure of several charts has a first column `chart` with the chart's number from 1. Charts of
    series of several kinds have a column `kind`.
    """
    several = chart.kind is ChartKind.MULTI
    items = [item for panel in chart.panels for item in panel.series]
    kinds = {item.kind for item in items}
    fixed = ["chart"] * several + ["series"] + ["kind"] * (len(kinds) > 1)
    names = [name for item in items for name in _columns_of(item.kind, list(item.columns))]
    columns = list(dict.fromkeys(name for name in names if name not in fixed))
    lines = [_line([*fixed, *columns], safe=safe)]
    for number, panel in enumerate(chart.panels, 1):
        lines += [_line(cells, safe=safe) for cells in _cells(panel, number, fixed, columns)]
    return "\n".join(lines) + "\n"


def _columns_of(kind: SeriesKind, names: list[str]) -> list[str]:
    if kind.is_grid and "z" in names:
        return ["x", "y", "z"]
    return names


def _cells(
    chart: Chart, number: int, fixed: list[str], columns: list[str]
) -> Iterator[list[Value]]:
    for item in chart.series:
        first: dict[str, Value] = {"chart": number, "series": item.label, "kind": item.kind.value}
        start = [first[name] for name in fixed]
        for row in list_rows(item):
            yield [*start, *(row.get(name) for name in columns)]


def _line(cells: list[Value], *, safe: bool) -> str:
    return ",".join(_cell(cell, safe=safe) for cell in cells)


def _cell(value: Value, *, safe: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _quote(spreadsheet_text(value) if safe else value)
    if isinstance(value, float):
        return repr(value)
    return _quote(json.dumps(value))


def _quote(text: str) -> str:
    if _QUOTED.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text
