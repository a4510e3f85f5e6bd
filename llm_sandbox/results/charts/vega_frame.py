"""Shared parts of the layers of a Vega-Lite view: axis types, scales, titles, colours."""

import datetime
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeGuard

from llm_sandbox.results.charts.chart import Chart
from llm_sandbox.results.charts.kinds import AxisScale, SeriesKind
from llm_sandbox.results.charts.series import Axis, Series, Value

__all__ = ["HEIGHT", "WIDTH", "Frame", "Spec", "is_number"]

Spec: TypeAlias = dict[str, Any]

WIDTH = 420
HEIGHT = 300

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?")
_TOP_DOWN = frozenset({"altair", "seaborn"})
"""Libraries that put the first category of a vertical axis at the top."""


class Frame:
    """Shared parts of the layers of one view."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.across = chart.orientation == "horizontal"
        """Whether bars, boxes and violins are horizontal."""
        self.types = {
            "x": _type(chart.x, _values(chart, "x")),
            "y": _type(chart.y, _values(chart, "y")),
            "y2": _type(chart.y2, _values(chart, "y2")),
        }
        for name, known in chart.more_axes.items():
            self.types[name] = _type(known, _values(chart, name))
        self.names = _names(chart.series)
        drawn = [item for item in chart.series if item.kind is not SeriesKind.RULE]
        self.colored = len(drawn) > 1 or any(item.name for item in drawn)
        """Whether colours distinguish the series."""

    @property
    def key(self) -> str:
        """Channel on which bars, bins and boxes are side by side."""
        return "y" if self.across else "x"

    @property
    def value(self) -> str:
        """Channel of the lengths of bars."""
        return "x" if self.across else "y"

    def type_of(self, channel: str, axis: str) -> str:
        """Return the type of a channel for series on the axis `axis`."""
        return self.types[axis if axis[0] == channel else channel]

    def axis_of(self, channel: str, axis: str) -> Axis | None:
        """Return the axis of a channel."""
        return self.chart.all_axes.get(axis if axis[0] == channel else channel)

    def position(self, channel: str, field: str, axis: str = "y", **more: Any) -> Spec:
        """Return the definition of a channel that shows a field."""
        kind, known = self.type_of(channel, axis), self.axis_of(channel, axis)
        title = known.name or None if known is not None else None
        found: Spec = {"field": field, "type": kind, "title": title}
        if kind == "nominal":
            found["sort"] = self._sort(channel, known)
        else:
            scale = _scale(known, kind)
            if "domain" not in scale and kind == "quantitative" and "type" not in scale:
                scale["zero"] = bool(more.pop("zero", False))
            if scale:
                found["scale"] = scale
        if channel == axis[0] and axis != channel:
            # A third axis stands outside of the second.
            outside = {"offset": 60 * (int(axis[1:]) - 2)} if axis[1:] > "2" else {}
            found["axis"] = {"orient": "right" if channel == "y" else "top"} | outside
        more.pop("zero", None)
        return found | more

    def _sort(self, channel: str, axis: Axis | None) -> list[str] | None:
        names = axis.ticks if axis is not None and axis.scale is AxisScale.CATEGORY else ()
        if not names:
            names = tuple(_values(self.chart, channel))
        order = list(dict.fromkeys(str(name) for name in names if name is not None))
        if channel == "y" and self.chart.library not in _TOP_DOWN:
            order.reverse()
        return order or None

    def floor(self, channel: str, axis: str = "y") -> float | None:
        """Return the base of bars on a logarithmic axis, which has no zero; None on others."""
        known = self.axis_of(channel, axis)
        if known is None or known.scale is not AxisScale.LOG:
            return None
        ends = [end for end in known.limits or () if is_number(end) and end > 0]
        least = [v for v in _values(self.chart, channel) if is_number(v) and v > 0]
        return float(min(ends)) if ends else min(least, default=1.0) / 10

    def place(self, value: Value, channel: str, axis: str = "y") -> Value:
        """Return a value in the form that Vega parses."""
        kind = self.type_of(channel, axis)
        if kind == "temporal" and isinstance(value, str) and len(value) == 10:
            # Vega takes a bare date for midnight in Greenwich, and all else for local time.
            return f"{value}T00:00:00"
        return str(value) if kind == "nominal" and value is not None else value

    def color(self) -> Spec:
        """Return the colour encoding that distinguishes series; empty for one series without a
        name.
        """
        if not self.colored:
            return {}
        scale: Spec = {"domain": list(dict.fromkeys(self.names))}
        colors = [item.color for item in self.chart.series]
        if all(colors) and len(scale["domain"]) == len(colors):
            scale["range"] = colors
        return {"color": {"field": "series", "type": "nominal", "title": None, "scale": scale}}

    def name(self, series: Series) -> str:
        """Return the name of a series, or its number if it has none."""
        for name, item in zip(self.names, self.chart.series, strict=True):
            if item is series:
                return name
        return series.name

    def mark(self, kind: str, group: Sequence[Series], **more: Any) -> Spec:
        """Return a mark definition, with the colour of the only series."""
        found: Spec = {"type": kind} | more
        if not self.colored and group[0].color:
            found["color"] = group[0].color
        return found


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number other than a boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _names(series: Sequence[Series]) -> list[str]:
    found: list[str] = []
    for number, item in enumerate(series, 1):
        name = item.name or f"series {number}"
        # Several artists often share a legend entry: a line and the band around it.
        found.append(name)
    return found


def _values(chart: Chart, channel: str) -> list[Value]:
    """Return all values on a channel."""
    across = chart.orientation == "horizontal"
    found: list[Value] = []
    for item in chart.series:
        if (item.axis if item.axis[0] == channel[0] else channel[0]) != channel:
            continue
        letter = channel[0]
        along = letter == ("x" if across else "y")
        names: Iterable[str] = (letter, f"{letter}_low", f"{letter}_high")
        if item.kind is SeriesKind.BAR and along and _begins_at_text(item):
            names = ("base",)
        elif item.kind is SeriesKind.HISTOGRAM:
            names = ("count",) if along else ("start", "end")
        elif item.kind in (SeriesKind.BOX, SeriesKind.VIOLIN):
            names = ("min", "max") if along else ("label",)
        for name in names:
            for value in item.columns.get(name, ()):
                found.extend(value if isinstance(value, tuple) else (value,))
    return found


def _begins_at_text(item: Series) -> bool:
    """Return whether bars begin at dates: then their lengths are not positions on the axis."""
    return any(isinstance(value, str) for value in item.columns.get("base", ()))


def _type(axis: Axis | None, values: list[Value]) -> str:
    known = [value for value in values if value is not None]
    if axis is not None and axis.scale is AxisScale.CATEGORY:
        return "nominal"
    if known and all(isinstance(value, str) for value in known):
        dates = all(isinstance(value, str) and _DATE.fullmatch(value) for value in known)
        return "temporal" if dates else "nominal"
    return "quantitative" if all(map(is_number, known)) else "nominal"


def _scale(axis: Axis | None, kind: str) -> Spec:
    if axis is None:
        return {}
    scale: Spec = {}
    if kind == "quantitative" and axis.scale in (AxisScale.LOG, AxisScale.SYMLOG):
        scale["type"] = axis.scale.value
    limits = axis.limits or ()
    ends = [_end(end, kind) for end in limits]
    if len(limits) != 2 or None in ends or limits[0] == limits[1]:
        return scale
    backwards = _is_backwards(*limits)
    if scale.get("type") == "log" and any(is_number(end) and end <= 0 for end in limits):
        return scale
    scale |= {"domain": ends[::-1] if backwards else ends, "nice": False}
    return scale | ({"reverse": True} if backwards else {})


def _is_backwards(first: Value, last: Value) -> bool:
    if is_number(first) and is_number(last):
        return first > last
    return str(first) > str(last)


def _end(value: Value, kind: str) -> object:
    if kind == "quantitative":
        return value if is_number(value) else None
    if kind != "temporal" or not isinstance(value, str):
        return None
    try:
        moment = datetime.datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is not None:
        return None
    found = {"year": moment.year, "month": moment.month, "date": moment.day}
    return found | {"hours": moment.hour, "minutes": moment.minute, "seconds": moment.second}
