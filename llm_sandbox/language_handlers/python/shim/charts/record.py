"""Chart record: the data of a figure as a JSON value.

Readers build axes, series and charts with any sequences as columns (lists, arrays, series of
pandas) and call ``finish`` once: ``finish`` shortens long columns and converts everything to plain
JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import sampling
from .values import color, column, plain, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "CHART_MIME",
    "POINT_LIMIT",
    "annotation",
    "axis",
    "chart",
    "color",
    "column",
    "finish",
    "multi",
    "plain",
    "series",
    "text",
]

CHART_MIME = "application/vnd.llm-sandbox.chart+json"
POINT_LIMIT = 10_000
"""Most values of one chart; a panel of several charts is one chart."""

TOTAL_LIMIT = 50_000
"""Most values of all panels of a figure."""

SERIES_LIMIT = 500
PANEL_LIMIT = 100
TICK_LIMIT = 500
ANNOTATION_LIMIT = 100
UNREAD_LIMIT = 50

Record = dict[str, Any]


def axis(
    label: Any = None,
    scale: str = "linear",
    limits: Sequence[Any] | None = None,
    ticks: Iterable[Any] = (),
    tick_labels: Iterable[Any] = (),
) -> Record:
    """Describe an axis.

    Args:
        label: Title of the axis.
        scale: ``linear``, ``log``, ``symlog``, ``logit``, ``category``, ``datetime``,
            ``duration`` or ``other``.
        limits: Both ends of the visible range.
        ticks: Positions of the ticks; for categories, their names in order.
        tick_labels: Labels of the ticks.

    Returns:
        The axis.
    """
    return {
        "label": text(label),
        "scale": scale,
        "limits": limits,
        "ticks": ticks,
        "tick_labels": tick_labels,
    }


def series(
    kind: str,
    columns: Mapping[str, Any],
    label: Any = None,
    color_: Any = None,
    axis_: str = "y",
    total: int | None = None,
) -> Record:
    """Describe a series.

    Args:
        kind: Kind of mark.
        columns: Columns of values, with the column names of the kind.
        label: Name in the legend.
        color_: Colour, in any notation that ``color`` accepts.
        axis_: ``y``, ``y2`` for the second vertical axis, or the name of one of ``more_axes``.
        total: Number of points, if the columns hold only some of them.

    Returns:
        The series.
    """
    return {
        "kind": kind,
        "label": text(label),
        "color": color(color_),
        "axis": axis_,
        "columns": dict(columns),
        "total": total,
        "sampling": None,
    }


def annotation(content: Any, x: Any = None, y: Any = None) -> Record:
    """Describe a text inside a chart.

    Args:
        content: The text.
        x: Position on the x axis that the text refers to.
        y: Position on the y axis that the text refers to.

    Returns:
        The annotation.
    """
    return {"text": text(content) or "", "x": x, "y": y}


def chart(
    library: str,
    kind: str,
    series: Iterable[Record] = (),
    title: Any = None,
    x: Record | None = None,
    y: Record | None = None,
    y2: Record | None = None,
    z: Record | None = None,
    orientation: str | None = None,
    stacking: str | None = None,
    annotations: Iterable[Record] = (),
    row: int | None = None,
    column: int | None = None,
    more_axes: Mapping[str, Record] | None = None,
    unread: Iterable[str] = (),
) -> Record:
    """Describe one chart or one panel.

    Args:
        library: Library that drew the chart.
        kind: Kind of the chart.
        series: Series in drawing order.
        title: Title of the chart.
        x: Horizontal axis.
        y: Vertical axis.
        y2: Second vertical axis.
        z: Third axis, or the colour scale.
        orientation: ``vertical`` or ``horizontal`` for bars, histograms, boxes and violins.
        stacking: ``grouped``, ``stacked`` or ``overlaid`` where there are several such series.
        annotations: Texts inside the chart.
        row: Row of a panel.
        column: Column of a panel.
        more_axes: Additional axes: ``x2``, and ``y3`` onwards.
        unread: Descriptions of what is drawn and not recorded, a phrase for each.

    Returns:
        The chart, still to be finished.
    """
    return {
        "version": 1,
        "library": library,
        "kind": kind,
        "title": text(title),
        "x": x,
        "y": y,
        "y2": y2,
        "z": z,
        "orientation": orientation,
        "stacking": stacking,
        "series": list(series),
        "annotations": list(annotations),
        "charts": [],
        "row": row,
        "column": column,
        "more_axes": dict(more_axes or {}),
        "unread": list(unread),
    }


def multi(library: str, charts: Iterable[Record], title: Any = None) -> Record:
    """Describe several charts in one figure.

    Args:
        library: Library that drew the charts.
        charts: The panels, in reading order.
        title: Title of the figure.

    Returns:
        The chart, still to be finished.
    """
    found = chart(library, "multi", title=title)
    found["charts"] = list(charts)
    return found


def finish(found: Record) -> Record:
    """Shorten and convert a chart that was built with the functions above.

    Args:
        found: The chart.

    Returns:
        The same chart as plain JSON values within the limits.
    """
    panels = found["charts"][:PANEL_LIMIT]
    limit = min(POINT_LIMIT, TOTAL_LIMIT // max(1, len(panels)))
    found["charts"] = [_finish_one(panel, limit) for panel in panels]
    return _finish_one(found, limit)


def _finish_one(found: Record, limit: int) -> Record:
    kept = found["series"]
    if len(kept) > SERIES_LIMIT:
        left = sum(item["total"] or 1 for item in kept[SERIES_LIMIT:] if not item["columns"])
        left += sum(1 for item in kept[SERIES_LIMIT:] if item["columns"])
        rest = series("other", {}, total=left)
        rest["sampling"] = "stride"
        kept = [*kept[:SERIES_LIMIT], rest]
    sizes = [sum(map(sampling.size, item["columns"].values())) for item in kept]
    allowed = sampling.shares(sizes, limit)
    found["series"] = [
        _finish_series(item, size, share)
        for item, size, share in zip(kept, sizes, allowed, strict=True)
    ]
    for name in ("x", "y", "y2", "z"):
        if found[name] is not None:
            found[name] = _finish_axis(found[name])
    found["more_axes"] = {name: _finish_axis(item) for name, item in found["more_axes"].items()}
    found["unread"] = [text(item) or "" for item in found["unread"][:UNREAD_LIMIT]]
    found["annotations"] = [
        {**item, "x": plain(item["x"]), "y": plain(item["y"])}
        for item in found["annotations"][:ANNOTATION_LIMIT]
    ]
    return found


def _finish_series(item: Record, size: int, share: int) -> Record:
    columns = item["columns"]
    if item["total"] is None:
        item["total"] = _points(item["kind"], columns)
    if share < size:
        columns, item["sampling"] = sampling.sample(item["kind"], columns, share)
    item["columns"] = {name: column(values) for name, values in columns.items()}
    return item


def _points(kind: str, columns: Mapping[str, Any]) -> int:
    if kind in sampling.GRIDS:
        return sampling.size(columns["z"]) if "z" in columns else 0
    return max(map(len, columns.values()), default=0)


def _finish_axis(item: Record) -> Record:
    limits = column(item["limits"]) if item["limits"] is not None else None
    item["limits"] = limits if limits is not None and None not in limits else None
    item["ticks"] = column(list(item["ticks"])[:TICK_LIMIT])
    item["tick_labels"] = [text(label) or "" for label in list(item["tick_labels"])[:TICK_LIMIT]]
    return item
