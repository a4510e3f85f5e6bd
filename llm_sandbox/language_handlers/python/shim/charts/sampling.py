"""Downsampling of long series."""

from __future__ import annotations

import math
import sys
from typing import Any

from .values import ascending

ORDERED = frozenset({"line", "area", "step"})
"""Kinds whose bucket minima and maxima are kept rather than every k-th point."""

GRIDS = frozenset({"heatmap", "contour", "surface3d", "image"})
"""Kinds whose column ``z`` is a list of rows."""


def size(values: Any) -> int:
    """Count the values of a column.

    Args:
        values: A column, nested or not.

    Returns:
        The number of innermost values.
    """
    found = getattr(values, "size", None)
    if isinstance(found, int):
        return found
    return sum(len(v) if isinstance(v, (list, tuple)) or _is_array(v) else 1 for v in values)


def shares(sizes: list[int], limit: int) -> list[int]:
    """Divide a limit among series, so that short ones stay complete.

    Args:
        sizes: Number of values of each series.
        limit: Number of values of all series together.

    Returns:
        Number of values that each may keep.
    """
    found = list(sizes)
    if sum(sizes) <= limit:
        return found
    left, remaining = limit, len(sizes)
    for index in sorted(range(len(sizes)), key=sizes.__getitem__):
        found[index] = min(sizes[index], left // remaining)
        left -= found[index]
        remaining -= 1
    return found


def sample(kind: str, columns: dict[str, Any], limit: int) -> tuple[dict[str, Any], str]:
    """Reduce a series to a limit of values.

    Args:
        kind: The kind of the series.
        columns: Columns of the series.
        limit: Number of values to keep.

    Returns:
        The shortened columns, and the method: ``stride`` or ``min-max``.
    """
    if kind in GRIDS and "z" in columns:
        return _sample_grid(columns, limit), "stride"
    length = max((len(values) for values in columns.values()), default=0)
    nested = sum(size(values) - len(values) for values in columns.values())
    count = max(2, limit // max(1, len(columns)))
    if nested > 0 and length <= count:
        return _sample_nested(columns, limit), "stride"
    if kind in ORDERED and {"x", "y"} <= columns.keys() and ascending(columns["x"]):
        kept, method = _extremes(columns["y"], count), "min-max"
    else:
        kept, method = _stride(length, count), "stride"
    return {name: _take(values, kept, length) for name, values in columns.items()}, method


def _stride(length: int, count: int) -> list[int]:
    """Return every k-th index, the first and the last."""
    if length <= count:
        return list(range(length))
    step = math.ceil((length - 1) / max(1, count - 1))
    kept = list(range(0, length - 1, step))
    return [*kept, length - 1]


def _extremes(values: Any, count: int) -> list[int]:
    """Return the indices of the smallest and largest value of each bucket."""
    length = len(values)
    width = math.ceil(length / max(1, (count - 2) // 2))
    kept = {0, length - 1}
    numpy = sys.modules.get("numpy")
    if _is_array(values) and values.dtype.kind in "fiu" and numpy is not None:
        return sorted(kept | _array_extremes(numpy, values, width))
    numbers = [
        float(value) if isinstance(value, (int, float)) else math.nan for value in _listed(values)
    ]
    for start in range(0, length, width):
        inner = range(start, min(length, start + width))
        finite = [index for index in inner if math.isfinite(numbers[index])]
        if finite:
            kept.add(min(finite, key=numbers.__getitem__))
            kept.add(max(finite, key=numbers.__getitem__))
    return sorted(kept)


def _array_extremes(numpy: Any, values: Any, width: int) -> set[int]:
    numbers = numpy.ma.filled(numpy.ma.masked_invalid(values.astype(float)), math.nan)
    numbers = numpy.pad(numbers, (0, -len(numbers) % width), constant_values=math.nan)
    buckets = numbers.reshape(-1, width)
    starts = numpy.arange(len(buckets)) * width
    filled = ~numpy.isnan(buckets).all(axis=1)
    low = numpy.where(numpy.isnan(buckets), math.inf, buckets).argmin(axis=1) + starts
    high = numpy.where(numpy.isnan(buckets), -math.inf, buckets).argmax(axis=1) + starts
    return {*low[filled].tolist(), *high[filled].tolist()}


def _take(values: Any, kept: list[int], length: int) -> Any:
    if len(values) != length:
        return values[: len(kept)]
    if _is_array(values):
        return values[kept]
    found = _listed(values)
    return [found[index] for index in kept]


def _sample_nested(columns: dict[str, Any], limit: int) -> dict[str, Any]:
    """Shorten the inner lists only."""
    inner = [v for values in columns.values() for v in _listed(values) if hasattr(v, "__len__")]
    inner = [v for v in inner if not isinstance(v, str)]
    flat = sum(size(values) for values in columns.values()) - sum(len(v) for v in inner)
    count = max(2, (limit - flat) // max(1, len(inner)))
    return {
        name: [
            value
            if isinstance(value, str) or not hasattr(value, "__len__")
            else _take(value, _stride(len(value), count), len(value))
            for value in _listed(values)
        ]
        for name, values in columns.items()
    }


def _sample_grid(columns: dict[str, Any], limit: int) -> dict[str, Any]:
    rows = columns["z"]
    height = len(rows)
    width = max((len(row) for row in rows), default=0) if height else 0
    other = sum(size(values) for name, values in columns.items() if name not in ("x", "y", "z"))
    left = max(4, limit - other)
    step = 1
    while True:
        down, across = math.ceil(height / step) + 1, math.ceil(width / step) + 1
        if down * across + down + across <= left or (down <= 2 and across <= 2):
            break
        # Towards the answer in few steps, however large the grid is.
        step = max(step + 1, int(step * math.sqrt((down * across) / left)))
    lines, places = _stride(height, down), _stride(width, across)
    found = dict(columns)
    if _is_array(rows):
        found["z"] = rows[lines][:, places]
    else:
        found["z"] = [_take(rows[line], places, width) for line in lines]
    for name, kept, length in (("x", places, width), ("y", lines, height)):
        if name in found:
            found[name] = _take(found[name], kept, length)
    return found


def _listed(values: Any) -> list[Any]:
    convert = getattr(values, "tolist", None)
    return convert() if convert is not None else list(values)


def _is_array(values: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(values, numpy.ndarray)
