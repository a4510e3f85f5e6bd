"""Panels of a plotly figure: the grouping of traces, and the chart of each group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import record
from ..colors import PLOTLY
from ..names import name_ticks, rename
from .axes import Axis, Layout, area_of, ticks_of
from .bars import Bar, read_bar, series_of, stack_bars, stacking_of
from .boxes import read_box, read_violin
from .histograms import bin_traces, count_categories, count_values
from .others import read_grid, read_hierarchy, read_other, read_pie, read_polar, read_solid
from .points import read_points, read_texts, stack_areas
from .trace import Record, Trace
from .values import clean_text, to_number

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Panel", "build_chart", "panels_of"]

_FLAT = frozenset(
    {
        "scatter",
        "bar",
        "histogram",
        "box",
        "violin",
        "heatmap",
        "contour",
        "image",
        "histogram2d",
        "histogram2dcontour",
        "candlestick",
        "ohlc",
        "waterfall",
        "funnel",
    }
)
_SCENES = frozenset(
    {"scatter3d", "surface", "mesh3d", "cone", "streamtube", "volume", "isosurface"}
)
_POLAR = frozenset(["scatterpolar", "barpolar"])
_GRIDS = frozenset(["heatmap", "contour", "image", "histogram2d", "histogram2dcontour"])
_READERS: dict[str, Callable[[Trace], Record | None]] = {
    "box": read_box,
    "violin": read_violin,
    **dict.fromkeys(_GRIDS, read_grid),
    **dict.fromkeys(_SCENES, read_solid),
    **dict.fromkeys(_POLAR, read_polar),
    **dict.fromkeys(("treemap", "sunburst", "icicle"), read_hierarchy),
}
_ROUND = 6
_MOST_AXES = 9


@dataclass
class Panel:
    """Traces that are drawn in the same subplot."""

    key: tuple[str, ...]
    area: tuple[tuple[float, float], tuple[float, float]]
    traces: list[Trace] = field(default_factory=list)
    row: int = 0
    column: int = 0

    @property
    def title(self) -> str | None:
        """Title of the traces themselves, as pies and gauges have."""
        titles = (clean_text(trace.get("title")) for trace in self.traces)
        return next((title for title in titles if title), None)


def panels_of(content: dict[str, Any], layout: Layout) -> list[Panel]:
    """Group the visible traces of a figure into panels, in reading order.

    Args:
        content: The figure as JSON values.
        layout: Layout of the figure.
    """
    colors = layout.get("colorway")
    colors = colors if isinstance(colors, list) and colors else PLOTLY
    panels: dict[tuple[str, ...], Panel] = {}
    for number, about in enumerate(content.get("data") or ()):
        if not isinstance(about, dict) or about.get("visible") in (False, "legendonly"):
            continue
        trace = Trace(about, str(colors[number % len(colors)]))
        panel = _panel_of(trace, layout)
        panels.setdefault(panel.key, panel).traces.append(trace)
    found = list(panels.values())
    for panel in found:
        _name_overlays(panel)
        for trace in panel.traces:
            _infer_axis_types(trace)
    lefts = sorted({round(panel.area[0][0], _ROUND) for panel in found})
    tops = sorted({round(panel.area[1][1], _ROUND) for panel in found}, reverse=True)
    for panel in found:
        panel.column = lefts.index(round(panel.area[0][0], _ROUND))
        panel.row = tops.index(round(panel.area[1][1], _ROUND))
    return sorted(found, key=lambda panel: (panel.row, panel.column))


def _name_overlays(panel: Panel) -> None:
    """Name the axes that overlay those of a panel, in plotly's order."""
    if panel.key[0] != "flat":
        return
    for letter, base in zip("xy", panel.key[1:], strict=True):
        names = {t.x_axis.name if letter == "x" else t.y_axis.name for t in panel.traces}
        over = sorted(names - {base}, key=lambda name: int(name[1:] or 1))
        slots = {name: f"{letter}{number}" for number, name in enumerate(over, 2)}
        for trace in panel.traces:
            slot = slots.get(trace.x_axis.name if letter == "x" else trace.y_axis.name)
            if slot is not None and _is_known(slot):
                trace.slot = slot


def _is_known(slot: str) -> bool:
    """Return whether a chart can hold an axis: one ``x2``, and ``y2`` onwards."""
    return slot == "x2" or (slot[0] == "y" and int(slot[1:]) <= _MOST_AXES)


def _panel_of(trace: Trace, layout: Layout) -> Panel:
    kind = trace.kind
    if kind in _FLAT:
        x = layout.axis(trace.get("xaxis"), "x")
        y = layout.axis(trace.get("yaxis"), "y")
        trace.x_axis, trace.y_axis = x, y
        base_x, base_y = layout.base_of(x), layout.base_of(y)
        return Panel(("flat", base_x.name, base_y.name), (base_x.domain, base_y.domain))
    if kind in _SCENES:
        name = str(trace.get("scene") or "scene")
    elif kind in _POLAR:
        name = str(trace.get("subplot") or "polar")
    else:
        name = str(trace.get("geo") or trace.get("subplot") or "")
        if not name:
            area = area_of(trace.get("domain"))
            return Panel(("domain", str(area)), area)
    return Panel(("named", name), layout.area(name))


def _infer_axis_types(trace: Trace) -> None:
    """Infer the types of a trace's axes from its values."""
    if trace.kind not in _FLAT:
        return
    for letter, axis in (("x", trace.x_axis), ("y", trace.y_axis)):
        values = trace.raw(letter)
        if trace.kind in ("box", "violin") and values is None:
            along = "y" if trace.horizontal else "x"
            if letter == along and (trace.label or trace.get(f"{letter}0")):
                axis.infer([trace.get(f"{letter}0") or trace.label])
            continue
        if trace.kind == "histogram" and letter != ("y" if trace.horizontal else "x"):
            continue
        if trace.kind == "bar" and trace.get("base") is not None:
            across = "x" if trace.horizontal else "y"
            if letter == across:
                axis.infer(trace.items("base"))
                continue
        axis.infer(values, trace.nested(letter))
        axis.add_weights(values, trace.raw("y" if letter == "x" else "x"))


def build_chart(panel: Panel, layout: Layout) -> Record | None:
    """Read the traces of one panel.

    Args:
        panel: The panel.
        layout: The layout of the figure.

    Returns:
        The chart, without title and annotations; ``None`` if nothing in the panel can be read.
    """
    traces = panel.traces
    bars, orders = _read_bars(traces, layout)
    stacks = stack_areas(traces)
    found: list[Record] = []
    unread: list[str] = []
    previous: Trace | None = None
    for number, trace in enumerate(traces):
        if number in bars:
            found.extend(series_of(bars[number]))
        elif trace.kind == "scatter":
            found.extend(read_points(trace, previous, stacks.get(number)))
            previous = trace
        elif trace.kind != "histogram":
            series = _read_one(trace)
            if series is not None:
                found.append(series)
            elif trace.has_data:
                unread.append(
                    f"a trace of type {trace.kind}" + f": {trace.label}" * bool(trace.label)
                )
    chart = record.chart("plotly", _kind_of(found, traces), found)
    chart["unread"] += unread
    chart["annotations"] = [text for trace in traces for text in read_texts(trace)]
    _describe_axes(chart, panel, layout)
    sided = [t for t in traces if t.kind in ("bar", "histogram", "box", "violin")]
    if sided:
        chart["orientation"] = "horizontal" if sided[0].horizontal else "vertical"
    if len(bars) > 1:
        chart["stacking"] = stacking_of(list(bars.values()), orders)
    elif len(stacks) > 1:
        chart["stacking"] = "stacked"
    _name_axes(chart, panel, layout)
    return chart


def _name_axes(chart: Record, panel: Panel, layout: Layout) -> None:
    """Replace positions and categories by their tick labels."""
    if panel.key[0] == "flat":
        axes = {"x": layout.axis(panel.key[1], "x"), "y": layout.axis(panel.key[2], "y")}
        for trace in panel.traces:
            if trace.slot != "y":
                axes[trace.slot] = trace.x_axis if trace.slot == "x2" else trace.y_axis
    else:
        scene: Any = layout.about.get(panel.key[1])
        known = scene if isinstance(scene, dict) else {}
        if panel.traces[0].kind in _POLAR:
            _name_angles(chart, known)
        known = known if panel.traces[0].kind in _SCENES else {}
        about = {letter: known.get(f"{letter}axis") for letter in "xyz"}
        axes = {name: Axis(name, own) for name, own in about.items() if isinstance(own, dict)}
    for name, axis in axes.items():
        written = layout.names_on(axis) if panel.key[0] == "flat" else _own_names(axis)
        if axis.is_category:
            order = [str(value) for value in axis.categories()]
            aliases = axis.about.get("labelalias")
            names = dict(aliases) if isinstance(aliases, dict) else {}
            for place, text in written:
                is_place = isinstance(place, int) and not isinstance(place, bool)
                is_place = is_place and str(place) not in order and 0 <= place < len(order)
                if text:
                    names[order[place] if is_place else str(place)] = text
            if names:
                rename(chart, name, {key: clean_text(text) or "" for key, text in names.items()})
        elif not axis.is_date:
            name_ticks(chart, name, [(to_number(place), text) for place, text in written])


def _name_angles(chart: Record, polar: dict[str, Any]) -> None:
    """Replace the angles of a polar chart by their tick labels."""
    for key, column in (("angularaxis", "theta"), ("radialaxis", "r")):
        about = polar.get(key)
        ticks, texts = ticks_of(about) if isinstance(about, dict) else ([], [])
        names = dict(zip(ticks, texts, strict=False))
        for item in chart["series"]:
            values = item["columns"].get(column) or []
            if values and all(names.get(value) for value in values):
                item["columns"][column] = [names[value] for value in values]


def _own_names(axis: Axis) -> list[tuple[Any, str | None]]:
    return list(zip(*ticks_of(axis.about), strict=False))


def _read_one(trace: Trace) -> Record | None:
    if trace.kind == "pie":
        return read_pie(trace)
    if trace.kind == "sunburst" and not any(trace.items("parents") or []):
        return read_pie(trace)
    return _READERS.get(trace.kind, read_other)(trace)


def _read_bars(traces: list[Trace], layout: Layout) -> tuple[dict[int, Bar], str]:
    """Read bars and histograms, with separate bins and stacks for each pair of axes."""
    found: dict[int, Bar] = {}
    groups: dict[tuple[str, str, bool], list[int]] = {}
    mode = str(layout.get("barmode") or "group")
    for number, trace in enumerate(traces):
        if trace.kind in ("bar", "histogram"):
            key = (trace.x_axis.name, trace.y_axis.name, trace.horizontal)
            groups.setdefault(key, []).append(number)
    for members in groups.values():
        found.update(_read_group(traces, members, mode, layout.get("barnorm")))
    return dict(sorted(found.items())), mode


def _read_group(traces: list[Trace], members: list[int], mode: str, norm: Any) -> dict[int, Bar]:
    found: dict[int, Bar] = {}
    binned = [number for number in members if traces[number].kind == "histogram"]
    shared: dict[Any, list[int]] = {}
    for number in binned:
        name = traces[number].get("bingroup")
        alone = mode == "overlay" and not name
        shared.setdefault(number if alone else str(name or ""), []).append(number)
    if mode != "overlay" and binned:
        shared = {"": binned}
    for group in shared.values():
        found.update(_read_histograms(traces, group))
    for number in members:
        if traces[number].kind == "bar":
            found[number] = read_bar(traces[number])
    stack_bars([found[number] for number in members if number in found], mode, norm)
    return found


def _read_histograms(traces: list[Trace], members: list[int]) -> dict[int, Bar]:
    first = traces[members[0]]
    letter = "y" if first.horizontal else "x"
    axis: Axis = first.x_axis if letter == "x" else first.y_axis
    if axis.is_category:
        return {
            number: Bar(traces[number], *count_categories(traces[number])) for number in members
        }
    bins = bin_traces([(traces[number], letter) for number in members])
    found: dict[int, Bar] = {}
    if bins is None:
        return found
    for number in members:
        counts = count_values(traces[number], bins)
        starts, _ = counts.ends()
        found[number] = Bar(traces[number], starts, counts.sizes, None, counts)
    return found


def _kind_of(found: list[Record], traces: list[Trace]) -> str:
    if any(trace.kind in _POLAR for trace in traces):
        return "polar"
    kinds = [series["kind"] for series in found]
    if not kinds:
        return "other"
    if kinds[0] == "area" and "line" in kinds:
        bands = [s for s in found if s["kind"] == "area"]
        if all("y_base" in s["columns"] or "x_base" in s["columns"] for s in bands):
            return "line"
    return str(kinds[0])


def _describe_axes(chart: Record, panel: Panel, layout: Layout) -> None:
    trace = panel.traces[0]
    if panel.key[0] == "flat":
        chart["x"] = layout.axis(panel.key[1], "x").describe()
        chart["y"] = layout.axis(panel.key[2], "y").describe()
        for trace in panel.traces:
            if trace.slot == "y2":
                chart["y2"] = trace.y_axis.describe()
            elif trace.slot != "y":
                over = trace.x_axis if trace.slot == "x2" else trace.y_axis
                chart["more_axes"][trace.slot] = over.describe()
        chart["unread"] += _unread_axes(panel)
    elif trace.kind in _SCENES:
        scene = layout.about.get(panel.key[1])
        scene = scene if isinstance(scene, dict) else {}
        for letter in "xyz":
            about = scene.get(f"{letter}axis")
            axis = Axis(letter, about if isinstance(about, dict) else {})
            for other in panel.traces:
                axis.infer(other.items(letter) if other.kind != "surface" else None)
            chart[letter] = axis.describe()
        return
    color = _color_axis(panel.traces, layout)
    if color is not None:
        chart["z"] = color


def _unread_axes(panel: Panel) -> list[str]:
    """Name the axes overlaying those of a panel that the chart cannot hold."""
    found: dict[str, None] = {}
    for trace in panel.traces:
        for axis, base in ((trace.x_axis, panel.key[1]), (trace.y_axis, panel.key[2])):
            stands_for = trace.slot[0] == axis.name[0] and trace.slot != "y"
            if axis.name != base and not stands_for:
                title = clean_text(axis.about.get("title"))
                found[f"a further axis {axis.name}" + (f" ({title})" if title else "")] = None
    return list(found)


def _color_axis(traces: list[Trace], layout: Layout) -> Record | None:
    """Describe the colour scale, if there is one with a title."""
    for trace in traces:
        name = trace.get("coloraxis") or trace.get("marker", "coloraxis")
        about: Any = layout.about.get(str(name)) if name else trace.about
        if not name and trace.kind == "scatter":
            about = trace.get("marker")
        bar = about.get("colorbar") if isinstance(about, dict) else None
        bar = bar if isinstance(bar, dict) else {}
        label = clean_text(bar.get("title"))
        ticks, texts = ticks_of(bar)
        if label is not None or texts or trace.kind in _GRIDS:
            return record.axis(label, ticks=ticks, tick_labels=texts)
    return None
