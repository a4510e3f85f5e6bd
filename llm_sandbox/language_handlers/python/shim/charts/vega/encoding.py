"""Channels of a Vega-Lite encoding: fields, titles and sort order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .aggregates import aggregate
from .stack import order_key
from .time import UNITS, split_unit

if TYPE_CHECKING:
    from .filters import Row

__all__ = ["Channel", "channels_of", "describe_field", "domain_of"]

_LISTS = ("detail", "tooltip", "order")


@dataclass
class Channel:
    """Channel with a field, a datum or a value."""

    name: str
    about: dict[str, Any]
    field: str | None = None
    """Field of the prepared rows with the values."""
    end: str | None = None
    """Field of the prepared rows with the upper ends of bins."""
    dates: bool = False

    @property
    def kind(self) -> str:
        """Measurement type: quantitative, temporal, ordinal or nominal."""
        given = self.about.get("type")
        if isinstance(given, str):
            return {"Q": "quantitative", "T": "temporal", "O": "ordinal", "N": "nominal"}.get(
                given, given
            )
        if self.aggregate or self.about.get("bin"):
            return "quantitative"
        datum = self.about.get("datum")
        if self.about.get("timeUnit") or isinstance(datum, dict):
            return "temporal"
        return "quantitative" if isinstance(datum, (int, float)) else "nominal"

    @property
    def aggregate(self) -> Any:
        """Aggregate operation, if any."""
        return self.about.get("aggregate")

    @property
    def is_binned(self) -> bool:
        """True if the values are bins, computed here or before."""
        return bool(self.about.get("bin"))

    @property
    def is_field(self) -> bool:
        """True if the channel encodes a field."""
        shown = self.about.get("field") is not None or self.aggregate is not None
        return shown or "datum" in self.about

    @property
    def is_discrete(self) -> bool:
        """True if the channel has a discrete scale."""
        return self.kind in ("ordinal", "nominal")

    @property
    def is_measure(self) -> bool:
        """True if the channel has a continuous scale and no bins."""
        return self.kind == "quantitative" and not self.is_binned


def channels_of(encoding: Mapping[str, Any]) -> dict[str, Channel]:
    """Return the channels of an encoding; lists of fields become numbered channels.

    Args:
        encoding: The encoding as JSON values.
    """
    found: dict[str, Channel] = {}
    for name, about in encoding.items():
        parts = about if isinstance(about, list) and name in _LISTS else [about]
        for number, part in enumerate(parts):
            if not isinstance(part, dict):
                continue
            key = f"{name} {number}" if number else name
            inner = part.get("condition")
            chosen = part
            bare = "field" not in part and "aggregate" not in part
            # Nothing is selected at first, and so the condition of a selection holds.
            if bare and isinstance(inner, dict) and "field" in inner and "test" not in inner:
                chosen = inner
            found[key] = Channel(name, chosen)
    return found


def describe_field(about: Mapping[str, Any]) -> Any:
    """Return the title of an axis, as Vega-Lite composes it.

    Args:
        about: The definition of the channel.
    """
    for owner in (about.get("axis"), about.get("header"), about.get("legend"), about):
        if isinstance(owner, Mapping) and "title" in owner:
            title = owner["title"]
            return " ".join(map(str, title)) if isinstance(title, list) else title
    field, operation = about.get("field"), about.get("aggregate")
    if operation == "count":
        return "Count of Records"
    if isinstance(operation, dict):
        word, other = next(iter(operation.items()), ("", ""))
        return f"{field} for {str(word)[3:]} {other}"
    if operation:
        return f"{str(operation)[:1].upper()}{str(operation)[1:]} of {field}"
    unit = about.get("timeUnit")
    if unit:
        name = str(unit.get("unit") if isinstance(unit, dict) else unit)
        parts = split_unit(name) or [name]
        return f"{field} ({'-'.join(sorted(parts, key=UNITS.index))})"
    if about.get("bin") and about.get("bin") != "binned":
        return f"{field} (binned)"
    return field


def domain_of(channel: Channel, rows: Iterable[Row], source: Iterable[Row], all_: Any) -> list[Any]:
    """Return the domain of a discrete channel in scale order.

    Args:
        channel: The channel.
        rows: The rows that are drawn.
        source: The rows before aggregation, by which names may be sorted.
        all_: The channels of the same view by name.

    Returns:
        The names.
    """
    scale = channel.about.get("scale")
    given = scale.get("domain") if isinstance(scale, dict) else None
    field = channel.field or ""
    if isinstance(given, list):
        return given
    names = list(dict.fromkeys(row.get(field) for row in rows))
    sort = channel.about.get("sort", "ascending")
    if sort is None:
        return names
    if isinstance(sort, list):
        first = [name for name in sort if name in names]
        return first + [name for name in names if name not in first]
    if isinstance(sort, dict) or sort not in ("ascending", "descending"):
        return _ordered(channel, names, sort, list(source), all_)
    found = [name for name in names if name is not None]
    found.sort(key=order_key, reverse=sort == "descending")
    return found + ([None] if None in names else [])


def _ordered(
    channel: Channel, names: list[Any], sort: Any, source: list[Row], all_: dict[str, Channel]
) -> list[Any]:
    """Sort names by another field, or by the values of another channel."""
    if isinstance(sort, str):
        sort = {
            "encoding": sort.lstrip("-"),
            "order": "descending" if sort.startswith("-") else "ascending",
        }
    field, operation = sort.get("field"), sort.get("op")
    other = all_.get(str(sort.get("encoding")))
    if other is not None:
        field = other.about.get("field")
        operation = other.aggregate
        if field is None and operation is None:
            return names
    if operation is None:
        operation = "min"
    own = channel.about.get("field") if not channel.about.get("timeUnit") else channel.field
    own = channel.field if channel.is_binned else own
    groups: dict[Any, list[Any]] = {name: [] for name in names}
    for row in source:
        name = row.get(str(own))
        if name in groups:
            groups[name].append(row.get(str(field)))
    keys = {name: order_key(aggregate(str(operation), values)) for name, values in groups.items()}
    return sorted(names, key=keys.__getitem__, reverse=sort.get("order") == "descending")
