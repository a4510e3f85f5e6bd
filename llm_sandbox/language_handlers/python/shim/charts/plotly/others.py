"""Readers of plotly traces that are neither points nor bars: grids, pies, polar, 3D, hierarchies
and the rest.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import math
from typing import TYPE_CHECKING, Any

from .. import record
from .axes import ticks_of
from .histograms import bin_traces, positions_of, reduce_bins
from .values import clean_text, from_ms, items, to_number

if TYPE_CHECKING:
    from .bins import Bins
    from .trace import Record, Trace

__all__ = ["read_grid", "read_hierarchy", "read_other", "read_pie", "read_polar", "read_solid"]

_COLUMNS = (
    "x", "y", "z", "open", "high", "low", "close", "measure", "labels", "parents", "values",
    "locations", "lat", "lon", "a", "b", "c", "r", "theta", "u", "v", "w",
)  # fmt: skip
_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}
"""Number of channels by the colour type of a PNG."""


def _grid_places(trace: Trace, letter: str, length: int) -> list[Any]:
    return trace.positions(letter, length)


def read_grid(trace: Trace) -> Record | None:
    """Read a heatmap, a contour, a two-dimensional histogram or an image."""
    if trace.kind == "image":
        return _image(trace)
    if trace.kind.startswith("histogram2d"):
        return _counted_grid(trace)
    rows = trace.items("z")
    if not rows:
        return None
    nested = [items(row) for row in rows]
    if any(row is None for row in nested):
        return _scattered_grid(trace, rows)
    z = [[to_number(value) for value in row or ()] for row in nested]
    if trace.get("transpose"):
        z = [list(row) for row in zip(*z, strict=False)]
    kind = "contour" if trace.kind == "contour" else "heatmap"
    columns = {
        "x": _grid_places(trace, "x", max(map(len, z))),
        "y": _grid_places(trace, "y", len(z)),
        "z": z,
    }
    levels = _levels(trace)
    if kind == "contour" and levels:
        columns["levels"] = levels
    return _grid_series(kind, columns)


def _grid_series(kind: str, columns: dict[str, Any]) -> Record:
    # Grids have no legend; plotly.express numbers them with names that nobody sees.
    return record.series(kind, columns)


def _levels(trace: Trace) -> list[float]:
    start, end = to_number(trace.get("contours", "start")), to_number(trace.get("contours", "end"))
    size = to_number(trace.get("contours", "size"))
    if start is None or end is None or not size or not 0 <= (end - start) / size < 1000:
        return []
    return [start + number * size for number in range(int((end - start) / size + 1e-9) + 1)]


def _scattered_grid(trace: Trace, values: list[Any]) -> Record | None:
    """Read a grid that has one row per cell."""
    x, y = trace.points()
    length = min(len(x), len(y), len(values))
    across, down = list(dict.fromkeys(x[:length])), list(dict.fromkeys(y[:length]))
    if not length or len(across) * len(down) > 1_000_000:
        return None
    if not trace.x_axis.is_category:
        across.sort(key=lambda value: (value is None, value))
    if not trace.y_axis.is_category:
        down.sort(key=lambda value: (value is None, value))
    columns = {name: number for number, name in enumerate(across)}
    lines = {name: number for number, name in enumerate(down)}
    z: list[list[float | None]] = [[None] * len(across) for _ in down]
    for place, line, value in zip(x, y, values, strict=False):
        z[lines[line]][columns[place]] = to_number(value)
    kind = "contour" if trace.kind == "contour" else "heatmap"
    return _grid_series(kind, {"x": across, "y": down, "z": z})


def _counted_grid(trace: Trace) -> Record | None:
    places: dict[str, list[Any]] = {}
    numbers: dict[str, list[int]] = {}
    for letter in "xy":
        found = _direction(trace, letter)
        if found is None:
            return None
        places[letter], numbers[letter] = found
    width, height = len(places["x"]), len(places["y"])
    if width * height > 1_000_000:
        return None
    inside: list[list[int]] = [[] for _ in range(width * height)]
    for index, (x, y) in enumerate(zip(numbers["x"], numbers["y"], strict=False)):
        if 0 <= x < width and 0 <= y < height:
            inside[y * width + x].append(index)
    weights = trace.items("z")
    weights = trace.items("marker", "color") if weights is None else weights
    sizes, total = reduce_bins(inside, trace.get("histfunc"), weights)
    norm = str(trace.get("histnorm") or "")
    if norm in ("percent", "probability") and total:
        by = (100 if norm == "percent" else 1) / total
        sizes = [None if size is None else size * by for size in sizes]
    elif norm:
        return None
    z = [sizes[start : start + width] for start in range(0, len(sizes), width)]
    kind = "contour" if trace.kind == "histogram2dcontour" else "heatmap"
    return _grid_series(kind, {**places, "z": z})


def _direction(trace: Trace, letter: str) -> tuple[list[Any], list[int]] | None:
    """Return the centres of the bins of one direction, and the bin of every value."""
    axis = trace.x_axis if letter == "x" else trace.y_axis
    if axis.is_category:
        values = axis.convert(trace.raw(letter))
        order = {name: number for number, name in enumerate(axis.categories())}
        return list(order), [order.get(value, -1) for value in values]
    bins: Bins | None = bin_traces([(trace, letter)], flat=False)
    if bins is None:
        return None
    edges = bins.edges()
    middles: list[Any] = [(a + b) / 2 for a, b in itertools.pairwise(edges)]
    if axis.is_date:
        middles = [from_ms(value) for value in middles]
    return middles, [
        -1 if value is None else bins.index(value, edges) for value in positions_of(trace, letter)
    ]


def _image(trace: Trace) -> Record | None:
    rows = trace.items("z")
    if rows:
        first = items(rows[0]) or []
        pixel = items(first[0]) if first else None
        shape = [len(rows), len(first), len(pixel) if pixel else 1]
        return _grid_series("image", {"shape": [shape]})
    source = trace.get("source")
    if isinstance(source, str) and source.startswith("data:image/png;base64,"):
        try:
            head = base64.b64decode(source.partition(",")[2][:64])
        except (binascii.Error, ValueError):
            return None
        size = [int.from_bytes(head[start : start + 4], "big") for start in (20, 16)]
        if head[12:16] == b"IHDR" and head[25] in _CHANNELS:
            return _grid_series("image", {"shape": [[*size, _CHANNELS[head[25]]]]})
    return None


def read_pie(trace: Trace) -> Record | None:
    """Read a pie; values with the same label are added up."""
    values = trace.items("values")
    labels = trace.items("labels")
    if labels is None:
        labels = [str(number) for number in range(len(values or ()))]
    sizes = [1.0] * len(labels) if values is None else [to_number(value) for value in values]
    parts: dict[str, float] = {}
    for label, size in zip(labels, sizes, strict=False):
        if size is not None and size >= 0:
            parts[str(label)] = parts.get(str(label), 0) + size
    return record.series("pie", {"label": list(parts), "value": list(parts.values())}, trace.label)


def read_polar(trace: Trace) -> Record | None:
    """Read a polar trace; angles in degrees, or category names."""
    r, theta = trace.items("r"), trace.items("theta")
    if r is None and theta is None:
        return None
    length = min(len(values) for values in (r, theta) if values is not None)
    r = list(range(length)) if r is None else r
    if theta is None:
        theta = [number * (to_number(trace.get("dtheta")) or 1) for number in range(length)]
    numbers = [to_number(value) for value in theta]
    if trace.get("thetaunit") == "radians":
        numbers = [None if value is None else math.degrees(value) for value in numbers]
    angles = numbers if any(value is not None for value in numbers) else theta
    columns = {"theta": angles[:length], "r": [to_number(value) for value in r[:length]]}
    if trace.kind == "barpolar":
        return trace.series("bar", columns)
    if trace.get("fill") in ("toself", "tonext"):
        return trace.series("area", columns, ("line", "color"), ("marker", "color"))
    mode = str(trace.get("mode") or ("lines+markers" if length < 20 else "lines"))
    if "lines" in mode:
        return trace.series("line", columns, ("line", "color"), ("marker", "color"))
    return trace.series("scatter", columns)


def read_solid(trace: Trace) -> Record | None:
    """Read a 3D trace."""
    if trace.kind == "surface":
        rows = [items(row) for row in trace.items("z") or ()]
        if not rows or any(row is None for row in rows):
            return None
        return _surface(trace, [[to_number(value) for value in row or ()] for row in rows])
    x, y, z = (trace.items(letter) for letter in "xyz")
    if x is None or y is None or z is None:
        return read_other(trace)
    length = min(len(x), len(y), len(z))
    columns = {"x": x[:length], "y": y[:length], "z": z[:length]}
    if trace.kind != "scatter3d":
        return trace.series("other", columns)
    lines = "lines" in str(trace.get("mode") or "lines+markers")
    return trace.series("line3d" if lines else "scatter3d", columns)


def _surface(trace: Trace, z: list[list[Any]]) -> Record:
    columns: dict[str, Any] = {}
    for letter, length in (("x", max(map(len, z))), ("y", len(z))):
        values: list[Any] | None = trace.items(letter)
        if values and items(values[0]) is not None:
            grid = [items(row) or [] for row in values]
            lines = grid if letter == "x" else [list(line) for line in zip(*grid, strict=False)]
            if not lines or any(line != lines[0] for line in lines):
                # A sphere or the like: its places are no grid.
                whole = {name: trace.items(name) or [] for name in ("x", "y")}
                nested = {n: [items(row) or [] for row in rows] for n, rows in whole.items()}
                return record.series("other", {**nested, "z": z}, trace.label)
            values = lines[0]
        columns[letter] = list(range(length)) if values is None else values[:length]
    return record.series("surface3d", {**columns, "z": z}, trace.label)


def read_other(trace: Trace) -> Record | None:
    """Read a trace without a chart type of its own, with plotly's names as columns."""
    columns: dict[str, Any] = {}
    for name in _COLUMNS:
        values = trace.items(name)
        if values:
            columns[name] = values
    if trace.kind == "indicator":
        columns["value"] = [to_number(trace.get("value"))]
        reference = to_number(trace.get("delta", "reference"))
        if reference is not None:
            columns["reference"] = [reference]
    elif trace.kind == "sankey":
        columns = _links(trace)
    elif trace.kind == "waterfall":
        columns = _steps(trace, columns)
    elif trace.kind == "table":
        columns = _table(trace)
    elif trace.kind in ("splom", "parcoords", "parcats"):
        columns = _dimensions(trace)
    return trace.series("other", columns) if columns else None


def _links(trace: Trace) -> dict[str, Any]:
    """Return the links of a Sankey diagram by the labels of the nodes."""
    columns = {name: trace.items("link", name) or [] for name in ("source", "target", "value")}
    names = dict(enumerate(map(clean_text, trace.items("node", "label") or [])))
    for name in ("source", "target"):
        columns[name] = [names.get(node) or node for node in columns[name]]
    labels = trace.items("link", "label")
    return {**columns, "label": labels} if labels and any(labels) else columns


def _steps(trace: Trace, columns: dict[str, Any]) -> dict[str, Any]:
    """Return the steps of a waterfall, with totals at their drawn height."""
    letter = "x" if trace.horizontal else "y"
    measures = columns.get("measure") or []
    running = to_number(trace.get("base")) or 0
    start = running
    drawn = []
    for number, given in enumerate(columns.get(letter) or ()):
        value = to_number(given) or 0
        measure = str(measures[number]) if number < len(measures) else "relative"
        if measure in ("total", "t"):
            value = running - start
        elif measure in ("absolute", "a"):
            running = start + value
        else:
            running += value
        drawn.append(value)
    found = {**columns, letter: drawn}
    texts = trace.texts(len(drawn))
    return found if texts is None else {**found, "text": texts}


def _table(trace: Trace) -> dict[str, Any]:
    header = trace.items("header", "values") or []
    cells = trace.items("cells", "values") or []
    names = [clean_text((items(name) or [name])[0]) for name in header]
    found = {}
    for number, values in enumerate(cells):
        name = names[number] if number < len(names) else None
        found[name or f"column {number}"] = items(values) or []
    return found


def _dimensions(trace: Trace) -> dict[str, Any]:
    found = {}
    for number, about in enumerate(trace.items("dimensions") or ()):
        if isinstance(about, dict) and about.get("visible") is not False:
            name = clean_text(about.get("label")) or f"dimension {number}"
            values = items(about.get("values")) or []
            names = dict(zip(*ticks_of(about), strict=False))
            known = bool(values) and all(names.get(value) for value in values)
            found[name] = [names[value] for value in values] if known else values
    return found


def read_hierarchy(trace: Trace) -> Record | None:
    """Read the sectors of a treemap, sunburst or icicle: one row per sector, with its effective
    value.

    A missing value is the number of leaves, as plotly.js counts them; without
    ``branchvalues="total"`` the value of a parent is added to those of its descendants.
    """
    labels, parents = trace.items("labels"), trace.items("parents")
    ids = trace.items("ids")
    labels = ids if labels is None else labels
    if not labels or parents is None:
        return None
    names = [str(name) for name in (labels if ids is None else ids)]
    length = min(len(labels), len(parents), len(names))
    above = ["" if parent is None else str(parent) for parent in parents[:length]]
    columns: dict[str, Any] = {"labels": labels[:length], "parents": above}
    columns["values"] = _sector_values(trace, names[:length], above)
    if ids is not None and names[:length] != [str(label) for label in labels[:length]]:
        columns = {"ids": names[:length], **columns}
    shades = trace.items("marker", "colors")
    if shades and all(isinstance(shade, (int, float)) for shade in shades[:length]):
        columns["colors"] = shades[:length]
    return trace.series("other", columns)


def _sector_values(trace: Trace, names: list[str], parents: list[str]) -> list[float | None]:
    below: dict[str, list[int]] = {}
    for number, parent in enumerate(parents):
        if parent != names[number]:
            below.setdefault(parent, []).append(number)
    given = trace.items("values")
    if given is not None:
        own = [to_number(value) for value in [*given, *[None] * len(names)][: len(names)]]
        if trace.get("branchvalues") == "total":
            return own
    else:
        counted = str(trace.get("count") or "leaves")
        own = [float(("branches" if name in below else "leaves") in counted) for name in names]
    total: dict[int, float] = {}
    # Children stand after their parents here, so that sums are made from the leaves upwards.
    order = list(below.get("", []))
    seen = set(order)
    for number in order:
        more = [child for child in below.get(names[number], []) if child not in seen]
        seen.update(more)
        order += more
    for number in reversed(order):
        inner = sum(total.get(child, 0) for child in below.get(names[number], []))
        total[number] = (own[number] or 0) + inner
    return [total.get(number) for number in range(len(names))]
