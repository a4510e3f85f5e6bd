"""Filters of Vega-Lite: predicates on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .expression import Expression, ExpressionError
from .functions import to_number, truth
from .time import floor_date, parse_date, split_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Row", "make_filter"]

Row = dict[str, Any]
_UNKNOWN = "a selection is not computed here"


def make_filter(about: Any, names: Mapping[str, Any]) -> Callable[[Row], bool]:
    """Return the function of a predicate.

    Args:
        about: An expression, or a predicate as an object.
        names: Values of the parameters.

    Returns:
        A function that returns whether to keep a row.

    Raises:
        ExpressionError: The predicate is not supported.
    """
    if isinstance(about, str):
        expression = Expression(about, names)
        return lambda row: truth(expression(row))
    if not isinstance(about, dict):
        raise ExpressionError("a filter is neither an expression nor an object")
    for word, reduce in (("and", all), ("or", any)):
        if word in about:
            parts = [make_filter(part, names) for part in about[word]]
            return _combine(reduce, parts)
    if "not" in about:
        inner = make_filter(about["not"], names)
        return lambda row: not inner(row)
    if "param" in about or "selection" in about:
        return _selected(about, names)
    return _field_filter(about)


def _combine(
    reduce: Callable[[Any], bool], parts: list[Callable[[Row], bool]]
) -> Callable[[Row], bool]:
    return lambda row: reduce(part(row) for part in parts)


def _selected(about: dict[str, Any], names: Mapping[str, Any]) -> Callable[[Row], bool]:
    name = about.get("param") or about.get("selection")
    known = names.get(str(name))
    if isinstance(known, dict) and known.get("is_selection"):
        if known.get("value") is not None:
            return _chosen(known["value"], known.get("select"))
        # Nothing is selected at first, and that means everything unless the filter says otherwise.
        empty = about.get("empty") is not False
        return lambda row: empty
    if name is None or known is None:
        raise ExpressionError(_UNKNOWN)
    return lambda row: truth(known)


def _chosen(value: Any, select: Any) -> Callable[[Row], bool]:
    """Return a predicate for the initial selection, by the values of fields."""
    fields = select.get("fields") if isinstance(select, dict) else None
    parts = value if isinstance(value, list) else [value]
    if isinstance(fields, list) and len(fields) == 1:
        parts = [part if isinstance(part, dict) else {fields[0]: part} for part in parts]
    known = [part for part in parts if isinstance(part, dict)]
    plain = all(isinstance(v, (str, int, float)) for part in known for v in part.values())
    if not known or len(known) < len(parts) or not plain or "interval" in str(select):
        raise ExpressionError(_UNKNOWN)
    return lambda row: any(all(row.get(k) == v for k, v in part.items()) for part in known)


def _field_filter(about: dict[str, Any]) -> Callable[[Row], bool]:
    field = about.get("field")
    if not isinstance(field, str):
        raise ExpressionError("a filter names no field")
    unit = about.get("timeUnit")
    read = _reader(field, unit)
    for word, test in _COMPARISONS.items():
        if word in about:
            wanted = _literal(about[word])
            return _compare(read, wanted, test)
    if "range" in about:
        low, high = (_literal(end) if end is not None else None for end in about["range"])
        return _ranged(read, low, high)
    for word in ("oneOf", "in"):
        if word in about:
            values = [_literal(value) for value in about[word]]
            return lambda row: read(row) in values
    if "valid" in about:
        valid = bool(about["valid"])
        return lambda row: (read(row) is not None and read(row) == read(row)) == valid
    raise ExpressionError("a filter is not understood")


def _literal(value: Any) -> Any:
    return parse_date(value) if isinstance(value, dict) else value


def _reader(field: str, unit: Any) -> Callable[[Row], Any]:
    if unit is None:
        return lambda row: row.get(field)
    units = split_unit(str(unit.get("unit") if isinstance(unit, dict) else unit))
    if units is None:
        raise ExpressionError("a time unit is not known")

    def read(row: Row) -> Any:
        date = parse_date(row.get(field))
        return None if date is None else floor_date(date, units)

    return read


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
}


def _compare(
    read: Callable[[Row], Any], wanted: Any, test: Callable[[Any, Any], bool]
) -> Callable[[Row], bool]:
    def keep(row: Row) -> bool:
        value = read(row)
        if isinstance(value, str) and isinstance(wanted, (int, float)) and "-" in value[1:]:
            value = parse_date(value)
        if isinstance(value, str) and isinstance(wanted, str):
            return test(value, wanted)
        if value is None or wanted is None:
            return test is _COMPARISONS["equal"] and value is wanted
        return test(to_number(value), to_number(wanted))

    return keep


def _ranged(read: Callable[[Row], Any], low: Any, high: Any) -> Callable[[Row], bool]:
    def keep(row: Row) -> bool:
        value = read(row)
        if isinstance(value, str) and "-" in value[1:]:
            value = parse_date(value)
        if value is None:
            return False
        number = to_number(value)
        return (low is None or number >= to_number(low)) and (
            high is None or number <= to_number(high)
        )

    return keep
