"""Charts in the shape of E2B's SDK."""

from llm_sandbox.results.charts.chart import Chart
from llm_sandbox.results.charts.kinds import AxisScale, ChartKind, SeriesKind
from llm_sandbox.results.charts.series import Axis, Series, Value

__all__ = ["to_e2b"]

_TYPES = {
    ChartKind.LINE: "line",
    ChartKind.STEP: "line",
    ChartKind.AREA: "line",
    ChartKind.ERRORBAR: "line",
    ChartKind.SCATTER: "scatter",
    ChartKind.BAR: "bar",
    ChartKind.HISTOGRAM: "bar",
    ChartKind.PIE: "pie",
    ChartKind.BOX: "box_and_whisker",
    ChartKind.MULTI: "superchart",
}
_SCALES = {
    AxisScale.CATEGORY: "categorical",
    AxisScale.DURATION: "linear",
    AxisScale.OTHER: "unknown",
}
_POINTS = frozenset(
    {SeriesKind.LINE, SeriesKind.STEP, SeriesKind.AREA, SeriesKind.ERRORBAR, SeriesKind.SCATTER}
)
_BOX = {
    "min": "min",
    "first_quartile": "q1",
    "median": "median",
    "third_quartile": "q3",
    "max": "max",
}


def to_e2b(chart: Chart) -> dict[str, object]:
    """Return a chart in E2B's shape; see `Chart.to_e2b`."""
    kind = _TYPES.get(chart.kind, "unknown")
    if kind in ("line", "scatter") and chart.series and not _points(chart, kind):
        kind = "unknown"
    result: dict[str, object] = {"type": kind, "title": chart.title}
    if chart.unread:
        result["unread"] = list(chart.unread)
    if kind == "superchart":
        return result | {"elements": [to_e2b(panel) for panel in chart.charts]}
    if kind == "pie":
        return result | {"elements": _slices(chart)}
    if kind == "unknown":
        return result | {"elements": []}
    # Categories of horizontal bars and boxes are on x in that vocabulary.
    swapped = kind not in ("line", "scatter") and chart.orientation == "horizontal"
    x, y = (chart.y, chart.x) if swapped else (chart.x, chart.y)
    result |= _labels("x", x) | _labels("y", y)
    if kind == "bar":
        return result | {"elements": _bars(chart)}
    if kind == "box_and_whisker":
        return result | {"elements": _boxes(chart)}
    return result | _ticks("x", x) | _ticks("y", y) | {"elements": _points(chart, kind)}


def _labels(name: str, axis: Axis | None) -> dict[str, object]:
    label, unit = (axis.label, axis.unit) if axis else (None, None)
    return {f"{name}_label": label, f"{name}_unit": unit}


def _ticks(name: str, axis: Axis | None) -> dict[str, object]:
    axis = axis or Axis()
    return {
        f"{name}_ticks": list(axis.ticks),
        f"{name}_tick_labels": list(axis.tick_labels) or [str(tick) for tick in axis.ticks],
        f"{name}_scale": _SCALES.get(axis.scale, axis.scale.value),
    }


def _name(series: Series, kind: str, index: int) -> str:
    return series.label or f"{kind} {index}"


def _points(chart: Chart, kind: str) -> list[object]:
    items = [item for item in chart.series if item.kind in _POINTS]
    return [
        {
            "label": _name(item, kind.capitalize(), index),
            "points": [[x, y] for x, y in zip(item.columns["x"], item.columns["y"], strict=True)],
        }
        for index, item in enumerate(items)
        if item.columns.keys() >= {"x", "y"}
    ]


def _bars(chart: Chart) -> list[object]:
    found: list[object] = []
    items = [item for item in chart.series if item.kind in (SeriesKind.BAR, SeriesKind.HISTOGRAM)]
    for index, item in enumerate(items):
        labels: list[str]
        values: list[Value]
        if item.kind is SeriesKind.HISTOGRAM:
            ends = zip(item.columns["start"], item.columns["end"], strict=True)
            labels = [_text(a) if a == b else f"{_text(a)} - {_text(b)}" for a, b in ends]
            values = list(item.columns["count"])
        elif "x" in item.columns:
            names = ("y", "x") if chart.orientation == "horizontal" else ("x", "y")
            labels = [_text(value) for value in item.columns[names[0]]]
            values = list(item.columns[names[1]])
        else:
            continue
        group = _name(item, "Group", index)
        pairs = zip(labels, values, strict=True)
        found += [{"label": label, "group": group, "value": value} for label, value in pairs]
    return found


def _slices(chart: Chart) -> list[object]:
    found: list[object] = []
    for item in chart.series:
        if item.kind is not SeriesKind.PIE:
            continue
        sizes = [_number(value) for value in item.columns["value"]]
        whole = sum(sizes)
        for label, size in zip(item.columns["label"], sizes, strict=True):
            angle = size / whole * 360 if whole else 0.0
            found.append({"label": _text(label), "angle": angle, "radius": 1.0})
    return found


def _boxes(chart: Chart) -> list[object]:
    found: list[object] = []
    items = [item for item in chart.series if item.kind is SeriesKind.BOX]
    for item in items:
        columns = item.columns
        for row, label in enumerate(columns["label"]):
            name = _text(label)
            if item.label and item.label != name and len(items) > 1:
                name = f"{name} {item.label}".strip()
            box: dict[str, object] = {"label": name}
            box |= {ours: columns[theirs][row] for ours, theirs in _BOX.items()}
            outliers = columns["outliers"][row] if "outliers" in columns else ()
            box["outliers"] = list(outliers) if isinstance(outliers, tuple) else []
            found.append(box)
    return found


def _text(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)


def _number(value: Value) -> float:
    return abs(float(value)) if isinstance(value, (int, float)) else 0.0
