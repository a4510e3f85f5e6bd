"""Chart records: the JSON form of charts, as received from inside and as stored in results."""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from llm_sandbox.results.charts.chart import Annotation, Chart
from llm_sandbox.results.charts.columns import find_needed, rows_within, trim
from llm_sandbox.results.charts.kinds import AxisScale, ChartKind, SeriesKind
from llm_sandbox.results.charts.series import Axis, Series, Value, count_values

__all__ = ["UNBOUNDED", "VERSION", "Bounds", "from_record", "to_record"]

VERSION = 1
"""Version of the JSON form of charts."""

_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_MOST_COLUMNS = 50
_AXIS_NAME = re.compile(r"x2|y[3-9]")
_MOST_ANNOTATIONS = 100
_MOST_UNREAD = 50
_DEEPEST = 3
_LARGEST = 2**62
_WIDEST = 1023
"""Most bits of an integer: floats, and JSON in other languages, cannot hold more."""

_Word = TypeVar("_Word", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on a record, for all of its charts together."""

    values: int = 50_000
    """Most values in columns; also most ticks."""
    charts: int = 100
    """Most charts in a figure."""
    series: int = 1_000
    """Most series in all."""
    text: int = 500
    """Most characters of one text."""


UNBOUNDED = Bounds(sys.maxsize, sys.maxsize, sys.maxsize, sys.maxsize)
"""No limits: for records that this library wrote itself."""


def from_record(record: object, bounds: Bounds | None = None) -> Chart | None:
    """Return the chart of a record; None if the record does not describe one.

    Never raises: unknown kinds become `other`, malformed parts are omitted, and parts beyond the
    bounds are cut, which the series records.

    Args:
        record: Anything that JSON can hold.
        bounds: Limits; by default those of `Bounds`.
    """
    # trust: every part of a record is whatever code inside wanted it to be.
    if not isinstance(record, Mapping) or not _is_integer(record.get("version")):
        return None
    if record["version"] != VERSION:
        return None
    return _Reader(bounds or Bounds()).chart(record, inner=False)


class _Reader:
    """Reader of one record, which counts the values it has read."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._values = bounds.values
        self._ticks = bounds.values
        self._series = bounds.series

    def chart(self, record: Mapping[str, Any], *, inner: bool) -> Chart:
        kind = _word(ChartKind, record.get("kind"), ChartKind.OTHER)
        if inner and kind is ChartKind.MULTI:
            kind = ChartKind.OTHER
        several = kind is ChartKind.MULTI
        more_axes = self.more_axes(record.get("more_axes"))
        return Chart(
            kind=kind,
            library=self.text(record.get("library")) or "",
            title=self.text(record.get("title")),
            x=self.axis(record.get("x")),
            y=self.axis(record.get("y")),
            y2=self.axis(record.get("y2")),
            z=self.axis(record.get("z")),
            orientation=_choice(record.get("orientation"), "vertical", "horizontal"),
            stacking=_choice(record.get("stacking"), "grouped", "stacked", "overlaid"),
            series=self.all_series(record.get("series"), {"y2", *more_axes}),
            annotations=self.annotations(record.get("annotations")),
            charts=self.charts(record.get("charts")) if several else (),
            row=_place(record.get("row")),
            column=_place(record.get("column")),
            more_axes=more_axes,
            unread=self.texts(record.get("unread")),
        )

    def more_axes(self, records: object) -> dict[str, Axis]:
        known = records if isinstance(records, Mapping) else {}
        names = (key for key in known if isinstance(key, str) and _AXIS_NAME.fullmatch(key))
        found = {str(name): self.axis(known[name]) for name in sorted(names)}
        return {name: axis for name, axis in found.items() if axis is not None}

    def texts(self, values: object) -> tuple[str, ...]:
        kept = (self.text(value) for value in _list(values)[:_MOST_UNREAD])
        return tuple(text for text in kept if text and text.strip())

    def charts(self, records: object) -> tuple[Chart, ...]:
        kept = [item for item in _list(records)[: self._bounds.charts] if isinstance(item, Mapping)]
        return tuple(self.chart(item, inner=True) for item in kept)

    def text(self, value: object) -> str | None:
        return str(value)[: self._bounds.text] if isinstance(value, str) else None

    def axis(self, record: object) -> Axis | None:
        if not isinstance(record, Mapping):
            return None
        ends = tuple(self.value(item, _DEEPEST) for item in _list(record.get("limits"))[:3])
        good = len(ends) == 2 and None not in ends
        ticks = _list(record.get("ticks"))[: max(0, self._ticks)]
        self._ticks -= len(ticks)
        labels = _list(record.get("tick_labels"))[: max(0, self._ticks)]
        self._ticks -= len(labels)
        return Axis(
            label=self.text(record.get("label")),
            scale=_word(AxisScale, record.get("scale"), AxisScale.OTHER),
            limits=(ends[0], ends[1]) if good else None,
            ticks=tuple(self.value(item, _DEEPEST) for item in ticks),
            tick_labels=tuple(self.text(item) or "" for item in labels),
        )

    def annotations(self, records: object) -> tuple[Annotation, ...]:
        found = []
        for item in _list(records)[:_MOST_ANNOTATIONS]:
            text = self.text(item.get("text")) if isinstance(item, Mapping) else None
            if text is not None:
                x, y = (self.value(item.get(name), _DEEPEST) for name in ("x", "y"))
                found.append(Annotation(text, x, y))
        return tuple(found)

    def all_series(self, records: object, axes: set[str]) -> tuple[Series, ...]:
        found = []
        for item in _list(records)[: max(0, self._series)]:
            if isinstance(item, Mapping):
                self._series -= 1
                found.append(self.series(item, axes))
        return tuple(found)

    def series(self, record: Mapping[str, Any], axes: set[str]) -> Series:
        kind = _word(SeriesKind, record.get("kind"), SeriesKind.OTHER)
        columns = self.columns(record.get("columns"))
        if find_needed(kind, columns) is None:
            kind = SeriesKind.OTHER
        columns = trim(kind, columns)
        sampling = _choice(record.get("sampling"), "stride", "min-max", "first")
        whole = Series(kind, columns=columns).points
        size = count_values(columns)
        if size > self._values:
            columns = rows_within(kind, columns, max(0, self._values))
            size = count_values(columns)
            sampling = sampling or "first"
        self._values -= size
        color = record.get("color")
        return Series(
            kind=kind,
            label=self.text(record.get("label")),
            color=color if isinstance(color, str) and _COLOR.fullmatch(color) else None,
            axis=_choice(record.get("axis"), *sorted(axes)) or "y",
            columns=columns,
            total=max(whole, _place(record.get("total")) or 0),
            sampling=sampling,
        )

    def columns(self, record: object) -> dict[str, tuple[Value, ...]]:
        if not isinstance(record, Mapping):
            return {}
        found: dict[str, tuple[Value, ...]] = {}
        for key, values in list(record.items())[:_MOST_COLUMNS]:
            name = self.text(key)
            if name is not None and isinstance(values, (list, tuple)):
                found[name] = self.values(values, 0)
        return found

    def values(self, values: Sequence[object], depth: int) -> tuple[Value, ...]:
        # What lies beyond the bound is never built; the exact cut is made later, by rows.
        kept = values[: self._bounds.values + 1]
        return tuple(self.value(item, depth + 1) for item in kept)

    def value(self, value: object, depth: int) -> Value:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str(value)[: self._bounds.text]
        if isinstance(value, int):
            return int(value) if value.bit_length() <= _WIDEST else None
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else None
        if isinstance(value, (list, tuple)) and depth < _DEEPEST:
            return self.values(value, depth)
        return None


def _word(words: type[_Word], value: Any, otherwise: _Word) -> _Word:
    try:
        return words(value)
    except (ValueError, TypeError):
        return otherwise


def _choice(value: object, *known: str) -> Any:
    return next((word for word in known if isinstance(value, str) and value == word), None)


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _place(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST:
        return int(value)
    return None


def to_record(chart: Chart) -> dict[str, object]:
    """Return the record of a chart, as JSON-able data; `from_record` restores it."""
    record: dict[str, object] = {"version": VERSION, "library": chart.library}
    record |= {"kind": chart.kind.value, "title": chart.title}
    record |= {name: _axis(getattr(chart, name)) for name in ("x", "y", "y2", "z")}
    record |= {"orientation": chart.orientation, "stacking": chart.stacking}
    record["series"] = [
        {
            "kind": item.kind.value,
            "label": item.label,
            "color": item.color,
            "axis": item.axis,
            "columns": {name: _plain(values) for name, values in item.columns.items()},
            "total": item.total,
            "sampling": item.sampling,
        }
        for item in chart.series
    ]
    record["annotations"] = [
        {"text": item.text, "x": _plain(item.x), "y": _plain(item.y)} for item in chart.annotations
    ]
    record["charts"] = [to_record(item) for item in chart.charts]
    record |= {"row": chart.row, "column": chart.column}
    record["more_axes"] = {name: _axis(axis) for name, axis in chart.more_axes.items()}
    return record | {"unread": list(chart.unread)}


def _axis(axis: Axis | None) -> dict[str, object] | None:
    if axis is None:
        return None
    return {
        "label": axis.label,
        "scale": axis.scale.value,
        "limits": None if axis.limits is None else _plain(axis.limits),
        "ticks": _plain(axis.ticks),
        "tick_labels": list(axis.tick_labels),
    }


def _plain(value: object) -> object:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
