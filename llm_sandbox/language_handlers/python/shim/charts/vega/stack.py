"""Stacking of values, as Vega's stack transform does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .functions import to_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .filters import Row

__all__ = ["order_key", "sort_rows", "stack_rows"]


def order_key(value: Any) -> tuple[Any, ...]:
    """Return a key that orders values of any type: null first, then numbers, then texts."""
    if value is None or value != value:
        return (0, 0)
    if isinstance(value, (int, float)):
        return (1, value)
    return (2, str(value))


def sort_rows(rows: list[Row], order: Sequence[tuple[str, bool]]) -> list[Row]:
    """Return rows sorted by fields, each with a flag for descending order."""
    found = list(rows)
    for field, descending in reversed(order):
        found.sort(key=lambda row, f=field: order_key(row.get(f)), reverse=descending)  # type: ignore[misc]
    return found


def stack_rows(
    rows: list[Row],
    field: str,
    groups: Sequence[str],
    order: Sequence[tuple[str, bool]],
    offset: Any,
    ends: tuple[str, str],
) -> None:
    """Add both ends of stacked values to rows, in place.

    Args:
        rows: The rows.
        field: Field to stack.
        groups: Fields whose values identify a stack.
        order: Fields that order a stack, each with a flag for descending order.
        offset: ``zero``, ``normalize`` or ``center``.
        ends: Names of the new fields.
    """
    stacks: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        stacks.setdefault(tuple(row.get(group) for group in groups), []).append(row)
    sizes = {key: sum(abs(_size(row, field)) for row in members) for key, members in stacks.items()}
    largest = max(sizes.values(), default=0)
    for key, members in stacks.items():
        ordered = sort_rows(members, order)
        if offset == "normalize":
            _normalise(ordered, field, sizes[key], ends)
        elif offset == "center":
            at = (largest - sizes[key]) / 2
            for row in ordered:
                row[ends[0]], at = at, at + abs(_size(row, field))
                row[ends[1]] = at
        else:
            up = down = 0.0
            for row in ordered:
                size = _size(row, field)
                if size < 0:
                    row[ends[0]], down = down, down + size
                    row[ends[1]] = down
                else:
                    row[ends[0]], up = up, up + size
                    row[ends[1]] = up


def _size(row: Row, field: str) -> float:
    number = to_number(row.get(field))
    return number if number == number else 0


def _normalise(rows: list[Row], field: str, total: float, ends: tuple[str, str]) -> None:
    scale = 1 / total if total else 1
    size = last = 0.0
    for row in rows:
        size += abs(_size(row, field))
        row[ends[0]], last = last, scale * size
        row[ends[1]] = last
