"""Column validation of series: required columns, and truncation of columns that do not match."""

from collections.abc import Mapping

from llm_sandbox.results.charts.kinds import SeriesKind
from llm_sandbox.results.charts.series import Value, count_values

__all__ = ["Columns", "find_needed", "rows_within", "trim"]

Columns = dict[str, tuple[Value, ...]]

_K = SeriesKind
_NEEDED: Mapping[SeriesKind, tuple[frozenset[str], ...]] = {
    kind: tuple(frozenset(choice.split()) for choice in text.split("|"))
    for kind, text in {
        _K.LINE: "x y|theta r",
        _K.STEP: "x y|theta r",
        _K.AREA: "x y|theta r",
        _K.SCATTER: "x y|theta r",
        _K.BAR: "x y|theta r",
        _K.HISTOGRAM: "start end count",
        _K.PIE: "label value",
        _K.BOX: "label min q1 median q3 max",
        _K.VIOLIN: "label min median max",
        _K.HEATMAP: "x y z",
        _K.IMAGE: "z|shape",
        _K.CONTOUR: "x y z",
        _K.ERRORBAR: "x y|x y_low y_high|y x_low x_high",
        _K.SCATTER3D: "x y z",
        _K.LINE3D: "x y z",
        _K.SURFACE3D: "x y z",
        _K.RULE: "x|y",
    }.items()
}
_APART = frozenset({"levels", "shape"})
"""Columns whose length is independent of the others."""
_NESTED = frozenset({"outliers", "values", "density"})
"""Columns of lists; a value that is not a list counts as an empty one."""


def find_needed(kind: SeriesKind, columns: Columns) -> frozenset[str] | None:
    """Return the required columns of a kind; None if they are missing."""
    choices = _NEEDED.get(kind, (frozenset(),))
    return next((choice for choice in choices if choice <= columns.keys()), None)


def trim(kind: SeriesKind, columns: Columns) -> Columns:
    """Return the columns with rows truncated to the length of the required ones.

    Shorter columns are removed. The columns of `other` do not change, because their meaning is
    unknown.
    """
    needed = find_needed(kind, columns)
    if kind is SeriesKind.OTHER or needed is None:
        return columns
    if kind.is_grid:
        return _trim_grid(columns)
    length = min(len(columns[name]) for name in needed)
    if kind is SeriesKind.RULE:
        length = min(length, 1)
    result: Columns = {}
    for name, values in columns.items():
        if len(values) >= length:
            empty = () if name in _NESTED else None
            kept = values[:length]
            result[name] = tuple(
                v if isinstance(v, tuple) == (empty == ()) else empty for v in kept
            )
    return result


def _trim_grid(columns: Columns) -> Columns:
    """Return the columns of a grid with a `z` that is rectangular and fits its sides."""
    result = dict(columns)
    if "z" not in columns:
        return result
    grid = [row for row in columns["z"] if isinstance(row, tuple)]
    height = min(len(grid), len(columns["y"])) if "y" in columns else len(grid)
    sides = [] if "x" not in columns or _is_nested(columns["x"]) else [len(columns["x"])]
    width = min([*map(len, grid[:height]), *sides], default=0)
    result["z"] = tuple(
        tuple(None if isinstance(v, tuple) else v for v in row[:width]) for row in grid[:height]
    )
    for name, length in (("x", width), ("y", height)):
        if name in columns:
            nested = _is_nested(columns[name])
            result[name] = columns[name][: height if nested else length]
    return result


def _is_nested(values: tuple[Value, ...]) -> bool:
    """Return whether a side of a grid is itself a grid, as of a surface in polar coordinates."""
    return any(isinstance(value, tuple) for value in values)


def rows_within(kind: SeriesKind, columns: Columns, most: int) -> Columns:
    """Return the first rows, as many as hold at most `most` values."""
    if kind is SeriesKind.OTHER:
        share = most // max(1, len(columns))
        return {name: _within(values, share) for name, values in columns.items()}
    fixed = {name: values for name, values in columns.items() if name in _APART}
    if kind.is_grid and "x" in columns and not _is_nested(columns["x"]):
        fixed["x"] = columns["x"]
    left = most - count_values(fixed)
    if left < 0:
        return dict.fromkeys(columns, ())
    rest = [values for name, values in columns.items() if name not in fixed]
    rows = 0
    for row in zip(*rest, strict=False):
        left -= count_values(row)
        if left < 0:
            break
        rows += 1
    return {name: values if name in fixed else values[:rows] for name, values in columns.items()}


def _within(values: tuple[Value, ...], most: int) -> tuple[Value, ...]:
    for index, value in enumerate(values):
        most -= count_values(value)
        if most < 0:
            return values[:index]
    return values
