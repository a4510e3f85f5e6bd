"""Window transforms: ranks, cumulative sums and moving frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .aggregates import AGGREGATES, aggregate
from .expression import ExpressionError
from .functions import to_number
from .stack import order_key, sort_rows

if TYPE_CHECKING:
    from .filters import Row

__all__ = ["window_rows"]


def window_rows(rows: list[Row], about: dict[str, Any]) -> list[Row]:
    """Compute the fields of a window transform for one group.

    Args:
        rows: The rows of the group.
        about: The transform.

    Returns:
        The rows in the order of the window, with the new fields.

    Raises:
        ExpressionError: An operation is unknown.
    """
    order = [(part["field"], part.get("order") == "descending") for part in about.get("sort") or ()]
    found = [dict(row) for row in sort_rows(rows, order)]
    keys = [tuple(order_key(row.get(field)) for field, _ in order) for row in found]
    for part in about["window"]:
        name, operation = part["as"], part["op"]
        values = [row.get(part.get("field")) for row in found]
        if operation in AGGREGATES or operation in ("count", "valid", "missing", "distinct"):
            frame = about.get("frame") or [None, 0]
            peers = bool(order) and not about.get("ignorePeers", False)
            made = _framed(operation, values, frame, keys if peers else None)
        else:
            made = _ranked(operation, values, keys, part.get("param"))
        for row, value in zip(found, made, strict=True):
            row[name] = value
    return found


def _framed(
    operation: str, values: list[Any], frame: list[Any], keys: list[tuple[Any, ...]] | None
) -> list[Any]:
    last = len(values)
    first_part, last_part = frame
    if keys is None and first_part is None and last_part == 0 and operation == "sum":
        return _running_sum(values)
    found = []
    for place in range(last):
        start = 0 if first_part is None else max(0, place + int(first_part))
        end = last if last_part is None else min(last, place + int(last_part) + 1)
        if keys is not None:
            # Rows that the order does not tell apart are in a frame together.
            while 0 < start < last and keys[start - 1] == keys[start]:
                start -= 1
            while 0 < end < last and keys[end] == keys[end - 1]:
                end += 1
        found.append(aggregate(operation, values[start : max(start, end)]))
    return found


def _running_sum(values: list[Any]) -> list[float]:
    total: float = 0
    found = []
    for value in values:
        number = to_number(value) if value not in (None, "") else 0
        total += number if number == number else 0
        found.append(total)
    return found


def _ranked(
    operation: str, values: list[Any], keys: list[tuple[Any, ...]], parameter: Any
) -> list[Any]:
    count = len(values)
    starts = [place for place in range(count) if not place or keys[place] != keys[place - 1]]
    group = [0] * count
    for number, place in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else count
        group[place:end] = [number] * (end - place)
    ends = [*starts[1:], count]
    if operation == "row_number":
        return list(range(1, count + 1))
    if operation == "rank":
        return [1 + starts[number] for number in group]
    if operation == "dense_rank":
        return [1 + number for number in group]
    if operation == "percent_rank":
        return [starts[number] / (count - 1) if count > 1 else 0 for number in group]
    if operation == "cume_dist":
        return [ends[number] / count for number in group]
    if operation == "ntile":
        parts = int(to_number(parameter or 1))
        return [math.ceil(parts * ends[number] / count) for number in group]
    if operation in ("lag", "lead"):
        away = int(to_number(parameter or 1)) * (-1 if operation == "lag" else 1)
        return [values[p + away] if 0 <= p + away < count else None for p in range(count)]
    if operation == "first_value":
        return [values[0]] * count
    raise ExpressionError(f"the window operation {operation} is not computed here")
