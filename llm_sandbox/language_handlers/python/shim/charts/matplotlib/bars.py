"""Readers of matplotlib's bars, histograms, boxes, violins and pies."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .items import Item, color_of, common, hexadecimal, label_of, numbers

if TYPE_CHECKING:
    from .calls import Call

_NEAR = 1e-9


def read_bars(container: Any) -> list[Item]:
    """Read a ``BarContainer``.

    Args:
        container: The container.

    Returns:
        One series of bars.
    """
    patches = container.patches
    if not patches:
        return []
    if hasattr(patches[0], "_segment3d"):
        return _solid_bars(container)
    lying = container.orientation == "horizontal"
    at, value, base = _rectangles(patches, lying)
    columns = {"x": value, "y": at} if lying else {"x": at, "y": value}
    if base.any():
        columns["base"] = base
    sizes = _sizes(patches, lying)
    if abs(sizes - sizes[0]).max() > 1e-6 * abs(sizes[0]):
        columns["width"] = sizes
    return [
        Item(
            "bar",
            columns,
            label_of(container) or _shared_label(patches),
            _patch_color(patches),
            # Bars with a label each are categories in the legend, and no series.
            None if len(patches) > 1 and label_of(patches[0]) else patches[0],
            names="y" if lying else "x",
            horizontal=lying,
        )
    ]


def _solid_bars(container: Any) -> list[Item]:
    """Read flat bars in a 3D plot."""
    numpy = sys.modules["numpy"]
    points = numpy.array([patch._segment3d for patch in container.patches], float)
    low, high = points.min(axis=1), points.max(axis=1)
    middle, extent = (low + high) / 2, high - low
    # Bars in a plane of constant height rise along y, all others along z.
    rising = 1 if not extent[:, 2].any() else 2
    columns = {
        name: extent[:, index] if index == rising else middle[:, index]
        for index, name in enumerate("xyz")
    }
    patch = container.patches[0]
    return [Item("other", columns, label_of(container), _patch_color(container.patches), patch)]


def _shared_label(patches: Any) -> str | None:
    """Return the label of the only bar; ``bar(label=[...])`` labels each of several."""
    return label_of(patches[0]) if len(patches) == 1 else None


def _rectangles(patches: Any, lying: bool) -> tuple[Any, Any, Any]:
    """Return positions, values and bases of bars."""
    numpy = sys.modules["numpy"]
    corners = numpy.array([(p.get_x(), p.get_y()) for p in patches], float)
    sizes = numpy.array([(p.get_width(), p.get_height()) for p in patches], float)
    along = 1 if lying else 0
    width = sizes[:, along]
    at = corners[:, along] + width / 2
    # Centres come from edges: what is left of zero and of whole numbers is only rounding.
    whole = numpy.rint(at)
    at = numpy.where(abs(at - whole) <= abs(width) * _NEAR, whole, at)
    return at, sizes[:, 1 - along], corners[:, 1 - along]


def _sizes(patches: Any, lying: bool) -> Any:
    numpy = sys.modules["numpy"]
    found = [patch.get_height() if lying else patch.get_width() for patch in patches]
    return numpy.array(found, float)


def _patch_color(patches: Any) -> str | None:
    numpy = sys.modules["numpy"]
    colors = numpy.array([patch.get_facecolor() for patch in patches[:1000]])
    return common(colors) or (hexadecimal(patches[0].get_edgecolor()) if not colors.any() else None)


def read_edges(containers: list[Any]) -> list[Item]:
    """Read bars that show the bins of a histogram, as seaborn draws them.

    Args:
        containers: The containers, one for each group.

    Returns:
        One histogram for each container.
    """
    numpy = sys.modules["numpy"]
    rows = []
    for container in containers:
        lying = container.orientation == "horizontal"
        along = 1 if lying else 0
        patches = container.patches
        corners = numpy.array([(p.get_x(), p.get_y()) for p in patches], float).reshape(-1, 2)
        sizes = numpy.array([(p.get_width(), p.get_height()) for p in patches], float)
        sizes = sizes.reshape(-1, 2)
        start, base = corners[:, along], corners[:, 1 - along]
        end, count = start + sizes[:, along], sizes[:, 1 - along]
        rows.append((container, lying, start, end, count, base))
    first = rows[0]
    alike = len(rows) > 1 and all(len(row[2]) == len(first[2]) > 0 for row in rows)
    dodged = alike and any(
        abs(row[2] - first[2]).max() > 1e-9 * abs(row[3][0] - row[2][0]) for row in rows
    )
    if dodged:
        starts = numpy.array([row[2] for row in rows]).min(axis=0)
        ends = numpy.array([row[3] for row in rows]).max(axis=0)
        rows = [(c, lying, starts, ends, count, base) for c, lying, _, _, count, base in rows]
    found = []
    for container, lying, start, end, count, base in rows:
        if len(start) > 1:
            # Neighbouring bins share an edge; the sum of edge and width is off by a rounding.
            near = abs(start[1:] - end[:-1]) <= 1e-9 * abs(end[:-1] - start[:-1])
            ends = numpy.append(numpy.where(near, start[1:], end[:-1]), end[-1:])
        else:
            ends = end
        item = histogram(start, ends, count, lying, container.patches[0])
        item.label = label_of(container)
        item.color = _patch_color(container.patches)
        item.stacking = "grouped" if dodged else "stacked" if base.any() else None
        found.append(item)
    if any(item.stacking == "stacked" for item in found):
        for item in found:
            item.stacking = "stacked"
    return found


def read_patches(collection: Any) -> list[Item]:
    """Read rectangles in one collection, as seaborn draws many bars.

    Args:
        collection: The collection.

    Returns:
        A histogram if the rectangles touch, bars otherwise; nothing for other shapes.
    """
    numpy = sys.modules["numpy"]
    paths = collection.get_paths()
    if not paths or any(len(path.vertices) != 5 for path in paths[:1000]):
        return []
    boxes = numpy.array([(*p.vertices.min(axis=0), *p.vertices.max(axis=0)) for p in paths])
    lying = not (boxes[:, 1] == boxes[0, 1]).all() and bool((boxes[:, 0] == boxes[0, 0]).all())
    along = 1 if lying else 0
    start, end = boxes[:, along], boxes[:, along + 2]
    base, value = boxes[:, 1 - along], boxes[:, 3 - along] - boxes[:, 1 - along]
    near = abs(start[1:] - end[:-1]) <= 1e-9 * abs(end[:-1] - start[:-1])
    if len(start) > 1 and near.all() and not base.any():
        item = histogram(start, numpy.append(start[1:], end[-1:]), value, lying, collection)
        item.label, item.color = label_of(collection), color_of(collection)
        return [item]
    at = (start + end) / 2
    columns = {"x": value, "y": at} if lying else {"x": at, "y": value}
    if base.any():
        columns["base"] = base
    label, color, axis = label_of(collection), color_of(collection), "y" if lying else "x"
    return [Item("bar", columns, label, color, collection, names=axis, horizontal=lying)]


def histogram(start: Any, end: Any, count: Any, lying: bool, artist: Any) -> Item:
    """Build a histogram from its bins.

    Args:
        start: Lower edges of the bins.
        end: Upper edges of the bins.
        count: Count of each bin.
        lying: Whether the bins are on the y axis.
        artist: An artist of the histogram.

    Returns:
        The histogram.
    """
    axis = "y" if lying else "x"
    return Item(
        "histogram",
        {"start": start, "end": end, "count": count},
        artist=artist,
        places={"start": axis, "end": axis},
        horizontal=lying,
    )


def read_histogram(call: Call, containers: dict[int, Any], names: int = 0) -> list[Item]:
    """Read a call of ``hist``.

    Args:
        call: The call.
        containers: Containers of bars by the identity of their first bar.
        names: Number of categories, if categories were counted rather than numbers.

    Returns:
        One histogram for each data set.
    """
    numpy = sys.modules["numpy"]
    counts = call.data["counts"]
    counts = (
        numpy.array([list(row) for row in counts], float)
        if counts.ndim > 1 or (counts.dtype == object)
        else counts.astype(float)[None, :]
    )
    edges = numpy.asarray(call.data["edges"], float)
    artists = list(call.alive())
    several = len(counts) > 1
    stacked = call.data["stacked"]
    if stacked and several:
        counts = numpy.diff(counts, axis=0, prepend=0)
    found = []
    for row, artist in zip(counts, artists, strict=False):
        item = histogram(edges[:-1], edges[1:], row, call.data["horizontal"], artist)
        container = containers.get(id(artist))
        if container is not None:
            item.label = label_of(container) or label_of(artist)
            item.color = _patch_color(container.patches)
        else:
            item.label, item.color = label_of(artist), color_of(artist)
        if names:
            item = _counted(item, names)
        if several:
            step = call.data["step"]
            item.stacking = "stacked" if stacked else "overlaid" if step else "grouped"
        found.append(item)
    return found


def _counted(found: Item, names: int) -> Item:
    """Build bars from a histogram of categories, where every category has its own bin."""
    numpy = sys.modules["numpy"]
    edges = numpy.append(found.columns["start"], found.columns["end"][-1:])
    places = numpy.arange(names)
    bins = numpy.minimum(numpy.searchsorted(edges, places, side="right") - 1, len(edges) - 2)
    if len(set(bins.tolist())) < names or (bins < 0).any():
        return found
    lying = bool(found.horizontal)
    count = found.columns["count"][bins]
    columns = {"x": count, "y": places} if lying else {"x": places, "y": count}
    axis = "y" if lying else "x"
    return Item(
        "bar", columns, found.label, found.color, found.artist, names=axis, horizontal=lying
    )


def read_stairs(patch: Any) -> list[Item]:
    """Read a ``StepPatch``.

    Args:
        patch: The patch.

    Returns:
        A histogram if the values could be counts, steps otherwise.
    """
    numpy = sys.modules["numpy"]
    values, edges, baseline = patch.get_data()
    values, edges = numbers(values), numbers(edges)
    lying = patch.orientation == "horizontal"
    plain = baseline is None or not numpy.any(baseline)
    if plain and not (values < 0).any():
        item = histogram(edges[:-1], edges[1:], values, lying, patch)
    else:
        ends = numpy.append(values, values[-1:])
        columns = {"x": ends, "y": edges} if lying else {"x": edges, "y": ends}
        item = Item("step", columns, artist=patch)
    item.label, item.color = label_of(patch), color_of(patch)
    return [item]


def read_boxes(call: Call) -> list[Item]:
    """Read a call of ``bxp``, which ``boxplot`` and seaborn call.

    Args:
        call: The call.

    Returns:
        One series with a row for each box.
    """
    stats = call.data["stats"]
    columns: dict[str, Any] = {"label": numbers(call.data["positions"])}
    for name, key in (
        ("min", "whislo"),
        ("q1", "q1"),
        ("median", "med"),
        ("q3", "q3"),
        ("max", "whishi"),
    ):
        columns[name] = [item.get(key) for item in stats]
    if call.data["means"]:
        columns["mean"] = [item.get("mean") for item in stats]
    outliers = [list(item.get("fliers", ())) for item in stats]
    if any(outliers):
        columns["outliers"] = outliers
    artists = list(call.alive())
    boxes = [artist for artist in artists if hasattr(artist, "get_facecolor")]
    return [_rows("box", columns, call, (boxes or artists)[: len(stats)], stats)]


def _rows(kind: str, columns: dict[str, Any], call: Call, artists: Any, stats: Any) -> Item:
    lying = call.data["horizontal"]
    axis = "y" if lying else "x"
    colors = {color_of(artist) for artist in artists}
    item = Item(
        kind,
        columns,
        label=next((label_of(artist) for artist in artists), None),
        color=colors.pop() if len(colors) == 1 else None,
        artist=artists[0] if artists else None,
        places={"label": axis},
        names=axis,
        horizontal=lying,
    )
    if len(stats) > 1 and len({label_of(artist) for artist in artists}) > 1:
        item.label = None  # labels of single boxes name categories
    return item


def read_violins(call: Call) -> list[Item]:
    """Read a call of ``violin``, which ``violinplot`` calls.

    Args:
        call: The call.

    Returns:
        One series with a row for each violin.
    """
    stats = call.data["stats"]
    columns: dict[str, Any] = {"label": numbers(call.data["positions"])}
    for name, key in (("min", "min"), ("median", "median"), ("max", "max")):
        columns[name] = [item.get(key) for item in stats]
    columns["values"] = [numbers(item["coords"]).tolist() for item in stats]
    columns["density"] = [numbers(item["vals"]).tolist() for item in stats]
    artists = [artist for artist in call.alive() if hasattr(artist, "get_paths")]
    return [_rows("violin", columns, call, artists[: len(stats)], stats)]


def read_pie(call: Call, legend: list[str]) -> list[Item]:
    """Read a call of ``pie``.

    Args:
        call: The call.
        legend: Labels of the legend, for slices without labels of their own.

    Returns:
        One series with a row for each slice.
    """
    wedges = [artist for artist in call.alive() if hasattr(artist, "theta1")]
    values = call.data["values"]
    if len(values) != len(wedges):
        values = numbers([(w.theta2 - w.theta1) / 360 for w in wedges])
    labels = [label_of(wedge) for wedge in wedges]
    if not any(labels) and len(legend) >= len(wedges):
        labels = list(legend[: len(wedges)])
    columns = {"label": labels, "value": numbers(values)}
    return [Item("pie", columns, places={"": ""}, artist=None)]
