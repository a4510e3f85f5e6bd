"""Bins of plotly histograms, chosen by the algorithm of plotly.js."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .values import from_ms, to_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bins", "auto_bins", "fixed_bins", "step_by"]

Step = float | str
"""Size of a bin: a number, or ``M`` and a number of months."""

DAY = 86_400_000
_HOUR, _MINUTE, _SECOND = 3_600_000, 60_000, 1000
_YEAR, _MONTH = 31_557_600_000, 2_629_800_000
_MOST = 100_000


@dataclass
class Bins:
    """Bins on a linear axis; dates are milliseconds."""

    start: float
    end: float
    size: Step

    def edges(self) -> list[float]:
        """Return the borders of all bins, in order."""
        edges = [self.start]
        end = self.end + (self.start - step_by(self.start, self.size)) / 1e6
        while edges[-1] < end and len(edges) < _MOST:
            following = step_by(edges[-1], self.size)
            if following <= edges[-1]:
                break
            edges.append(following)
        return edges

    def index(self, value: float, edges: Sequence[float]) -> int:
        """Return the number of the bin that a value is in; it may be out of range."""
        if isinstance(self.size, str):
            width = (edges[-1] - edges[0]) / max(1, len(edges) - 1)
            return bisect_right(edges, value + width * 1e-9) - 1
        return math.floor((value - self.start) / self.size + 1e-9)


def step_by(value: float, size: Step, back: bool = False) -> float:
    """Return a position moved by one step.

    Args:
        value: The position.
        size: The step.
        back: Whether to move down.
    """
    sign = -1 if back else 1
    if isinstance(size, str):
        return _add_months(value, sign * int(float(size[1:])))
    return _add(value, sign * size)


def _add(value: float, step: float) -> float:
    if not step:
        return value
    scale = 1 / abs(step)
    total = (scale * value + scale * step) / scale if scale > 1 else value + step
    # JavaScript writes whole numbers without a fraction; rounding errors show by their length.
    if len(_js(total)) > 16 and len(_js(total)) >= len(_js(value)) + len(_js(step)):
        total = float(f"{total:.12g}")
    return total


def _js(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e21 else repr(value)


def _add_months(value: float, months: int) -> float:
    rest = value % DAY
    # plotly.js counts from three days later, so that the end of a month stays one.
    date = from_ms(value - rest + 3 * DAY)
    if date is None:
        return value
    count = date.year * 12 + date.month - 1 + months
    year, month = divmod(count, 12)
    if not 1 <= year <= 9998:
        return value
    # JavaScript lets the 31st of a shorter month run over into the next.
    return to_ms(date.replace(year=year, month=month + 1, day=1)) + (date.day - 4) * DAY + rest


def fixed_bins(start: float, end: float, size: Step) -> Bins | None:
    """Return bins that the figure sets, or ``None`` if these are invalid."""
    width = step_by(start, size) - start
    if not width > 0 or not end > start or (end - start) / width > _MOST:
        return None
    return Bins(start, end, size)


def auto_bins(
    values: Sequence[float], dates: bool, most: int = 0, size: Step | None = None, flat: bool = True
) -> Bins | None:
    """Choose bins.

    Args:
        values: All values of all traces that share the bins.
        dates: Whether the values are milliseconds of a date axis.
        most: Approximate number of bins; 0 to derive it from the values.
        size: Size of the bins, if it is set.
        flat: Whether the histogram has one dimension.

    Returns:
        The bins; ``None`` without values.
    """
    if not values:
        return None
    low, high = min(values), max(values)
    tick0 = 946_684_800_000.0 if dates else 0.0
    if size is None:
        rough = (high - low) / most if most else _rough_size(values, flat)
        size, tick0 = _nice_dates(rough) if dates else (_nice_number(rough), 0.0)
    start = step_by(_first_tick(low, size, tick0), size, back=True)
    if isinstance(size, str):
        start = _shift_months(start, values, size, low)
        end = start
        for _ in range(_MOST):
            if end > high:
                break
            end = step_by(end, size)
        return Bins(start, end, size)
    start = _shift_numbers(start, values, size, low, high, dates)
    return Bins(start, start + (1 + math.floor((high - start) / size)) * size, size)


def _rough_size(values: Sequence[float], flat: bool) -> float:
    least = _least_difference(values)
    power = 10.0 ** math.floor(math.log(least) / math.log(10))
    smallest = power * _round_down(least / power, [0.9, 1.9, 4.9, 9.9])
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return float(max(smallest, 2 * deviation / len(values) ** (0.4 if flat else 0.25)))


def _least_difference(values: Sequence[float]) -> float:
    ordered = sorted(values)
    least = (ordered[-1] - ordered[0]) or 1.0
    threshold = least / ((len(ordered) - 1) or 1) / 1e4
    last = ordered[0]
    for value in ordered[1:]:
        if value - last > threshold:
            least = min(least, value - last)
            last = value
    return least


def _nice_number(rough: float) -> float:
    if not rough > 0 or not math.isfinite(rough):
        return 1.0
    base = 10.0 ** math.floor(math.log(rough) / math.log(10))
    return base * _round_up(rough / base, [2, 5, 10])


def _round_down(value: float, steps: Sequence[float]) -> float:
    return float(steps[max(0, bisect_right(steps, value) - 1)])


def _round_up(value: float, steps: Sequence[float]) -> float:
    return steps[min(len(steps) - 1, bisect_right(steps, value))]


def _nice_dates(rough: float) -> tuple[Step, float]:
    start, sunday = 946_684_800_000.0, 946_771_200_000.0
    if 2 * rough > _YEAR:
        years = rough / _YEAR
        base = 10.0 ** math.floor(math.log(years) / math.log(10))
        return f"M{12 * base * _round_up(years / base, [2, 5, 10]):g}", start
    if 2 * rough > _MONTH:
        return f"M{_round_up(rough / _MONTH, [1, 2, 3, 6, 12])}", start
    if 2 * rough > DAY:
        return DAY * _round_up(rough / DAY, [1, 2, 3, 7, 14]), sunday
    for unit, steps in (
        (_HOUR, [1, 2, 3, 6, 12]),
        (_MINUTE, [1, 2, 5, 10, 15, 30]),
        (_SECOND, [1, 2, 5, 10, 15, 30]),
    ):
        if 2 * rough > unit:
            return unit * _round_up(rough / unit, steps), start
    return _nice_number(rough), start


def _first_tick(low: float, size: Step, tick0: float) -> float:
    if not isinstance(size, str):
        return math.ceil((low - tick0) / size) * size + tick0
    months = int(float(size[1:]))
    here, origin = from_ms(low), from_ms(tick0)
    if here is None or origin is None:
        return low
    passed = (here.year - origin.year) * 12 + here.month - origin.month
    tick = _add_months(tick0, passed // months * months)
    return tick if tick >= low else _add_months(tick, months)


def _shift_numbers(
    start: float, values: Sequence[float], size: float, low: float, high: float, dates: bool
) -> float:
    def near_edge(value: float) -> bool:
        return math.fmod(1 + (value - start) * 100 / size, 100) < 2

    if not dates and all(float(value).is_integer() for value in values):
        if size < 1:
            return low - 0.5 * size
        start -= 0.5
        return start + size if start + size < low else start
    edges = sum(map(near_edge, values))
    middles = sum(near_edge(value + size / 2) for value in values)
    crowded = edges > len(values) * 0.3 or near_edge(low) or near_edge(high)
    if middles < len(values) * 0.1 and crowded:
        half = size / 2
        start += half if start + half < low else -half
    return start


def _shift_months(start: float, values: Sequence[float], size: str, low: float) -> float:
    days = months = years = 0
    for value in values:
        date = from_ms(value) if value % DAY == 0 else None
        if date is not None:
            days += 1
            months += date.day == 1
            years += date.day == 1 and date.month == 1
    count, threshold = len(values), 0.8
    if days / count > threshold:
        if years / count > threshold and int(float(size[1:])) % 12 == 0:
            start = _add_months(start, -6) + DAY * 1.5
        elif months / count > threshold:
            start = _add_months(start, -1) + DAY * 15.5
        else:
            start -= DAY / 2
        following = step_by(start, size)
        if following <= low:
            return following
    return start
