"""Aggregates and bins, computed as Vega does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .functions import to_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["AGGREGATES", "BinSteps", "aggregate", "choose_bins", "quantile"]

_EPSILON = 1e-14


def quantile(ordered: Sequence[float], part: float) -> float | None:
    """Return a linearly interpolated quantile of sorted values."""
    if not ordered:
        return None
    place = (len(ordered) - 1) * part
    low = math.floor(place)
    if low + 1 >= len(ordered):
        return ordered[-1]
    return ordered[low] + (ordered[low + 1] - ordered[low]) * (place - low)


def _mean(values: list[float]) -> float | None:
    # Vega's running mean, for the same last digits.
    mean = 0.0
    for count, value in enumerate(values, 1):
        mean += (value - mean) / count
    return mean if values else None


def _squares(values: list[float]) -> float:
    mean = total = 0.0
    for count, value in enumerate(values, 1):
        distance = value - mean
        mean += distance / count
        total += distance * (value - mean)
    return total


def _variance(values: list[float]) -> float | None:
    return _squares(values) / (len(values) - 1) if len(values) > 1 else 0.0 if values else None


def _root(value: float | None) -> float | None:
    return None if value is None else math.sqrt(value)


def _variance_of_all(values: list[float]) -> float | None:
    return _squares(values) / len(values) if values else None


def _standard_error(values: list[float]) -> float | None:
    if len(values) < 2:
        return 0.0 if values else None
    return math.sqrt(_squares(values) / (len(values) - 1) / len(values))


AGGREGATES: dict[str, Callable[[list[float]], float | None]] = {
    "sum": sum,
    "product": math.prod,
    "mean": _mean,
    "average": _mean,
    "median": lambda values: quantile(sorted(values), 0.5),
    "q1": lambda values: quantile(sorted(values), 0.25),
    "q3": lambda values: quantile(sorted(values), 0.75),
    "min": lambda values: min(values, default=None),
    "max": lambda values: max(values, default=None),
    "variance": _variance,
    "variancep": _variance_of_all,
    "stdev": lambda values: _root(_variance(values)),
    "stdevp": lambda values: _root(_variance_of_all(values)),
    "stderr": _standard_error,
}


def aggregate(operation: str, values: list[Any], dates: bool = False) -> Any:
    """Aggregate a column.

    Args:
        operation: Name of the operation in Vega-Lite.
        values: The values of one group.
        dates: Whether the numbers are dates, which do not change.

    Returns:
        One value.

    Raises:
        ValueError: The operation is unknown, or random.
    """
    if operation == "count":
        return len(values)
    if operation in ("values",):
        return values
    valid = [v for v in values if v is not None and v == v and v != ""]
    if operation == "valid":
        return len(valid)
    if operation == "missing":
        return sum(value is None or value == "" for value in values)
    if operation == "distinct":
        return len({repr(value) if isinstance(value, (list, dict)) else value for value in values})
    function = AGGREGATES.get(operation)
    if function is None:
        raise ValueError(f"the aggregate {operation} is not computed here")
    if operation in ("min", "max") and any(isinstance(value, str) for value in valid):
        numbers = [to_number(value) for value in valid]
        if any(number != number for number in numbers):
            texts = sorted(map(str, valid))
            return texts[0] if operation == "min" else texts[-1]
    numbers = [to_number(value) for value in valid]
    return function([number for number in numbers if number == number])


class BinSteps:
    """Bins of equal width."""

    def __init__(self, start: float, stop: float, step: float) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    def ends(self, value: Any) -> tuple[float, float] | None:
        """Return both ends of the bin of a value; ``None`` if it is in none."""
        if value is None:
            return None
        number = to_number(value)
        if number != number or not self.start <= number <= self.stop:
            return None
        number = max(self.start, min(number, self.stop - self.step))
        count = math.floor(_EPSILON + (number - self.start) / self.step)
        low = self.start + self.step * count
        return low, self.start + self.step * (1 + (low - self.start) / self.step)


def choose_bins(values: Sequence[float], about: dict[str, Any], most: int = 10) -> BinSteps | None:
    """Choose bins.

    Args:
        values: All values.
        about: Parameters of the bins.
        most: Most bins, if the parameters set none.

    Returns:
        The bins; ``None`` without values.
    """
    extent = about.get("extent")
    if isinstance(extent, (list, tuple)) and len(extent) == 2:
        low, high = to_number(extent[0]), to_number(extent[1])
    elif values:
        low, high = min(values), max(values)
    else:
        return None
    base = to_number(about.get("base") or 10)
    span = (high - low) or abs(low) or 1
    step = _step(about, span, base, int(to_number(about.get("maxbins") or most)))
    power = math.log(step)
    precision = 0 if power >= 0 else int(-power / math.log(base)) + 1
    if about.get("nice", True):
        near = math.floor(low / step + base ** (-precision - 1)) * step
        low = near - step if low < near else near
        high = math.ceil(high / step) * step
    bins = BinSteps(low, low + step if high == low else high, step)
    if about.get("anchor") is not None:
        anchor = to_number(about["anchor"])
        shift = anchor - (bins.start + step * math.floor((anchor - bins.start) / step))
        bins.start, bins.stop = bins.start + shift, bins.stop + shift
    return bins


def _step(about: dict[str, Any], span: float, base: float, most: int) -> float:
    if about.get("step"):
        return to_number(about["step"])
    steps = about.get("steps")
    if isinstance(steps, list) and steps:
        smaller = [number for number, step in enumerate(steps) if to_number(step) < span / most]
        return to_number(steps[max(0, len(smaller) - 1)])
    level = math.ceil(math.log(most) / math.log(base))
    least = to_number(about.get("minstep") or 0)
    step = max(least, base ** (_round(math.log(span) / math.log(base)) - level))
    while math.ceil(span / step) > most:
        step *= base
    for divisor in about.get("divide") or (5, 2):
        smaller_step = step / to_number(divisor)
        if smaller_step >= least and span / smaller_step <= most:
            step = smaller_step
    return step


def _round(value: float) -> int:
    return math.floor(value + 0.5)
