"""Transforms of Vega-Lite, applied to rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .aggregates import aggregate, choose_bins
from .expression import Expression, ExpressionError
from .filters import Row, make_filter
from .functions import to_number
from .models import density, quantiles, regression
from .stack import stack_rows
from .time import floor_date, parse_date, split_unit
from .windows import window_rows

__all__ = ["bin_rows", "group_rows", "transform_rows", "truncate_rows"]

_ROW_LIMIT = 2_000_000
Names = Mapping[str, Any]


def transform_rows(rows: list[Row], steps: Sequence[Any], names: Names) -> list[Row]:
    """Apply transforms in order.

    Args:
        rows: The rows; they are not changed.
        steps: The transforms of a specification.
        names: Values of the parameters, and lookup tables.

    Returns:
        The rows afterwards.

    Raises:
        ExpressionError: A transform is unknown, or cannot be computed.
    """
    for about in steps:
        if not isinstance(about, dict):
            raise ExpressionError("a transform is no object")
        for word, step in _STEPS.items():
            if word in about:
                try:
                    rows = step(rows, about, names)
                except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
                    if isinstance(error, ExpressionError):
                        raise
                    raise ExpressionError(f"the transform {word} cannot be computed") from error
                break
        else:
            raise ExpressionError(f"the transform {next(iter(about), '')} is not computed here")
        if len(rows) > _ROW_LIMIT:
            raise ExpressionError("a transform gives too many rows")
    return rows


def group_rows(rows: list[Row], fields: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Return rows grouped by the values of fields, in order of first appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        key = tuple(_hashable(row.get(field)) for field in fields)
        groups.setdefault(key, []).append(row)
    return groups


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, (list, dict)) else value


def _filter(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    keep = make_filter(about["filter"], names)
    return [row for row in rows if keep(row)]


def _calculate(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    expression, name = Expression(about["calculate"], names), about["as"]
    return [{**row, name: expression(row)} for row in rows]


def _aggregate(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    fields = about.get("groupby") or []
    found = []
    for members in group_rows(rows, fields).values():
        row = {field: members[0].get(field) for field in fields}
        row.update(_reduced(members, about["aggregate"]))
        found.append(row)
    return found


def _reduced(members: list[Row], operations: list[Any]) -> Row:
    return {
        part["as"]: aggregate(part["op"], [row.get(part.get("field")) for row in members])
        for part in operations
    }


def _join(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    fields = about.get("groupby") or []
    groups = group_rows(rows, fields)
    known = {key: _reduced(members, about["joinaggregate"]) for key, members in groups.items()}
    return [{**row, **known[tuple(_hashable(row.get(f)) for f in fields)]} for row in rows]


def bin_rows(rows: list[Row], field: str, about: Any, names: tuple[str, str], most: int) -> None:
    """Add the ends of the bins of a field to rows, in place."""
    parameters = about if isinstance(about, dict) else {}
    numbers = [to_number(row[field]) for row in rows if row.get(field) is not None]
    bins = choose_bins([n for n in numbers if n == n], parameters, most)
    for row in rows:
        ends = bins.ends(row.get(field)) if bins is not None else None
        row[names[0]], row[names[1]] = ends or (None, None)


def truncate_rows(rows: list[Row], field: str, unit: Any, name: str) -> list[str]:
    """Add a field truncated to its time unit to rows, in place; return the parts of the unit."""
    parameters = unit if isinstance(unit, dict) else {"unit": unit}
    units = split_unit(str(parameters.get("unit")))
    if units is None:
        raise ExpressionError("a time unit is not known")
    step = int(to_number(parameters.get("step") or 1))
    known: dict[Any, float | None] = {}
    for row in rows:
        value = row.get(field)
        if value not in known:
            date = parse_date(value)
            known[value] = None if date is None else floor_date(date, units, step)
        row[name] = known[value]
    return units


def _bin(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    if not about["bin"]:
        return rows
    given = about["as"]
    ends = (given[0], given[1]) if isinstance(given, list) else (given, f"{given}_end")
    found = [dict(row) for row in rows]
    bin_rows(found, about["field"], about["bin"], ends, 10)
    return found


def _truncate(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    found = [dict(row) for row in rows]
    truncate_rows(found, about["field"], about["timeUnit"], about["as"])
    return found


def _fold(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    key, value = about.get("as") or ("key", "value")
    fields = about["fold"]
    return [{**row, key: field, value: row.get(field)} for row in rows for field in fields]


def _flatten(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    fields = about["flatten"]
    targets = about.get("as") or fields
    found = []
    for row in rows:
        columns = [row[field] if isinstance(row.get(field), list) else [] for field in fields]
        for number in range(max(map(len, columns), default=0)):
            parts = [c[number] if number < len(c) else None for c in columns]
            found.append({**row, **dict(zip(targets, parts, strict=False))})
    return found


def _pivot(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    fields = about.get("groupby") or []
    field, value = about["pivot"], about["value"]
    columns = sorted({row[field] for row in rows if row.get(field) is not None}, key=str)
    found = []
    for members in group_rows(rows, fields).values():
        made = {name: members[0].get(name) for name in fields}
        for column in columns:
            values = [row.get(value) for row in members if row.get(field) == column]
            made[str(column)] = aggregate(about.get("op") or "sum", values)
        found.append(made)
    return found


def _impute(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    field, key = about["impute"], about["key"]
    method = about.get("method") or "value"
    if about.get("frame") not in (None, [None, None]):
        raise ExpressionError("a frame of imputed values is not computed here")
    keys = dict.fromkeys(row.get(key) for row in rows)
    more = about.get("keyvals") or []
    if isinstance(more, dict):
        raise ExpressionError("a sequence of keys is not computed here")
    keys.update(dict.fromkeys(more))
    fields = about.get("groupby") or []
    found = []
    for members in group_rows(rows, fields).values():
        values = [row.get(field) for row in members]
        filled = about.get("value") if method == "value" else aggregate(method, values)
        known = {row.get(key) for row in members}
        found += [
            {**row, field: filled if row.get(field) is None else row[field]} for row in members
        ]
        first = {name: members[0].get(name) for name in fields}
        found += [{**first, key: place, field: filled} for place in keys if place not in known]
    return found


def _lookup(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    source = about["from"]
    tables = names.get("lookup tables") or {}
    table = tables(source.get("data") or {}) if callable(tables) else None
    if table is None:
        raise ExpressionError("the table of a lookup is not in the specification")
    key = source["key"]
    known: dict[Any, Row] = {}
    for row in table:
        known.setdefault(_hashable(row.get(key)), row)
    fields = source.get("fields")
    given = about.get("as")
    targets = [given] if isinstance(given, str) else given or fields
    found = []
    for row in rows:
        other = known.get(_hashable(row.get(about["lookup"])))
        if fields is None:
            found.append({**row, **({targets[0]: other} if targets else {})})
            continue
        values = [about.get("default") if other is None else other.get(f) for f in fields]
        found.append({**row, **dict(zip(targets, values, strict=False))})
    return found


def _stack(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    given = about["as"]
    ends = (given[0], given[1]) if isinstance(given, list) else (given, f"{given}_end")
    order = [(part["field"], part.get("order") == "descending") for part in about.get("sort") or ()]
    found = [dict(row) for row in rows]
    stack_rows(found, about["stack"], about.get("groupby") or [], order, about.get("offset"), ends)
    return found


def _by_group(
    function: Callable[[list[Row], dict[str, Any]], list[Row]],
) -> Callable[[list[Row], dict[str, Any], Names], list[Row]]:
    def step(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
        fields = about.get("groupby") or []
        found = []
        for members in group_rows(rows, fields).values():
            first = {field: members[0].get(field) for field in fields}
            found += [{**first, **row} for row in function(members, about)]
        return found

    return step


def _density(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    if about.get("resolve") == "independent":
        raise ExpressionError("a density with a grid of its own is not computed here")
    if about.get("extent") is None:
        values = [
            to_number(row[about["density"]])
            for row in rows
            if row.get(about["density"]) is not None
        ]
        values = [value for value in values if value == value]
        about = {**about, "extent": [min(values, default=0), max(values, default=0)]}
    return _by_group(density)(rows, about, names)


def _window(rows: list[Row], about: dict[str, Any], names: Names) -> list[Row]:
    groups = group_rows(rows, about.get("groupby") or [])
    return [row for members in groups.values() for row in window_rows(members, about)]


_STEPS: dict[str, Callable[[list[Row], dict[str, Any], Names], list[Row]]] = {
    "filter": _filter,
    "calculate": _calculate,
    "joinaggregate": _join,
    "aggregate": _aggregate,
    "timeUnit": _truncate,
    "bin": _bin,
    "fold": _fold,
    "flatten": _flatten,
    "pivot": _pivot,
    "impute": _impute,
    "lookup": _lookup,
    "stack": _stack,
    "window": _window,
    "regression": _by_group(regression),
    "density": _density,
    "quantile": _by_group(quantiles),
}
