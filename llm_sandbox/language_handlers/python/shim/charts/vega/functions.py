"""Functions of Vega expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .syntax import ExpressionError
from .time import moment, parse_date, parts_of

__all__ = ["FUNCTIONS", "is_date_like", "to_number", "to_text", "truth"]

_PAD_LIMIT = 1000


def truth(value: Any) -> bool:
    """Return whether a value is truthy in JavaScript."""
    if isinstance(value, (list, Mapping)):
        return True
    return bool(value) and value == value


def to_number(value: Any) -> float:
    """Return a value as a number, by JavaScript's rules except for date texts."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return value
    if value is None:
        return 0
    if isinstance(value, str):
        if not value.strip():
            return 0
        try:
            number = float(value)
        except ValueError:
            return math.nan
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    return math.nan


def to_text(value: Any) -> str:
    """Return a value as JavaScript converts it to text."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        if value != value:
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        whole = float(value).is_integer() and abs(value) < 1e21
        return str(int(value)) if whole else repr(float(value))
    if isinstance(value, list):
        return ",".join("" if part is None else to_text(part) for part in value)
    return "[object Object]"


def is_date_like(value: Any, other: Any) -> float:
    """Return a value for a comparison: as a date if it is the text of one."""
    if isinstance(value, str) and isinstance(other, (int, float)):
        number = to_number(value)
        if number != number:
            date = parse_date(value)
            return math.nan if date is None else date
        return number
    return to_number(value)


def _math(function: Callable[..., float]) -> Callable[..., float]:
    def call(*values: Any) -> float:
        try:
            return function(*(to_number(value) for value in values))
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return call


def _round(value: float) -> float:
    return math.floor(value + 0.5) if math.isfinite(value) else value


def _log(value: float) -> float:
    return -math.inf if value == 0 else math.log(value)


def _sign(value: float) -> float:
    return (value > 0) - (value < 0)


def _minimum(*values: float) -> float:
    return math.nan if any(value != value for value in values) else min(values, default=math.inf)


def _maximum(*values: float) -> float:
    return math.nan if any(value != value for value in values) else max(values, default=-math.inf)


def _power(base: float, exponent: float) -> float:
    found = math.pow(base, exponent)
    whole = isinstance(base, int) and isinstance(exponent, int) and abs(found) < 2**53
    return int(found) if whole and found == int(found) else found


def _part(name: str) -> Callable[[Any], float]:
    def call(value: Any) -> float:
        number = parse_date(value)
        date = moment(number) if number is not None else None
        return math.nan if date is None else parts_of(date)[name]

    return call


def _time(value: Any) -> float:
    number = parse_date(value)
    return math.nan if number is None else number


def _datetime(*parts: Any) -> float:
    if len(parts) == 1:
        return _time(parts[0])
    if not parts:
        raise ExpressionError("the current time is not known here")
    numbers = [int(to_number(part)) for part in parts[:7]]
    numbers += [0] * (7 - len(numbers)) if len(numbers) > 2 else [1] + [0] * 4
    year, month, day, hours, minutes, seconds, millis = numbers
    more, month = divmod(month, 12)
    start = parse_date({"year": year + more, "month": month + 1})
    if start is None:
        return math.nan
    return start + ((day - 1) * 24 + hours) * 3.6e6 + minutes * 6e4 + seconds * 1000 + millis


def _slice(value: Any, start: Any = 0, end: Any = None) -> Any:
    value = value if isinstance(value, list) else to_text(value)
    return value[int(to_number(start)) : None if end is None else int(to_number(end))]


def _substring(value: Any, start: Any, end: Any = None) -> str:
    text = to_text(value)
    first = min(max(int(to_number(start)), 0), len(text))
    last = len(text) if end is None else min(max(int(to_number(end)), 0), len(text))
    return text[min(first, last) : max(first, last)]


def _find(value: Any, part: Any) -> int:
    if isinstance(value, list):
        return value.index(part) if part in value else -1
    return to_text(value).find(to_text(part))


def _length(value: Any) -> Any:
    return len(value) if isinstance(value, (str, list)) else None


def _pad(value: Any, length: Any, sign: Any = " ", align: str = "right") -> str:
    text, wanted, fill = to_text(value), int(to_number(length)), to_text(sign)[:1]
    if wanted > _PAD_LIMIT:
        raise ExpressionError("a text grows too long")
    return text.rjust(wanted, fill) if align == "left" else text.ljust(wanted, fill)


def _clamp(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _in_range(value: Any, ends: Any) -> bool:
    low, high = sorted(to_number(end) for end in ends[:2])
    return low <= to_number(value) <= high


def _split(value: Any, by: Any) -> list[str]:
    text, separator = to_text(value), to_text(by)
    return text.split(separator) if separator else list(text)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    return math.isfinite(to_number(value))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: _math(getattr(math, name))
        for name in ("sqrt", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "cbrt")
        if hasattr(math, name)
    },
    "abs": _math(abs),
    "ceil": _math(math.ceil),
    "floor": _math(math.floor),
    "trunc": _math(math.trunc),
    "round": _math(_round),
    "log": _math(_log),
    "log2": _math(math.log2),
    "log10": _math(math.log10),
    "log1p": _math(math.log1p),
    "pow": _math(_power),
    "sign": _math(_sign),
    "min": _math(_minimum),
    "max": _math(_maximum),
    "hypot": _math(math.hypot),
    "clamp": _math(_clamp),
    "inrange": _in_range,
    "isNaN": lambda value: to_number(value) != to_number(value),
    "isFinite": _is_finite,
    "isNumber": _is_number,
    "isString": lambda value: isinstance(value, str),
    "isBoolean": lambda value: isinstance(value, bool),
    "isArray": lambda value: isinstance(value, list),
    "isObject": lambda value: isinstance(value, Mapping),
    "isDefined": lambda value: value is not None,
    "isValid": lambda value: value is not None and value == value,
    "toNumber": lambda value: None if value in (None, "") else to_number(value),
    "toString": lambda value: None if value in (None, "") else to_text(value),
    "toBoolean": lambda value: None if value in (None, "") else truth(value),
    "toDate": lambda value: None if value in (None, "") else _time(value),
    "parseFloat": to_number,
    "parseInt": _math(math.trunc),
    "time": _time,
    "datetime": _datetime,
    "utc": _datetime,
    "year": _part("year"),
    "quarter": lambda value: _part("quarter")(value) + 1,
    "month": _part("month"),
    "week": _part("week"),
    "date": _part("date"),
    "day": _part("day"),
    "dayofyear": _part("dayofyear"),
    "hours": _part("hours"),
    "minutes": _part("minutes"),
    "seconds": _part("seconds"),
    "milliseconds": _part("milliseconds"),
    "lower": lambda value: to_text(value).lower(),
    "upper": lambda value: to_text(value).upper(),
    "trim": lambda value: to_text(value).strip(),
    "length": _length,
    "slice": _slice,
    "substring": _substring,
    "indexof": _find,
    "lastindexof": lambda value, part: to_text(value).rfind(to_text(part)),
    "split": _split,
    "join": lambda parts, by=",": to_text(by).join(map(to_text, parts)),
    "replace": lambda value, old, new: to_text(value).replace(to_text(old), to_text(new), 1),
    "pad": _pad,
    "span": lambda values: to_number(values[-1]) - to_number(values[0]),
    "reverse": lambda values: list(reversed(values)),
}
for _name in ("year", "quarter", "month", "date", "day", "hours", "minutes", "seconds"):
    FUNCTIONS[f"utc{_name}"] = FUNCTIONS[_name]
