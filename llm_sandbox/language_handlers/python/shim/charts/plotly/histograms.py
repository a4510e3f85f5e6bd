"""Histograms of plotly: the bins that traces share, and the counts in them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from .bins import Bins, auto_bins, fixed_bins, step_by
from .values import are_numbers, date_of, from_ms, to_ms, to_number

if TYPE_CHECKING:
    from .axes import Axis
    from .trace import Trace

__all__ = [
    "Counts",
    "bin_traces",
    "count_categories",
    "count_values",
    "positions_of",
    "reduce_bins",
]


@dataclass
class Counts:
    """Sizes of the bins of a histogram."""

    edges: list[float]
    sizes: list[float]
    dates: bool

    def ends(self) -> tuple[list[Any], list[Any]]:
        """Return the edges of the bins, as the axis shows them."""
        if self.dates:
            moments = [from_ms(edge) for edge in self.edges]
            return moments[:-1], moments[1:]
        return self.edges[:-1], self.edges[1:]


def positions_of(trace: Trace, letter: str) -> list[float | None]:
    """Return the values of one direction as numbers: dates as milliseconds."""
    axis = trace.x_axis if letter == "x" else trace.y_axis
    values = axis.convert(trace.raw(letter))
    if are_numbers(values):
        return [value if isfinite(value) else None for value in values]
    return [to_ms(v) if isinstance(v, datetime) else to_number(v) for v in values]


def bin_traces(traces: list[tuple[Trace, str]], flat: bool = True) -> Bins | None:
    """Choose the bins that traces share.

    Args:
        traces: The traces, and the direction of each that is binned.
        flat: Whether the histograms have one dimension.

    Returns:
        The bins; ``None`` without values.
    """
    first, letter = traces[0]
    axis = first.x_axis if letter == "x" else first.y_axis
    wanted = [trace.get(f"{name}bins") for trace, name in traces]
    given: dict[str, Any] = {}
    for about in reversed([about for about in wanted if isinstance(about, dict)]):
        given.update({name: value for name, value in about.items() if value is not None})
    most = [to_number(trace.get(f"nbins{name}")) for trace, name in traces]
    values = [v for trace, name in traces for v in positions_of(trace, name) if v is not None]
    size = _size(given.get("size"))
    found = auto_bins(values, axis.is_date, int(next((m for m in most if m), 0)), size, flat)
    if found is None:
        return None
    _extend(found, first.get("cumulative"))
    start, end = _place(axis, given.get("start")), _place(axis, given.get("end"))
    return fixed_bins(
        found.start if start is None else start, found.end if end is None else end, found.size
    )


def _size(value: Any) -> float | str | None:
    if isinstance(value, str) and value[:1] == "M":
        months = to_number(value[1:])
        return value if months and months >= 1 else None
    number = to_number(value)
    return number if number and number > 0 else None


def _place(axis: Axis, value: Any) -> float | None:
    if value is None:
        return None
    if axis.is_date:
        moment = date_of(value)
        return to_ms(moment) if moment is not None else None
    return to_number(value)


def _extend(bins: Bins, cumulative: Any) -> None:
    """Extend the bins by one for a cumulative histogram that excludes the current bin."""
    about = cumulative if isinstance(cumulative, dict) else {}
    if about.get("enabled") and about.get("currentbin", "include") != "include":
        if about.get("direction") == "decreasing":
            bins.start = step_by(bins.start, bins.size, back=True)
        else:
            bins.end = step_by(bins.end, bins.size)


def count_values(trace: Trace, bins: Bins) -> Counts:
    """Count the values of a trace.

    Args:
        trace: A histogram.
        bins: Bins of the histogram.

    Returns:
        The sizes of the bins; empty bins at both ends are omitted, as plotly.js does.
    """
    letter, other = ("y", "x") if trace.horizontal else ("x", "y")
    axis = trace.x_axis if letter == "x" else trace.y_axis
    edges = bins.edges()
    last = len(edges) - 1
    inside: list[list[int]] = [[] for _ in range(last)]
    for number, value in enumerate(positions_of(trace, letter)):
        place = bins.index(value, edges) if value is not None else -1
        if 0 <= place < last:
            inside[place].append(number)
    sizes, total = reduce_bins(inside, trace.get("histfunc"), trace.raw(other))
    about = trace.get("cumulative")
    about = about if isinstance(about, dict) and about.get("enabled") else None
    norm = str(trace.get("histnorm") or "")
    if about is not None:
        norm = norm.replace("density", "").strip()
    sizes = _normalise(sizes, norm, total, edges)
    if about is not None:
        sizes = _accumulate(sizes, about)
    filled = [number for number, size in enumerate(sizes) if size]
    first, end = (filled[0], filled[-1] + 1) if filled else (0, 1)
    return Counts(edges[first : end + 1], [size or 0 for size in sizes[first:end]], axis.is_date)


def count_categories(trace: Trace) -> tuple[list[Any], list[float]]:
    """Count the values of a trace on a categorical axis.

    Args:
        trace: A histogram.

    Returns:
        The categories from the first to the last non-empty one, and their sizes.
    """
    letter, other = ("y", "x") if trace.horizontal else ("x", "y")
    axis = trace.x_axis if letter == "x" else trace.y_axis
    order = {name: number for number, name in enumerate(axis.categories())}
    inside: list[list[int]] = [[] for _ in order]
    for number, value in enumerate(axis.convert(trace.raw(letter))):
        if value in order:
            inside[order[value]].append(number)
    sizes, total = reduce_bins(inside, trace.get("histfunc"), trace.raw(other))
    sizes = _normalise(sizes, str(trace.get("histnorm") or ""), total, list(range(len(order) + 1)))
    about = trace.get("cumulative")
    if isinstance(about, dict) and about.get("enabled"):
        sizes = _accumulate(sizes, about)
    filled = [number for number, size in enumerate(sizes) if size]
    first, end = (filled[0], filled[-1] + 1) if filled else (0, 0)
    return list(order)[first:end], [size or 0 for size in sizes[first:end]]


def reduce_bins(
    inside: list[list[int]], function: Any, weights: list[Any] | None
) -> tuple[list[float | None], float]:
    """Aggregate each bin to one number.

    Args:
        inside: Indices of the values in each bin.
        function: Aggregate function of the histogram.
        weights: Values to aggregate by a function other than counting.

    Returns:
        A number for each bin, and their total.
    """
    if function in (None, "count") or weights is None:
        counts: list[float | None] = [len(members) for members in inside]
        return counts, sum(map(len, inside))
    sizes: list[float | None] = []
    for members in inside:
        known = [to_number(weights[m]) for m in members if m < len(weights)]
        sizes.append(_reduce(str(function), [value for value in known if value is not None]))
    return sizes, sum(size or 0 for size in sizes)


def _reduce(function: str, values: list[float]) -> float | None:
    if function == "sum":
        return sum(values)
    if not values:
        return 0 if function == "avg" else None
    if function == "avg":
        return sum(values) / len(values)
    return min(values) if function == "min" else max(values)


def _normalise(
    sizes: list[float | None], norm: str, total: float, edges: list[float]
) -> list[float | None]:
    if not norm or (not total and norm != "density"):
        return sizes
    scale = {"percent": 100 / total if total else 0, "density": 1.0}.get(
        norm, 1 / total if total else 0
    )
    dense = "density" in norm
    widths = [b - a for a, b in itertools.pairwise(edges)]
    return [
        None if size is None else size * scale / (width if dense else 1)
        for size, width in zip(sizes, widths, strict=True)
    ]


def _accumulate(sizes: list[float | None], about: dict[str, Any]) -> list[float | None]:
    down = about.get("direction") == "decreasing"
    current = about.get("currentbin", "include")
    found: list[float | None] = []
    total = 0.0
    for size in reversed(sizes) if down else sizes:
        part = size or 0
        before, total = total, total + part
        value = {"half": before + part / 2, "exclude": before}.get(str(current), total)
        found.append(value)
    return found[::-1] if down else found
