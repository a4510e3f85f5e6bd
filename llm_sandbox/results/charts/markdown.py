"""Charts as Markdown text."""

from collections.abc import Sequence

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.cells import format_number, markdown_row, markdown_text
from llm_sandbox.results.charts.chart import Chart
from llm_sandbox.results.charts.kinds import AxisScale, ChartKind, SeriesKind
from llm_sandbox.results.charts.series import Axis, Series, Value, list_rows

__all__ = ["to_markdown"]

_MOST_COLUMNS = 12
_MOST_TABLES = 12
_MOST_NOTES = 10
_SHARED = frozenset({SeriesKind.LINE, SeriesKind.STEP, SeriesKind.AREA, SeriesKind.BAR})
_OUTLINES = frozenset({"values", "density"})


def to_markdown(chart: Chart, max_rows: int = 20) -> str:
    """Return a chart as Markdown; see `Chart.to_markdown`."""
    if max_rows < 2:
        raise ValidationError("a table needs at least two rows", parameter="max_rows")
    blocks = ["\n".join(_heading(chart))]
    if chart.kind is ChartKind.MULTI:
        kept = chart.charts[:_MOST_TABLES]
        for number, panel in enumerate(kept, 1):
            heading = _heading(panel, f"{number}. ")
            blocks += ["\n".join(heading), *_tables(panel, max_rows, _MOST_TABLES // len(kept))]
        blocks += _left_out(len(chart.charts) - len(kept), "charts")
    else:
        blocks += _tables(chart, max_rows, _MOST_TABLES)
    return "\n\n".join(blocks) + "\n"


def _heading(chart: Chart, number: str = "") -> list[str]:
    facts = [f"{len(chart.charts)} charts" if chart.kind is ChartKind.MULTI else chart.kind.value]
    facts += [word for word in (chart.orientation, chart.stacking) if word]
    title = f"**{number}{markdown_text(chart.title)}** " if chart.name and chart.title else number
    lines = [f"{title}({', '.join(facts)})"]
    for name, axis in chart.all_axes.items():
        text = _axis(axis)
        lines += [f"- {name}: {text}"] if text else []
    sampled = [item for item in chart.series if item.sampling is not None]
    if sampled:
        kept = sum(item.points for item in sampled)
        whole = sum(item.total for item in sampled)
        lines.append(f"- sampled: {kept:,} of {whole:,} points of {len(sampled)} series")
    unread = [f"- not in this data: {markdown_text(text)}" for text in chart.unread]
    lines += unread[:_MOST_NOTES]
    lines += [f"- {text}" for text in _left_out(len(unread) - _MOST_NOTES, "parts")]
    lines += [f"- {text}" for text in _rules(chart)]
    notes = [markdown_text(item.text) for item in chart.annotations if item.text.strip()]
    lines += [f"- note: {text}" for text in notes[:_MOST_NOTES]]
    return lines + [f"- {text}" for text in _left_out(len(notes) - _MOST_NOTES, "notes")]


def _axis(axis: Axis) -> str:
    parts = [markdown_text(axis.label)] if axis.name and axis.label else []
    if axis.scale is not AxisScale.LINEAR:
        seconds = " in seconds" if axis.scale is AxisScale.DURATION else ""
        parts.append(f"{axis.scale.value} scale{seconds}")
    if axis.limits is not None:
        parts.append(" to ".join(map(_cell, axis.limits)))
    return ", ".join(parts)


def _left_out(count: int, what: str) -> list[str]:
    return [f"{count:,} more {what} left out"] if count > 0 else []


def _tables(chart: Chart, max_rows: int, most: int) -> list[str]:
    items = [item for item in chart.series if item.kind is not SeriesKind.RULE]
    key, value = ("y", "x") if chart.orientation == "horizontal" else ("x", "y")
    stacked = chart.stacking == "stacked" and len(items) > 1
    if items and _is_shared(items, key, stacked=stacked):
        return _wide(items, key, value, max_rows)
    blocks = []
    for index, item in enumerate(items[:most]):
        if len(items) > 1 or item.name:
            blocks.append(f"{_name(item, index)} ({item.kind.value}):")
        is_grid = item.kind.is_grid and "z" in item.columns
        blocks.append(_matrix(item, max_rows) if is_grid else _long(item, max_rows))
    return blocks + _left_out(len(items) - most, "series")


def _name(series: Series, index: int) -> str:
    name = markdown_text(series.label) if series.label and series.name else f"series {index + 1}"
    return name if series.axis == "y" else f"{name} ({series.axis})"


def _is_shared(items: Sequence[Series], key: str, *, stacked: bool) -> bool:
    """Return whether all series have the same positions, and so fit into one table."""
    if not all(item.kind in _SHARED and item.columns.keys() >= {"x", "y"} for item in items):
        return False
    first = items[0].columns[key]
    # The bases of bars and areas that stand on each other follow from their sizes.
    known = {"x", "y"} | ({"base", "x_base", "y_base"} if stacked else set())
    return all(item.columns[key] == first and item.columns.keys() <= known for item in items)


def _wide(items: Sequence[Series], key: str, value: str, max_rows: int) -> list[str]:
    kept = items[: _MOST_COLUMNS - 1]
    titles = [key, *(_name(item, index) for index, item in enumerate(kept))]
    if len(items) == 1 and not items[0].name:
        titles = [key, value]
    columns = [kept[0].columns[key], *(item.columns[value] for item in kept)]
    rows = list(zip(*columns, strict=True))
    return [_table(titles, rows, max_rows), *_left_out(len(items) - len(kept), "series")]


def _rules(chart: Chart) -> list[str]:
    """Describe reference lines."""
    found = []
    for item in chart.series:
        for side in ("x", "y"):
            values = item.columns.get(side)
            if item.kind is SeriesKind.RULE and values:
                name = f" ({markdown_text(item.label)})" if item.label and item.name else ""
                found.append(f"line at {side} = {_cell(values[0])}{name}")
    return found[:_MOST_NOTES] + _left_out(len(found) - _MOST_NOTES, "lines")


def _long(series: Series, max_rows: int) -> str:
    names = [name for name in series.columns if name not in _OUTLINES][:_MOST_COLUMNS]
    rows = [[row.get(name) for name in names] for row in list_rows(series)]
    return _table([markdown_text(name) for name in names], rows, max_rows)


def _matrix(series: Series, max_rows: int) -> str:
    """Format a grid in its layout: columns across, rows down."""
    grid = [row for row in series.columns["z"] if isinstance(row, tuple)]
    width = max(map(len, grid), default=0)
    across = _side(series.columns.get("x"), width)
    down = _side(series.columns.get("y"), len(grid))
    shown = min(width, _MOST_COLUMNS)
    rows = [[side, *row[:shown]] for side, row in zip(down, grid, strict=True)]
    titles = ["y \\ x", *(_cell(value) for value in across[:shown])]
    table = _table(titles, rows, max_rows)
    return "\n\n".join([table, *_left_out(width - shown, "columns")])


def _side(values: Sequence[Value] | None, length: int) -> Sequence[Value]:
    good = values is not None and len(values) == length
    return values if values is not None and good else range(length)


def _table(titles: list[str], rows: Sequence[Sequence[Value]], max_rows: int) -> str:
    """Format rows, with a count in place of the middle ones if there are too many."""
    numeric = [
        bool(rows) and all(_is_number(row[place]) for row in rows if place < len(row))
        for place in range(len(titles))
    ]
    lines = [titles, ["---:" if number else "---" for number in numeric]]
    if len(rows) <= max_rows:
        lines += [[_cell(value) for value in row] for row in rows]
    else:
        head, tail = max_rows - max_rows // 2, max_rows // 2
        count = len(rows) - head - tail
        gap = [f"… {count:,} row{'s' * (count != 1)} left out …", *[""] * (len(titles) - 1)]
        lines += [[_cell(value) for value in row] for row in rows[:head]]
        lines += [gap, *([_cell(value) for value in row] for row in rows[-tail:])]
    return "\n".join(map(markdown_row, lines))


def _is_number(value: Value) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return markdown_text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return format_number(value)
    shown = ", ".join(map(_cell, value[:_MOST_NOTES]))
    more = f", … {len(value) - _MOST_NOTES:,} more" if len(value) > _MOST_NOTES else ""
    return f"{shown}{more}"
