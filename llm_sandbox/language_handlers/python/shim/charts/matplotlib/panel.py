"""Reader of one panel of a figure: axes, with the twin axes at the same position."""

from __future__ import annotations

import sys
from typing import Any

from .. import record
from .axis import AxisReader, nearest_of
from .calls import calls_of
from .items import Item, numbers
from .legend import Legend
from .series import SeriesReader

_MOST_VERTICAL = 9
_DIRECTED = ("bar", "histogram", "box", "violin")
_CURVES = ("line", "scatter", "step", "errorbar")


def read_panel(group: list[Any], legends: list[Any]) -> record.Record:
    """Read axes that form one chart.

    Args:
        group: Axes at one position; the first is the main one.
        legends: Legends of the figure.

    Returns:
        The chart, not yet finished.
    """
    own = [axes.get_legend() for axes in group]
    legend = Legend([item for item in [*own, *legends] if item is not None])
    parts = [_Part(axes, legend) for axes in group]
    drawn = [part for part in parts if part.items] or parts[:1]
    main = drawn[0]
    others, unread = _other_axes(drawn)
    for part in drawn:
        unread += part.unread
    items = [item for part in drawn for item in part.items]
    legend.name(items)
    for part in drawn:
        part.decide()
    library = _library(group)
    if library == "seaborn":
        items = legend.order(items)
    axes = main.axes
    polar = axes.name == "polar"
    found = record.chart(
        library,
        "polar" if polar else _main_kind(items),
        title=_title(parts),
        orientation=_orientation(items),
        stacking=_stacking(items, _main_kind(items)),
        annotations=[text for part in drawn for text in part.annotations()],
    )
    owners = {id(item): part for part in drawn for item in part.items}
    found["series"] = [owners[id(item)].series(item, polar) for item in items]
    found["unread"] = unread
    left = sum(part.left for part in drawn)
    if left:
        rest = record.series("other", {}, total=left)
        found["series"].append({**rest, "sampling": "stride"})
    if any(item.kind == "pie" for item in items) and all(item.kind == "pie" for item in items):
        return found
    found["x"], found["y"] = main.x.record(), main.y.record()
    for part in parts:
        found["x"]["label"] = found["x"]["label"] or record.text(part.x.label())
    if polar:
        found["x"] = _degrees(found["x"])
    for name, reader in others.items():
        if name == "y2":
            found["y2"] = reader.record()
        else:
            found["more_axes"][name] = reader.record()
    for part in drawn:
        _add_scales(part.axes, found)
    found["z"] = _third(axes, items)
    return found


class _Part:
    """One axes of a panel."""

    def __init__(self, axes: Any, legend: Legend) -> None:
        self.axes = axes
        self.x, self.y = AxisReader(axes.xaxis), AxisReader(axes.yaxis)
        reader = SeriesReader(axes, self.x, self.y, legend)
        self.items = reader.read()
        self.left = reader.left
        self.unread = reader.unread
        self._members = reader.members

    def decide(self) -> None:
        """Determine which axes are categorical."""
        for letter, reader in (("x", self.x), ("y", self.y)):
            names = next((i.fixed[letter] for i in self.items if letter in i.fixed), None)
            if names is not None:
                reader.fix(names)
            if reader.kind in ("category", "duration") or reader.named or self.axes.name == "polar":
                continue
            placed = [
                (item, item.columns[column])
                for item in self.items
                for column, axis in item.places.items()
                if axis == letter
                and column in item.columns
                and item.kind != "rule"
                and (item.main or letter in item.names)
            ]
            discrete = [values for item, values in placed if letter in item.names]
            checked = discrete or [values for _, values in placed if reader.kind == "number"]
            reader.named = bool(checked) and all(
                reader.name_all(values, exact=not discrete) is not None for values in checked
            )
            reader.named = reader.named and (bool(discrete) or not reader.computed)

    def series(self, item: Item, polar: bool) -> record.Record:
        """Describe a series with the meaning of its positions.

        Args:
            item: The series.
            polar: Whether x is an angle.

        Returns:
            The record of the series.
        """
        numpy = sys.modules["numpy"]
        columns = dict(item.columns)
        readers = {"x": self.x, "y": self.y}
        for name, letter in item.places.items():
            if name not in columns or (polar and letter == "x"):
                continue
            reader = readers[letter]
            dated = reader.kind in ("datetime", "period", "duration")
            if name != "base" or dated:
                columns[name] = reader.values(numbers(columns[name]))
            if name == "label":
                columns[name] = [_as_label(value) for value in columns[name]]
        if polar:
            for name in [name for name in columns if name[0] in "xy"]:
                values = columns.pop(name)
                new = name.replace("x", "theta", 1) if name[0] == "x" else name.replace("y", "r", 1)
                columns[new] = numpy.rad2deg(values) if name[0] == "x" else values
        return record.series(item.kind, columns, item.label, item.color, item.axis, item.total)

    def annotations(self) -> list[record.Record]:
        """Read the free texts.

        Returns:
            The records of the texts.
        """
        found = []
        for text in self.axes.texts[: record.ANNOTATION_LIMIT * 2]:
            content = text.get_text().strip()
            if not content or not text.get_visible() or id(text) in self._members:
                continue
            x, y = _place(self.axes, text)
            readers = ((self.x, x), (self.y, y))
            x, y = (
                None if value is None else reader.values(numbers([value]))[0]
                for reader, value in readers
            )
            found.append(record.annotation(content, x, y))
        return found


def _other_axes(drawn: list[_Part]) -> tuple[dict[str, AxisReader], list[str]]:
    """Name the axes beyond the first two, and describe those that the record cannot hold."""
    main, found, unread = drawn[0], dict[str, AxisReader](), list[str]()
    count = 1
    for part in drawn[1:]:
        if main.axes.get_shared_x_axes().joined(main.axes, part.axes):
            count += 1
            name, reader = f"y{count}", part.y
        else:
            name, reader = "x2", part.x
        if name in found or count > _MOST_VERTICAL:
            unread.append(f"a further axis, against which {len(part.items)} series are drawn")
            continue
        found[name] = reader
        for item in part.items:
            item.axis = name
    return found, unread


def _add_scales(axes: Any, found: record.Record) -> None:
    """Add secondary axes, which show the first ones in another unit."""
    for child in axes.child_axes:
        if "Secondary" not in type(child).__name__:
            continue
        name = "x2" if getattr(child, "_orientation", "x") == "x" else "y2"
        reader = AxisReader(child.xaxis if name == "x2" else child.yaxis)
        if name == "x2":
            found["more_axes"].setdefault(name, reader.record())
        elif found["y2"] is None:
            found["y2"] = reader.record()


def _place(axes: Any, text: Any) -> tuple[Any, Any]:
    target, kind = getattr(text, "xy", None), getattr(text, "xycoords", None)
    if target is not None and hasattr(text, "arrow_patch"):
        if kind != "data":
            return None, None
        x, y = target
    else:
        in_x, in_y = text.get_transform().contains_branch_seperately(axes.transData)
        x, y = text.get_unitless_position()
        x, y = (x if in_x else None), (y if in_y else None)
    return (
        None if x is None else axes.xaxis.convert_units(x),
        None if y is None else axes.yaxis.convert_units(y),
    )


def _as_label(value: Any) -> str:
    # Positions on a logarithmic axis come back with a rounding error.
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _title(parts: list[_Part]) -> str | None:
    for part in parts:
        for place in ("center", "left", "right"):
            found = part.axes.get_title(loc=place)
            if found:
                return str(found)
    return None


def _library(group: list[Any]) -> str:
    for axes in group:
        for call in calls_of(axes):
            if call.owner is not None and any(item.axes is axes for item in call.alive()):
                return call.owner.library
    return "matplotlib"


def _third(axes: Any, items: list[Item]) -> record.Record | None:
    """Describe the third axis, or the colour scale of a colorbar."""
    if getattr(axes, "zaxis", None) is not None:
        return AxisReader(axes.zaxis).record()
    for item in items:
        bar = getattr(item.artist, "colorbar", None)
        if bar is not None:
            long = bar.ax.xaxis if bar.orientation == "horizontal" else bar.ax.yaxis
            return AxisReader(long).record()
    return None


def _degrees(found: record.Record) -> record.Record:
    numpy = sys.modules["numpy"]
    return {
        **found,
        "limits": None if found["limits"] is None else numpy.rad2deg(found["limits"]),
        "ticks": numpy.rad2deg(numpy.asarray(found["ticks"], float)),
    }


def _main_kind(items: list[Item]) -> str:
    """Return the kind of a chart.

    Args:
        items: Series of the chart.

    Returns:
        The kind of the first series that is not a rule; a band around a curve is not an area chart.
    """
    main = [item for item in items if item.main]
    if not main:
        return next((item.kind for item in items if item.kind != "rule"), "other")
    first = main[0]
    if first.kind == "other" and "levels" in first.columns:
        return "contour"  # between points that form no grid
    if first.kind == "area":
        curves = [item for item in main if item.kind in _CURVES]
        bands = all(item.kind != "area" or _is_band(item) for item in main)
        if curves and bands:
            return curves[0].kind
    return first.kind


def _is_band(item: Item) -> bool:
    return "y_base" in item.columns or "x_base" in item.columns


def _orientation(items: list[Item]) -> str | None:
    """Return the orientation of bars, histograms, boxes and violins.

    Args:
        items: The series.

    Returns:
        ``vertical``, ``horizontal``, or ``None`` for other kinds.
    """
    for item in items:
        if item.kind in _DIRECTED and item.horizontal is not None:
            return "horizontal" if item.horizontal else "vertical"
    return None


def _stacking(items: list[Item], kind: str) -> str | None:
    """Return the arrangement of several series of bars, areas and similar kinds.

    Args:
        items: The series.
        kind: The kind of the chart.

    Returns:
        ``grouped``, ``stacked`` or ``overlaid``; ``None`` for one series and for curves.
    """
    same = [item for item in items if item.kind == kind and item.main]
    if len(same) < 2 or kind not in (*_DIRECTED, "area"):
        return None
    said = {item.stacking for item in same} - {None}
    if said:
        return "stacked" if "stacked" in said else said.pop()
    if kind in ("box", "violin"):
        return "grouped"
    if kind != "bar":
        return "overlaid"
    if any("base" in item.columns for item in same[1:]):
        return "stacked"
    return _beside(same)


def _beside(bars: list[Item]) -> str | None:
    """Return whether bars are next to each other or in front of each other."""
    numpy = sys.modules["numpy"]
    places: list[Any] = [numpy.asarray(item.columns[item.names[:1]], float) for item in bars]
    first = numpy.sort(places[0])
    for other in places[1:]:
        nearest = abs(other - first[nearest_of(first, other)]).min()
        if nearest == 0:
            return "overlaid"
        if nearest >= 1:
            return None
    return "grouped"
