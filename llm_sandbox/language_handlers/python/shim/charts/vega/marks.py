"""Readers of Vega-Lite marks: series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import record
from ..colors import SCHEMES, web_color
from .boxes import read_band, read_boxes, read_error_bars
from .encoding import Channel, domain_of
from .filters import Row
from .functions import to_number, to_text
from .labels import write, writes_names
from .stack import order_key
from .time import moment
from .unit import END, START, View

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["annotations_of", "read_view", "values_of"]

_RULES = 50
_POINTS = frozenset({"point", "circle", "square", "tick", "image"})
Group = tuple[str | None, str | None, list[Row]]
"""Label, colour and rows of a series."""


def values_of(channel: Channel | None, rows: list[Row], name: str | None = None) -> list[Any]:
    """Return the values of a channel; an empty text if there is no such channel."""
    field = name or (channel.field if channel is not None else None)
    if channel is None or field is None:
        return [""] * len(rows)
    values = [row.get(field) for row in rows]
    if name is None and writes_names(channel):
        return [None if value is None else write(channel, value) for value in values]
    if channel.dates:
        return [moment(value) for value in values]
    return values


def read_view(view: View, rows: list[Row]) -> list[record.Record]:
    """Read the rows of a view in one panel.

    Args:
        view: The view.
        rows: All rows of the view, or those of a facet.

    Returns:
        Series of the view.
    """
    reader = _READERS.get(view.mark)
    if view.mark in _POINTS:
        reader = _points
    if reader is None:
        return [] if view.mark == "text" else [record.series("other", {}, total=len(rows))]
    if view.mark in ("rect", "arc", "rule"):
        return reader(view, (None, _fixed_color(view), rows))
    found = []
    for group in groups_of(view, rows):
        found += reader(view, group)
    return found


def groups_of(view: View, rows: list[Row]) -> list[Group]:
    """Return the rows of each series, in legend order."""
    apart = view.apart()
    if not apart:
        return [(None, _fixed_color(view), rows)]
    orders = [
        {name: number for number, name in enumerate(_domain(view, channel))} for channel in apart
    ]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(channel.field or "") for channel in apart), []).append(row)

    def place(key: tuple[Any, ...]) -> tuple[int, ...]:
        return tuple(order.get(part, len(order)) for order, part in zip(orders, key, strict=True))

    found: list[Group] = []
    for key in sorted(groups, key=place):
        parts = [_name(channel, value) for channel, value in zip(apart, key, strict=True)]
        found.append((" / ".join(parts), _group_color(view, apart, orders, key), groups[key]))
    return found


def _domain(view: View, channel: Channel) -> list[Any]:
    return domain_of(channel, view.rows, view.source, view.channels)


def _name(channel: Channel, value: Any) -> str:
    if writes_names(channel):
        return write(channel, value)
    if channel.dates and value is not None:
        return str(record.plain(moment(value)))
    return to_text(value)


def _fixed_color(view: View) -> str | None:
    for name in ("color", "fill", "stroke"):
        channel = view.channels.get(name)
        if channel is not None and "value" in channel.about:
            return web_color(channel.about["value"])
    return web_color(view.about.get("color") or view.about.get("fill")) or "#4c78a8"


def _group_color(
    view: View, apart: list[Channel], orders: list[dict[Any, int]], key: tuple[Any, ...]
) -> str | None:
    for channel, order, value in zip(apart, orders, key, strict=True):
        if channel.name not in ("color", "fill", "stroke"):
            continue
        scale = channel.about.get("scale")
        scale = scale if isinstance(scale, dict) else {}
        number = order.get(value)
        colors = scale.get("range")
        if not isinstance(colors, list):
            scheme = scale.get("scheme")
            simple = channel.kind == "nominal" or isinstance(scheme, str)
            colors = SCHEMES.get(str(scheme or "tableau10")) if simple else None
        if not colors or number is None or (len(order) > 10 and "range" not in scale):
            return None
        return web_color(colors[number % len(colors)])
    return _fixed_color(view)


def _main(view: View) -> tuple[str, str]:
    """Return the channel of the positions, and that of the values."""
    return ("y", "x") if view.horizontal else ("x", "y")


def _sorted(view: View, rows: list[Row], channel: Channel | None) -> list[Row]:
    """Return rows in axis order."""
    if channel is None or channel.field is None:
        return rows
    field = channel.field
    if channel.is_discrete:
        order = {name: number for number, name in enumerate(_domain(view, channel))}
        return sorted(rows, key=lambda row: order.get(row.get(field), len(order)))
    return sorted(rows, key=lambda row: order_key(row.get(field)))


def _difference(row: Row, first: str, last: str) -> float | None:
    a, b = row.get(first), row.get(last)
    return None if a is None or b is None else to_number(b) - to_number(a)


def _bars(view: View, group: Group) -> list[record.Record]:
    label, color, rows = group
    along, across = _main(view)
    place, size = view.channels.get(along), view.channels.get(across)
    end = view.channels.get(f"{across}2")
    if place is not None and place.is_binned and not place.is_discrete and end is None:
        found = _histogram(view, group, place, size)
        if found is not None:
            return [found]
    rows = _sorted(view, rows, place)
    columns: dict[str, Any] = {along: _places(place, rows)}
    if end is not None and end.field and size is not None and size.field:
        first, last = size.field, end.field
        columns[across] = [_difference(row, first, last) for row in rows]
        columns["base"] = values_of(size, rows)
    elif view.stacked == across:
        columns[across] = _stacked_values(view, size, rows)
        base = [row.get(START) for row in rows]
        if any(base):
            columns["base"] = base
    else:
        columns[across] = values_of(size, rows)
    return [record.series("bar", columns, label, color)]


def _stacked_values(view: View, size: Channel | None, rows: list[Row]) -> list[Any]:
    """Return the value that each row adds to its stack."""
    if view.offset == "zero" and size is not None:
        return values_of(size, rows)
    return [_difference(row, START, END) for row in rows]


def _places(channel: Channel | None, rows: list[Row]) -> list[Any]:
    """Return the positions of bars: centres for bins."""
    if channel is not None and channel.end and not channel.is_discrete:
        starts, ends = values_of(channel, rows), values_of(channel, rows, channel.end)
        return [
            None if a is None or b is None else a + (b - a) / 2
            for a, b in zip(starts, ends, strict=True)
        ]
    if channel is not None and channel.end:
        starts, ends = values_of(channel, rows), values_of(channel, rows, channel.end)
        pairs = zip(starts, ends, strict=True)
        return ["null" if a is None else f"{to_text(a)} to {to_text(b)}" for a, b in pairs]
    return values_of(channel, rows)


def _histogram(
    view: View, group: Group, place: Channel, size: Channel | None
) -> record.Record | None:
    """Read bars on bins; ``None`` if they show something other than counts."""
    label, color, rows = group
    end = place.end
    other = view.channels.get(f"{place.name}2")
    if end is None and other is not None:
        end = other.field
    counted = size is not None and (size.aggregate == "count" or not size.aggregate)
    if end is None or size is None or not (counted or size.aggregate == "sum"):
        return None
    rows = [row for row in _sorted(view, rows, place) if row.get(place.field or "") is not None]
    counts = values_of(size, rows)
    if view.offset == "normalize":
        counts = [_difference(row, START, END) for row in rows]
    columns = {
        "start": values_of(place, rows),
        "end": values_of(place, rows, end),
        "count": counts,
    }
    return record.series("histogram", columns, label, color)


def _lines(view: View, group: Group) -> list[record.Record]:
    label, color, rows = group
    order = [c for c in view.channels.values() if c.name == "order" and c.field]
    along, _ = _main(view)
    rows = _sorted(view, rows, order[0] if order else view.channels.get(along))
    if order and order[0].about.get("sort") == "descending":
        rows = rows[::-1]
    columns = {name: _places(view.channels.get(name), rows) for name in ("x", "y")}
    step = str(view.about.get("interpolate") or "").startswith("step")
    found = [record.series("step" if step else "line", columns, label, color)]
    if view.about.get("point") and view.about.get("strokeWidth") == 0:
        found[0]["kind"] = "scatter"
    return found


def _areas(view: View, group: Group) -> list[record.Record]:
    label, color, rows = group
    along, across = _main(view)
    size, end = view.channels.get(across), view.channels.get(f"{across}2")
    rows = _sorted(view, rows, view.channels.get(along))
    columns: dict[str, Any] = {along: _places(view.channels.get(along), rows)}
    base: list[Any] = []
    if view.stacked == across:
        columns[across] = _stacked_values(view, size, rows)
        base = [row.get(START) for row in rows]
    else:
        columns[across] = values_of(size, rows)
        if end is not None and end.field:
            base = values_of(end, rows)
    if any(base):
        columns[f"{across}_base"] = base
    return [record.series("area", columns, label, color)]


def _points(view: View, group: Group) -> list[record.Record]:
    label, color, rows = group
    columns = {name: _places(view.channels.get(name), rows) for name in ("x", "y")}
    size = view.channels.get("size")
    if size is not None and size.field and size.kind == "quantitative":
        columns["size"] = values_of(size, rows)
    shade = _shade(view)
    if shade is not None:
        columns["value"] = values_of(shade, rows)
        color = None
    return [record.series("scatter", columns, label, color)]


def _shade(view: View) -> Channel | None:
    """Return the quantitative colour channel."""
    for name in ("color", "fill", "stroke"):
        channel = view.channels.get(name)
        if channel is not None and channel.field and channel.kind == "quantitative":
            return None if channel.is_binned else channel
    return None


def _cells(view: View, group: Group) -> list[record.Record]:
    _, color, rows = group
    x, y, shade = view.channels.get("x"), view.channels.get("y"), _shade(view)
    if x is None or y is None or shade is None or "x2" in view.channels or "y2" in view.channels:
        columns = {
            name: values_of(channel, rows)
            for name, channel in view.channels.items()
            if name in ("x", "x2", "y", "y2") and channel.field
        }
        return [record.series("other", columns, None, color)]
    grid: dict[str, list[Any]] = {}
    orders: dict[str, dict[Any, int]] = {}
    for name, channel in (("x", x), ("y", y)):
        ordered = _sorted(view, view.rows, channel)
        first: dict[Any, Row] = {}
        for row in ordered:
            first.setdefault(row.get(channel.field or ""), row)
        orders[name] = {value: number for number, value in enumerate(first)}
        grid[name] = _places(channel, list(first.values()))
    z: list[list[Any]] = [[None] * len(grid["x"]) for _ in grid["y"]]
    for row in rows:
        line = orders["y"].get(row.get(y.field or ""))
        place = orders["x"].get(row.get(x.field or ""))
        if line is not None and place is not None:
            z[line][place] = row.get(shade.field or "")
    return [record.series("heatmap", {**grid, "z": z})]


def _pie(view: View, group: Group) -> list[record.Record]:
    _, _, rows = group
    theta = view.channels.get("theta")
    if theta is None or theta.field is None:
        return [record.series("other", {}, total=len(rows))]
    apart = view.apart()
    if apart:
        rows = [row for _, _, members in groups_of(view, rows) for row in members]
    labels = [" / ".join(_name(c, row.get(c.field or "")) for c in apart) for row in rows]
    return [record.series("pie", {"label": labels, "value": values_of(theta, rows)})]


def _rules(view: View, group: Group) -> list[record.Record]:
    _, color, rows = group
    channels = view.channels
    x, y = channels.get("x"), channels.get("y")
    if "x2" in channels or "y2" in channels:
        letter = "y" if "y2" in channels else "x"
        other = "x" if letter == "y" else "y"
        columns = {other: values_of(channels.get(other), rows)}
        columns[f"{letter}_low"] = values_of(channels.get(letter), rows)
        columns[f"{letter}_high"] = values_of(channels.get(f"{letter}2"), rows)
        if channels.get(other) is None:
            del columns[other]
        return [record.series("errorbar", columns, None, color)]
    # A constant is drawn once for every row, in the same place.
    found: dict[tuple[Any, ...], record.Record] = {}
    name, channel = ("x", x) if x is not None and x.field else ("y", y)
    for row in rows if channel is not None and channel.field else ():
        place = values_of(channel, [row])
        label = " / ".join(_name(c, row.get(c.field or "")) for c in view.apart()) or None
        if len(found) < _RULES:
            found.setdefault((label, *place), record.series("rule", {name: place}, label, color))
    return list(found.values())


def _composite(
    function: Callable[..., list[record.Record]],
) -> Callable[[View, Group], list[record.Record]]:
    def read(view: View, group: Group) -> list[record.Record]:
        label, color, rows = group
        along, across = _main(view)
        place = view.channels.get(along)
        rows = _sorted(view, rows, place)
        return function(view, rows, (label, color), (along, across), values_of)

    return read


_READERS: dict[str, Callable[[View, Group], list[record.Record]]] = {
    "bar": _bars,
    "line": _lines,
    "trail": _lines,
    "area": _areas,
    "rect": _cells,
    "arc": _pie,
    "rule": _rules,
    "boxplot": _composite(read_boxes),
    "errorbar": _composite(read_error_bars),
    "errorband": _composite(read_band),
}


def annotations_of(view: View, rows: list[Row]) -> list[record.Record]:
    """Return the texts that a view draws."""
    channel = view.channels.get("text")
    if view.mark != "text":
        return []
    rows = rows[:100]
    fixed = view.about.get("text")
    texts = values_of(channel, rows) if channel is not None and channel.field else []
    if channel is not None and not channel.field:
        fixed = channel.about.get("value", fixed)
    if not texts:
        texts = [fixed or ""] * min(len(rows), 1)
    x, y = (values_of(view.channels.get(name), rows) for name in ("x", "y"))
    return [
        record.annotation(to_text(text) if not hasattr(text, "year") else text, a or None, b)
        for text, a, b in zip(texts, x, y, strict=False)
        if text not in (None, "")
    ]
