"""Axes of a plotly figure: types, categories and positions in the figure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import record
from .values import are_numbers, clean_text, date_of, items, to_number

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Axis", "Layout", "names_of", "ticks_of"]

_SAMPLE = 1000
_ORDERS = {"category ascending": False, "category descending": True}
_BY_VALUE: dict[str, Callable[[list[float]], float]] = {
    "total": sum,
    "sum": sum,
    "min": min,
    "max": max,
    "mean": lambda values: sum(values) / len(values),
    "median": lambda values: _median(sorted(values)),
}


def _median(ordered: list[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def names_of(values: list[Any] | None) -> list[Any] | None:
    """Return values with nested categories joined.

    Args:
        values: A column, or two of them for nested categories.

    Returns:
        One column.
    """
    if values and len(values) > 1 and all(isinstance(items(part), list) for part in values[:2]):
        parts = [items(part) or [] for part in values]
        return [" / ".join(map(str, names)) for names in zip(*parts, strict=False)]
    return values


def _hashable(value: Any) -> Any:
    return str(value) if isinstance(value, (list, dict)) else value


@dataclass
class _Shared:
    """State shared by axes that match."""

    kind: str
    categories: dict[Any, None] = field(default_factory=dict)
    weights: dict[Any, list[float]] = field(default_factory=dict)
    """Values at each category, if the category order depends on them."""


class Axis:
    """Axis of a layout, with the data of its traces."""

    def __init__(self, name: str, about: dict[str, Any]) -> None:
        self.name = name
        self.about = about
        self._shared = _Shared(str(about.get("type") or "-"))
        known = items(about.get("categoryarray")) or ()
        self._shared.categories.update(dict.fromkeys(map(_hashable, known)))

    def match(self, other: Axis) -> None:
        """Share type and categories with another axis."""
        if self._shared.kind in ("-", other.kind):
            other._shared.categories.update(self._shared.categories)
            self._shared = other._shared

    @property
    def kind(self) -> str:
        """Type of the axis as plotly names it; ``-`` while it is undetermined."""
        return self._shared.kind

    @property
    def domain(self) -> tuple[float, float]:
        """Extent of the axis as fractions of the figure."""
        ends = items(self.about.get("domain")) or [0.0, 1.0]
        low, high = to_number(ends[0]), to_number(ends[-1])
        return (low or 0.0, 1.0 if high is None else high)

    def infer(self, values: list[Any] | None, nested: bool = False) -> None:
        """Infer the type from the values of a trace, and add its categories."""
        if not values:
            return
        if self.kind == "-":
            strict = self.about.get("autotypenumbers") == "strict"
            self._shared.kind = "category" if nested else _guess(values, strict)
        if self.is_category:
            for value in values:
                if value is not None and not isinstance(value, (list, dict)):
                    self._shared.categories.setdefault(value)

    def add_weights(self, values: list[Any] | None, sizes: list[Any] | None) -> None:
        """Record the values at each category, if the category order depends on them."""
        if not self.is_category or not self._order() or not values:
            return
        for value, size in zip(values, [1] * len(values) if sizes is None else sizes, strict=False):
            number = to_number(size)
            if number is not None and not isinstance(value, (list, dict)):
                self._shared.weights.setdefault(value, []).append(number)

    def _order(self) -> tuple[Callable[[list[float]], float], bool] | None:
        word, _, way = str(self.about.get("categoryorder") or "").partition(" ")
        function = _BY_VALUE.get(word)
        return None if function is None else (function, way == "descending")

    @property
    def is_category(self) -> bool:
        """True if the axis is categorical."""
        return self.kind in ("category", "multicategory")

    @property
    def is_date(self) -> bool:
        """True if the axis shows dates."""
        return self.kind == "date"

    def categories(self) -> list[Any]:
        """Return the names in the order of the axis."""
        found = list(self._shared.categories)
        order = self.about.get("categoryorder")
        if order in _ORDERS:
            found.sort(key=str, reverse=_ORDERS[str(order)])
        by_value = self._order()
        if by_value is not None:
            function, down = by_value
            weights = self._shared.weights
            found.sort(key=lambda name: function(weights.get(name) or [0.0]), reverse=down)
        return found

    def convert(self, values: list[Any] | None) -> list[Any]:
        """Return values as the axis shows them; ``None`` if it cannot."""
        if not values:
            return []
        if self.is_category:
            return [None if isinstance(value, (list, dict)) else value for value in values]
        if self.is_date:
            return [date_of(value) for value in values]
        if are_numbers(values):
            return values
        return [to_number(value) for value in values]

    def describe(self) -> record.Record:
        """Return the axis as part of a chart."""
        scale = {"log": "log", "date": "datetime", "linear": "linear", "-": "linear"}
        label = clean_text(self.about.get("title"))
        if self.is_category:
            names = self.categories()
            return record.axis(label, "category", None, map(str, names), map(str, names))
        ticks, texts = ticks_of(self.about)
        return record.axis(
            label, scale.get(self.kind, "other"), self._limits(), self.convert(ticks), texts
        )

    def _limits(self) -> list[Any] | None:
        ends = items(self.about.get("range"))
        if ends is None or len(ends) != 2:
            return None
        if self.kind == "log":
            powers = [to_number(end) for end in ends]
            return [None if p is None or abs(p) > 300 else math.pow(10, p) for p in powers]
        return self.convert(ends)


def ticks_of(about: dict[str, Any]) -> tuple[list[Any], list[str | None]]:
    """Return the ticks that are set explicitly, and their labels.

    Args:
        about: An axis, or a colour bar.
    """
    if about.get("tickmode") not in (None, "array"):
        return [], []
    texts = items(about.get("ticktext")) or []
    return items(about.get("tickvals")) or [], [clean_text(text) for text in texts]


def _guess(values: list[Any], strict: bool) -> str:
    """Infer a type as plotly.js does: from the majority of the distinct values."""
    step = max(1.0, (len(values) - 1) / _SAMPLE)
    seen = {}
    for number in range(min(len(values), _SAMPLE + 1)):
        value = values[min(len(values) - 1, round(number * step))]
        if not isinstance(value, (list, dict)):
            seen[str(value)] = value
    dates = numbers = plain_numbers = texts = 0
    for value in seen.values():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        readable = to_number(value) is not None
        dates += not is_number and date_of(value) is not None
        plain_numbers += readable
        numbers += is_number if strict else readable
        texts += isinstance(value, bool) or (isinstance(value, str) and not readable)
    if dates > 2 * plain_numbers:
        return "date"
    if texts > 2 * numbers:
        return "category"
    return "linear" if numbers else "-"


class Layout:
    """Layout of a figure."""

    def __init__(self, about: dict[str, Any]) -> None:
        self.about = about
        template = about.get("template")
        self._template = template.get("layout") or {} if isinstance(template, dict) else {}
        self._axes: dict[str, Axis] = {}

    def axis(self, name: Any, letter: str) -> Axis:
        """Return an axis by the name that traces use, such as ``x2``."""
        name = str(name or letter)
        if name not in self._axes:
            about = self.about.get(f"{letter}axis{name[1:]}")
            axis = Axis(name, about if isinstance(about, dict) else {})
            self._axes[name] = axis
            leader = axis.about.get("matches")
            if isinstance(leader, str) and leader[:1] == letter and leader != name:
                axis.match(self.axis(leader, letter))
        return self._axes[name]

    def base_of(self, axis: Axis) -> Axis:
        """Return the axis that this one overlays, or itself."""
        over = axis.about.get("overlaying")
        if isinstance(over, str) and over not in ("free", axis.name) and over[:1] in "xy":
            return self.axis(over, over[0])
        return axis

    def names_on(self, axis: Axis) -> list[tuple[Any, str | None]]:
        """Return the tick labels of an axis, or of the axis it shares its ticks with.

        Of subplots that share an axis only the lowest has tick labels.
        """
        leader = axis.about.get("matches") or axis.name
        others = [
            self.axis(str(key).replace("axis", "", 1), axis.name[0])
            for key in self.about
            if str(key).startswith(f"{axis.name[0]}axis")
        ]
        sharing = [a for a in others if leader in (a.name, a.about.get("matches"))]
        for about in (axis.about, *(other.about for other in sharing)):
            ticks, texts = ticks_of(about)
            if ticks and texts:
                return list(zip(ticks, texts, strict=False))
        return []

    def area(self, name: str) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the domain of a scene, a polar plot or a map."""
        about = self.about.get(name)
        return area_of(about.get("domain") if isinstance(about, dict) else None)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting, from the template if the figure does not set it."""
        value = self.about.get(name)
        if value is None and isinstance(self._template, dict):
            value = self._template.get(name)
        return default if value is None else value


def area_of(domain: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return a two-dimensional domain as numbers."""
    domain = domain if isinstance(domain, dict) else {}
    whole = Axis("x", {"domain": domain.get("x")}), Axis("y", {"domain": domain.get("y")})
    return whole[0].domain, whole[1].domain
