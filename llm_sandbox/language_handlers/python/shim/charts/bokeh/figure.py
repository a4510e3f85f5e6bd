"""Reader of Bokeh figures and layouts: chart records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import record
from ..colors import web_color
from ..names import name_ticks, rename
from .columns import Columns, field_of, kind_of, on_axis, stack_fields
from .glyphs import Glyph, read_glyph

__all__ = ["bokeh_chart"]

_DEPTH = 10
Cell = tuple[int, int, Any, str | None]
"""Row, column, figure and title."""


def bokeh_chart(models: Sequence[Any]) -> record.Record | None:
    """Read figures and layouts.

    Args:
        models: Figures and layouts.

    Returns:
        The chart record; ``None`` without a figure.
    """
    cells = _stacked([_cells(model, 0) for model in models], across=False)
    if not cells:
        return None
    if len(cells) == 1:
        return record.finish(_titled(*cells[0][2:]))
    charts = []
    for row, column, figure, title in cells:
        chart = _titled(figure, title)
        chart["row"], chart["column"] = row, column
        charts.append(chart)
    return record.finish(record.multi("bokeh", charts))


def _titled(figure: Any, title: str | None) -> record.Record:
    chart = _chart(figure)
    chart["title"] = title
    return chart


def _cells(model: Any, depth: int) -> list[Cell]:
    """Return the figures in a layout by their position in a grid."""
    if hasattr(model, "renderers") and hasattr(model, "x_range"):
        return [(0, 0, model, _text(getattr(model, "title", None)))]
    children = getattr(model, "children", None)
    if depth > _DEPTH:
        return []
    if kind_of(model) == "Tabs":
        tabs = [_cells(getattr(tab, "child", None), depth + 1) for tab in model.tabs]
        for tab, cells in zip(model.tabs, tabs, strict=True):
            # A tab is titled above the figure, which then often has no title itself.
            named = [(r, c, figure, title or _text(tab.title)) for r, c, figure, title in cells]
            cells[:] = named
        return _stacked(tabs, across=True)
    if not isinstance(children, (list, tuple)) and not isinstance(children, Sequence):
        return []
    if kind_of(model) in ("GridPlot", "GridBox"):
        found: list[Cell] = []
        for child in children:
            if isinstance(child, (list, tuple)) and len(child) >= 3:
                inner = _cells(child[0], depth + 1)
                found += [(int(child[1]) + r, int(child[2]) + c, *rest) for r, c, *rest in inner]
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
        found += [(place[0] + r, place[1] + c, figure, name) for r, c, figure, name in cells]
        offset += max(column if across else row for row, column, *_ in cells) + 1
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
    unread: list[str] = []
    slots = _slots(figure)
    date_x, date_y = _is_date(figure, "x"), _is_date(figure, "y")
    for renderer in figure.renderers:
        if not hasattr(renderer, "glyph"):
            continue
        slot = slots.get(getattr(renderer, "y_range_name", "default"), "y")
        if slot == "y":
            slot = slots.get(f"x {getattr(renderer, 'x_range_name', 'default')}", "y")
        columns = Columns(renderer)
        label, divided_by = _label_of(renderer, legend, columns)
        if not getattr(renderer, "visible", True):
            unread.append("a hidden series" + (f": {label}" if label else ""))
            continue
        names = _factors(figure.x_range), _factors(first)
        glyph = Glyph(renderer.glyph, columns, label, slot, date_x, date_y, *names, divided_by)
        if glyph.kind == "Text":
            notes += _texts(glyph)
            continue
        glyphs.append(glyph)
        made = _known(glyph, read_glyph(glyph))
        series += made
        unread += columns.hidden
        if columns.length and not any(item["columns"] for item in made) and not columns.hidden:
            unread.append(f"glyphs of type {glyph.kind}" + (f": {label}" if label else ""))
    _add_annotations(figure, series, notes, date_x, date_y)
    chart = record.chart("bokeh", _kind(series), series, _text(getattr(figure, "title", None)))
    chart["x"], chart["y"] = _axis(figure, "x"), _axis(figure, "y")
    for name, slot in slots.items():
        if any(item["axis"] == slot for item in series):
            _set_axis(chart, slot, _further_axis(figure, name))
    chart["annotations"] = notes
    chart["unread"] = list(dict.fromkeys(unread))
    chart["z"] = _color_axis(figure)
    _describe_bars(chart, glyphs)
    _name_axes(chart, figure, slots)
    _describe_durations(chart, figure, glyphs)
    return chart


def _slots(figure: Any) -> dict[str, str]:
    """Return the names of additional axes in a chart by the names of their ranges."""
    upright = list(getattr(figure, "extra_y_ranges", None) or {})
    across = list(getattr(figure, "extra_x_ranges", None) or {})
    found = {name: f"y{number}" for number, name in enumerate(upright[:8], 2)}
    return {**found, **{f"x {name}": "x2" for name in across[:1]}}


def _set_axis(chart: record.Record, slot: str, axis: record.Record) -> None:
    if slot == "y2":
        chart["y2"] = axis
    else:
        chart["more_axes"][slot] = axis


def _known(glyph: Glyph, found: list[record.Record]) -> list[record.Record]:
    """Return columns without those that only JavaScript computes."""
    if glyph.columns.hidden:
        for item in found:
            complete = not any(map(len, item["columns"].values()))
            item["columns"] = {name: v for name, v in item["columns"].items() if len(v)}
            item["kind"] = item["kind"] if complete else "other"
    return found


def _color_axis(figure: Any) -> record.Record | None:
    for place in ("right", "left", "above", "below", "center"):
        for part in getattr(figure, place, ()):
            if kind_of(part) == "ColorBar" and _text(part.title):
                return record.axis(_text(part.title))
    return None


def _named_axes(figure: Any, slots: dict[str, str]) -> dict[str, Any]:
    """Return the axes of a figure by their names in a chart."""
    found = {letter: _main_axis(figure, letter) for letter in "xy"}
    found.update({slot: _axis_on(figure, name) for name, slot in slots.items()})
    return {name: axis for name, axis in found.items() if axis is not None}


def _name_axes(chart: record.Record, figure: Any, slots: dict[str, str]) -> None:
    """Replace positions and categories by their tick labels."""
    for name, axis in _named_axes(figure, slots).items():
        described = chart.get(name) or chart["more_axes"].get(name)
        if described is None:
            continue
        chart["unread"] += _unread_labels(axis, name)
        names = _names_of(axis)
        if described["scale"] == "category":
            rename(chart, name, names)
        elif described["scale"] != "datetime":
            name_ticks(chart, name, names.items())


def _describe_durations(chart: record.Record, figure: Any, glyphs: list[Glyph]) -> None:
    """Mark an axis of durations, and convert its milliseconds to seconds."""
    for letter, names in (("x", _ACROSS), ("y", _UPWARDS)):
        given = any(g.columns.has_durations(*map(g.get, names)) for g in glyphs)
        axis = _main_axis(figure, letter)
        is_axis = kind_of(axis) == "TimedeltaAxis"
        is_axis = is_axis or "Timedelta" in kind_of(getattr(axis, "formatter", None))
        if (given or is_axis) and chart[letter]["scale"] == "linear":
            chart[letter]["scale"] = "duration"
            if not given:
                _from_milliseconds(chart, letter)


def _from_milliseconds(chart: record.Record, letter: str) -> None:
    for item in chart["series"]:
        for name, values in item["columns"].items():
            if name[0] == letter:
                item["columns"][name] = [
                    v / 1000 if isinstance(v, (int, float)) else v for v in values
                ]
    limits = chart[letter]["limits"]
    chart[letter]["limits"] = None if limits is None else [end / 1000 for end in limits]


_ACROSS = ("x", "x0", "x1", "x2", "left", "right")
_UPWARDS = ("y", "y0", "y1", "y2", "top", "bottom")


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
    """Return the items of the legends by the renderers they refer to."""
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


def _axis_on(figure: Any, name: str) -> Any:
    """Return the axis of an additional range; the name of a horizontal one begins with ``x``."""
    letter = "x" if name.startswith("x ") else "y"
    wanted = name.removeprefix("x ")
    axes = _axes(figure, letter)
    return next((a for a in axes if getattr(a, f"{letter}_range_name", "") == wanted), None)


def _is_date(figure: Any, letter: str) -> bool:
    return _shows_dates(_main_axis(figure, letter))


def _shows_dates(axis: Any) -> bool:
    formatter = kind_of(getattr(axis, "formatter", None))
    return kind_of(axis) == "DatetimeAxis" or formatter == "DatetimeTickFormatter"


def _axis(figure: Any, letter: str) -> record.Record:
    axis = _main_axis(figure, letter)
    range_ = getattr(figure, f"{letter}_range", None)
    scale = kind_of(getattr(figure, f"{letter}_scale", None))
    return _describe(axis, range_, scale)


def _further_axis(figure: Any, name: str) -> record.Record:
    letter = "x" if name.startswith("x ") else "y"
    wanted = name.removeprefix("x ")
    ranges = getattr(figure, f"extra_{letter}_ranges", {})
    scales = getattr(figure, f"extra_{letter}_scales", {})
    return _describe(_axis_on(figure, name), ranges.get(wanted), kind_of(scales.get(wanted)))


def _describe(axis: Any, range_: Any, scale: str) -> record.Record:
    label = _text(getattr(axis, "axis_label", None))
    names = _factors(range_)
    if names is not None:
        return record.axis(label, "category", None, names, names)
    dated = _shows_dates(axis)
    kind = "datetime" if dated else "log" if scale == "LogScale" else "linear"
    limits = None
    if kind_of(range_) == "Range1d":
        limits = on_axis(record.column([range_.start, range_.end]), dated)
    ticks, texts = _ticks_of(axis)
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
    beside = [
        p for place in ("above", "below", "left", "right") for p in getattr(figure, place, ())
    ]
    for part in [*getattr(figure, "center", ()), *(p for p in beside if kind_of(p) == "Title")]:
        kind = kind_of(part)
        if kind == "Span" and part.location is not None:
            name = "y" if part.dimension == "width" else "x"
            place = on_axis(record.column([part.location]), date_y if name == "y" else date_x)
            color = web_color(part.line_color)
            series.append(record.series("rule", {name: place}, None, color))
        elif kind == "Title" and _text(part):
            notes.append(record.annotation(_text(part)))
        elif kind == "Label":
            notes.append(record.annotation(part.text, part.x, part.y))
        elif kind in ("Whisker", "Band"):
            series.append(_interval(part, kind, date_x))
        elif kind == "LabelSet":
            columns = Columns(_Source(part.source))
            places = (columns.get(getattr(part, name)) or [] for name in ("text", "x", "y"))
            notes += [record.annotation(t, x, y) for t, x, y in zip(*places, strict=False)]


class _Source:
    """Stand-in for a renderer that has only a data source."""

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


def _names_of(axis: Any) -> dict[Any, str]:
    """Return the label texts that replace positions or categories of an axis."""
    known = getattr(axis, "major_label_overrides", None) or {}
    return {place: text for place, label in known.items() if (text := _text_of(label))}


def _ticks_of(axis: Any) -> tuple[list[Any], list[str]]:
    """Return the ticks that are set explicitly, and their labels if these are known."""
    names = _names_of(axis)
    ticker: Any = getattr(axis, "ticker", None)
    ticks = list(ticker.ticks) if kind_of(ticker) == "FixedTicker" else list(names)
    return ticks, [names.get(tick, str(tick)) for tick in ticks] if names else []


def _unread_labels(axis: Any, name: str) -> list[str]:
    """Describe axis labels that JavaScript computes, which is not run here."""
    formatter = kind_of(getattr(axis, "formatter", None))
    if formatter in ("CustomJSTickFormatter", "FuncTickFormatter"):
        return [f"the labels of the {name} axis, which JavaScript writes"]
    return []


def _text_of(label: Any) -> str | None:
    text = getattr(label, "text", label)
    return text if isinstance(text, str) and text else None
