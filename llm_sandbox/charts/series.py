"""A series: the values that a chart shows under one name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from llm_sandbox.charts.kinds import SeriesKind
from llm_sandbox.host.terminal import strip_controls

__all__ = ["Sampling", "Series", "Value", "count_values"]

Value: TypeAlias = bool | int | float | str | tuple["Value", ...] | None
"""What a column holds: finite numbers, text, or None where a value is missing. Dates are text in
ISO 8601; a tuple is the values of one row, such as the outliers of a box."""

Sampling: TypeAlias = Literal["stride", "min-max", "first"]
"""How rows were chosen: every k-th, the least and the greatest of each stretch, or the first."""


@dataclass(frozen=True, slots=True, repr=False)
class Series:
    """Values that a chart shows under one name."""

    kind: SeriesKind
    """How it is drawn."""
    label: str | None = None
    """Its name in the legend, as the program gave it; None when it has none."""
    color: str | None = None
    """Its colour as `#rrggbb`; None when it has no single one."""
    axis: str = "y"
    """The axis that it is drawn against instead of the first: `y2`, or a name in
    `Chart.more_axes` such as `y3` or `x2`; `y` for the first ones, the default."""
    columns: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    """Its values by column, in the units of the axes, exact and in the order drawn.

    Which columns there are follows from the kind:

    - line, step, scatter, area: `x`, `y`; an area also `y_base` or `x_base` where it does not start
      at zero: a band lies between the two, a layer of a stack (`Chart.stacking`) is `y` high and
      starts at `y_base`; a scatter also `size` and `value`, which is what its colour stands for.
    - bar: `x`, `y`, one of which is the category and the other the bar's length; `base` where bars
      do not start at zero. From a date, lengths are in days as matplotlib has them, elsewhere in
      milliseconds.
    - histogram: `start`, `end`, `count`, a row for each bin.
    - pie: `label`, `value`.
    - box: `label`, `min`, `q1`, `median`, `q3`, `max`, and perhaps `mean` and `outliers`, a row for
      each box; `min` and `max` are the ends of the whiskers.
    - violin: `label`, `min`, `median`, `max`, `values`, `density`, a row for each violin.
    - errorbar: `x`, `y`, and those of `y_low`, `y_high`, `x_low`, `x_high` that exist; one of `x`
      and `y` may be missing where only the ends are drawn.
    - heatmap, contour, surface3d: `x` names the columns, `y` the rows, `z` is a list of rows;
      contour also `levels`. An image has `z`, or only `shape`.
    - scatter3d, line3d: `x`, `y`, `z`. On polar charts: `theta` in degrees, `r`.
    - rule: `x` or `y`, one value.
    - other: columns as the library names them; `x` and `y` with a column `path` are the corners of
      outlines, numbered from 0.
    """
    total: int = 0
    """Rows (cells of a grid) that were drawn, of which `columns` may hold a part; 0 by default."""
    sampling: Sampling | None = None
    """How the part was chosen; None when `columns` holds everything."""

    @property
    def points(self) -> int:
        """How many rows `columns` holds; cells, where they form a grid."""
        if self.kind.is_grid and "z" in self.columns:
            return sum(len(row) if isinstance(row, tuple) else 1 for row in self.columns["z"])
        return max(map(len, self.columns.values()), default=0)

    @property
    def name(self) -> str:
        """The label, safe to print; empty when there is none."""
        return " ".join(strip_controls(self.label or "").split())

    def __repr__(self) -> str:
        label = f" {self.name[:60]!r}" if self.name else ""
        return f"<Series {self.kind}{label}, {self.points} points>"


def count_values(value: object) -> int:
    """Return how many values there are, those of nested rows included."""
    if isinstance(value, Mapping):
        return sum(map(count_values, value.values()))
    return sum(map(count_values, value)) if isinstance(value, (tuple, list)) else 1
