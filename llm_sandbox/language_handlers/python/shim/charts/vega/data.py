"""Data sources of a Vega-Lite specification: their rows."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from .expression import ExpressionError
from .functions import to_number
from .time import parse_date

if TYPE_CHECKING:
    from .filters import Row

__all__ = ["read_data"]

_SEQUENCE_LIMIT = 100_000


def read_data(about: Any, datasets: dict[str, Any]) -> list[Row]:
    """Return the rows of a data source.

    Args:
        about: The source.
        datasets: Tables of the specification by name.

    Returns:
        The rows.

    Raises:
        ExpressionError: The rows are not in the specification.
    """
    if about is None:
        return [{}]
    if not isinstance(about, dict):
        raise ExpressionError("a source of data is no object")
    if "url" in about:
        raise ExpressionError("the data is at an address and not in the figure")
    if "sequence" in about:
        return _sequence(about["sequence"])
    values = about.get("values")
    if values is None and isinstance(about.get("name"), str):
        values = datasets.get(about["name"])
    form = about.get("format")
    form = form if isinstance(form, dict) else {}
    if isinstance(values, str):
        values = _read_text(values, str(form.get("type") or "json"))
    if isinstance(values, dict):
        values = values.get(str(form.get("property"))) if form.get("property") else [values]
    if not isinstance(values, list):
        raise ExpressionError("the data is not in the figure")
    rows = [dict(v) if isinstance(v, dict) else {"data": v} for v in values]
    wanted = form.get("parse")
    if isinstance(wanted, dict):
        _parse(rows, wanted)
    return rows


def _sequence(about: dict[str, Any]) -> list[Row]:
    start, stop = to_number(about.get("start")), to_number(about.get("stop"))
    step = to_number(about.get("step") or 1)
    if not step or not 0 <= (stop - start) / step <= _SEQUENCE_LIMIT:
        raise ExpressionError("a sequence is too long")
    name, found, number = str(about.get("as") or "data"), [], 0
    while (value := start + number * step) < stop if step > 0 else value > stop:
        found.append({name: value})
        number += 1
    return found


def _read_text(text: str, kind: str) -> list[Any]:
    if kind not in ("csv", "tsv"):
        raise ExpressionError("the data is text of an unknown form")
    lines = csv.DictReader(io.StringIO(text), delimiter="," if kind == "csv" else "\t")
    rows: list[Row] = [dict(line) for line in lines]
    for name in lines.fieldnames or ():
        numbers = [to_number(row.get(name)) for row in rows]
        if all(number == number for number in numbers):
            for row, number in zip(rows, numbers, strict=True):
                row[name] = number if row.get(name) not in (None, "") else None
    return rows


def _parse(rows: list[Row], wanted: dict[str, Any]) -> None:
    for name, kind in wanted.items():
        for row in rows:
            value = row.get(name)
            if value is None:
                continue
            if kind == "number":
                row[name] = to_number(value)
            elif kind == "date":
                row[name] = parse_date(value)
            elif kind == "string":
                row[name] = str(value)
