"""Chart records of every kind, as they come from inside."""

from __future__ import annotations

from typing import Any

__all__ = ["SAMPLES", "axis", "chart", "series"]

Record = dict[str, Any]


def axis(label: str | None = None, scale: str = "linear", **more: Any) -> Record:
    return {"label": label, "scale": scale, "limits": None, "ticks": [], "tick_labels": []} | more


def series(kind: str, label: str | None = None, **more: Any) -> Record:
    apart = ("color", "axis", "sampling", "total")
    columns = more.pop("columns", {}) | {n: more.pop(n) for n in list(more) if n not in apart}
    cells = [value for row in columns.get("z", []) if isinstance(row, list) for value in row]
    total = len(cells) or max(map(len, columns.values()), default=0)
    found = {"kind": kind, "label": label, "color": None, "axis": "y", "columns": columns}
    return found | {"total": total, "sampling": None} | more


def chart(kind: str, *items: Record, **more: Any) -> Record:
    found: Record = {"version": 1, "library": "matplotlib", "kind": kind, "title": f"A {kind}"}
    found |= {"x": axis("Across"), "y": axis("Up (m/s)"), "y2": None, "z": None}
    found |= {"orientation": None, "stacking": None, "series": list(items), "annotations": []}
    return found | {"charts": [], "row": None, "column": None} | more


MONTHS = ["Jan", "Feb", "Mar"]
NAMED = axis("Month", "category", ticks=MONTHS, tick_labels=MONTHS)
DAYS = ["2024-01-31", "2024-02-29", "2024-03-31"]
GRID: Record = {"x": [1.0, 2.0, 3.0], "y": [10.0, 20.0], "z": [[1, 2, 3], [4, 5, None]]}
BOX: Record = {"label": ["a", "b"], "min": [1.0, 2.0], "q1": [2.0, 3.0], "median": [3.0, 4.0]}
BOX |= {"q3": [4.0, 5.0], "max": [5.0, 6.0], "outliers": [[9.0, 10.5], []]}
VIOLIN: Record = {"label": ["a", "b"], "min": [1.0, 2.0], "median": [2.0, 3.0], "max": [3.0, 4.0]}
VIOLIN |= {"values": [[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]], "density": [[0.1, 0.5, 0.1]] * 2}

SAMPLES: dict[str, Record] = {
    "line": chart(
        "line",
        series("line", "one", x=[1, 2, 3], y=[1.5, None, 2.5], color="#1f77b4"),
        series("line", "two", x=[1, 2, 3], y=[3, 1, 2], color="#ff7f0e"),
        series("rule", "limit", y=[2.0], color="#ff0000"),
        annotations=[{"text": "peak", "x": 1, "y": 3}, {"text": "no place", "x": None, "y": None}],
    ),
    "spiral": chart("line", series("line", x=[0, 1, 0, -1], y=[0, 1, 2, 1])),
    "dates": chart(
        "line",
        series("line", "price", x=DAYS, y=[10.0, 11.0, 9.0]),
        x=axis("Day", "datetime", limits=["2024-01-29T00:00:00", "2024-04-02T00:00:00"]),
    ),
    "log": chart(
        "line",
        series("line", x=[1, 10, 100], y=[1, 100, 10000]),
        x=axis(None, "log", limits=[1, 100]),
        y=axis("n", "symlog", limits=[1, 10000]),
    ),
    "step": chart("step", series("step", x=[1, 2, 3], y=[1, 3, 2])),
    "area": chart(
        "area",
        series("area", "low", x=[1, 2, 3], y=[1, 2, 1]),
        series("area", "high", x=[1, 2, 3], y=[2, 1, 2], y_base=[1, 2, 1]),
        stacking="stacked",
    ),
    "band": chart(
        "line",
        series("line", "mean", x=[1, 2, 3], y=[2, 3, 2]),
        series("area", "mean", x=[1, 2, 3], y=[3, 4, 3], y_base=[1, 2, 1]),
    ),
    "scatter": chart(
        "scatter",
        series("scatter", "s", x=[1, 2], y=[3, 4], size=[10, 20], value=[0.1, 0.9]),
        z=axis("Heat"),
    ),
    "bar": chart("bar", series("bar", x=MONTHS, y=[3, 1, 2]), x=NAMED, orientation="vertical"),
    "bar-horizontal": chart(
        "bar",
        series("bar", "2023", x=[3, 1, 2], y=MONTHS),
        series("bar", "2024", x=[4, 2, 1], y=MONTHS),
        x=axis("Sales (EUR)"),
        y=NAMED,
        orientation="horizontal",
        stacking="grouped",
    ),
    "bar-stacked": chart(
        "bar",
        series("bar", "2023", x=MONTHS, y=[3, 1, 2]),
        series("bar", "2024", x=MONTHS, y=[4, 2, 1], base=[3, 1, 2]),
        x=NAMED,
        orientation="vertical",
        stacking="stacked",
    ),
    "bar-positions": chart(
        "bar",
        series("bar", x=[0, 1, 2], y=[3, 100, 2000]),
        y=axis("n", "log", limits=[1, 3000]),
        orientation="vertical",
    ),
    "histogram": chart(
        "histogram",
        series("histogram", "a", start=[0.0, 1.0], end=[1.0, 2.0], count=[5, 3]),
        series("histogram", "b", start=[0.0, 1.0], end=[1.0, 2.0], count=[1, 2]),
        orientation="vertical",
        stacking="overlaid",
    ),
    "pie": chart(
        "pie", series("pie", columns={"label": ["a", "b"], "value": [90, 10]}), x=None, y=None
    ),
    "box": chart("box", series("box", columns=BOX), orientation="vertical"),
    "box-hue": chart(
        "box",
        series("box", "men", columns=BOX),
        series("box", "women", columns=BOX),
        orientation="horizontal",
        stacking="grouped",
    ),
    "violin": chart("violin", series("violin", columns=VIOLIN), orientation="vertical"),
    "violin-points": chart(
        "violin",
        series("violin", columns=VIOLIN),
        series("scatter", x=["a", "b"], y=[1.5, 2.5]),
        orientation="vertical",
    ),
    "heatmap": chart("heatmap", series("heatmap", **GRID), z=axis("Count", "log")),
    "heatmap-tall": chart(
        "heatmap", series("heatmap", x=[1], y=[3, 2, 1], z=[[0.5], [1.5], [2.5]])
    ),
    "heatmap-named": chart(
        "heatmap",
        series("heatmap", x=MONTHS, y=["p", "q"], z=GRID["z"]),
        x=NAMED,
        y=axis("Who", "category", ticks=["p", "q"]),
    ),
    "image": chart(
        "image", series("image", z=[[0, 128], [255, 0]]), y=axis(limits=[1.5, -0.5]), x=axis()
    ),
    "contour": chart("contour", series("contour", **GRID, levels=[1.0, 3.0, 5.0])),
    "errorbar": chart(
        "errorbar",
        series("errorbar", "e", x=[1, 2], y=[3.0, 4.0], y_low=[2.5, 3.0], y_high=[3.5, 5.0]),
    ),
    "whiskers": chart(
        "errorbar",
        series("errorbar", x=DAYS, y_low=[2.5, 3.0, 1.0], y_high=[3.5, 5.0, 2.0]),
        x=axis("Day", "datetime"),
    ),
    "polar": chart(
        "polar",
        series("line", "l", theta=[0, 90, 180], r=[1, 2, 3]),
        series("bar", "b", theta=[45.0, 135.0], r=[2.0, 1.0]),
        series("area", "a", theta=[0, 120, 240, 0], r=[1, 1, 1, 1]),
    ),
    "scatter3d": chart("scatter3d", series("scatter3d", x=[1, 2], y=[3, 4], z=[5, 6]), z=axis("Z")),
    "line3d": chart("line3d", series("line3d", x=[1, 2, 1], y=[3, 4, 5], z=[5, 6, 7])),
    "surface-curved": chart(
        "surface3d",
        series("surface3d", x=[[0, 1], [0, 2], [0, 3]], y=[[0, 0], [1, 2], [2, 4]], z=[[1, 2]] * 3),
    ),
    "surface3d": chart("surface3d", series("surface3d", **GRID), z=axis("Height")),
    "candlestick": chart(
        "other",
        series(
            "other", "X", x=DAYS, open=[1, 2, 3], high=[4, 4, 4], low=[0, 1, 1], close=[2, 1, 3]
        ),
    ),
    "dual": chart(
        "bar",
        series("bar", "sales", x=MONTHS, y=[3, 1, 2]),
        series("line", "rate", x=MONTHS, y=[0.3, 0.1, 0.2], axis="y2"),
        x=NAMED,
        y2=axis("Rate [%]"),
        orientation="vertical",
    ),
}
SAMPLES["triple"] = chart(
    "line",
    series("line", "heat", x=[1, 2, 3], y=[20.5, 21.0, 19.5]),
    series("line", "rain", x=[1, 2, 3], y=[0, 12, 3], axis="y2"),
    series("line", "pressure", x=[1, 2, 3], y=[1012, 1009, 1011], axis="y3"),
    series("scatter", "days", x=[90.0, 180.0], y=[20.0, 21.0], axis="x2"),
    y2=axis("Rain (mm)"),
    more_axes={"x2": axis("Time", "duration"), "y3": axis("Pressure (hPa)")},
    unread=["3 arrows", "a table of 2 x 4 cells"],
)
SAMPLES["multi"] = chart(
    "multi",
    x=None,
    y=None,
    charts=[
        SAMPLES["line"] | {"row": 0, "column": 0},
        SAMPLES["bar"] | {"row": 0, "column": 1},
        SAMPLES["violin"] | {"row": 1, "column": 0},
        SAMPLES["dual"] | {"row": 1, "column": 1},
    ],
)
"""A record by name, for each kind and for what differs within one."""
