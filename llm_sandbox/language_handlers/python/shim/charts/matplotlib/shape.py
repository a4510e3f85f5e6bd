"""What the series of a panel make together: its kind, direction and stacking."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .axis import nearest_of

if TYPE_CHECKING:
    from .items import Item

_DIRECTED = ("bar", "histogram", "box", "violin")
_CURVES = ("line", "scatter", "step", "errorbar")


def main_kind(items: list[Item]) -> str:
    """Give the kind of a chart.

    Args:
        items: Its series.

    Returns:
        The kind of the first series that is no rule; a band around a curve makes no area chart.
    """
    main = [item for item in items if item.main]
    if not main:
        return next((item.kind for item in items if item.kind != "rule"), "other")
    first = main[0]
    if first.kind == "other" and "levels" in first.columns:
        return "contour"  # between points that form no grid
    if first.kind == "area":
        curves = [item for item in main if item.kind in _CURVES]
        bands = all(item.kind != "area" or _is_band(item) for item in main)
        if curves and bands:
            return curves[0].kind
    return first.kind


def _is_band(item: Item) -> bool:
    return "y_base" in item.columns or "x_base" in item.columns


def orientation(items: list[Item]) -> str | None:
    """Give the direction of bars, histograms, boxes and violins.

    Args:
        items: The series.

    Returns:
        ``vertical``, ``horizontal``, or ``None`` where there are none of them.
    """
    for item in items:
        if item.kind in _DIRECTED and item.horizontal is not None:
            return "horizontal" if item.horizontal else "vertical"
    return None


def stacking(items: list[Item], kind: str) -> str | None:
    """Tell how several series of bars, areas and the like share their place.

    Args:
        items: The series.
        kind: The kind of the chart.

    Returns:
        ``grouped``, ``stacked`` or ``overlaid``; ``None`` for one series and for curves.
    """
    same = [item for item in items if item.kind == kind and item.main]
    if len(same) < 2 or kind not in (*_DIRECTED, "area"):
        return None
    said = {item.stacking for item in same} - {None}
    if said:
        return "stacked" if "stacked" in said else said.pop()
    if kind in ("box", "violin"):
        return "grouped"
    if kind != "bar":
        return "overlaid"
    if any("base" in item.columns for item in same[1:]):
        return "stacked"
    return _beside(same)


def _beside(bars: list[Item]) -> str | None:
    """Tell bars next to each other from bars in front of each other."""
    numpy = sys.modules["numpy"]
    places: list[Any] = [numpy.asarray(item.columns[item.names[:1]], float) for item in bars]
    first = numpy.sort(places[0])
    for other in places[1:]:
        nearest = abs(other - first[nearest_of(first, other)]).min()
        if nearest == 0:
            return "overlaid"
        if nearest >= 1:
            return None
    return "grouped"
