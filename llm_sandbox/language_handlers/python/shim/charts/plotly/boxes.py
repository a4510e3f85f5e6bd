"""Readers of plotly's boxes and violins, computed from raw values as plotly.js does."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

from .histograms import positions_of
from .values import from_ms, items, to_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .trace import Record, Trace

__all__ = ["density_of", "quartiles", "read_box", "read_violin", "whiskers"]


def quartiles(values: Sequence[float], method: str = "linear") -> tuple[float, float, float]:
    """Return the quartiles of sorted values.

    Args:
        values: At least one value, sorted.
        method: ``linear``, ``exclusive`` or ``inclusive``.

    Returns:
        The first quartile, the median and the third.
    """
    count = len(values)
    middle = _interpolate(values, 0.5)
    if count % 2 and method in ("exclusive", "inclusive"):
        half = count // 2
        low, high = values[:half], values[half + 1 :]
        if method == "inclusive":
            low, high = values[: half + 1], values[half:]
        if low and high:
            return _interpolate(low, 0.5), middle, _interpolate(high, 0.5)
    return _interpolate(values, 0.25), middle, _interpolate(values, 0.75)


def _interpolate(values: Sequence[float], part: float) -> float:
    place = part * len(values) - 0.5
    if place < 0:
        return values[0]
    if place > len(values) - 1:
        return values[-1]
    rest = place % 1
    return rest * values[math.ceil(place)] + (1 - rest) * values[math.floor(place)]


def whiskers(values: Sequence[float], low: float, high: float) -> tuple[float, float]:
    """Return the ends of the whiskers of sorted values.

    Args:
        values: The values, sorted.
        low: First quartile.
        high: Third quartile.
    """
    last = len(values) - 1
    below = values[min(last, bisect_left(values, 2.5 * low - 1.5 * high))]
    above = values[max(0, bisect_right(values, 2.5 * high - 1.5 * low) - 1)]
    return min(low, below), max(high, above)


def read_box(trace: Trace) -> Record | None:
    """Read a box trace: one row per box."""
    if trace.items("q1") is not None:
        return _given_boxes(trace)
    outline = str(trace.get("line", "color")).replace(" ", "")
    if trace.get("boxpoints") == "all" and outline.endswith(",0)"):
        return _strip(trace)
    columns: dict[str, list[Any]] = {
        name: [] for name in ("label", "min", "q1", "median", "q3", "max", "mean", "outliers")
    }
    method = str(trace.get("quartilemethod") or "linear")
    all_whiskers = trace.get("boxpoints") is False
    for label, values in _groups(trace):
        q1, middle, q3 = quartiles(values, method)
        low, high = whiskers(values, q1, q3)
        if all_whiskers:
            low, high = values[0], values[-1]
        row = (label, low, q1, middle, q3, high, math.fsum(values) / len(values))
        for name, value in zip(columns, row, strict=False):
            columns[name].append(value)
        columns["outliers"].append([value for value in values if value < low or value > high])
    if not columns["label"]:
        return None
    if not trace.get("boxmean"):
        del columns["mean"]
    return trace.series("box", _dated(trace, columns))


def _strip(trace: Trace) -> Record:
    """Read a box trace that shows only its points, as ``strip`` makes it."""
    letter = _value_letter(trace)
    along = "x" if letter == "y" else "y"
    length = len(trace.raw(letter) or ())
    axis = trace.x_axis if letter == "x" else trace.y_axis
    places = [_name(trace, along)] * length
    if trace.raw(along) is not None:
        places = trace.positions(along, length)
    values = axis.convert(trace.raw(letter))[: len(places)]
    return trace.series("scatter", {along: places, letter: values})


def _value_letter(trace: Trace) -> str:
    return "x" if trace.horizontal else "y"


def _dated(trace: Trace, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    letter = _value_letter(trace)
    axis = trace.x_axis if letter == "x" else trace.y_axis
    if not axis.is_date:
        return columns

    def moment(value: Any) -> Any:
        return [from_ms(part) for part in value] if isinstance(value, list) else from_ms(value)

    return {
        name: values if name in ("label", "density") else [moment(value) for value in values]
        for name, values in columns.items()
    }


def _groups(trace: Trace) -> list[tuple[Any, list[float]]]:
    """Return the sorted values of each box with its position, in axis order."""
    letter = _value_letter(trace)
    along = "x" if letter == "y" else "y"
    values = positions_of(trace, letter)
    places = trace.raw(along)
    if places is None:
        known = sorted(value for value in values if value is not None)
        return [(_name(trace, along), known)] if known else []
    axis = trace.x_axis if along == "x" else trace.y_axis
    groups: dict[Any, list[float]] = {}
    for place, value in zip(axis.convert(places), values, strict=False):
        if place is not None and value is not None:
            groups.setdefault(place, []).append(value)
    order = {name: number for number, name in enumerate(axis.categories())}
    names = sorted(groups, key=order.__getitem__ if axis.is_category else None)
    return [(name, sorted(groups[name])) for name in names]


def _name(trace: Trace, along: str) -> Any:
    place = trace.get(f"{along}0")
    return place if place is not None and str(place).strip() else trace.label or ""


_GIVEN = {
    "min": "lowerfence",
    "q1": "q1",
    "median": "median",
    "q3": "q3",
    "max": "upperfence",
    "mean": "mean",
}


def _given_boxes(trace: Trace) -> Record | None:
    known = {name: trace.items(theirs) for name, theirs in _GIVEN.items()}
    if known["median"] is None or known["q3"] is None:
        return None
    along = "y" if trace.horizontal else "x"
    length = len(known["median"])
    if trace.raw(along) is None and length == 1:
        labels = [_name(trace, along)]
    else:
        labels = trace.positions(along, length)
    columns: dict[str, list[Any]] = {"label": labels}
    for name, values in known.items():
        if values is not None:
            columns[name] = [to_number(value) for value in values]
    columns.setdefault("min", columns["q1"])
    columns.setdefault("max", columns["q3"])
    raw = trace.items(_value_letter(trace))
    if raw and all(items(part) is not None for part in raw):
        points = [[to_number(value) for value in items(part) or ()] for part in raw]
        columns["outliers"] = [
            [p for p in part if p is not None and (p < low or p > high)]
            for part, low, high in zip(points, columns["min"], columns["max"], strict=False)
            if low is not None and high is not None
        ]
    return trace.series("box", columns)


def read_violin(trace: Trace) -> Record | None:
    """Read a violin trace: one row per violin."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("label", "min", "median", "max", "values", "density")
    }
    for label, values in _groups(trace):
        grid, density = density_of(
            values, to_number(trace.get("bandwidth")), trace.get("spanmode") == "hard"
        )
        row = (label, values[0], _interpolate(values, 0.5), values[-1], grid, density)
        for name, value in zip(columns, row, strict=True):
            columns[name].append(value)
    return trace.series("violin", _dated(trace, columns)) if columns["label"] else None


def density_of(
    values: Sequence[float], bandwidth: float | None, hard: bool
) -> tuple[list[float], list[float]]:
    """Return the outline of a violin.

    Args:
        values: Values of the violin, sorted.
        bandwidth: Width of the kernel, if it is set.
        hard: Whether the outline ends at the extreme values.

    Returns:
        The positions, and the density at each.
    """
    low, high, count = values[0], values[-1], len(values)
    if high == low:
        return [low], [1.0]
    if bandwidth:
        width = max(bandwidth, (high - low) / 1e4)
    else:
        q1, _, q3 = quartiles(values)
        mean = math.fsum(values) / count
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (count - 1))
        spread = min(deviation, (q3 - q1) / 1.349)
        width = max(1.059 * spread * count**-0.2, (high - low) / 100)
    start, end = (low, high) if hard else (low - 2 * width, high + 2 * width)
    steps = max(1, math.ceil((end - start) / (width / 3)))
    # A figure of millions of values must not take minutes: the outline is then left out.
    if steps * count > 20_000_000:
        return [], []
    grid = [start + number * (end - start) / steps for number in range(steps + 1)]
    scale = 1 / (count * width * math.sqrt(2 * math.pi))
    return grid, [
        scale * sum(math.exp(-0.5 * ((place - value) / width) ** 2) for value in values)
        for place in grid
    ]
