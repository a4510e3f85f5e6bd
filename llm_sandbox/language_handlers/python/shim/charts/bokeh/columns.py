"""Values of bokeh glyphs: fields, constants and sums, resolved in their data sources."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from .. import record
from ..colors import web_color
from ..plotly.values import from_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Columns", "field_of", "kind_of", "on_axis", "stack_fields"]


def kind_of(model: Any) -> str:
    """Return the name of a model's class."""
    return type(model).__name__


def field_of(value: Any) -> str | None:
    """Return the field that a property refers to, if any."""
    if isinstance(value, str):
        return value
    field = getattr(value, "field", None)
    return field if kind_of(value) == "Field" and isinstance(field, str) else None


def stack_fields(value: Any) -> list[str] | None:
    """Return the fields that a property adds up, if any."""
    expression: Any = getattr(value, "expr", None)
    if kind_of(expression) == "Stack":
        return list(expression.fields)
    return None


def _name(value: Any) -> Any:
    """Return a factor as one name; nested factors are joined."""
    if isinstance(value, (list, tuple)):
        return " / ".join(map(str, value))
    return value


class Columns:
    """Columns of one renderer."""

    def __init__(self, renderer: Any) -> None:
        self._data = dict(getattr(renderer.data_source, "data", None) or {})
        self.hidden: dict[str, None] = {}
        """Descriptions of values that only JavaScript computes."""
        try:
            self._kept = _kept_rows(getattr(renderer, "view", None), self._data)
        except _Unknown:
            self._kept = []
            self.hidden["which rows a filter of JavaScript keeps"] = None
        self._length = min((len(values) for values in self._data.values()), default=0)

    @property
    def names(self) -> list[str]:
        """Names of all fields."""
        return [str(name) for name in self._data]

    def raw(self, field: str) -> list[Any]:
        """Return a field unchanged, without the rows that a filter hides."""
        values = self._data.get(field)
        if values is None:
            return []
        listed = list(values) if not hasattr(values, "tolist") else values
        if self._kept is not None:
            return [listed[row] for row in self._kept if row < len(listed)]
        return listed

    def field(self, field: str) -> list[Any]:
        """Return a field as plain values."""
        values = self.raw(field)
        if any(isinstance(value, (list, tuple)) for value in values[:1]):
            return [_name(value) for value in values]
        return record.column(values)

    def get(self, value: Any) -> list[Any] | None:
        """Return the values of a glyph's property, one per row.

        Args:
            value: The property.

        Returns:
            Plain values; ``None`` when they are unknown.
        """
        field = field_of(value)
        if "CustomJS" in kind_of(getattr(value, "transform", None)) + kind_of(
            getattr(value, "expr", None)
        ):
            self.hidden["values that JavaScript computes"] = None
            return None
        if field is not None:
            return self.field(field) if field in self._data else None
        if kind_of(value) == "Value":
            return [record.plain(_name(value.value))] * self.length
        fields = stack_fields(value)
        if fields is not None:
            return self._sum(fields)
        expression = getattr(value, "expr", None)
        if kind_of(expression) == "CumSum":
            return self._running(expression)
        if isinstance(value, (int, float, tuple)) and not isinstance(value, bool):
            return [_name(value)] * self.length
        return None

    def has_durations(self, *values: Any) -> bool:
        """Return whether one of some properties is a column of durations."""
        for value in values:
            column = self._data.get(field_of(value))
            if getattr(getattr(column, "dtype", None), "kind", "") == "m":
                return True
            if column is not None and len(column) and isinstance(next(iter(column)), timedelta):
                return True
        return False

    @property
    def length(self) -> int:
        """Number of rows."""
        return self._length if self._kept is None else len(self._kept)

    def _sum(self, fields: Sequence[str]) -> list[Any]:
        totals: list[Any] = [0] * self.length
        for field in fields:
            totals = [
                None if a is None or not isinstance(b, (int, float)) else a + b
                for a, b in zip(totals, self.field(field), strict=False)
            ]
        return totals

    def _running(self, expression: Any) -> list[Any]:
        total: float = 0
        found = []
        for value in self.field(expression.field):
            before, total = total, total + (value or 0)
            found.append(before if expression.include_zero else total)
        return found

    def color(self, *values: Any) -> str | None:
        """Return the first of some properties that is a single colour."""
        for value in values:
            plain = value.value if kind_of(value) == "Value" else value
            if isinstance(plain, str) and plain not in self._data:
                found = web_color(plain)
                if found is not None:
                    return found
        return None


def on_axis(values: list[Any] | None, dates: bool) -> list[Any]:
    """Return values as an axis displays them: milliseconds as dates on a date axis."""
    if values is None:
        return []
    if dates and any(isinstance(value, (int, float)) for value in values):
        return [from_ms(v) if isinstance(v, (int, float)) else v for v in values]
    return values


class _Unknown(Exception):
    """Error of a value that JavaScript computes."""


def _kept_rows(view: Any, data: dict[Any, Any]) -> list[int] | None:
    """Return the rows that a view shows, or ``None`` for all of them.

    Raises:
        _Unknown: JavaScript filters the rows.
    """
    chosen: Any = getattr(view, "filter", None)
    if chosen is None or kind_of(chosen) == "AllIndices":
        return None
    length = min((len(values) for values in data.values()), default=0)
    return sorted(_chosen_rows(chosen, data, length))


def _chosen_rows(chosen: Any, data: dict[Any, Any], length: int) -> set[int]:
    kind = kind_of(chosen)
    if kind == "GroupFilter":
        values = data.get(chosen.column_name, [])
        return {row for row, value in enumerate(values) if value == chosen.group}
    if kind == "BooleanFilter" and chosen.booleans is not None:
        return {row for row, keep in enumerate(chosen.booleans) if keep and row < length}
    if kind == "IndexFilter" and chosen.indices is not None:
        return {int(row) for row in chosen.indices if int(row) < length}
    if kind == "CustomJSFilter":
        raise _Unknown
    everything = set(range(length))
    if kind == "InversionFilter":
        return everything - _chosen_rows(chosen.operand, data, length)
    parts = [_chosen_rows(part, data, length) for part in getattr(chosen, "operands", ())]
    function = _COMBINED.get(kind)
    return function(parts) if function is not None and parts else everything


_COMBINED: dict[str, Callable[[list[set[int]]], set[int]]] = {
    "UnionFilter": lambda parts: set().union(*parts),
    "IntersectionFilter": lambda parts: parts[0].intersection(*parts[1:]),
    "DifferenceFilter": lambda parts: parts[0].difference(*parts[1:]),
    "SymmetricDifferenceFilter": lambda parts: {
        row for row in set().union(*parts) if sum(row in part for part in parts) % 2
    },
}
