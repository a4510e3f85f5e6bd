"""Readers of matplotlib's filled areas and scatter points."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .items import Item, color_of, hexadecimal, label_of, numbers

if TYPE_CHECKING:
    from .axis import AxisReader
    from .calls import Call

_GROUP_LIMIT = 50


def read_fill(call: Call, x_axis: AxisReader, y_axis: AxisReader) -> list[Item]:
    """Read a call of ``fill_between`` or ``fill_betweenx``.

    Args:
        call: The call.
        x_axis: Converts the x argument of the call into positions.
        y_axis: The same for y.

    Returns:
        One area: the upper edge, and the lower one as base.
    """
    numpy = sys.modules["numpy"]
    artist = next(call.alive())
    lying = call.name == "fill_betweenx"
    along, across = (y_axis, x_axis) if lying else (x_axis, y_axis)
    at = numbers(along.floats(call.data["at"]))
    one, two = (numbers(across.floats(call.data[name])) for name in ("one", "two"))
    length = len(at)
    one, two = (numpy.broadcast_to(part, length).astype(float) for part in (one, two))
    where = call.data["where"]
    if where is not None and len(where) == length:
        one, two = (numpy.where(where, part, numpy.nan) for part in (one, two))
    return [area(at, one, two, lying, artist)] if numpy.isfinite(one).any() else []


def area(at: Any, one: Any, two: Any, lying: bool, artist: Any) -> Item:
    """Build an area from its two edges.

    Args:
        at: Positions along the area.
        one: One edge.
        two: The other.
        lying: Whether the area is between two x values.
        artist: Artist of the area.

    Returns:
        The area.
    """
    numpy = sys.modules["numpy"]
    known = numpy.isfinite(one) & numpy.isfinite(two)
    if two[known].any() and (not one[known].any() or (one[known] <= two[known]).all()):
        one, two = two, one
    names = ("y", "x", "x_base") if lying else ("x", "y", "y_base")
    columns = dict(zip(names, (at, one), strict=False))
    if two[known].any():
        columns[names[2]] = two
    return Item("area", columns, label_of(artist), color_of(artist), artist)


def read_stack(call: Call, x_axis: AxisReader) -> list[Item]:
    """Read a call of ``stackplot``.

    Args:
        call: The call.
        x_axis: Converts the x argument of the call into positions.

    Returns:
        One area for each layer: its values, and its base.
    """
    numpy = sys.modules["numpy"]
    at = numbers(x_axis.floats(call.data["at"]))
    found = []
    for values, artist in zip(call.data["values"], call.alive(), strict=False):
        columns = {"x": at, "y": values}
        vertices = artist.get_paths()[0].vertices
        # The lower edge comes first, after the point that the outline begins with.
        base = vertices[1 : len(at) + 1, 1]
        if len(base) == len(at) and numpy.any(base):
            columns["y_base"] = base
        found.append(
            Item("area", columns, label_of(artist), color_of(artist), artist, stacking="stacked")
        )
    return found


def read_points(collection: Any) -> list[Item]:
    """Read a ``PathCollection`` as ``scatter`` makes it.

    Args:
        collection: The collection.

    Returns:
        Points with their sizes and the values encoded as colours.
    """
    solid = getattr(collection, "_offsets3d", None)
    if solid is not None:
        columns = {name: numbers(part) for name, part in zip("xyz", solid, strict=True)}
        kind, count = "scatter3d", len(columns["x"])
    else:
        offsets = numbers(collection.get_offsets()).reshape(-1, 2)
        columns = {"x": offsets[:, 0], "y": offsets[:, 1]}
        kind, count = "scatter", len(offsets)
    sizes = getattr(collection, "_sizes3d", None) if solid is not None else None
    sizes = numbers(collection.get_sizes() if sizes is None else sizes)
    if len(sizes) == count > 1 and (sizes != sizes[0]).any():
        columns["size"] = sizes
    value = collection.get_array()
    if value is not None and len(value) == count:
        columns["value"] = numbers(value)
    item = Item(kind, columns, label_of(collection), None, collection)
    if "value" not in columns:
        item.color = color_of(collection)
    return [item] if count else []


def split_by_color(item: Item, colors: Any, names: list[tuple[str, str]]) -> list[Item]:
    """Split points into one series for every colour named in the legend.

    Args:
        item: All points.
        colors: The colour of each.
        names: Colours as ``#rrggbb`` with their names, in the order of the legend.

    Returns:
        The groups in legend order, or the item unchanged if the legend does not name all colours.
    """
    numpy = sys.modules["numpy"]
    if len(colors) != len(item.columns["x"]) or not names or "value" in item.columns:
        return [item]
    unique, which = numpy.unique(colors, axis=0, return_inverse=True)
    which = which.reshape(-1)
    known = dict(names)
    found = [hexadecimal(tuple(row)) for row in unique]
    if not 1 <= len(unique) <= _GROUP_LIMIT or any(color not in known for color in found):
        return [item]
    order = {color: place for place, (color, _) in reversed(list(enumerate(names)))}
    groups = []
    for index in sorted(range(len(unique)), key=lambda index: order[found[index] or ""]):
        columns = {name: values[which == index] for name, values in item.columns.items()}
        color = found[index]
        groups.append(
            Item(item.kind, columns, known[color or ""], color, item.artist, names=item.names)
        )
    return groups


def read_cells(collection: Any) -> list[Item]:
    """Read the cells of ``hexbin``.

    Args:
        collection: The collection.

    Returns:
        The centres of the cells and their values.
    """
    offsets = numbers(collection.get_offsets()).reshape(-1, 2)
    value = collection.get_array()
    if value is None or len(value) != len(offsets):
        return []
    columns = {"x": offsets[:, 0], "y": offsets[:, 1], "value": numbers(value)}
    return [Item("scatter", columns, label_of(collection), None, collection)]


def read_outlines(collection: Any) -> list[Item]:
    """Read polygons that no recorded call made.

    Args:
        collection: A ``PolyCollection``.

    Returns:
        An area if the outline has the form of ``fill_between``.
    """
    numpy = sys.modules["numpy"]
    paths = collection.get_paths()
    if len(paths) != 1:
        return []
    points = paths[0].vertices
    count = (len(points) - 3) // 2
    if len(points) < 5 or len(points) != 2 * count + 3:
        return []
    lower, upper = points[1 : count + 1], points[count + 2 : 2 * count + 2][::-1]
    for index in (0, 1):
        if numpy.array_equal(lower[:, index], upper[:, index]):
            other = 1 - index
            return [area(lower[:, index], lower[:, other], upper[:, other], index == 1, collection)]
    return []


def read_spans(collection: Any) -> list[Item]:
    """Read the rectangles of ``broken_barh``.

    Args:
        collection: The collection.

    Returns:
        One series of horizontal bars with their starts.
    """
    numpy = sys.modules["numpy"]
    boxes = numpy.array(
        [
            (*path.vertices.min(axis=0), *path.vertices.max(axis=0))
            for path in collection.get_paths()
        ]
    ).reshape(-1, 4)
    columns = {
        "x": boxes[:, 2] - boxes[:, 0],
        "y": (boxes[:, 1] + boxes[:, 3]) / 2,
        "base": boxes[:, 0],
    }
    label, color = label_of(collection), color_of(collection)
    return [Item("bar", columns, label, color, collection, names="y", horizontal=True)]
