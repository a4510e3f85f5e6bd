"""Readers of matplotlib's arrows, circles, events, outlines and shapes without a chart type."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .items import Item, color_of, label_of, numbers
from .lines import read_segments

if TYPE_CHECKING:
    from .calls import Call

_CLOSE = 79
_STRAIGHT = (1, 2, _CLOSE)
_VERTEX_LIMIT = 20_000


def read_patch_arrows(arrows: list[Any]) -> Item:
    """Read arrows that were drawn one by one.

    Args:
        arrows: Patches ``FancyArrow`` and ``FancyArrowPatch``, and annotations without a text.

    Returns:
        Start and end of each arrow.
    """
    ends: list[tuple[Any, ...]] = []
    for arrow in arrows:
        if hasattr(arrow, "xyann"):
            axes = arrow.axes
            pairs = (arrow.xyann, arrow.xy)
            for x, y in pairs:
                ends.append((axes.xaxis.convert_units(x), axes.yaxis.convert_units(y)))
            ends[-2:] = [(*ends[-2], *ends[-1])]
        elif hasattr(arrow, "_dx"):
            ends.append((arrow._x, arrow._y, arrow._x + arrow._dx, arrow._y + arrow._dy))
        else:
            ends.append((*arrow._posA_posB[0], *arrow._posA_posB[1]))
    names = ("x", "y", "x_end", "y_end")
    columns = dict(zip(names, numbers(ends).T, strict=True))
    return Item("other", columns, artist=arrows[0], main=False)


def read_circle(patch: Any) -> list[Item]:
    """Read a ``Circle``.

    Args:
        patch: The circle.

    Returns:
        Centre and radius of the circle.
    """
    x, y = patch.get_center()
    columns = {"x": numbers([x]), "y": numbers([y]), "radius": numbers([patch.get_radius()])}
    return [Item("other", columns, label_of(patch), color_of(patch), patch, main=False)]


def read_events(collection: Any) -> list[Item]:
    """Read a row of ``eventplot``.

    Args:
        collection: An ``EventCollection``.

    Returns:
        A point for each event, at the offset of its row.
    """
    numpy = sys.modules["numpy"]
    at = numbers(collection.get_positions()) if len(collection.get_positions()) else numpy.array([])
    row = numpy.full(len(at), float(collection.get_lineoffset()))
    columns = {"x": at, "y": row} if collection.is_horizontal() else {"x": row, "y": at}
    label, color = label_of(collection), color_of(collection)
    return [Item("scatter", columns, label, color, collection)] if len(at) else []


def read_paths(collection: Any) -> list[Item]:
    """Read outlines whose lines are straight.

    Args:
        collection: Lines of several corners, or polygons.

    Returns:
        The vertices of the outlines, each with the number of its outline, and the value its colour
        encodes.
    """
    numpy = sys.modules["numpy"]
    paths = collection.get_paths()
    if not paths or len(collection.get_offsets()) > 1:
        return []
    corners, number = [], []
    for index, path in enumerate(paths):
        codes = path.codes
        if codes is not None and not numpy.isin(codes, _STRAIGHT).all():
            return []
        points = path.vertices if codes is None else path.vertices[codes != _CLOSE]
        corners.append(points)
        number.append(numpy.full(len(points), index))
        if index > _VERTEX_LIMIT:
            return []
    points, which = numpy.concatenate(corners), numpy.concatenate(number)
    columns = {"x": points[:, 0], "y": points[:, 1], "path": which}
    value = collection.get_array()
    if value is not None and len(value) == len(paths):
        columns["value"] = numbers(value)[which]
    return [Item("other", columns, label_of(collection), color_of(collection), collection)]


def read_extents(collection: Any) -> list[Item]:
    """Read the positions and sizes of shapes whose outlines are not read.

    Args:
        collection: The collection.

    Returns:
        Centre, width and height of each, and the value its colour encodes.
    """
    ends = [path.get_extents() for path in collection.get_paths()]
    found = numbers([((b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2, b.width, b.height) for b in ends])
    columns = dict(zip(("x", "y", "width", "height"), found.T, strict=True))
    value = collection.get_array()
    if value is not None and len(value) == len(ends):
        columns["value"] = numbers(value)
    return [Item("other", columns, label_of(collection), None, collection)]


def read_lines(axes: Any, collection: Any) -> list[Item]:
    """Read a ``LineCollection``: events, rules, bars as thin as lines, or paths.

    Args:
        axes: Axes of the collection.
        collection: The collection.

    Returns:
        The series.
    """
    if isinstance(collection, sys.modules["matplotlib.collections"].EventCollection):
        return read_events(collection)
    return read_segments(axes, collection) or read_paths(collection)


def read_table(table: Any) -> list[Item]:
    """Read a ``Table``.

    Args:
        table: The table.

    Returns:
        The columns by their headers; row labels are the column ``row``.
    """
    cells = {place: cell.get_text().get_text() for place, cell in table.get_celld().items()}
    rows = sorted({row for row, column in cells if column >= 0})
    places = sorted({column for _, column in cells if column >= 0})
    headed = (0, -1) not in cells and any((row, -1) in cells for row in rows)
    headed = headed or getattr(table, "_llm_sandbox_headed", False)
    columns: dict[str, Any] = {}
    body = rows[1:] if headed else rows
    if any((row, -1) in cells for row in rows):
        columns["row"] = [cells.get((row, -1), "") for row in body]
    for place in places:
        head = cells.get((rows[0], place), "") if headed else f"column {place + 1}"
        while head in columns:
            head += " "
        columns[head] = [cells.get((row, place), "") for row in body]
    return [Item("other", columns, places={"": ""}, main=False)] if cells else []


def read_stream(call: Call) -> list[Item]:
    """Read a call of ``streamplot``.

    Args:
        call: The call.

    Returns:
        The vector field: a row for each point of the grid.
    """
    numpy = sys.modules["numpy"]
    x, y, u, v = (numbers(call.data[name]) for name in ("x", "y", "u", "v"))
    if x.ndim == 1:
        x, y = numpy.meshgrid(x, y)
    columns = {name: part.ravel() for name, part in zip("xyuv", (x, y, u, v), strict=True)}
    artist = next(call.alive())
    return [Item("other", columns, label_of(artist), None, artist)]


def stream_arrows(axes: Any, lines: Any, call: Call) -> list[Any]:
    """Return the arrow heads of ``streamplot``, which are separate patches.

    Args:
        axes: The axes.
        lines: The stream lines.
        call: The call.

    Returns:
        The patches.
    """
    children = list(axes.get_children())
    kind = sys.modules["matplotlib.patches"].FancyArrowPatch
    count = call.data["arrows"]
    heads = [child for child in children if isinstance(child, kind)]
    before = sum(1 for child in children[: children.index(lines)] if isinstance(child, kind))
    return heads[before : before + count] or heads[before - count : before]


def read_triangles(call: Call) -> list[Item]:
    """Read a call of ``tricontour``, ``tricontourf`` or ``tripcolor``.

    Args:
        call: The call.

    Returns:
        The points of the triangulation, and the levels.
    """
    artist = next(call.alive())
    columns = {name: numbers(call.data[name]).ravel() for name in "xyz"}
    if hasattr(artist, "levels"):
        columns["levels"] = numbers(artist.levels)
    return [Item("other", columns, label_of(artist), None, artist)]


def read_barbs(barbs: Any) -> list[Item]:
    """Read ``Barbs``.

    Args:
        barbs: The barbs.

    Returns:
        Positions of the barbs, and their wind vectors.
    """
    columns = {name: numbers(getattr(barbs, name)).ravel() for name in ("x", "y", "u", "v")}
    return [Item("other", columns, label_of(barbs), None, barbs)]
