"""Readers of matplotlib's lines: curves, steps, points, reference lines, error bars and stems."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .items import Item, color_of, hexadecimal, label_of, numbers

if TYPE_CHECKING:
    from .axis import AxisReader
    from .calls import Call

_RULE_LIMIT = 100
_INVISIBLE = ("None", "none", " ", "")


def read_line(axes: Any, line: Any) -> list[Item]:
    """Read a ``Line2D``.

    Args:
        axes: Axes of the line.
        line: The line.

    Returns:
        A line, a step, points or a rule; nothing if it is invisible or not in data coordinates.
    """
    drawn = line.get_linestyle() not in _INVISIBLE and line.get_linewidth() > 0
    marked = str(line.get_marker()) not in _INVISIBLE
    if not drawn and not marked:
        return []
    if hasattr(line, "get_data_3d"):
        x, y, z = (numbers(part) for part in line.get_data_3d())
        kind = "line3d" if drawn else "scatter3d"
        return [_item(kind, {"x": x, "y": y, "z": z}, line)]
    x, y = (numbers(part) for part in line.get_data(orig=False))
    if type(line).__name__ == "AxLine":
        return _slope(line)
    if not len(x) or not len(y):
        return []
    in_x, in_y = line.get_transform().contains_branch_seperately(axes.transData)
    if not in_x and not in_y:
        return []
    if not in_x:
        return [_item("rule", {"y": y[:1]}, line)]
    if not in_y:
        return [_item("rule", {"x": x[:1]}, line)]
    kind = "scatter"
    if drawn:
        kind = "step" if str(line.get_drawstyle()).startswith("steps") else "line"
    color = hexadecimal(line.get_color() if drawn else line.get_markerfacecolor())
    return [Item(kind, {"x": x, "y": y}, label_of(line), color, line)]


def _item(kind: str, columns: dict[str, Any], line: Any) -> Item:
    return Item(kind, columns, label_of(line), color_of(line), line, main=kind != "rule")


def _slope(line: Any) -> list[Item]:
    """Read an infinite line through two points."""
    numpy = sys.modules["numpy"]
    start, end, slope = line.get_xy1(), line.get_xy2(), line.get_slope()
    if end is None:
        end = (start[0] + 1, start[1] + slope)
    points = numpy.array([start, end], float)
    if points[0, 1] == points[1, 1]:
        return [_item("rule", {"y": points[:1, 1]}, line)]
    if points[0, 0] == points[1, 0]:
        return [_item("rule", {"x": points[:1, 0]}, line)]
    found = _item("line", {"x": points[:, 0], "y": points[:, 1]}, line)
    found.main = False
    return [found]


def read_errorbar(
    container: Any, call: Call | None, x_axis: AxisReader, y_axis: AxisReader
) -> list[Item]:
    """Read an ``ErrorbarContainer``.

    Args:
        container: The container.
        call: The call that made it, if it is known.
        x_axis: Converts the x argument of the call into positions.
        y_axis: The same for y.

    Returns:
        One series of error bars.
    """
    numpy = sys.modules["numpy"]
    line, _, bars = container.lines
    spans = [_ends(bar, index) for bar, index in zip(bars, _directions(container), strict=False)]
    if line is not None:
        x, y = (numbers(part) for part in line.get_data(orig=False))
    elif call is not None and call.data.get("x") is not None:
        x = numbers(x_axis.floats(call.data["x"]))
        y = numbers(y_axis.floats(call.data["y"]))
    else:
        middle = numpy.array(bars[0].get_segments(), float).mean(axis=1)
        x, y = middle[:, 0], middle[:, 1]
    length = max(len(x), len(y))
    columns = {"x": numpy.broadcast_to(x, length), "y": numpy.broadcast_to(y, length)}
    for bar, index, (low, high, other) in zip(bars, _directions(container), spans, strict=False):
        name = "xy"[index]
        for end, part in (("low", low), ("high", high)):
            known = len(part) == length
            columns[f"{name}_{end}"] = part if known else _spread(part, other, columns["yx"[index]])
        line = line if line is not None else bar
    return [Item("errorbar", columns, label_of(container), color_of(line), line)]


def _directions(container: Any) -> list[int]:
    return [index for index, has in enumerate((container.has_xerr, container.has_yerr)) if has]


def _ends(bars: Any, index: int) -> tuple[Any, Any, Any]:
    """Return the low and high ends of error bars, and their positions on the other axis."""
    numpy = sys.modules["numpy"]
    paths = bars.get_paths()
    nothing = [[numpy.nan, numpy.nan]] * 2
    pairs = numpy.array(
        [path.vertices[[0, -1]] if len(path.vertices) else nothing for path in paths], float
    ).reshape(-1, 2, 2)
    return pairs[:, :, index].min(axis=1), pairs[:, :, index].max(axis=1), pairs[:, 0, 1 - index]


def _spread(part: Any, places: Any, positions: Any) -> Any:
    """Assign the bars of ``errorevery`` to their points."""
    known = dict(zip(places.tolist(), part.tolist(), strict=True))
    return [known.get(place) for place in positions.tolist()]


def read_stem(container: Any) -> list[Item]:
    """Read a ``StemContainer``: bars as thin as lines.

    Args:
        container: The container.

    Returns:
        One series of bars.
    """
    line = container.markerline
    x, y = (numbers(part) for part in line.get_data(orig=False))
    base_x, base_y = (numbers(part) for part in container.baseline.get_data(orig=False))
    horizontal = len(base_x) > 1 and base_x[0] == base_x[-1] and base_y[0] != base_y[-1]
    label = label_of(container) or label_of(line)
    return [
        Item(
            "bar",
            {"x": x, "y": y},
            label,
            color_of(line),
            line,
            names="y" if horizontal else "x",
            horizontal=bool(horizontal),
        )
    ]


def read_segments(axes: Any, collection: Any) -> list[Item]:
    """Read a ``LineCollection``, as made by ``hlines`` and ``vlines``.

    Args:
        axes: Axes of the collection.
        collection: The collection.

    Returns:
        A rule, bars if all lines begin at zero, or the ends of the lines.
    """
    numpy = sys.modules["numpy"]
    paths = collection.get_paths()
    if not paths or any(len(path.vertices) != 2 for path in paths[:1000]):
        return []
    ends = numpy.array([path.vertices for path in paths if len(path.vertices) == 2], float)
    label, color = label_of(collection), color_of(collection)
    for name, index in (("y", 1), ("x", 0)):
        if not (ends[:, 0, index] == ends[:, 1, index]).all():
            continue
        places, other = ends[:, 0, index], "xy"[1 - index]
        start, end = ends[:, 0, 1 - index], ends[:, 1, 1 - index]
        in_data = collection.get_transform().contains_branch_seperately(axes.transData)
        alike = (start == start[0]).all() and (end == end[0]).all()
        if alike or not in_data[1 - index]:
            if len(places) > _RULE_LIMIT:
                return [Item("other", {name: places}, label, color, collection, main=False)]
            rules = [
                Item("rule", {name: places[i : i + 1]}, label, color, collection, main=False)
                for i in range(len(places))
            ]
            return rules if in_data[index] else []
        if (start == 0).all():
            columns = {name: places, other: end}
            lying = name == "y"
            return [Item("bar", columns, label, color, collection, names=name, horizontal=lying)]
        columns = {name: places, f"{other}_low": start, f"{other}_high": end}
        return [Item("other", columns, label, color, collection, main=False)]
    columns = {
        "x": ends[:, 0, 0],
        "y": ends[:, 0, 1],
        "x_end": ends[:, 1, 0],
        "y_end": ends[:, 1, 1],
    }
    return [Item("other", columns, label, color, collection, main=False)]
