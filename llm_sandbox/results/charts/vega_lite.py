"""Charts as Vega-Lite specifications."""

from collections.abc import Sequence
from itertools import groupby

from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.results.charts.chart import Chart
from llm_sandbox.results.charts.kinds import ChartKind, SeriesKind
from llm_sandbox.results.charts.series import Series
from llm_sandbox.results.charts.vega_frame import HEIGHT, WIDTH, Frame, Spec, is_number
from llm_sandbox.results.charts.vega_marks import MARKS, data
from llm_sandbox.results.charts.vega_shapes import (
    OHLC,
    box,
    can_facet,
    candles,
    grid,
    polar,
    violin,
    violins,
)

__all__ = ["SCHEMA_URL", "to_vega_lite"]

SCHEMA_URL = "https://vega.github.io/schema/vega-lite/v6.json"

_INK = "black"


def to_vega_lite(chart: Chart) -> dict[str, object]:
    """Return a chart as a Vega-Lite specification; see `Chart.to_vega_lite`."""
    spec: Spec = {"$schema": SCHEMA_URL, "description": chart.describe()}
    if chart.all_unread:
        # trust: texts from inside; Vega hands this on and reads nothing of it.
        spec["usermeta"] = {"unread": list(chart.all_unread)}
    if chart.kind is not ChartKind.MULTI:
        view = _view(chart)
        if view is None:
            raise UnsupportedError(
                f"a chart of kind {_kinds(chart)} in Vega-Lite",
                reason="it has no similar form; to_csv() and to_markdown() return its data",
            )
        return spec | view
    panels = sorted(chart.charts, key=lambda item: (item.row or 0, item.column or 0))
    columns = max((panel.column or 0 for panel in panels), default=0) + 1
    views = [_view(panel) or _note(panel, "not available") for panel in panels]
    if chart.name:
        spec["title"] = chart.name
    # Each panel has its own series, whose colours mean nothing to the others.
    resolve = {"scale": {"color": "independent"}}
    return spec | {"concat": views, "columns": columns, "resolve": resolve}


def _kinds(chart: Chart) -> str:
    kinds = dict.fromkeys(item.kind.value for item in chart.series)
    return repr(chart.kind.value if len(kinds) != 1 else next(iter(kinds)))


def _note(chart: Chart, text: str) -> Spec:
    """Return a view that only states which data is missing."""
    message = f"{chart.kind.value}: {text}"
    return _titled(chart) | {
        "data": {"values": [{}]},
        "mark": {"type": "text", "text": message},
        "width": WIDTH,
        "height": HEIGHT,
    }


def _titled(chart: Chart) -> Spec:
    return {"title": chart.name} if chart.name else {}


def _view(chart: Chart) -> Spec | None:
    """Return the view of one chart; None when none of its series can be drawn."""
    frame = Frame(chart)
    if can_facet(chart.series):
        return _titled(chart) | violins(frame)
    if chart.kind is ChartKind.POLAR:
        return _compose(chart, {"y": polar(frame)}) | {"width": HEIGHT}
    layers: dict[str, list[Spec]] = {"y": []}
    for (_, axis, _), items in groupby(chart.series, _group):
        layers.setdefault(axis, []).extend(_draw(frame, list(items)))
    if chart.series and not any(layers.values()):
        return None
    layers["y"] += _annotations(frame) if layers["y"] else []
    return _compose(chart, layers)


def _group(item: Series) -> tuple[SeriesKind, str, bool]:
    return item.kind, item.axis, "x_base" in item.columns


def _draw(frame: Frame, group: Sequence[Series]) -> list[Spec]:
    kind = group[0].kind
    if kind in MARKS:
        group = [item for item in group if "theta" not in item.columns]
        return MARKS[kind](frame, group) if group else []
    if kind is SeriesKind.BOX:
        return box(frame, group)
    if kind is SeriesKind.VIOLIN:
        return violin(frame, group)
    layers: list[Spec] = []
    for item in group:
        if kind.is_grid and "z" in item.columns:
            layers += grid(frame, item)
        elif item.columns.keys() >= OHLC:
            layers += candles(frame, item)
        elif kind is SeriesKind.OTHER and item.columns.keys() >= {"x", "y"}:
            layers += MARKS[SeriesKind.SCATTER](frame, [item])
    return layers


def _annotations(frame: Frame) -> list[Spec]:
    rows = []
    for item in frame.chart.annotations:
        places = {"x": item.x, "y": item.y}
        fits = all(
            is_number(value) if frame.types[side] == "quantitative" else isinstance(value, str)
            for side, value in places.items()
        )
        if fits and item.text.strip():
            placed = {side: frame.place(value, side) for side, value in places.items()}
            rows.append(placed | {"text": item.text})
    if not rows or frame.chart.kind is ChartKind.PIE:
        return []
    encoding: Spec = {"x": frame.position("x", "x"), "y": frame.position("y", "y")}
    encoding["text"] = {"field": "text", "type": "nominal"}
    mark = {"type": "text", "dy": -8, "color": _INK}
    return [{"data": data(rows), "mark": mark, "encoding": encoding}]


def _compose(chart: Chart, layers: dict[str, list[Spec]]) -> Spec:
    view = _titled(chart) | {"width": WIDTH, "height": HEIGHT}
    drawn = {name: group for name, group in layers.items() if group}
    if not drawn:
        return view | {"data": {"values": []}, "mark": "point"}
    found = [layer for group in drawn.values() for layer in group]
    independent = {"color": "independent"} if _colors_differ(found) else {}
    if len(drawn) > 1:
        sides = {name[0]: "independent" for name in drawn if name != "y"}
        groups = [{"layer": group} for group in drawn.values()]
        return view | {"layer": groups, "resolve": {"scale": sides | independent}}
    if len(found) == 1:
        return view | found[0]
    view["layer"] = found
    return view | ({"resolve": {"scale": independent}} if independent else {})


def _colors_differ(layers: Sequence[Spec]) -> bool:
    """Return whether colours have different meanings in different layers."""
    fields = {
        (inner["encoding"]["color"].get("field"), inner["encoding"]["color"].get("type"))
        for layer in layers
        for inner in layer.get("layer", [layer])
        if "color" in inner["encoding"]
    }
    return len(fields) > 1
