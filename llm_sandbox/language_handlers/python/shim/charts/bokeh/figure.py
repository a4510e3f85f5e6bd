"""Bokeh figures and layouts as chart records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import record
from ..colors import web_color
from .columns import Columns, field_of, kind_of, on_axis, stack_fields
from .glyphs import Glyph, read_glyph

__all__ = ["bokeh_chart"]

_DEPTH = 10
Cell = tuple[int, int, Any]


def bokeh_chart(models: Sequence[Any]) -> record.Record | None:
    """Read what is shown.

    Args:
        models: Figures and layouts.

    Returns:
        The chart record; ``None`` without a figure.
    """
    cells = _stacked([_cells(model, 0) for model in models], across=False)
    if not cells:
        return None
    if len(cells) == 1:
        return record.finish(_chart(cells[0][2]))
    charts = []
    for row, column, figure in cells:
        chart = _chart(figure)
        chart["row"], chart["column"] = row, column
        charts.append(chart)
    return record.finish(record.multi("bokeh", charts))


def _cells(model: Any, depth: int) -> list[Cell]:
    """Return the figures in a layout by their place in a grid."""
    if hasattr(model, "renderers") and hasattr(model, "x_range"):
        return [(0, 0, model)]
    children = getattr(model, "children", None)
    if depth > _DEPTH:
        return []
    if kind_of(model) == "Tabs":
        tabs = [_cells(getattr(tab, "child", None), depth + 1) for tab in model.tabs]
        return _stacked(tabs, across=True)
    if not isinstance(children, (list, tuple)) and not isinstance(children, Sequence):
        return []
    if kind_of(model) in ("GridPlot", "GridBox"):
        found: list[Cell] = []
        for child in children:
            if isinstance(child, (list, tuple)) and len(child) >= 3:
                inner = _cells(child[0], depth + 1)
                found += [(int(child[1]) + r, int(child[2]) + c, f) for r, c, f in inner]
        return sorted(found, key=lambda cell: cell[:2])
    parts = [_cells(child, depth + 1) for child in children]
    return _stacked(parts, across=kind_of(model) == "Row")


def _stacked(parts: Iterable[list[Cell]], across: bool) -> list[Cell]:
    found: list[Cell] = []
    offset = 0
    for cells in parts:
        if not cells:
            continue
        place = (0, offset) if across else (offset, 0)
        found += [(place[0] + r, place[1] + c, figure) for r, c, figure in cells]
        offset += max(cell[1 if across else 0] for cell in cells) + 1
    return found


def _text(value: Any) -> str | None:
    text = getattr(value, "text", value)
    text = getattr(text, "value", text)
    return text if isinstance(text, str) and text else None


def _chart(figure: Any) -> record.Record:
    legend = _legend_labels(figure)
    first = getattr(figure, "y_range", None)
    series: list[record.Record] = []
    glyphs: list[Glyph] = []
    notes: list[record.Record] = []
    date_x, date_y = _is_date(figure, "x"), _is_date(figure, "y")
    for renderer in figure.renderers:
        if not hasattr(renderer, "glyph") or not getattr(renderer, "visible", True):
            continue
        slot = "y" if getattr(renderer, "y_range_name", "default") == "default" else "y2"
        columns = Columns(renderer)
        label, divided_by = _label_of(renderer, legend, columns)
        names = _factors(figure.x_range), _factors(first)
        glyph = Glyph(renderer.glyph, columns, label, slot, date_x, date_y, *names, divided_by)
        if glyph.kind == "Text":
            notes += _texts(glyph)
            continue
        glyphs.append(glyph)
        series += read_glyph(glyph)
    _add_annotations(figure, series, notes, date_x, date_y)
    chart = record.chart("bokeh", _kind(series), series, _text(getattr(figure, "title", None)))
    chart["x"], chart["y"] = _axis(figure, "x"), _axis(figure, "y")
    if any(item["axis"] == "y2" for item in series):
        chart["y2"] = _second_axis(figure)
    chart["annotations"] = notes
    _describe_bars(chart, glyphs)
    return chart


def _describe_bars(chart: record.Record, glyphs: list[Glyph]) -> None:
    bars = [g for g in glyphs if g.kind in ("VBar", "HBar")]
    sided = [s for s in chart["series"] if s["kind"] in ("bar", "histogram")]
    if sided:
        lying = bool(bars) and bars[0].kind == "HBar"
        quads = [g for g in glyphs if g.kind == "Quad"]
        if quads and not bars:
            lying = any(map(bool, quads[0].y("bottom"))) and not any(quads[0].x("left"))
        chart["orientation"] = "horizontal" if lying else "vertical"
    stacks = [g for g in glyphs if any(stack_fields(g.get(n)) for n in ("top", "right", "y2"))]
    if len(stacks) > 1:
        chart["stacking"] = "stacked"
    elif len(sided) > 1:
        dodged = [
            g for g in bars for n in ("x", "y")
            if kind_of(getattr(g.get(n), "transform", None)) == "Dodge"
        ]  # fmt: skip
        places = {
            str(s["columns"].get("x" if chart["orientation"] == "vertical" else "y")) for s in sided
        }
        apart = len(places) == len(sided) and bars and not dodged
        chart["stacking"] = "grouped" if dodged or apart else "overlaid"


def _kind(series: list[record.Record]) -> str:
    kinds = [item["kind"] for item in series if item["kind"] != "rule"]
    if not kinds:
        return "other"
    if kinds[0] in ("area", "errorbar") and len(set(kinds)) > 1:
        bands = [item for item in series if item["kind"] == "area"]
        if all({"y_base", "x_base"} & set(item["columns"]) for item in bands):
            return str(next(kind for kind in kinds if kind != kinds[0]))
    return str(kinds[0])


def _legend_labels(figure: Any) -> dict[int, list[Any]]:
    """Return the items of the legends by the renderers they stand for."""
    found: dict[int, list[Any]] = {}
    for place in ("center", "left", "right", "above", "below"):
        for part in getattr(figure, place, ()):
            if kind_of(part) != "Legend":
                continue
            for item in part.items:
                for renderer in item.renderers:
                    found.setdefault(id(renderer), []).append(item)
    return found


def _label_of(
    renderer: Any, legend: dict[int, list[Any]], columns: Columns
) -> tuple[str | None, str | None]:
    """Return the name of a renderer, or the field that names groups of its rows."""
    items = legend.get(id(renderer), [])
    if not items:
        name = getattr(renderer, "name", None)
        return (name if isinstance(name, str) else None), None
    label = items[0].label
    field = field_of(label)
    if field is not None:
        return None, field if field in columns.names else None
    if len(items) == 1 and items[0].index is None:
        return _text(getattr(label, "value", label)), None
    # `legend_group` made an item for each value of a field, whose name is not kept.
    wanted = [(item.index, _text(getattr(item.label, "value", None))) for item in items]
    for name in columns.names:
        values = columns.field(name)
        if all(i is not None and i < len(values) and str(values[i]) == t for i, t in wanted):
            return None, name
    return None, None


def _factors(range_: Any) -> list[Any] | None:
    factors = getattr(range_, "factors", None)
    if factors is None:
        return None
    return [" / ".join(map(str, f)) if isinstance(f, (list, tuple)) else f for f in factors]


def _axes(figure: Any, letter: str) -> list[Any]:
    places = ("below", "above") if letter == "x" else ("left", "right")
    found = [part for place in places for part in getattr(figure, place, ())]
    return [part for part in found if kind_of(part).endswith("Axis")]


def _main_axis(figure: Any, letter: str) -> Any:
    name = f"{letter}_range_name"
    axes = _axes(figure, letter)
    return next((a for a in axes if getattr(a, name, "default") == "default"), None)


def _is_date(figure: Any, letter: str) -> bool:
    return kind_of(_main_axis(figure, letter)) == "DatetimeAxis"


def _axis(figure: Any, letter: str) -> record.Record:
    axis = _main_axis(figure, letter)
    range_ = getattr(figure, f"{letter}_range", None)
    scale = kind_of(getattr(figure, f"{letter}_scale", None))
    return _describe(axis, range_, scale)


def _second_axis(figure: Any) -> record.Record:
    axes = _axes(figure, "y")
    axis = next((a for a in axes if getattr(a, "y_range_name", "default") != "default"), None)
    ranges = getattr(figure, "extra_y_ranges", {})
    name = getattr(axis, "y_range_name", next(iter(ranges), ""))
    scales = getattr(figure, "extra_y_scales", {})
    return _describe(axis, ranges.get(name), kind_of(scales.get(name)))


def _describe(axis: Any, range_: Any, scale: str) -> record.Record:
    label = _text(getattr(axis, "axis_label", None))
    names = _factors(range_)
    if names is not None:
        return record.axis(label, "category", None, names, names)
    dated = kind_of(axis) == "DatetimeAxis"
    kind = "datetime" if dated else "log" if scale == "LogScale" else "linear"
    limits = None
    if kind_of(range_) == "Range1d":
        limits = on_axis(record.column([range_.start, range_.end]), dated)
    ticker: Any = getattr(axis, "ticker", None)
    ticks = list(ticker.ticks) if kind_of(ticker) == "FixedTicker" else []
    known = getattr(axis, "major_label_overrides", None) or {}
    texts = [_text(known.get(tick, str(tick))) for tick in ticks] if known else []
    return record.axis(label, kind, limits, on_axis(record.column(ticks), dated), texts)


def _texts(glyph: Glyph) -> list[record.Record]:
    texts = glyph.columns.get(glyph.get("text")) or []
    places = zip(texts, glyph.x(), glyph.y(), strict=False)
    return [record.annotation(text, x, y) for text, x, y in places]


def _add_annotations(
    figure: Any,
    series: list[record.Record],
    notes: list[record.Record],
    date_x: bool,
    date_y: bool,
) -> None:
    for part in getattr(figure, "center", ()):
        kind = kind_of(part)
        if kind == "Span" and part.location is not None:
            name = "y" if part.dimension == "width" else "x"
            place = on_axis(record.column([part.location]), date_y if name == "y" else date_x)
            color = web_color(part.line_color)
            series.append(record.series("rule", {name: place}, None, color))
        elif kind == "Label":
            notes.append(record.annotation(part.text, part.x, part.y))
        elif kind in ("Whisker", "Band"):
            series.append(_interval(part, kind, date_x))
        elif kind == "LabelSet":
            columns = Columns(_Source(part.source))
            places = (columns.get(getattr(part, name)) or [] for name in ("text", "x", "y"))
            notes += [record.annotation(t, x, y) for t, x, y in zip(*places, strict=False)]


class _Source:
    """A source of data where a renderer is expected."""

    def __init__(self, source: Any) -> None:
        self.data_source = source


def _interval(part: Any, kind: str, date_x: bool) -> record.Record:
    columns = Columns(_Source(part.source))
    names = (part.base, part.lower, part.upper)
    base, low, high = (columns.get(name) or [] for name in names)
    upright = part.dimension == "height"
    if upright:
        base = on_axis(base, date_x)
    along, across = ("x", "y") if upright else ("y", "x")
    if kind == "Band":
        return record.series("area", {along: base, across: high, f"{across}_base": low})
    return record.series("errorbar", {along: base, f"{across}_low": low, f"{across}_high": high})
