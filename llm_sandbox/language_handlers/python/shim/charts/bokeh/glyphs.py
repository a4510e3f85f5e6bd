"""Readers of bokeh glyphs: series."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import record
from ..colors import web_color
from .columns import Columns, field_of, kind_of, on_axis, stack_fields

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Glyph", "read_glyph"]

_NEAR = 1e-9
_LINES = 500


@dataclass
class Glyph:
    """Glyph with its rows, its axes and its name."""

    glyph: Any
    columns: Columns
    label: str | None
    slot: str
    date_x: bool
    date_y: bool
    x_names: list[Any] | None
    """Categories of the horizontal axis, if it is categorical."""
    y_names: list[Any] | None
    divided_by: str | None = None
    """Field whose values are the names in the legend."""

    @property
    def kind(self) -> str:
        """Class of the glyph."""
        return kind_of(self.glyph)

    def get(self, name: str) -> Any:
        """Return a property of the glyph."""
        return getattr(self.glyph, name, None)

    def x(self, name: str = "x") -> list[Any]:
        """Return a property as positions on the horizontal axis."""
        return on_axis(self.columns.get(self.get(name)), self.date_x)

    def y(self, name: str = "y") -> list[Any]:
        """Return a property as positions on the vertical axis."""
        return on_axis(self.columns.get(self.get(name)), self.date_y)

    def color(self) -> str | None:
        """Return the colour of the glyph, if it is a single one."""
        return self.columns.color(self.get("fill_color"), self.get("line_color"))

    def series(self, kind: str, columns: dict[str, Any]) -> record.Record:
        """Return a series with the name, colour and axis of the glyph."""
        color = self.color() if kind != "line" else self.columns.color(self.get("line_color"))
        return record.series(kind, columns, self.label, color, self.slot)


def read_glyph(glyph: Glyph) -> list[record.Record]:
    """Read a glyph.

    Args:
        glyph: The glyph.

    Returns:
        The series of the glyph; more than one if the legend names groups of rows.
    """
    reader = _READERS.get(glyph.kind)
    if reader is None:
        reader = _points if glyph.kind in _MARKERS else _other
    found = reader(glyph)
    divides = glyph.divided_by is not None and glyph.kind not in ("Wedge", "AnnularWedge")
    return _divided(glyph, found) if divides and len(found) == 1 else found


def _divided(glyph: Glyph, found: list[record.Record]) -> list[record.Record]:
    """Split a series by the field shown in the legend, unless that field is on an axis of the
    series.
    """
    field = str(glyph.divided_by)
    if field in (field_of(glyph.get("x")), field_of(glyph.get("y"))):
        return found
    names = glyph.columns.field(field)
    columns = found[0]["columns"]
    if any(len(values) != len(names) for values in columns.values()):
        return found
    colors = _factor_colors(glyph)
    split = []
    for name in dict.fromkeys(names):
        rows = [row for row, other in enumerate(names) if other == name]
        part = {key: [values[row] for row in rows] for key, values in columns.items()}
        color = web_color(colors.get(name)) or found[0]["color"]
        split.append(record.series(found[0]["kind"], part, name, color, glyph.slot))
    return split


def _factor_colors(glyph: Glyph) -> dict[Any, Any]:
    for name in ("fill_color", "line_color"):
        mapper: Any = getattr(glyph.get(name), "transform", None)
        if kind_of(mapper) == "CategoricalColorMapper":
            return dict(zip(mapper.factors, mapper.palette, strict=False))
        field = field_of(glyph.get(name))
        if field is not None and field in glyph.columns.names and glyph.divided_by:
            return dict(
                zip(
                    glyph.columns.field(glyph.divided_by),
                    glyph.columns.field(field),
                    strict=False,
                )
            )
    return {}


def _line(glyph: Glyph) -> list[record.Record]:
    kind = "step" if glyph.kind == "Step" else "line"
    return [glyph.series(kind, {"x": glyph.x(), "y": glyph.y()})]


def _points(glyph: Glyph) -> list[record.Record]:
    columns = {"x": glyph.x(), "y": glyph.y()}
    size = field_of(glyph.get("size")) or field_of(glyph.get("radius"))
    if size is not None and size in glyph.columns.names:
        columns["size"] = glyph.columns.field(size)
    shade = _shade(glyph)
    if shade is not None:
        columns["value"] = shade
    return [glyph.series("scatter", columns)]


def _shade(glyph: Glyph) -> list[Any] | None:
    """Return the numbers that the colours encode."""
    for name in ("fill_color", "line_color"):
        value = glyph.get(name)
        mapper = getattr(value, "transform", None)
        field = field_of(value)
        mapped = kind_of(mapper).endswith("ColorMapper") and field in glyph.columns.names
        if mapped and kind_of(mapper) != "CategoricalColorMapper":
            return glyph.columns.field(str(field))
    return None


def _lengths(glyph: Glyph, first: str, last: str) -> tuple[list[Any], list[Any]]:
    """Return the values and the base of bars."""
    low, high = stack_fields(glyph.get(first)), stack_fields(glyph.get(last))
    bases = glyph.columns.get(glyph.get(first)) or []
    ends = glyph.columns.get(glyph.get(last)) or []
    for longer, shorter in ((high, low), (low, high)):
        # Of stacked bars the own field is exact, while a difference would be rounded.
        if longer is not None and shorter is not None and longer[:-1] == shorter:
            start = bases if longer is high else ends
            return glyph.columns.field(longer[-1]), start
    if not any(isinstance(base, (int, float)) and base for base in bases):
        return ends, []
    sizes = [
        end - base if isinstance(end, (int, float)) and isinstance(base, (int, float)) else None
        for base, end in zip(bases, ends, strict=False)
    ]
    return sizes, bases


def _bars(glyph: Glyph) -> list[record.Record]:
    vertical = glyph.kind == "VBar"
    sizes, bases = _lengths(glyph, *(("bottom", "top") if vertical else ("left", "right")))
    columns = {"x": glyph.x(), "y": sizes} if vertical else {"x": sizes, "y": glyph.y()}
    if any(bases):
        columns["base"] = on_axis(bases, glyph.date_y if vertical else glyph.date_x)
    return [glyph.series("bar", columns)]


def _quads(glyph: Glyph) -> list[record.Record]:
    left, right, bottom, top = glyph.x("left"), glyph.x("right"), glyph.y("bottom"), glyph.y("top")
    if not any(bottom) and _touch(left, right):
        return [glyph.series("histogram", {"start": left, "end": right, "count": top})]
    if not any(left) and _touch(bottom, top):
        return [glyph.series("histogram", {"start": bottom, "end": top, "count": right})]
    columns = {"left": left, "right": right, "bottom": bottom, "top": top}
    return [glyph.series("other", columns)]


def _touch(starts: list[Any], ends: list[Any]) -> bool:
    """Return whether each bin ends where the next may begin, without overlap."""
    pairs = zip(ends, starts[1:], strict=False)
    return bool(starts) and all(_before(end, start) for end, start in pairs)


def _before(end: Any, start: Any) -> bool:
    if isinstance(end, (int, float)) and isinstance(start, (int, float)):
        return end <= start + _NEAR * max(1.0, abs(start))
    try:
        return bool(end <= start)
    except TypeError:
        return False


def _vertical_area(glyph: Glyph) -> list[record.Record]:
    columns = {"x": glyph.x(), "y": glyph.y("y2")}
    base = glyph.y("y1")
    if stack_fields(glyph.get("y2")):
        columns["y"], base = _lengths(glyph, "y1", "y2")
    if any(base):
        columns["y_base"] = base
    return [glyph.series("area", columns)]


def _horizontal_area(glyph: Glyph) -> list[record.Record]:
    columns = {"x": glyph.x("x2"), "y": glyph.y()}
    base = glyph.x("x1")
    if stack_fields(glyph.get("x2")):
        columns["x"], base = _lengths(glyph, "x1", "x2")
    if any(base):
        columns["x_base"] = base
    return [glyph.series("area", columns)]


def _patch(glyph: Glyph) -> list[record.Record]:
    x, y = glyph.x(), glyph.y()
    half, odd = divmod(len(x), 2)
    if half and not odd and x[:half] == x[half:][::-1]:
        columns = {"x": x[:half], "y": y[:half], "y_base": y[half:][::-1]}
        return [glyph.series("area", columns)]
    return [glyph.series("other", {"x": x, "y": y})]


def _many_lines(glyph: Glyph) -> list[record.Record]:
    xs, ys = field_of(glyph.get("xs")), field_of(glyph.get("ys"))
    if xs is None or ys is None:
        return []
    names = glyph.columns.field(glyph.divided_by) if glyph.divided_by else None
    colors = field_of(glyph.get("line_color"))
    shades = glyph.columns.field(colors) if colors in glyph.columns.names else []
    found = []
    pairs = zip(glyph.columns.raw(xs), glyph.columns.raw(ys), strict=False)
    for row, (x, y) in enumerate(pairs):
        if row >= _LINES:
            break
        columns = {
            "x": on_axis(record.column(x), glyph.date_x),
            "y": on_axis(record.column(y), glyph.date_y),
        }
        series = glyph.series("line", columns)
        if names is not None:
            series["label"] = str(names[row])
        if row < len(shades):
            series["color"] = web_color(shades[row])
        found.append(series)
    return found


def _pie(glyph: Glyph) -> list[record.Record]:
    expression: Any = getattr(glyph.get("end_angle"), "expr", None)
    if kind_of(expression) == "CumSum":
        angles = glyph.columns.field(expression.field)
        own = expression.field
    else:
        starts = glyph.columns.get(glyph.get("start_angle")) or []
        ends = glyph.columns.get(glyph.get("end_angle")) or []
        angles = [end - start for start, end in zip(starts, ends, strict=False)]
        own = ""
    values = _proportional(glyph, own, angles)
    names = _text_field(glyph)
    labels = glyph.columns.field(names) if names else [str(row) for row in range(len(angles))]
    return [record.series("pie", {"label": labels, "value": values}, None, None, glyph.slot)]


def _proportional(glyph: Glyph, own: str, angles: list[Any]) -> list[Any]:
    """Return the column that the angles were computed from, else their fractions of the circle."""
    total = sum(angle for angle in angles if isinstance(angle, (int, float)))
    for name in glyph.columns.names:
        values = glyph.columns.field(name) if name != own else []
        if not values or not all(isinstance(value, (int, float)) for value in values):
            continue
        whole = sum(values)
        if whole and all(
            math.isclose(v / whole, a / total, rel_tol=1e-9, abs_tol=1e-12)
            for v, a in zip(values, angles, strict=False)
            if total
        ):
            return values
    return [angle / (2 * math.pi) if isinstance(angle, (int, float)) else None for angle in angles]


def _text_field(glyph: Glyph) -> str | None:
    if glyph.divided_by:
        return glyph.divided_by
    colors = {field_of(glyph.get("fill_color")), field_of(glyph.get("line_color"))}
    for name in glyph.columns.names:
        values = glyph.columns.field(name)
        if name not in colors and values and all(isinstance(value, str) for value in values):
            return name
    return None


def _cells(glyph: Glyph) -> list[record.Record]:
    x, y, shade = glyph.x(), glyph.y(), _shade(glyph)
    if shade is None or not x:
        return [glyph.series("other", {"x": x, "y": y})]
    across = [n for n in glyph.x_names or () if n in set(x)] or sorted(set(x))
    down = [n for n in glyph.y_names or () if n in set(y)] or sorted(set(y))
    columns = {name: number for number, name in enumerate(across)}
    lines = {name: number for number, name in enumerate(down)}
    z: list[list[Any]] = [[None] * len(across) for _ in down]
    for place, line, value in zip(x, y, shade, strict=False):
        if place in columns and line in lines:
            z[lines[line]][columns[place]] = value
    return [record.series("heatmap", {"x": across, "y": down, "z": z}, None, None, glyph.slot)]


def _image(glyph: Glyph) -> list[record.Record]:
    field = field_of(glyph.get("image"))
    found = []
    for picture in glyph.columns.raw(field)[:10] if field else ():
        shape = list(getattr(picture, "shape", ()) or ())
        if glyph.kind == "Image":
            columns: dict[str, Any] = {"z": record.column(picture)}
        else:
            columns = {"shape": [[*shape[:2], 4]]}
        found.append(record.series("image", columns, None, None, glyph.slot))
    return found


def _segments(glyph: Glyph) -> list[record.Record]:
    x0, x1, y0, y1 = glyph.x("x0"), glyph.x("x1"), glyph.y("y0"), glyph.y("y1")
    if x0 == x1:
        low, high = _ordered(y0, y1)
        return [glyph.series("errorbar", {"x": x0, "y_low": low, "y_high": high})]
    if y0 == y1:
        low, high = _ordered(x0, x1)
        return [glyph.series("errorbar", {"y": y0, "x_low": low, "x_high": high})]
    return [glyph.series("other", {"x0": x0, "y0": y0, "x1": x1, "y1": y1})]


def _ordered(first: list[Any], last: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the lower and the upper ends; a segment may begin at either end."""
    rows = [(b, a) if _is_below(b, a) else (a, b) for a, b in zip(first, last, strict=False)]
    return [a for a, _ in rows], [b for _, b in rows]


def _is_below(value: Any, other: Any) -> bool:
    try:
        return bool(value < other)
    except TypeError:
        return False


def _patches(glyph: Glyph) -> list[record.Record]:
    """Read outlines: the vertices of each, the value its colour encodes, and its name."""
    columns: dict[str, Any] = {}
    for name, dates in (("xs", glyph.date_x), ("ys", glyph.date_y)):
        field = field_of(glyph.get(name))
        if field is not None and field in glyph.columns.names:
            rows = glyph.columns.raw(field)
            columns[name] = [on_axis(record.column(row), dates) for row in rows]
    shade, names = _shade(glyph), _text_field(glyph)
    if shade is not None:
        columns["value"] = shade
    if names is not None:
        columns["label"] = glyph.columns.field(names)
    return [glyph.series("other", columns)]


def _hexagons(glyph: Glyph) -> list[record.Record]:
    """Read hexagonal tiles: their centres, and the values their colours encode."""
    q, r = (glyph.columns.get(glyph.get(name)) or [] for name in "qr")
    size, stretch = glyph.get("size") or 0, glyph.get("aspect_scale") or 1
    x, y = [], []
    for column, row in zip(q, r, strict=False):
        if glyph.get("orientation") == "flattop":
            x.append(size * 1.5 * column)
            y.append(-size * math.sqrt(3) * (row + column / 2) * stretch)
        else:
            x.append(size * math.sqrt(3) * (column + row / 2) / stretch)
            y.append(-size * 1.5 * row)
    columns: dict[str, Any] = {"x": x, "y": y, "q": q, "r": r}
    shade = _shade(glyph)
    if shade is not None:
        columns["value"] = shade
    return [glyph.series("other", columns)]


def _spans(glyph: Glyph) -> list[record.Record]:
    name = "y" if glyph.kind == "HSpan" else "x"
    values = glyph.y() if name == "y" else glyph.x()
    return [glyph.series("rule", {name: [value]}) for value in values[:50]]


def _other(glyph: Glyph) -> list[record.Record]:
    columns = {
        name: values
        for name in ("x", "y", "r", "q")
        if (values := glyph.columns.get(glyph.get(name))) is not None
    }
    return [glyph.series("other", columns)]


_MARKERS = frozenset({"Scatter", "Circle", "Marker"})
_READERS: dict[str, Callable[[Glyph], list[record.Record]]] = {
    "Line": _line,
    "Step": _line,
    "VBar": _bars,
    "HBar": _bars,
    "Quad": _quads,
    "VArea": _vertical_area,
    "VAreaStep": _vertical_area,
    "HArea": _horizontal_area,
    "Patch": _patch,
    "MultiLine": _many_lines,
    "Wedge": _pie,
    "AnnularWedge": _pie,
    "Rect": _cells,
    "Image": _image,
    "ImageRGBA": _image,
    "Segment": _segments,
    "Patches": _patches,
    "MultiPolygons": _patches,
    "HexTile": _hexagons,
    "HSpan": _spans,
    "VSpan": _spans,
}
