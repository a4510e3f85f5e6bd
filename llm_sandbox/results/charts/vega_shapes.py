"""Vega-Lite layers of boxes, violins, grids, polar charts and candlesticks."""

import math
from collections.abc import Sequence
from itertools import pairwise

from llm_sandbox.results.charts.kinds import AxisScale, SeriesKind
from llm_sandbox.results.charts.series import Row, Series, Value, list_rows
from llm_sandbox.results.charts.vega_frame import HEIGHT, WIDTH, Frame, Spec, is_number
from llm_sandbox.results.charts.vega_marks import data

__all__ = ["OHLC", "box", "can_facet", "candles", "grid", "polar", "violin", "violins"]

OHLC = frozenset({"open", "high", "low", "close"})


def box(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layers of boxes with whiskers, medians and outliers."""
    axis, key, value = group[0].axis, frame.key, frame.value
    rows, outside = [], []
    for item in group:
        for row in list_rows(item):
            row["label"] = str(row["label"])
            row["series"] = frame.name(item)
            far = row.pop("outliers", ())
            found = far if isinstance(far, tuple) else ()
            both = {"label": row["label"], "series": row["series"]}
            outside += [both | {"value": number} for number in found]
            rows.append(row)
    place: Spec = {key: _side_by_side(frame, group)}
    if len(group) > 1:
        place[f"{key}Offset"] = {"field": "series", "type": "nominal", "sort": frame.names}

    def layer(mark: Spec, low: str, high: str | None = None, **more: Spec) -> Spec:
        encoding = place | {value: frame.position(value, low, axis)}
        encoding |= {f"{value}2": {"field": high}} if high else {}
        return {"mark": mark, "encoding": encoding | more}

    size = {"size": 24} if len(group) == 1 else {}
    fill = frame.mark("bar", group, orient="horizontal" if frame.across else "vertical") | size
    # Boxes are often drawn white or black, like their outlines and medians here.
    fill |= {"fillOpacity": 0.6, "stroke": "black"}
    inner: list[Spec] = [
        layer({"type": "rule"}, "min", "max"),
        layer(fill, "q1", "q3", **frame.color()),
        layer({"type": "tick", "color": "black"} | size, "median"),
    ]
    if any("mean" in item.columns for item in group):
        inner.append(layer({"type": "point", "color": "black", "shape": "diamond"}, "mean"))
    layers: list[Spec] = [{"data": data(rows), "layer": inner}]
    if outside:
        point = layer({"type": "point", "color": "black"}, "value")
        layers.append({"data": data(outside)} | point)
    return layers


def _side_by_side(frame: Frame, group: Sequence[Series]) -> Spec:
    """Return the categorical channel of boxes, in their order."""
    found = frame.position(frame.key, "label", group[0].axis)
    found.pop("scale", None)
    if found["type"] != "nominal":
        order = dict.fromkeys(str(label) for item in group for label in item.columns["label"])
        found |= {"type": "nominal", "sort": list(order)[:: -1 if frame.across else 1]}
    return found


def violin(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    """Return the layers of violins among other series: range and median."""
    axis, key, value = group[0].axis, frame.key, frame.value
    rows: list[Row] = []
    for item in group:
        for row in list_rows(item):
            kept: Row = {name: row[name] for name in ("min", "median", "max")}
            rows.append(kept | {"series": frame.name(item), "label": str(row["label"])})
    place: Spec = {key: _side_by_side(frame, group)}
    low, middle = (frame.position(value, name, axis) for name in ("min", "median"))
    ends = {value: low, f"{value}2": {"field": "max"}}
    inner: list[Spec] = [
        {"mark": {"type": "rule"}, "encoding": place | ends | frame.color()},
        {"mark": {"type": "point", "filled": True}, "encoding": place | {value: middle}},
    ]
    return [{"data": data(rows), "layer": inner}]


def can_facet(series: Sequence[Series]) -> bool:
    """Return whether all series are violins with outlines."""
    return bool(series) and all(
        item.kind is SeriesKind.VIOLIN and item.columns.keys() >= {"values", "density"}
        for item in series
    )


def violins(frame: Frame) -> Spec:
    """Return the view of violins alone: each outline in its own facet."""
    rows, labels = [], []
    for item in frame.chart.series:
        for row in list_rows(item):
            label = str(row["label"])
            label = f"{label} {item.name}" if len(frame.chart.series) > 1 and item.name else label
            labels.append(label)
            values, density = row["values"], row["density"]
            if not isinstance(values, tuple) or not isinstance(density, tuple):
                continue
            pairs = zip(values, density, strict=False)
            for number, height in pairs:
                left = -height if is_number(height) else None
                rows.append({"label": label, "value": number, "left": left, "density": height})
    key, value = frame.key, frame.value
    known = frame.axis_of(key, "y")
    strip: Spec = {"field": "label", "type": "nominal", "sort": list(dict.fromkeys(labels))}
    strip["title"] = known.name or None if known else None
    # Stacked around the middle, Vega would fill each outline with the places of the others.
    width: Spec = {"field": "left", "type": "quantitative", "stack": None, "axis": None}
    sides: Spec = {
        value: frame.position(value, "value"),
        key: width,
        f"{key}2": {"field": "density"},
    }
    mark = {"type": "area", "orient": "vertical" if frame.across else "horizontal"}
    size = {"height": 60} if frame.across else {"width": 70, "height": HEIGHT}
    return {
        "data": data(rows),
        "facet": {"row" if frame.across else "column": strip},
        "spec": size | {"mark": mark, "encoding": sides},
    }


def grid(frame: Frame, item: Series) -> list[Spec]:
    """Return the layer of heat map cells; those of a contour in the steps of its levels."""
    rows = list(list_rows(item))
    encoding: Spec = {}
    size: Spec = {"type": "rect"}
    for side in ("x", "y"):
        places = item.columns.get(side)
        number = len({row[side] for row in rows})
        if places and any(isinstance(place, tuple) for place in places):
            encoding[side] = frame.position(side, side)
            size = {"type": "square"}
            continue
        values = list(range(number)) if places is None else list(places)
        edges = _edges(values, log=_is_log(frame, side))
        if edges and frame.types[side] == "quantitative":
            ends = {place: index for index, place in enumerate(values)}
            for row in rows:
                index = ends[row[side]]
                row[f"{side}_start"], row[f"{side}_end"] = edges[index], edges[index + 1]
            encoding[side] = frame.position(side, f"{side}_start")
            encoding[f"{side}2"] = {"field": f"{side}_end"}
        else:
            found = frame.position(side, side)
            found.pop("scale", None)
            if found["type"] != "nominal":
                found |= {"type": "ordinal", "sort": list(dict.fromkeys(map(str, values)))}
            for row in rows:
                row[side] = None if row[side] is None else str(row[side])
            encoding[side] = found | {"axis": {"labelOverlap": True}}
    encoding["color"] = _shade(frame, item)
    return [{"data": data(rows), "mark": size, "encoding": encoding}]


def _is_log(frame: Frame, side: str) -> bool:
    axis = frame.chart.x if side == "x" else frame.chart.y
    return axis is not None and axis.scale is AxisScale.LOG


def _edges(values: Sequence[Value], *, log: bool) -> list[float] | None:
    """Return the edges of cells around monotonic centres; None without centres."""
    centres = [float(value) for value in values if is_number(value)]
    if not centres or len(centres) != len(values):
        return None
    if log:
        if min(centres) <= 0:
            return None
        borders = _edges([math.log(centre) for centre in centres], log=False)
        return [math.exp(border) for border in borders] if borders else None
    if len(centres) == 1:
        return [centres[0] - 0.5, centres[0] + 0.5]
    steps = [b - a for a, b in pairwise(centres)]
    if not (min(steps) > 0 or max(steps) < 0):
        return None
    middles = [a + step / 2 for a, step in zip(centres, steps, strict=False)]
    edges = [centres[0] - steps[0] / 2, *middles, centres[-1] + steps[-1] / 2]
    return edges if all(map(math.isfinite, edges)) else None


def _shade(frame: Frame, item: Series) -> Spec:
    cells = [value for row in item.columns["z"] if isinstance(row, tuple) for value in row]
    if any(isinstance(value, str) for value in cells):
        return {"field": "z", "type": "nominal", "title": None}
    scale: Spec = {"scheme": "viridis"}
    if item.kind is SeriesKind.IMAGE:
        scale = {"scheme": "greys", "reverse": True}
    levels = sorted({v for v in item.columns.get("levels", ()) if is_number(v)})
    if levels:
        scale |= {"type": "threshold", "domain": levels}
    elif frame.chart.z is not None and frame.chart.z.scale is AxisScale.LOG:
        scale["type"] = "log"
    title = frame.chart.z.name or None if frame.chart.z else None
    return {"field": "z", "type": "quantitative", "title": title, "scale": scale}


def polar(frame: Frame) -> list[Spec]:
    """Return the layers of polar series in a square, counter-clockwise from the right."""
    layers = []
    radii = [r for item in frame.chart.series for r in item.columns.get("r", ()) if is_number(r)]
    reach = max(map(abs, radii), default=1) or 1
    for item in frame.chart.series:
        if not {"theta", "r"} <= item.columns.keys():
            continue
        rows = []
        for index, row in enumerate(list_rows(item)):
            theta, r = row["theta"], row["r"]
            row |= {"series": frame.name(item), "index": index}
            if is_number(theta) and is_number(r):
                angle = math.radians(math.fmod(theta, 360))
                row |= {"x": r * math.cos(angle), "y": r * math.sin(angle)}
            rows.append(row)
        if item.kind is SeriesKind.BAR:
            layers.append(_wedges(frame, item, rows, reach))
            continue
        mark = frame.mark("point" if item.kind is SeriesKind.SCATTER else "line", [item])
        if item.kind is SeriesKind.AREA:
            mark["fill"] = mark.get("color", "#4c78a8")
            mark["fillOpacity"] = 0.3
        encoding: Spec = {side: _bare(side, reach) for side in ("x", "y")} | frame.color()
        encoding["order"] = {"field": "index", "type": "quantitative"}
        layers.append({"data": data(rows), "mark": mark, "encoding": encoding})
    return layers


def _bare(field: str, reach: float) -> Spec:
    scale = {"domain": [-reach, reach], "nice": False}
    return {"field": field, "type": "quantitative", "axis": None, "scale": scale}


def _wedges(frame: Frame, item: Series, rows: Sequence[Row], reach: float) -> Spec:
    half = math.pi / max(1, len(rows)) * 0.9
    for row in rows:
        theta = row["theta"]
        # Vega's angles go with the clock from the top.
        middle = math.pi / 2 - math.radians(theta) if is_number(theta) else 0.0
        row |= {"from": middle - half, "to": middle + half}
    scale = {"domain": [0, reach], "range": [0, HEIGHT / 2], "nice": False}
    encoding: Spec = {
        "theta": {"field": "from", "type": "quantitative", "scale": None},
        "theta2": {"field": "to"},
        "radius": {"field": "r", "type": "quantitative", "scale": scale},
    }
    mark = frame.mark("arc", [item], stroke="white")
    return {"data": data(rows), "mark": mark, "encoding": encoding | frame.color()}


def candles(frame: Frame, item: Series) -> list[Spec]:
    """Return the layers of candlesticks: range, opening and closing price of a day."""
    rows = list(list_rows(item))
    length = max(1, len(rows))
    for index, row in enumerate(rows):
        row["x"] = str(row.get("x", index))
        opened, closed = row.get("open"), row.get("close")
        rising = is_number(opened) and is_number(closed) and closed >= opened
        row["rising"] = bool(rising)
    x = {"field": "x", "type": "ordinal", "title": None, "sort": None}
    color: Spec = {"field": "rising", "type": "nominal", "legend": None}
    color["scale"] = {"domain": [True, False], "range": ["#2ca02c", "#d62728"]}
    title = frame.chart.y.name or None if frame.chart.y else None
    body = max(1.0, round(WIDTH * 0.7 / length, 1))
    layers: list[Spec] = []
    for low, high, mark in (
        ("low", "high", {"type": "rule"}),
        ("open", "close", {"type": "bar", "size": body}),
    ):
        y = {"field": low, "type": "quantitative", "title": title, "scale": {"zero": False}}
        encoding: Spec = {"x": x, "y": y, "y2": {"field": high}, "color": color}
        layers.append({"mark": mark, "encoding": encoding})
    return [{"data": data(rows), "layer": layers}]
