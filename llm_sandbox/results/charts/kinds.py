"""Kinds of charts and series, and scales of axes."""

from enum import StrEnum

__all__ = ["AxisScale", "ChartKind", "SeriesKind"]


class ChartKind(StrEnum):
    """Kind of a chart."""

    LINE = "line"
    STEP = "step"
    AREA = "area"
    SCATTER = "scatter"
    BAR = "bar"
    HISTOGRAM = "histogram"
    PIE = "pie"
    BOX = "box"
    VIOLIN = "violin"
    HEATMAP = "heatmap"
    IMAGE = "image"
    CONTOUR = "contour"
    ERRORBAR = "errorbar"
    POLAR = "polar"
    SCATTER3D = "scatter3d"
    LINE3D = "line3d"
    SURFACE3D = "surface3d"
    MULTI = "multi"
    """Several charts in one figure."""
    OTHER = "other"
    """Chart of any other kind."""


class SeriesKind(StrEnum):
    """Kind of a series, which determines its columns; see `Series.columns`."""

    LINE = "line"
    STEP = "step"
    AREA = "area"
    SCATTER = "scatter"
    BAR = "bar"
    HISTOGRAM = "histogram"
    PIE = "pie"
    BOX = "box"
    VIOLIN = "violin"
    HEATMAP = "heatmap"
    IMAGE = "image"
    CONTOUR = "contour"
    ERRORBAR = "errorbar"
    SCATTER3D = "scatter3d"
    LINE3D = "line3d"
    SURFACE3D = "surface3d"
    RULE = "rule"
    """Reference line across the chart."""
    OTHER = "other"
    """Series of any other kind."""

    @property
    def is_grid(self) -> bool:
        """True if the values are a matrix, `z`, over columns `x` and rows `y`."""
        return self in _GRIDS


_GRIDS = frozenset({SeriesKind.HEATMAP, SeriesKind.IMAGE, SeriesKind.CONTOUR, SeriesKind.SURFACE3D})


class AxisScale(StrEnum):
    """Scale of an axis."""

    LINEAR = "linear"
    LOG = "log"
    SYMLOG = "symlog"
    LOGIT = "logit"
    CATEGORY = "category"
    """Categories."""
    DATETIME = "datetime"
    DURATION = "duration"
    """Durations, in seconds."""
    OTHER = "other"
