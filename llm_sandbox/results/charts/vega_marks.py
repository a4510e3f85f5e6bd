"""Vega-Lite layers of lines, points, bars, bins, slices and reference lines."""

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from llm_sandbox.results.charts.kinds import SeriesKind
from llm_sandbox.results.charts.series import Row, Series, Value, list_rows
from llm_sandbox.results.charts.vega_frame import HEIGHT, WIDTH, Frame, Spec, is_number

__all__ = [
    "MARKS",
    "area",
    "bar",
    "data",
    "errorbar",
    "histogram",
    "line",
    "pie",
    "placed_rows",
    "rule",
    "scatter",
]


def data(rows: Sequence[Mapping[str, Value]]) -> Spec:
    """Return inline data with the rows of series unchanged."""
    # trust: values and names come from inside; in a specification they are data, titles and names
    # of scales, and never expressions, fields or links.
    return {"values": [{k: _listed(v) for k, v in row.items()} for row in rows]}


def _listed(value: Value) -> object:
    return list(value) if isinstance(value, tuple) else value


def placed_rows(frame: Frame, group: Sequence[Series], **channels: str) -> list[Row]:
    """Return the rows of series with name and number, and axis values as Vega parses them."""
    found: list[Row] = []
    for item in group:
        for index, row in enumerate(list_rows(item)):
            for field, channel in channels.items():
                if field in row:
                    row[field] = frame.place(row[field], channel, item.axis)
            named: Row = {"series": frame.name(item), "index": index}
            found.append(named | row)
    return found


def line(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layer of lines and steps."""
    axis = group[0].axis
    more = {"interpolate": "step-after"} if group[0].kind is SeriesKind.STEP else {}
    encoding: Spec = {"x": frame.position("x", "x", axis), "y": frame.position("y", "y", axis)}
    encoding |= frame.color()
    if not all(_ascends(item.columns["x"]) for item in group):
        # Vega would join the points from left to right.
        encoding["order"] = {"field": "index", "type": "quantitative"}
    rows = placed_rows(frame, group, x="x", y="y")
    return [{"data": data(rows), "mark": frame.mark("line", group, **more), "encoding": encoding}]


def _ascends(values: Sequence[Value]) -> bool:
    if all(map(is_number, values)) or all(isinstance(value, str) for value in values):
        return list(values) == sorted(values, key=_itself)
    return False


def _itself(value: Value) -> Any:
    return value


def area(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layer of areas, from their base to their edge."""
    axis = group[0].axis
    side = "x" if "x_base" in group[0].columns else "y"
    base = f"{side}_base"
    rows = placed_rows(frame, group, x="x", y="y")
    floor = frame.floor(side, axis)
    for row in rows:
        low, size = row.get(base) or 0, row.get(side)
        if frame.chart.stacking == "stacked" and is_number(low) and is_number(size):
            row[side] = _finite(low + size)
        row[base] = low or floor or 0
    encoding: Spec = {
        name: frame.position(name, name, axis, zero=name == side) for name in ("x", "y")
    }
    encoding[side]["stack"] = None
    encoding |= {f"{side}2": {"field": base}} | frame.color()
    mark = frame.mark("area", group, opacity=1 if frame.chart.stacking == "stacked" else 0.6)
    if side == "x":
        mark["orient"] = "horizontal"
    return [{"data": data(rows), "mark": mark, "encoding": encoding}]


def scatter(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layer of points, with size and colour encodings."""
    axis = group[0].axis
    encoding: Spec = {"x": frame.position("x", "x", axis), "y": frame.position("y", "y", axis)}
    if all("size" in item.columns for item in group):
        encoding["size"] = {"field": "size", "type": "quantitative", "legend": None}
    if all("value" in item.columns for item in group):
        known = [v for item in group for v in item.columns["value"] if v is not None]
        kind = "quantitative" if all(map(is_number, known)) else "nominal"
        title = frame.chart.z.name or None if frame.chart.z else None
        encoding["color"] = {"field": "value", "type": kind, "title": title}
        if len(group) > 1:
            encoding["shape"] = {"field": "series", "type": "nominal", "title": None}
    elif frame.chart.kind == "scatter3d":
        title = frame.chart.z.name or None if frame.chart.z else None
        encoding["color"] = {"field": "z", "type": "quantitative", "title": title}
        if len(group) > 1:
            encoding["shape"] = {"field": "series", "type": "nominal", "title": None}
    else:
        encoding |= frame.color()
    rows = placed_rows(frame, group, x="x", y="y")
    mark = frame.mark("point", group, filled=True)
    return [{"data": data(rows), "mark": mark, "encoding": encoding}]


def bar(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layer of bars: grouped, stacked or overlaid."""
    axis, key, value = group[0].axis, frame.key, frame.value
    stacking = frame.chart.stacking
    rows = placed_rows(frame, group, x="x", y="y")
    encoding: Spec = {key: frame.position(key, key, axis)}
    length = frame.position(value, value, axis, zero=True)
    floor = frame.floor(value, axis)
    if floor is not None or any("base" in item.columns for item in group):
        for row in rows:
            _set_ends(row, value, floor, frame.chart.library)
        length |= {"field": "end", "stack": None}
        encoding |= {value: length, f"{value}2": {"field": "start"}}
    else:
        length["stack"] = "zero" if stacking == "stacked" else None
        encoding[value] = length
    mark = frame.mark("bar", group, orient="horizontal" if frame.across else "vertical")
    if frame.type_of(key, axis) != "nominal":
        mark["size"] = _bar_width(group, key)
    elif stacking == "grouped" and len(group) > 1:
        offset = {"field": "series", "type": "nominal", "sort": frame.names}
        encoding[f"{key}Offset"] = offset
    if stacking == "overlaid" and len(group) > 1:
        mark["opacity"] = 0.6
    encoding |= frame.color()
    return [{"data": data(rows), "mark": mark, "encoding": encoding}]


def _set_ends(row: Row, value: str, floor: float | None, library: str) -> None:
    base, size = row.get("base") or 0, row.get(value)
    row["start"] = base or floor or 0
    row["end"] = size
    if isinstance(base, str):
        row["end"] = _later(base, size, library)
    elif is_number(base) and is_number(size):
        row["end"] = _finite(base + size)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _later(base: str, size: Value, library: str) -> str | None:
    """Return the date at which a bar ends; its length is in the unit of its library."""
    try:
        length = datetime.timedelta(**{_UNITS.get(library, "milliseconds"): size})  # type: ignore[arg-type]
        return (datetime.datetime.fromisoformat(base) + length).isoformat()
    except (TypeError, ValueError, OverflowError):
        return None


_UNITS = dict.fromkeys(("matplotlib", "pandas", "seaborn"), "days")


def _bar_width(group: Sequence[Series], key: str) -> float:
    """Return the width in pixels of bars on a continuous scale, which leaves a gap between them."""
    places = {value for item in group for value in item.columns[key] if value is not None}
    room = (HEIGHT if key == "y" else WIDTH) * 0.7
    numbers = sorted(float(value) for value in places if is_number(value))
    gaps = [b - a for a, b in pairwise(numbers)]
    if gaps and min(gaps) > 0:
        return max(1.0, round(room * min(gaps) / (numbers[-1] - numbers[0] + min(gaps)), 1))
    return max(1.0, round(room / max(1, len(places)), 1))


def histogram(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layer of bins: bars from one edge to the other."""
    axis, key, value = group[0].axis, frame.key, frame.value
    rows = placed_rows(frame, group, start=key, end=key)
    kind = frame.type_of(key, axis)
    place = frame.position(key, "start", axis)
    if kind == "quantitative":
        place["bin"] = "binned"
    encoding: Spec = {key: place}
    if kind != "nominal":
        encoding[f"{key}2"] = {"field": "end"}
    length = frame.position(value, "count", axis, zero=True)
    stacked = frame.chart.stacking == "stacked" and len(group) > 1
    length["stack"] = "zero" if stacked else None
    encoding[value] = length
    floor = frame.floor(value, axis)
    if floor is not None:
        encoding[f"{value}2"] = {"datum": floor}
    mark = frame.mark("bar", group, orient="horizontal" if frame.across else "vertical")
    if len(group) > 1 and not stacked:
        mark["opacity"] = 0.6
    encoding |= frame.color()
    return [{"data": data(rows), "mark": mark, "encoding": encoding}]


def pie(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layers of slices; several series are concentric rings."""
    layers = []
    width = HEIGHT / 2 / len(group)
    for number, item in enumerate(group):
        rows = [{"index": index} | row for index, row in enumerate(list_rows(item))]
        mark: Spec = {"type": "arc", "outerRadius": HEIGHT / 2 - number * width}
        mark["innerRadius"] = HEIGHT / 2 - (number + 1) * width
        color = {"field": "label", "type": "nominal", "title": None, "sort": None}
        encoding: Spec = {
            "theta": {"field": "value", "type": "quantitative", "stack": True},
            "order": {"field": "index", "type": "quantitative"},
            "color": color,
        }
        layers.append({"data": data(rows), "mark": mark, "encoding": encoding})
    return layers


def errorbar(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layers of points with their error bars."""
    layers = [_ranges(frame, group, "y", "x"), _ranges(frame, group, "x", "y")]
    points = [item for item in group if item.columns.keys() >= {"x", "y"}]
    return [layer for layer in layers if layer] + (scatter(frame, points) if points else [])


def _ranges(frame: Frame, group: Sequence[Series], side: str, other: str) -> Spec:
    axis, low, high = group[0].axis, f"{side}_low", f"{side}_high"
    ranged = [
        item
        for item in group
        if other in item.columns and (low in item.columns or high in item.columns)
    ]
    if not ranged:
        return {}
    rows = placed_rows(frame, ranged, x="x", y="y", **{low: side, high: side})
    for row in rows:
        row[low], row[high] = row.get(low, row.get(side)), row.get(high, row.get(side))
    encoding: Spec = {
        side: frame.position(side, low, axis),
        f"{side}2": {"field": high},
        other: frame.position(other, other, axis),
    }
    encoding |= frame.color()
    return {"data": data(rows), "mark": frame.mark("rule", group), "encoding": encoding}


def rule(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layer of reference lines."""
    layers = []
    for side in ("x", "y"):
        items = [item for item in group if item.columns.get(side)]
        if items:
            axis = items[0].axis
            rows = placed_rows(frame, items, **{side: side})
            encoding: Spec = {side: frame.position(side, side, axis)}
            encoding |= frame.color()
            mark = frame.mark("rule", items, strokeDash=[4, 4])
            layers.append({"data": data(rows), "mark": mark, "encoding": encoding})
    return layers


MARKS: Mapping[SeriesKind, Callable[[Frame, Sequence[Series]], list[Spec]]] = {
    SeriesKind.LINE: line,
    SeriesKind.STEP: line,
    SeriesKind.LINE3D: line,
    SeriesKind.AREA: area,
    SeriesKind.SCATTER: scatter,
    SeriesKind.SCATTER3D: scatter,
    SeriesKind.BAR: bar,
    SeriesKind.HISTOGRAM: histogram,
    SeriesKind.PIE: pie,
    SeriesKind.ERRORBAR: errorbar,
    SeriesKind.RULE: rule,
}
"""Layer functions by series kind, for consecutive series on one axis."""
