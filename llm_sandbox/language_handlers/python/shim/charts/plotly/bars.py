"""Readers of plotly's bars and histograms, with their stacking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import record
from .points import error_ends
from .values import date_of, to_number

if TYPE_CHECKING:
    from .histograms import Counts
    from .trace import Record, Trace

__all__ = ["Bar", "read_bar", "series_of", "stack_bars", "stacking_of"]

_STACKING = {"group": "grouped", "stack": "stacked", "relative": "stacked", "overlay": "overlaid"}


@dataclass
class Bar:
    """The bars of one trace."""

    trace: Trace
    places: list[Any]
    sizes: list[Any]
    bases: list[Any] | None = None
    counts: Counts | None = None
    """Bins, for a histogram of numbers or dates."""


def read_bar(trace: Trace) -> Bar:
    """Read a bar trace."""
    along, across = ("y", "x") if trace.horizontal else ("x", "y")
    raw = trace.raw(across) or []
    places = trace.positions(along, len(raw))
    raw = raw[: len(places)]
    axis = trace.x_axis if across == "x" else trace.y_axis
    # Bars with a base have a length, which is no date where their ends are.
    sizes = [to_number(value) for value in raw] if _has_base(trace) else axis.convert(raw)
    return Bar(trace, places, sizes, _given_bases(trace, len(sizes)))


def _has_base(trace: Trace) -> bool:
    return trace.get("base") is not None


def _given_bases(trace: Trace, length: int) -> list[Any] | None:
    base = trace.get("base")
    if base is None:
        return None
    values = trace.items("base")
    axis = trace.x_axis if trace.horizontal else trace.y_axis
    values = [base] * length if values is None else values[:length]
    if axis.is_date:
        return [date_of(value) for value in values]
    return [to_number(value) for value in values]


def stack_bars(bars: list[Bar], mode: str, norm: Any) -> None:
    """Stack bars, in place.

    Args:
        bars: The bars of a panel that share their axes and their orientation.
        mode: The mode of the layout.
        norm: ``percent`` or ``fraction``, if the bars at a position are normalised to that.
    """
    free = [bar for bar in bars if bar.bases is None]
    if norm in ("percent", "fraction"):
        _normalise(free, 100 if norm == "percent" else 1, mode == "relative")
    if mode not in ("stack", "relative"):
        return
    heights: dict[Any, float] = {}
    for bar in free:
        bases = []
        for place, size in zip(bar.places, bar.sizes, strict=True):
            if not isinstance(size, (int, float)):
                bases.append(0.0)
                continue
            key = (place, size < 0) if mode == "relative" else place
            bases.append(heights.get(key, 0.0))
            heights[key] = bases[-1] + size
        bar.bases = bases


def _normalise(bars: list[Bar], whole: float, by_sign: bool) -> None:
    totals: dict[Any, float] = {}

    def key(place: Any, size: float) -> Any:
        return (place, by_sign and size < 0)

    for bar in bars:
        for place, size in zip(bar.places, bar.sizes, strict=True):
            if isinstance(size, (int, float)):
                totals[key(place, size)] = totals.get(key(place, size), 0.0) + abs(size)
    for bar in bars:
        bar.sizes = [
            size * whole / totals[key(place, size)]
            if isinstance(size, (int, float)) and totals[key(place, size)]
            else size
            for place, size in zip(bar.places, bar.sizes, strict=True)
        ]


def stacking_of(bars: list[Bar], mode: str) -> str | None:
    """Return the arrangement of several series of bars."""
    return _STACKING.get(mode, "grouped") if len(bars) > 1 else None


def series_of(bar: Bar) -> list[Record]:
    """Return the series of a bar trace: its bars, and their error bars."""
    trace = bar.trace
    if bar.counts is not None:
        starts, ends = bar.counts.ends()
        columns = {"start": starts, "end": ends, "count": bar.sizes}
        return [trace.series("histogram", columns)]
    names = ("y", "x") if trace.horizontal else ("x", "y")
    columns = dict(zip(names, (bar.places, bar.sizes), strict=True))
    if bar.bases is not None and any(base not in (0, None) for base in bar.bases):
        columns["base"] = bar.bases
    texts = trace.texts(len(bar.sizes))
    if texts is not None and any(to_number(a) != b for a, b in zip(texts, bar.sizes, strict=True)):
        columns["text"] = texts
    found = [trace.series("bar", columns)]
    tops = bar.sizes
    if bar.bases is not None and "base" in columns:
        tops = [_sum(size, base) for size, base in zip(bar.sizes, bar.bases, strict=True)]
    errors_of = error_ends(trace, names[1], tops)
    if errors_of is not None:
        letter = names[1]
        errors: dict[str, Any] = {names[0]: bar.places, letter: tops}
        errors[f"{letter}_low"], errors[f"{letter}_high"] = errors_of
        found.append(record.series("errorbar", errors, trace.label, None, trace.slot))
    return found


def _sum(size: Any, base: Any) -> Any:
    numbers = isinstance(size, (int, float)) and isinstance(base, (int, float))
    return size + base if numbers else None
