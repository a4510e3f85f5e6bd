"""Tick labels as names, in place of the positions or categories of an axis."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .record import Record

__all__ = ["axis_in", "name_ticks", "rename"]

_NEAR = 1e-9
_NUMBER = re.compile(
    r"[^\w+.\-\u2212]*([+\-\u2212]?)[^\w+.\-\u2212]*"
    r"(\d[\d,_ ]*\.?\d*(?:[eE][+-]?\d+)?)\s*([^\d]*)\Z"
)
_FACTORS = {
    "": 1.0, "%": 0.01, "k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "b": 1e9,
    "bn": 1e9, "g": 1e9, "billion": 1e9, "t": 1e12, "tn": 1e12, "trillion": 1e12,
}  # fmt: skip
_SIDED = frozenset({"box", "violin"})
_GRIDS = frozenset({"heatmap", "contour", "image", "surface3d"})
Place = tuple[float, str]


def axis_in(chart: Record, name: str) -> Record | None:
    """Return the axis of a chart by a name such as ``y2``."""
    found: Record | None = chart.get(name) or chart["more_axes"].get(name)
    return found


def name_ticks(chart: Record, name: str, ticks: Iterable[tuple[Any, str | None]]) -> bool:
    """Replace positions by tick labels, if every position has one.

    Labels that only format the number, such as ``$2K`` at 2000, change nothing, and neither do
    labels on only some positions: they stay tick labels.

    Args:
        chart: The chart, not yet finished, whose axis is one of numbers.
        name: The axis: ``x``, ``y``, ``z`` in three dimensions, or an additional one.
        ticks: Positions with their tick labels.

    Returns:
        Whether the axis has names now.
    """
    places = sorted(
        (float(place), text)
        for place, text in ticks
        if isinstance(place, (int, float)) and place == place and text
    )
    if not places or all(_is_same(place, text) for place, text in places):
        return False
    upright = chart["orientation"] != "horizontal"
    drawn = [item for item in chart["series"] if _is_on(item, name)]
    if any(_is_measured(item, name[0], upright=upright) for item in drawn):
        return False
    columns = [
        (item, column)
        for item in drawn
        for column in _columns_on(item, name[0], upright=upright)
        if item["columns"].get(column)
    ]
    discrete = [pair for pair in columns if _is_discrete(*pair)]
    checked = discrete or [pair for pair in columns if pair[0]["kind"] != "rule"]
    named = [_named(item["columns"][c], places, exact=not discrete) for item, c in checked]
    if not checked or any(values is None for values in named):
        return False
    for item, column in columns:
        exact = not _is_discrete(item, column)
        values = _named(item["columns"][column], places, exact=exact)
        if values is not None:
            item["columns"][column] = values
    for note in chart["annotations"]:
        value = _named([note[name]], places, exact=True) if note.get(name) is not None else None
        if value is not None:
            note[name] = value[0]
    texts = [text for _, text in places]
    axis = axis_in(chart, name)
    if axis is not None:
        axis.update(scale="category", limits=None, ticks=texts, tick_labels=texts)
    return True


def rename(chart: Record, name: str, names: Mapping[Any, str]) -> None:
    """Replace the categories of an axis by their tick labels.

    Args:
        chart: The chart, not yet finished.
        name: The axis, which is categorical already.
        names: Label of each category; categories without one do not change.
    """
    known = {**names, **{str(value): text for value, text in names.items()}}

    def written(value: Any) -> Any:
        return value if isinstance(value, (list, dict)) else known.get(value, value)

    upright = chart["orientation"] != "horizontal"
    for item in chart["series"]:
        if _is_on(item, name):
            for column in _columns_on(item, name[0], upright=upright):
                if column in item["columns"]:
                    values = item["columns"][column]
                    item["columns"][column] = [written(value) for value in values]
    for note in chart["annotations"]:
        note[name] = written(note.get(name))
    axis = axis_in(chart, name)
    if axis is not None:
        axis["ticks"] = [written(value) for value in axis["ticks"]]
        axis["tick_labels"] = [str(tick) for tick in axis["ticks"]]


def _is_on(item: Record, name: str) -> bool:
    """Return whether a series is drawn against an axis."""
    own = item["axis"]
    return bool(name == (own if own[0] == name[0] else name[0]))


def _is_measured(item: Record, letter: str, *, upright: bool) -> bool:
    """Return whether a series has lengths or bins along an axis, which names cannot replace."""
    along = "x" if upright else "y"
    if item["kind"] == "histogram":
        return letter == along
    if item["kind"] == "area":
        return letter == ("x" if "x_base" in item["columns"] else "y")
    return item["kind"] in ("bar", *_SIDED) and letter != along


def _columns_on(item: Record, letter: str, *, upright: bool) -> Sequence[str]:
    if item["kind"] in _SIDED:
        return ("label",) if letter == ("x" if upright else "y") else ()
    if item["kind"] == "histogram":
        return ()
    more = [f"{letter}{end}" for end in ("_low", "_high", "_base", "0", "1")]
    return [letter, *(name for name in more if name in item["columns"])]


def _is_discrete(item: Record, column: str) -> bool:
    """Return whether the marks have a width, and so belong to the nearest name."""
    return item["kind"] in ("bar", *_SIDED, *_GRIDS) or column == "label"


def _named(values: Sequence[Any], places: list[Place], *, exact: bool) -> list[str | None] | None:
    """Return the names at positions; ``None`` if one has no name."""
    gap = min((b[0] - a[0] for a, b in itertools.pairwise(places)), default=1.0)
    if gap <= 0:
        return None
    reach = gap * (_NEAR if exact else 0.5 * (1 + _NEAR))
    found: list[str | None] = []
    known: dict[Any, str | None] = {}
    for value in values:
        if value is None:
            found.append(None)
            continue
        if isinstance(value, (list, dict)):
            return None
        if value not in known:
            known[value] = _nearest(value, places, reach)
        if known[value] is None:
            return None
        found.append(known[value])
    return found


def _nearest(value: Any, places: list[Place], reach: float) -> str | None:
    if not isinstance(value, (int, float)):
        return None
    place, text = min(places, key=lambda item: abs(item[0] - value))
    return text if abs(place - value) <= max(reach, _NEAR * abs(place)) else None


def _is_same(place: float, text: str) -> bool:
    """Return whether a text only formats the number."""
    match = _NUMBER.match(text.strip())
    if match is None:
        return False
    number = float(re.sub(r"[,_ ]", "", match[2])) * (-1 if match[1] in ("-", "\u2212") else 1)
    factor = _FACTORS.get(match[3].strip().lower())
    factors = {1.0} if factor is None else {1.0, factor}
    return any(abs(number * by - place) <= 0.06 * abs(place) for by in factors) and (
        factor is not None or match[3].strip()[:1] in ("€", "$", "£", "¥", "°")
    )
