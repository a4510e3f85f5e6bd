"""Bars and boxes whose colours only repeat their categories, which are one series."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .bars import read_bars, read_boxes
from .items import Item

if TYPE_CHECKING:
    from collections.abc import Callable

    from .calls import Call, Owner

    Units = list[tuple[list[Any], Callable[[], list[Item]]]]


def categories(calls: list[Call], containers: dict[int, Any]) -> Units:
    """Merge what ``hue`` set to the categories themselves has drawn one by one.

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
            return [(patches, lambda: [_join(items)])]
    return []


def error_bars(groups: list[tuple[Owner, list[Call]]]) -> Units:
    """Merge error bars that were drawn category by category.

    Args:
        groups: Those who drew them, with their calls.

    Returns:
        One group, or none if there are several of them in one category.
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
    return [(artists, lambda: [_join(items)])]


def _are_categories(places: list[float]) -> bool:
    return len(set(places)) == len(places) and all(place.is_integer() for place in places)


def _join(items: list[Item]) -> Item:
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
