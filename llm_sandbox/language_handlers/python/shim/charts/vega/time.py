"""Dates as Vega represents them: milliseconds since 1970, with UTC as local time."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["UNITS", "floor_date", "moment", "parse_date", "parts_of", "split_unit"]

UNITS = (
    "year",
    "quarter",
    "month",
    "week",
    "dayofyear",
    "date",
    "day",
    "hours",
    "minutes",
    "seconds",
    "milliseconds",
)
_PREFIXES = re.compile(r"^(?:binned)?(?:utc)?")
_ISO = re.compile(
    r"\s*(\d{4})(?:[-/](\d\d?)(?:[-/](\d\d?))?)?"
    r"(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?\s*\Z"
)
_FORMATS = (
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%b %d %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %Y",
    "%B %Y",
    "%a, %d %b %Y %H:%M:%S GMT",
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_date(value: Any) -> float | None:
    """Return a date as milliseconds.

    Args:
        value: Text that JavaScript parses as a date, or milliseconds.

    Returns:
        Milliseconds; ``None`` if the value is not a date.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return _date_of_parts(value)
    if not isinstance(value, str) or len(value) > 60:
        return None
    match = _ISO.match(value)
    try:
        if match is not None:
            return _milliseconds(_read_iso(match))
        for form in _FORMATS:
            try:
                found = datetime.strptime(value.strip(), form)  # noqa: DTZ007 - has no zone
            except ValueError:
                continue
            return _milliseconds(found.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
    return None


def _read_iso(match: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    numbers = [int(part or 0) for part in (hour, minute, second)]
    # JavaScript keeps milliseconds.
    micro = int((fraction or "0").ljust(3, "0")[:3]) * 1000
    start = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    found = start + timedelta(
        hours=numbers[0], minutes=numbers[1], seconds=numbers[2], microseconds=micro
    )
    if zone and zone[0] in "+-":
        away = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        found = found - away if zone[0] == "+" else found + away
    return found


def _milliseconds(value: datetime) -> float:
    return (value - _EPOCH) // timedelta(milliseconds=1)


_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def _date_of_parts(about: dict[str, Any]) -> float | None:
    month = about.get("month", 1)
    if isinstance(month, str):
        month = _MONTHS.index(month[:3].lower()) + 1 if month[:3].lower() in _MONTHS else None
    if about.get("quarter") is not None:
        month = about["quarter"] * 3 - 2
    try:
        found = datetime(int(about.get("year", 2012)), int(month), 1, tzinfo=UTC)
        found += timedelta(
            days=int(about.get("date", 1)) - 1,
            hours=about.get("hours", 0),
            minutes=about.get("minutes", 0),
            seconds=about.get("seconds", 0),
            milliseconds=about.get("milliseconds", 0),
        )
    except (TypeError, ValueError, OverflowError):
        return None
    return _milliseconds(found)


def moment(value: float | None) -> datetime | None:
    """Return milliseconds as a date without a zone; ``None`` beyond the years 1 to 9999."""
    if value is None or isinstance(value, (bool, str)):
        return None
    try:
        return (_EPOCH + timedelta(milliseconds=value)).replace(tzinfo=None)
    except (OverflowError, ValueError, TypeError):
        return None


def split_unit(unit: str) -> list[str] | None:
    """Return the parts of a time unit such as ``yearmonth``, or ``None`` for an unknown one."""
    rest = _PREFIXES.sub("", unit)
    found = []
    while rest:
        # `dayofyear` and `date` begin like others: the longest fits.
        name = max((u for u in UNITS if rest.startswith(u)), key=len, default=None)
        if name is None:
            return None
        found.append(name)
        rest = rest[len(name) :]
    return found or None


def parts_of(value: datetime) -> dict[str, int]:
    """Return the date part that a function of Vega's expressions computes."""
    first = value.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
    day_of_year = value.timetuple().tm_yday
    weekday = (value.weekday() + 1) % 7
    first_weekday = (first.weekday() + 1) % 7
    return {
        "year": value.year,
        "quarter": (value.month - 1) // 3,
        "month": value.month - 1,
        # Sundays since New Year's Day, which itself does not count.
        "week": (day_of_year - 1 + first_weekday) // 7,
        "dayofyear": day_of_year,
        "date": value.day,
        "day": weekday,
        "hours": value.hour,
        "minutes": value.minute,
        "seconds": value.second,
        "milliseconds": value.microsecond // 1000,
    }


def floor_date(value: float, units: list[str], step: int = 1) -> float | None:
    """Truncate a date to its time unit.

    Args:
        value: Milliseconds.
        units: Parts that are kept; a missing year becomes 2012.
        step: Step of the smallest part.

    Returns:
        Milliseconds.
    """
    date = moment(value)
    if date is None:
        return None
    parts = parts_of(date)
    last = units[-1]

    def part(name: str, origin: int = 0) -> int:
        number = parts[name]
        if name == last and step > 1:
            number = origin + (number - origin) // step * step
        return number

    year = part("year") if "year" in units else 2012
    month = 0
    if "month" in units:
        month = part("month")
    elif "quarter" in units:
        month = part("quarter") * 3
    try:
        found = datetime(year, month + 1, 1, tzinfo=UTC)
        found += timedelta(days=_day(units, part, parts, found) - 1)
        found += timedelta(**{name: part(name) for name in UNITS[-4:] if name in units})
    except (ValueError, OverflowError):
        return None
    return _milliseconds(found)


def _day(units: list[str], part: Any, parts: dict[str, int], first: datetime) -> int:
    """Return the day of the month, which may be out of range."""
    first_weekday = (first.weekday() + 1) % 7
    if "week" in units:
        day = parts["day"] if "day" in units else 0
        return int(day + part("week") * 7 - (first_weekday + 6) % 7)
    if "day" in units:
        return int(part("day")) + 1
    if "date" in units:
        return int(part("date", 1))
    if "dayofyear" in units:
        return int(part("dayofyear", 1))
    return 1
