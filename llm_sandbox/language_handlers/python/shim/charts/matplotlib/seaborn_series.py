"""Series of seaborn and pandas that consist of several artists."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from .areas import split_by_color
from .bars import histogram, read_bars, read_boxes, read_edges
from .grids import read_mesh
from .items import Item, color_of, common, label_of, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from .axis import AxisReader
    from .calls import Call, Owner
    from .legend import Legend

    _Units = list[tuple[list[Any], Callable[[], list[Item]]]]


def units(
    axes: Any,
    calls: list[Call],
    containers: dict[int, Any],
    x: AxisReader,
    y: AxisReader,
    legend: Legend,
) -> list[tuple[list[Any], Callable[[], list[Item]]]]:
    """Find the groups of artists that a library on top of matplotlib drew.

    Args:
        axes: The axes.
        calls: The calls that drew into them.
        containers: Containers of bars by the identity of their first bar.
        x: The horizontal axis.
        y: The vertical axis.
        legend: The legends.

    Returns:
        The artists of each group and a function that reads it.
    """
    groups: dict[int, tuple[Owner, list[Call]]] = {}
    for call in calls:
        if call.owner is not None:
            groups.setdefault(id(call.owner), (call.owner, []))[1].append(call)
    found: list[tuple[list[Any], Callable[[], list[Item]]]] = []
    bars = [pair for pair in groups.values() if pair[0].name == "errorbars"]
    for owner, mine in groups.values():
        try:
            found += _group(owner, mine, containers, x, y, legend)
        except Exception:  # noqa: BLE001, S112 - its artists are read one by one
            continue
    if len(bars) > 1:
        found += _merge_error_bars(bars)
    return found


def _group(
    owner: Owner,
    calls: list[Call],
    containers: dict[int, Any],
    x: AxisReader,
    y: AxisReader,
    legend: Legend,
) -> list[tuple[list[Any], Callable[[], list[Item]]]]:
    artists = [artist for call in calls for artist in call.alive()]
    if owner.name == "histogram" and "category" not in (x.kind, y.kind):
        return _histograms(owner, calls, containers)
    if owner.name == "violin" and "groups" in owner.data:
        fills = [call for call in calls if call.name.startswith("fill_between")]
        return [(artists, lambda: _violins(owner, fills, legend))]
    if owner.library == "seaborn" and owner.name in ("bar", "box"):
        return _merge_categories(calls, containers)
    if owner.name == "boxen" and "groups" in owner.data:
        return [(artists, lambda: _boxens(owner))]
    if owner.name == "errorbars" and "columns" in owner.data:
        ends = [values for name, values in owner.data["columns"].items() if "_" in name]
        if not any(sys.modules["numpy"].isfinite(values).any() for values in ends):
            return [(artists, list)]  # of a single observation there are none
        color = color_of(artists[0])
        return [
            (
                artists,
                lambda: [
                    Item("errorbar", owner.data["columns"], None, color, artists[0], main=False)
                ],
            )
        ]
    if owner.library == "seaborn" and owner.name in ("strip", "scatter", "objects"):
        kind = sys.modules["matplotlib.collections"].PathCollection
        points = [artist for artist in artists if isinstance(artist, kind)]
        return [(points, lambda: _points(owner, points, legend, x, y))]
    if owner.name == "heatmap" and "x" in owner.data:
        meshes = [artist for artist in artists if hasattr(artist, "get_coordinates")]
        return [(meshes, lambda: _heatmap(owner, meshes[0], x, y))]
    if owner.name == "treemap" and "value" in owner.data:
        patches = [patch for one in artists for patch in containers[id(one)].patches]
        labels = owner.data["label"] or [None] * len(owner.data["value"])
        tiles = {"label": labels, "value": owner.data["value"]}
        return [(patches, lambda: [Item("other", tiles, places={"": ""})])]
    if owner.name == "dendrogram":
        return [(artists, list)]
    if owner.library == "pandas" and owner.name == "area":
        lines = [artist for call in calls if call.name == "plot" for artist in call.alive()]
        fills = [call for call in calls if call.name == "fill_between"]
        return [(lines, list), *_layers(fills)]
    return []


def _histograms(
    owner: Owner, calls: list[Call], containers: dict[int, Any]
) -> list[tuple[list[Any], Callable[[], list[Item]]]]:
    found: list[tuple[list[Any], Callable[[], list[Item]]]] = []
    bars = [
        containers[id(artist)]
        for call in calls
        if call.name in ("bar", "barh")
        for artist in call.alive()
        if id(artist) in containers
    ]
    if bars:
        patches = [patch for container in bars for patch in container.patches]
        found.append((patches, lambda: read_edges(bars)))
    if owner.data.get("element") == "step":
        hulls = [call for call in calls if call.name.startswith("fill_between")]
        found += [(list(call.alive()), functools.partial(_steps, call)) for call in hulls]
    return found


def _steps(call: Call) -> list[Item]:
    """Read the outline of a step histogram, whose last value is repeated."""
    numpy = sys.modules["numpy"]
    at, base, top = (numbers(call.data[name]) for name in ("at", "one", "two"))
    count = top - base
    lying = call.name == "fill_betweenx"
    artist = next(call.alive())
    item = histogram(at[:-1], at[1:], count[:-1], lying, artist)
    item.color = color_of(artist)
    item.stacking = "stacked" if numpy.any(base) else None
    return [item]


def _violins(owner: Owner, fills: list[Call], legend: Legend) -> list[Item]:
    numpy = sys.modules["numpy"]
    groups = [group for group in owner.data["groups"] if len(set(group[2].tolist())) > 1]
    lying = owner.data["horizontal"]
    series: dict[Any, tuple[dict[str, list[Any]], list[Any]]] = {}
    for (position, hue, values), call in zip(groups, fills, strict=False):
        names = ("label", "min", "median", "max", "values", "density")
        columns, artists = series.setdefault(hue, ({name: [] for name in names}, []))
        one, two = numbers(call.data["one"]), numbers(call.data["two"])
        row = (
            position,
            values.min(),
            numpy.median(values),
            values.max(),
            numbers(call.data["at"]).tolist(),
            ((two - one) / 2).tolist(),
        )
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
        artists += call.alive()
    return _rows("violin", series, lying, owner)


def _boxens(owner: Owner) -> list[Item]:
    numpy = sys.modules["numpy"]
    series: dict[Any, tuple[dict[str, list[Any]], list[Any]]] = {}
    for position, hue, values in owner.data["groups"]:
        names = ("label", "min", "q1", "median", "q3", "max")
        columns, _ = series.setdefault(hue, ({name: [] for name in names}, []))
        row = (position, *numpy.percentile(values, (0, 25, 50, 75, 100)).tolist())
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
    return _rows("box", series, owner.data["horizontal"], owner)


def _rows(
    kind: str, series: dict[Any, tuple[dict[str, Any], list[Any]]], lying: bool, owner: Owner
) -> list[Item]:
    numpy = sys.modules["numpy"]
    axis = "y" if lying else "x"
    found = []
    several = len(series) > 1
    positions = [place for columns, _ in series.values() for place in columns["label"]]
    if several and len(positions) == len(set(positions)):
        # Every group has categories of its own: the colours only repeat the categories.
        merged: dict[str, list[Any]] = {}
        for columns, _ in series.values():
            for name, values in columns.items():
                merged.setdefault(name, []).extend(values)
        order = numpy.argsort(merged["label"], kind="stable").tolist()
        merged = {name: [values[index] for index in order] for name, values in merged.items()}
        series, several = {None: (merged, [])}, False
    for hue, (columns, artists) in series.items():
        columns["label"] = numbers(columns["label"])
        colors = {color_of(artist) for artist in artists}
        item = Item(
            kind,
            columns,
            str(hue) if several else None,
            colors.pop() if len(colors) == 1 else None,
            places={"label": axis},
            names=axis,
            horizontal=lying,
        )
        found.append(item)
    return found


def _points(
    owner: Owner, points: list[Any], legend: Legend, x: AxisReader, y: AxisReader
) -> list[Item]:
    numpy = sys.modules["numpy"]
    parts = [numbers(artist.get_offsets()).reshape(-1, 2) for artist in points]
    if not parts:
        return []
    colors = [
        _each(artist.get_facecolor(), len(part)) for artist, part in zip(points, parts, strict=True)
    ]
    offsets, shades = numpy.concatenate(parts), numpy.concatenate(colors)
    columns = {"x": offsets[:, 0], "y": offsets[:, 1]}
    for name in ("size", "value"):
        values = owner.data.get(name)
        if values is not None and len(values) == len(offsets):
            columns[name] = values
    names = "x" if x.kind == "category" else "y" if y.kind == "category" else ""
    label = None if len(points) > 1 else label_of(points[0])
    item = Item("scatter", columns, label, common(shades), points[0], names=names)
    return split_by_color(item, shades, legend.colors)


def _each(colors: Any, count: int) -> Any:
    numpy = sys.modules["numpy"]
    return colors if len(colors) == count else numpy.broadcast_to(colors[:1], (count, 4))


def _heatmap(owner: Owner, mesh: Any, x: AxisReader, y: AxisReader) -> list[Item]:
    item = read_mesh(mesh, None, x, y)[0]
    shape = item.columns["z"].shape
    for name, length in (("x", shape[1]), ("y", shape[0])):
        names = owner.data[name]
        if len(names) != length:
            continue
        written = {"x": x, "y": y}[name].written()
        names = [written.get(place + 0.5) or known for place, known in enumerate(names)]
        item.places.pop(name)
        item.names = item.names.replace(name, "")
        if names == [str(place) for place in range(length)]:
            item.columns[name] = list(range(length))
        else:
            item.columns[name] = item.fixed[name] = names
    return [item]


def _layers(fills: list[Call]) -> list[tuple[list[Any], Callable[[], list[Item]]]]:
    stacked = any(numbers(call.data["one"]).any() for call in fills)

    def layer(call: Call) -> list[Item]:
        artist = next(call.alive())
        at, base, top = (numbers(call.data[name]) for name in ("at", "one", "two"))
        columns = {"x": at, "y": top - base if stacked else top}
        if base.any():
            columns["y_base"] = base
        label = label_of(artist)
        stacking = "stacked" if stacked else None
        return [Item("area", columns, label, color_of(artist), artist, stacking=stacking)]

    return [(list(call.alive()), functools.partial(layer, call)) for call in fills]


def _merge_categories(calls: list[Call], containers: dict[int, Any]) -> _Units:
    """Merge the artists of categories that ``hue`` coloured one by one: the colours repeat the
    categories.

    Args:
        calls: The calls of one function of seaborn.
        containers: Containers of bars by the identity of their first bar.

    Returns:
        One group, or none if the colours are a second variable.
    """
    boxes = [call for call in calls if call.name == "bxp"]
    if len(boxes) > 1 and all(len(call.data["stats"]) == 1 for call in boxes):
        places = [float(call.data["positions"][0]) for call in boxes]
        if _are_categories(places):
            artists = [artist for call in boxes for artist in call.alive()]
            return [(artists, lambda: [_join_boxes(boxes)])]
    bars = [
        containers[id(artist)]
        for call in calls
        if call.name in ("bar", "barh")
        for artist in call.alive()
        if id(artist) in containers
    ]
    if len(bars) > 1 and all(len(container.patches) == 1 for container in bars):
        patches = [container.patches[0] for container in bars]
        items = [item for container in bars for item in read_bars(container)]
        if _are_categories([float(item.columns[item.names][0]) for item in items]):
            return [(patches, lambda: [_join_items(items)])]
    return []


def _merge_error_bars(groups: list[tuple[Owner, list[Call]]]) -> _Units:
    """Merge error bars that were drawn category by category.

    Args:
        groups: Owners of the error bars, with their calls.

    Returns:
        One group, or none if a category has several error bars.
    """
    items = [
        Item("errorbar", owner.data["columns"], main=False)
        for owner, _ in groups
        if "columns" in owner.data
    ]
    if len(items) != len(groups) or any(len(item.columns["x"]) != 1 for item in items):
        return []
    along = "x" if "y_low" in items[0].columns else "y"
    if not _are_categories([float(item.columns[along][0]) for item in items]):
        return []
    artists = [artist for _, calls in groups for call in calls for artist in call.alive()]
    return [(artists, lambda: [_join_items(items)])]


def _are_categories(places: list[float]) -> bool:
    return len(set(places)) == len(places) and all(place.is_integer() for place in places)


def _join_items(items: list[Item]) -> Item:
    numpy = sys.modules["numpy"]
    first = items[0]
    names = first.columns.keys()
    columns = {name: numpy.concatenate([item.columns[name] for item in items]) for name in names}
    colors = {item.color for item in items}
    return Item(
        first.kind,
        columns,
        color=first.color if len(colors) == 1 else None,
        names=first.names,
        horizontal=first.horizontal,
        main=first.main,
    )


def _join_boxes(calls: list[Call]) -> Item:
    parts = [read_boxes(call)[0] for call in calls]
    first = parts[0]
    for part in parts:
        part.columns.setdefault("outliers", [[]])
    columns = {name: [part.columns[name][0] for part in parts] for name in first.columns}
    if not any(columns["outliers"]):
        del columns["outliers"]
    return Item(
        "box",
        columns,
        places=first.places,
        names=first.names,
        horizontal=first.horizontal,
    )
