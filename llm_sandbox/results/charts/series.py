"""Series and axes of a chart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.results.charts.kinds import AxisScale, SeriesKind
from llm_sandbox.results.charts.unit import find_unit

__all__ = [
    "Axis",
    "Row",
    "Sampling",
    "Series",
    "Value",
    "count_values",
    "flatten_grid",
    "list_rows",
]

Value: TypeAlias = bool | int | float | str | tuple["Value", ...] | None
"""Value in a column: a finite number, text, or None for a missing value. Dates are text in ISO
8601; a tuple holds the values of one row, such as the outliers of a box."""

Sampling: TypeAlias = Literal["stride", "min-max", "first"]
"""Method of row selection: every k-th, minimum and maximum of each bucket, or the first."""


@dataclass(frozen=True, slots=True, repr=False)
class Series:
    """Values that a chart shows under one name."""

    kind: SeriesKind
    """Kind of the series."""
    label: str | None = None
    """Name in the legend, as the program set it; None when it has none."""
    color: str | None = None
    """Colour as `#rrggbb`; None when it has no single one."""
    axis: str = "y"
    """Axis of the series if it is not the first one: `y2`, or a name in
    `Chart.more_axes` such as `y3` or `x2`; `y` for the first ones, the default."""
    columns: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    """Values by column, in the units of the axes, exact and in drawing order.

    The kind determines the columns:

    - line, step, scatter, area: `x`, `y`; an area also `y_base` or `x_base` where it does not start
      at zero: a band lies between the two, a layer of a stack (`Chart.stacking`) is `y` high and
      starts at `y_base`; a scatter also `size` and `value`, which its colour encodes.
    - bar: `x`, `y`, one of which is the category and the other the bar's length; `base` where bars
      do not start at zero. From a date, lengths are in days as matplotlib has them, elsewhere in
      milliseconds.
    - histogram: `start`, `end`, `count`, a row for each bin.
    - pie: `label`, `value`.
    - box: `label`, `min`, `q1`, `median`, `q3`, `max`, and optionally `mean` and `outliers`, a row
      for each box; `min` and `max` are the ends of the whiskers.
    - violin: `label`, `min`, `median`, `max`, `values`, `density`, a row for each violin.
    - errorbar: `x`, `y`, and those of `y_low`, `y_high`, `x_low`, `x_high` that exist; `x` or `y`
      is missing if only the ends are drawn.
    - heatmap, contour, surface3d: `x` names the columns, `y` the rows, `z` is a list of rows;
      contour also `levels`. An image has `z`, or only `shape`.
    - scatter3d, line3d: `x`, `y`, `z`. On polar charts: `theta` in degrees, `r`.
    - rule: `x` or `y`, one value.
    - other: columns as the library names them; `x` and `y` with a column `path` are the vertices of
      outlines, numbered from 0.
    """
    total: int = 0
    """Number of rows (cells of a grid) that were drawn, of which `columns` may hold a part; 0 by
    default."""
    sampling: Sampling | None = None
    """Method by which the part was chosen; None when `columns` holds everything."""

    @property
    def points(self) -> int:
        """Number of rows in `columns`; of cells, for a grid."""
        if self.kind.is_grid and "z" in self.columns:
            return sum(len(row) if isinstance(row, tuple) else 1 for row in self.columns["z"])
        return max(map(len, self.columns.values()), default=0)

    @property
    def name(self) -> str:
        """Label, safe to print; empty when there is none."""
        return " ".join(strip_controls(self.label or "").split())

    def __repr__(self) -> str:
        label = f" {self.name[:60]!r}" if self.name else ""
        return f"<Series {self.kind}{label}, {self.points} points>"


def count_values(value: object) -> int:
    """Return the number of values, including those of nested rows."""
    if isinstance(value, Mapping):
        return sum(map(count_values, value.values()))
    return sum(map(count_values, value)) if isinstance(value, (tuple, list)) else 1


@dataclass(frozen=True, slots=True)
class Axis:
    """Axis of a chart."""

    label: str | None = None
    """Title as the program set it; None when it has none."""
    scale: AxisScale = AxisScale.LINEAR
    """Scale; linear by default."""
    limits: tuple[Value, Value] | None = None
    """Both ends, the first being left or below; None when unknown, and for categories."""
    ticks: tuple[Value, ...] = ()
    """Values of the ticks; on a categorical scale all categories, in order."""
    tick_labels: tuple[str, ...] = ()
    """Labels of the ticks; empty when unknown."""

    @property
    def unit(self) -> str | None:
        """Unit in brackets in the label, as in `Speed (m/s)`; None without one."""
        return find_unit(self.label) if self.label else None

    @property
    def name(self) -> str:
        """Label on one line, safe to print; empty when there is none."""
        return " ".join(strip_controls(self.label or "").split())


Row = dict[str, Value]


def list_rows(series: Series) -> Iterator[Row]:
    """Yield a row for each point, or for each cell of a grid.

    Columns of different lengths, as the kind `other` may have, give shorter rows at the end.
    """
    columns = series.columns
    if series.kind.is_grid and "z" in columns:
        yield from flatten_grid(series)
        return
    length = max(map(len, columns.values()), default=0)
    for index in range(length):
        yield {name: values[index] for name, values in columns.items() if index < len(values)}


def flatten_grid(series: Series) -> Iterator[Row]:
    """Yield `x`, `y` and `z` of each cell; indices from 0 if a side has no values."""
    across, down = series.columns.get("x"), series.columns.get("y")
    for line, row in enumerate(series.columns["z"]):
        for place, value in enumerate(row if isinstance(row, tuple) else ()):
            x = _side(across, place, line, place)
            yield {"x": x, "y": _side(down, line, line, place), "z": value}


def _side(values: Sequence[Value] | None, index: int, line: int, place: int) -> Value:
    """Return the value of a side for a cell; the sides of a surface may be grids themselves."""
    if values is None:
        return index
    inner = values[line] if line < len(values) else None
    if isinstance(inner, tuple):
        return inner[place] if place < len(inner) else None
    return values[index] if index < len(values) else None
