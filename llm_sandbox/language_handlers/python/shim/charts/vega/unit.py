"""One Vega-Lite view with a mark: its rows binned, aggregated and stacked as Vega does it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .aggregates import aggregate
from .encoding import Channel, channels_of
from .expression import ExpressionError
from .functions import to_number
from .stack import stack_rows
from .time import parse_date
from .transforms import bin_rows, group_rows, truncate_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .filters import Row

__all__ = ["View", "prepare"]

_STACKED = frozenset({"bar", "area", "arc"})
_SMALL = frozenset({"row", "column", "facet", "size", "color", "fill", "stroke", "shape"})
_APART = (
    "color",
    "fill",
    "stroke",
    "shape",
    "strokeDash",
    "opacity",
    "detail",
    "xOffset",
    "yOffset",
)
START, END = "stack start", "stack end"


@dataclass
class View:
    """Mark, its channels, and the rows to draw."""

    mark: str
    about: dict[str, Any]
    """Definition of the mark."""
    channels: dict[str, Channel]
    rows: list[Row] = field(default_factory=list)
    source: list[Row] = field(default_factory=list)
    """Rows before aggregation."""
    stacked: str | None = None
    """Channel whose values are stacked."""
    offset: str | None = None

    @property
    def horizontal(self) -> bool:
        """True if bars are horizontal and lines run upwards."""
        given = self.about.get("orient")
        if given in ("horizontal", "vertical"):
            return bool(given == "horizontal")
        x, y = self.channels.get("x"), self.channels.get("y")
        if x is None or y is None:
            return x is not None and x.is_measure and self.mark != "tick"
        if x.is_measure and not y.is_measure:
            return True
        if x.is_measure and y.is_measure:
            if "x2" in self.channels and "y2" not in self.channels:
                return True
            return bool(x.aggregate) and not y.aggregate
        return False

    def apart(self) -> list[Channel]:
        """Return the channels that distinguish series, without the position channels."""
        axes = {
            channel.field
            for name, channel in self.channels.items()
            if name in ("x", "y", "row", "column", "facet")
            # Lines are broken by a field even where an axis shows it; bars stand apart anyway.
            and (self.mark not in ("line", "trail") or name not in ("x", "y"))
        }
        found: dict[str, Channel] = {}
        for channel in self.channels.values():
            divides = channel.is_discrete or channel.name == "detail" or channel.is_binned
            divides = divides or (channel.kind == "temporal" and channel.name in _APART)
            divides = divides and channel.is_field and not channel.aggregate
            if divides and channel.name in _APART and channel.field not in (None, *axes):
                found.setdefault(str(channel.field), channel)
        return list(found.values())


def prepare(mark: dict[str, Any], encoding: Mapping[str, Any], rows: list[Row]) -> View:
    """Evaluate the encoding of a view.

    Args:
        mark: The definition of its mark.
        encoding: Channels of the view; those named ``facet ...`` separate the rows of panels.
        rows: Rows of the view after all transforms.

    Returns:
        The view.

    Raises:
        ExpressionError: The view uses a feature that is not implemented.
    """
    view = View(str(mark.get("type")), mark, channels_of(encoding))
    view.source = [dict(row) for row in rows]
    for channel in view.channels.values():
        _prepare_channel(channel, view.source)
    more = [c.field for name, c in view.channels.items() if name.startswith("facet ") and c.field]
    if view.mark == "bar" and "theta" in view.channels:
        raise ExpressionError("bars around a centre are not read here")
    view.rows = _aggregate(view, more)
    _drop_invalid(view)
    _stack(view, more)
    return view


def _prepare_channel(channel: Channel, rows: list[Row]) -> None:
    if "datum" in channel.about:
        _set_datum(channel, rows)
        return
    name = channel.about.get("field")
    if isinstance(name, dict):
        raise ExpressionError("a repeated field is not known")
    if name is not None:
        name = _plain(rows, str(name))
    channel.field = name
    unit, bins = channel.about.get("timeUnit"), channel.about.get("bin")
    if unit and name is not None:
        channel.field = f"{unit if isinstance(unit, str) else unit.get('unit')} of {name}"
        truncate_rows(rows, name, unit, channel.field)
        channel.dates = True
    elif bins and bins != "binned" and name is not None:
        if not (isinstance(bins, dict) and bins.get("binned")):
            _bin_channel(channel, rows, name, bins)
    elif channel.kind == "temporal" and name is not None and not channel.aggregate:
        channel.field = f"date of {name}"
        channel.dates = True
        known: dict[Any, float | None] = {}
        for row in rows:
            value = row.get(name)
            if isinstance(value, (list, dict)):
                continue
            if value not in known:
                known[value] = parse_date(value)
            row[channel.field] = known[value]


def _set_datum(channel: Channel, rows: list[Row]) -> None:
    value = channel.about["datum"]
    if isinstance(value, dict) and ("expr" in value or "repeat" in value):
        raise ExpressionError("a datum that is an expression is not computed here")
    channel.dates = channel.kind == "temporal"
    channel.field = f"datum of {channel.name}"
    for row in rows:
        row[channel.field] = parse_date(value) if channel.dates else value


def _plain(rows: list[Row], name: str) -> str:
    """Return a field, resolved in nested objects if its name is a path."""
    clean = name.replace("\\.", ".").replace("\\[", "[").replace("\\]", "]")
    if "." not in name or clean != name or any(clean in row for row in rows[:1]):
        return clean
    for row in rows:
        value: Any = row
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        row[name] = value
    return name


def _bin_channel(channel: Channel, rows: list[Row], name: str, bins: Any) -> None:
    most = 6 if channel.name in _SMALL else 10
    if isinstance(bins, dict) and ("param" in (bins.get("extent") or {}) or "selection" in bins):
        raise ExpressionError("bins of a selection are not computed here")
    if channel.kind == "temporal":
        for row in rows:
            row[f"date of {name}"] = parse_date(row.get(name))
        name = f"date of {name}"
        channel.dates = True
    key = f"bin {most} {bins!r} of {name}"
    channel.field, channel.end = key, f"{key} end"
    bin_rows(rows, name, bins, (key, channel.end), most)


def _aggregate(view: View, more: Sequence[str]) -> list[Row]:
    channels = list(view.channels.values())
    if not any(channel.aggregate for channel in channels):
        return view.source
    groups = [f for c in channels if not c.aggregate for f in (c.field, c.end) if f is not None]
    groups = list(dict.fromkeys([*more, *groups]))
    found = []
    groups_of_rows = group_rows(view.source, groups)
    for members in groups_of_rows.values():
        row = {name: members[0].get(name) for name in groups}
        for channel in channels:
            if channel.aggregate:
                row[_name(channel)] = _reduce(channel, members)
        found.append(row)
    for channel in channels:
        if channel.aggregate:
            channel.field = _name(channel)
            channel.dates = channel.kind == "temporal"
    return found


def _name(channel: Channel) -> str:
    return f"{channel.aggregate} of {channel.about.get('field')}"


def _reduce(channel: Channel, members: list[Row]) -> Any:
    operation, name = channel.aggregate, str(channel.field)
    if isinstance(operation, dict):
        word, other = next(iter(operation.items()), ("", ""))
        known = [row for row in members if row.get(str(other)) is not None]
        if word not in ("argmin", "argmax") or not known:
            raise ExpressionError("this aggregate is not computed here")
        best = (min if word == "argmin" else max)(known, key=lambda r: to_number(r[str(other)]))
        return best.get(name)
    values = [row.get(name) for row in members]
    if channel.kind == "temporal":
        values = [parse_date(value) for value in values]
    try:
        return aggregate(str(operation), values)
    except ValueError as error:
        raise ExpressionError(str(error)) from error


def _drop_invalid(view: View) -> None:
    """Remove rows without a position on the axes; lines and areas keep their gaps."""
    if view.mark in ("line", "area", "trail") or view.about.get("invalid", "x") is None:
        return
    names = [
        channel.field
        for name, channel in view.channels.items()
        if name in ("x", "y", "theta", "radius")
        and channel.field
        and channel.kind in ("quantitative", "temporal")
    ]
    view.rows = [
        row
        for row in view.rows
        if all((v := row.get(name)) is not None and to_number(v) == to_number(v) for name in names)
    ]


def _stack(view: View, more: Sequence[str]) -> None:
    name = _stacked_channel(view)
    if name is None:
        return
    channel = view.channels[name]
    offset = channel.about.get("stack", "zero" if view.mark in _STACKED else None)
    offset = "zero" if offset is True else offset
    scale = channel.about.get("scale")
    if isinstance(scale, dict) and scale.get("type") not in (None, "linear", "point", "band"):
        return
    if offset not in ("zero", "normalize", "center") or f"{name}2" in view.channels:
        return
    other = view.channels.get({"x": "y", "y": "x"}.get(name, ""))
    groups = [f for f in (other.field, other.end) if f] if other is not None else []
    for offset_name in ("xOffset", "yOffset"):
        beside = view.channels.get(offset_name)
        if beside is not None and beside.field:
            groups.append(beside.field)
    groups = list(dict.fromkeys([*more, *groups]))
    if view.mark == "area":
        _fill_gaps(view, channel, groups, more)
    stack_rows(
        view.rows, channel.field or "", groups, _stack_order(view, groups), offset, (START, END)
    )
    view.stacked, view.offset = name, str(offset)


def _stack_order(view: View, groups: list[str]) -> list[tuple[str, bool]]:
    order = [c for c in view.channels.values() if c.name == "order" and c.field]
    if order:
        return [(c.field or "", c.about.get("sort") == "descending") for c in order]
    if view.mark == "arc":
        return [(c.field or "", False) for c in view.apart()]
    apart = [
        c
        for c in view.channels.values()
        if c.name in _APART and c.is_field and not c.aggregate and c.field not in groups
    ]
    return [(c.field or "", True) for c in apart]


def _stacked_channel(view: View) -> str | None:
    if view.mark == "arc":
        return "theta" if view.channels.get("theta") is not None else None
    x, y = view.channels.get("x"), view.channels.get("y")
    fits = {
        name: channel
        for name, channel in (("x", x), ("y", y))
        if channel is not None and channel.is_field and channel.is_measure
    }
    if len(fits) == 2:
        if "stack" in fits["x"].about:
            return "x"
        if "stack" in fits["y"].about:
            return "y"
        return "x" if view.horizontal else "y"
    return next(iter(fits), None)


def _fill_gaps(view: View, channel: Channel, groups: list[str], more: Sequence[str]) -> None:
    """Add a row with zero wherever a stacked area has no row."""
    apart = [c.field for c in view.apart() if c.field]
    if not apart or not groups:
        return
    along = [name for name in groups if name not in more]
    for panel in group_rows(view.rows, list(more)).values():
        places = group_rows(panel, along)
        kinds = group_rows(panel, apart)
        known = group_rows(panel, [*along, *apart])
        for place in places:
            for kind in kinds:
                if (*place, *kind) not in known:
                    row = {name: panel[0].get(name) for name in more}
                    row.update(zip(along, place, strict=True))
                    row.update(zip(apart, kind, strict=True))
                    row[channel.field or ""] = 0
                    view.rows.append(row)
