"""The words for charts, series and scales."""

from enum import StrEnum

__all__ = ["AxisScale", "ChartKind", "SeriesKind"]


class ChartKind(StrEnum):
    """What sort of chart it is."""

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
    """One that this vocabulary has no word for."""


class SeriesKind(StrEnum):
    """What sort of series it is, and so which columns it has; see `Series.columns`."""

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
    """A reference line across the chart."""
    OTHER = "other"
    """One that this vocabulary has no word for."""

    @property
    def is_grid(self) -> bool:
        """True if its values are a table of numbers, `z`, over columns `x` and rows `y`."""
        return self in _GRIDS


_GRIDS = frozenset({SeriesKind.HEATMAP, SeriesKind.IMAGE, SeriesKind.CONTOUR, SeriesKind.SURFACE3D})


class AxisScale(StrEnum):
    """How an axis places values."""

    LINEAR = "linear"
    LOG = "log"
    SYMLOG = "symlog"
    LOGIT = "logit"
    CATEGORY = "category"
    """Names side by side."""
    DATETIME = "datetime"
    DURATION = "duration"
    """Lengths of time, in seconds."""
    OTHER = "other"
