"""Arrows, circles, events and outlines of matplotlib, which no chart type names."""

from __future__ import annotations

import sys
from typing import Any

from .items import Item, color_of, label_of, numbers

_STRAIGHT = (1, 2, 79)
_VERTEX_LIMIT = 20_000


def read_patch_arrows(arrows: list[Any]) -> Item:
    """Read arrows that were drawn one by one.

    Args:
        arrows: Patches ``FancyArrow`` and ``FancyArrowPatch``.

    Returns:
        Where they begin and end.
    """
    ends = []
    for arrow in arrows:
        if hasattr(arrow, "_dx"):
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
        Its centre and its radius.
    """
    x, y = patch.get_center()
    columns = {"x": numbers([x]), "y": numbers([y]), "radius": numbers([patch.get_radius()])}
    return [Item("other", columns, label_of(patch), color_of(patch), patch, main=False)]


def read_events(collection: Any) -> list[Item]:
    """Read a row of ``eventplot``.

    Args:
        collection: An ``EventCollection``.

    Returns:
        A point for each event, in the line of its row.
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
        Their corners, each with the number of its outline, and with the value its colour shows.
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
        points = path.vertices if codes is None else path.vertices[codes != 79]  # noqa: PLR2004
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
    """Read the places and sizes of shapes whose outlines are not told.

    Args:
        collection: The collection.

    Returns:
        Centre, width and height of each, and the value its colour shows.
    """
    ends = [path.get_extents() for path in collection.get_paths()]
    found = numbers([((b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2, b.width, b.height) for b in ends])
    columns = dict(zip(("x", "y", "width", "height"), found.T, strict=True))
    value = collection.get_array()
    if value is not None and len(value) == len(ends):
        columns["value"] = numbers(value)
    return [Item("other", columns, label_of(collection), None, collection)]


def read_barbs(barbs: Any) -> list[Item]:
    """Read ``Barbs``.

    Args:
        barbs: The barbs.

    Returns:
        Where they stand, and the wind they show.
    """
    columns = {name: numbers(getattr(barbs, name)).ravel() for name in ("x", "y", "u", "v")}
    return [Item("other", columns, label_of(barbs), None, barbs)]
