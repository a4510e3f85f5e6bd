"""Axis scales of a drawn chart: numbers, logarithms, dates and categories."""

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from llm_sandbox.results.charts import Axis, AxisScale, Value

__all__ = ["Placement", "numbers"]

_TICKS = 5
_MOST_NAMES = 12
_LARGEST = 1e300


def numbers(values: Iterable[Value]) -> list[float | None]:
    """Return values as finite numbers; None for anything else."""
    return [_number(value) for value in values]


def _number(value: Value) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # trust: values from inside; an integer may be too large for a float.
    if not -_LARGEST < value < _LARGEST:
        return None
    return float(value)


def _moment(value: Value) -> float | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class Placement:
    """Mapping from the values of an axis to a line.

    Args:
        values: All values of the axis.
        axis: The axis.
        start: Start of the line, in the drawing's units.
        end: End of the line.
        pad: Whether to pad the first and last value, as bars need.
        zero: Whether to include zero.
    """

    def __init__(
        self,
        values: Sequence[Value],
        axis: Axis | None,
        start: float,
        end: float,
        *,
        pad: bool = False,
        zero: bool = False,
    ) -> None:
        self._start, self._end = start, end
        self._names: dict[Value, int] = {}
        known = [value for value in values if value is not None and not isinstance(value, tuple)]
        self.kind = _kind(known, axis)
        if self.kind == "category":
            ordered = [*(axis.ticks if axis and axis.scale is AxisScale.CATEGORY else ()), *known]
            self._names = {name: place for place, name in enumerate(dict.fromkeys(ordered))}
            self._low, self._high = -0.5, max(1, len(self._names)) - 0.5
            return
        placed = [x for x in map(self._raw, known) if x is not None] or [0.0, 1.0]
        if zero and self.kind == "linear":
            placed.append(0.0)
        self._low, self._high = min(placed), max(placed)
        room = (self._high - self._low) * (0.04 if not pad else 0.5 / max(1, len(set(placed)) - 1))
        room = room or abs(self._high) * 0.5 or 0.5
        self._low -= 0 if zero and self._low == 0 else room
        self._high += 0 if zero and self._high == 0 else room

    @property
    def step(self) -> float:
        """Distance between neighbouring categories."""
        return abs(self._end - self._start) / max(1, len(self._names))

    def place(self, value: Value) -> float | None:
        """Return the position of a value; None when it cannot be placed."""
        raw = self._raw(value)
        if raw is None:
            return None
        part = (raw - self._low) / (self._high - self._low)
        return self._start + part * (self._end - self._start)

    def _raw(self, value: Value) -> float | None:
        if self.kind == "category":
            return self._names.get(value)
        if self.kind == "datetime":
            return _moment(value)
        number = _number(value)
        if number is None or self.kind == "linear":
            return number
        return math.log10(number) if number > 0 else None

    def ticks(self) -> list[tuple[float, str]]:
        """Return the positions and labels of the ticks."""
        if self.kind == "category":
            every = -(-len(self._names) // _MOST_NAMES) or 1
            names = list(self._names.items())[::every]
            return [(self._at(place), str(name)) for name, place in names]
        marks = [self._low + (self._high - self._low) * i / _TICKS for i in range(_TICKS + 1)]
        if self.kind == "datetime":
            return [(self._at(raw), _date(raw, self._high - self._low)) for raw in marks]
        if self.kind == "log":
            powers = range(math.ceil(self._low), math.floor(self._high) + 1)
            chosen = [*powers][:: max(1, len(powers) // 6)] or [round(self._low)]
            return [(self._at(power), f"1e{power}") for power in chosen]
        step = _nice((self._high - self._low) / _TICKS)
        first = math.ceil(self._low / step)
        count = min(4 * _TICKS, math.floor(self._high / step) - first + 1)
        return [(self._at((first + i) * step), f"{(first + i) * step:.6g}") for i in range(count)]

    def _at(self, raw: float) -> float:
        part = (raw - self._low) / (self._high - self._low)
        return self._start + part * (self._end - self._start)


def _kind(known: Sequence[Value], axis: Axis | None) -> str:
    scale = axis.scale if axis is not None else None
    if scale is not AxisScale.CATEGORY and all(_number(value) is not None for value in known):
        return "log" if scale is AxisScale.LOG else "linear"
    if scale is not AxisScale.CATEGORY and all(_moment(value) is not None for value in known):
        return "datetime"
    return "category"


def _nice(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step)) if step > 0 else 1.0
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step * 0.999)


def _date(raw: float, span: float) -> str:
    try:
        moment = datetime.fromtimestamp(raw, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return moment.strftime("%H:%M:%S" if span < 86_400 else "%Y-%m-%d")
