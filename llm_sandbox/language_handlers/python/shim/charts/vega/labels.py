"""Labels of Vega-Lite channels: on axes, in legends and above facets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .expression import Expression
from .functions import to_text
from .syntax import ExpressionError
from .time import moment, split_unit

if TYPE_CHECKING:
    from .encoding import Channel

__all__ = ["ticks_of", "unread_labels", "write", "writes_names"]

_UNITS = {
    "year": "%Y ", "quarter": "Q%q ", "month": "%b ", "week": "W%U ", "date": "%d ", "day": "%a ",
    "dayofyear": "%j ", "hours": "%H:00", "minutes": "00:%M", "seconds": ":%S",
    "milliseconds": ".%L", "year-month": "%b %Y ", "year-month-date": "%b %d, %Y ",
    "hours-minutes": "%H:%M",
}  # fmt: skip
_NUMBER = re.compile(r"(\$?)(,?)(?:\.(\d+))?([fd%]?)\Z")


def _owner(channel: Channel) -> dict[str, Any]:
    for name in ("axis", "header", "legend"):
        about = channel.about.get(name)
        if isinstance(about, dict):
            return about
    return {}


def _unit(channel: Channel) -> str:
    unit = channel.about.get("timeUnit")
    return str(unit.get("unit") or "") if isinstance(unit, dict) else str(unit or "")


def writes_names(channel: Channel) -> bool:
    """Return whether labels replace the values: dates as names, and labels that are set."""
    if channel.dates:
        unit = _unit(channel)
        return channel.is_discrete or bool(unit and "year" not in unit)
    about = _owner(channel)
    return channel.is_discrete and bool(about.get("labelExpr") or about.get("format"))


def write(channel: Channel, value: Any) -> str:
    """Return the label of a value; dates are milliseconds."""
    about = _owner(channel)
    text = _plain(channel, value, about.get("format"))
    expression = about.get("labelExpr")
    if not isinstance(expression, str):
        return text
    try:
        return to_text(Expression(expression)({"value": value, "label": text}))
    except ExpressionError:
        return text


def unread_labels(channel: Channel, name: str, values: list[Any]) -> list[str]:
    """Describe axis labels that cannot be computed."""
    expression = _owner(channel).get("labelExpr")
    if isinstance(expression, str):
        try:
            for value in values[:1] or [0]:
                Expression(expression)({"value": value, "label": to_text(value)})
        except ExpressionError as error:
            return [f"the labels of the {name} axis ({error})"]
    return []


def ticks_of(channel: Channel) -> list[tuple[Any, str]]:
    """Return the ticks of a quantitative axis that are set explicitly, with their labels."""
    about = _owner(channel)
    values = about.get("values")
    named = isinstance(values, list) and isinstance(about.get("labelExpr"), str)
    return [(value, write(channel, value)) for value in values or ()] if named else []


def _plain(channel: Channel, value: Any, form: Any) -> str:
    if value is None or not channel.dates:
        match = _NUMBER.match(form) if isinstance(form, str) else None
        if match is None or not isinstance(value, (int, float)):
            return to_text(value)
        sign, comma, digits, kind = match.groups()
        kind = kind or "f"
        digits = "0" if kind == "d" or digits is None else digits
        return sign + format(value, f"{comma}.{digits}{'f' if kind == 'd' else kind}")
    date = moment(value)
    if date is None:
        return to_text(value)
    form = form if isinstance(form, str) else _specifier(_unit(channel))
    form = form.replace("%q", str((date.month + 2) // 3)).replace("%L", f"{date:%f}"[:3])
    return date.strftime(form).strip()


def _specifier(unit: str) -> str:
    """Return the default format of Vega-Lite for a time unit."""
    parts = split_unit(unit) or []
    found, start = "", 0
    while start < len(parts):
        for end in range(len(parts), start, -1):
            known = _UNITS.get("-".join(parts[start:end]))
            if known is not None:
                found, start = found + known, end
                break
    return found or "%Y-%m-%d"
