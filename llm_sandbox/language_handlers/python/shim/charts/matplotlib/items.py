"""Series of a panel while its axes are not decided yet, and what all artists have."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

from ..record import color


@dataclass(slots=True)
class Item:
    """One series with the numbers that matplotlib draws at.

    Attributes:
        kind: Its kind in the record.
        columns: Its columns; those that ``places`` names hold positions on an axis.
        label: Its own label.
        color: Its colour.
        artist: An artist that a legend may name.
        places: The axis, ``x`` or ``y``, of every column that runs along one.
        names: The axes whose positions are names if the ticks say so: that of bars and boxes.
        horizontal: Whether bars, histograms, boxes and violins lie.
        stacking: What the call said about several series.
        main: Whether it may decide about the kind of the chart.
        total: Points it has, where that is not what the columns hold.
        axis: The axis it is drawn against instead of the first ones, such as ``y2``.
        fixed: Names along an axis that the ticks do not show, by ``x`` or ``y``.
    """

    kind: str
    columns: dict[str, Any]
    label: str | None = None
    color: str | None = None
    artist: Any = None
    places: dict[str, str] = field(default_factory=dict)
    names: str = ""
    horizontal: bool | None = None
    stacking: str | None = None
    main: bool = True
    total: int | None = None
    axis: str = "y"
    fixed: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.places:
            if self.kind == "bar":
                self.places[self.names] = self.names
                self.places["base"] = "x" if self.names == "y" else "y"
            else:
                self.places = {name: name[0] for name in self.columns if name[0] in "xy"}


def label_of(artist: Any) -> str | None:
    """Give the label a user gave.

    Args:
        artist: An artist or a container.

    Returns:
        The label, or ``None`` for those that matplotlib invents.
    """
    label = artist.get_label()
    found = label if isinstance(label, str) else str(label if label is not None else "")
    return None if not found or found.startswith("_") else found


def hexadecimal(value: Any) -> str | None:
    """Give any colour of matplotlib as ``#rrggbb``.

    Args:
        value: A name, a cycle reference, or numbers.

    Returns:
        The colour; ``None`` for none and for what is invisible.
    """
    try:
        found = sys.modules["matplotlib.colors"].to_rgba(value)
    except (ValueError, TypeError, KeyError):
        return None
    return color(found) if found[3] else None


def common(colors: Any) -> str | None:
    """Give the one colour of several.

    Args:
        colors: Rows of numbers.

    Returns:
        It, or ``None`` where they differ.
    """
    if len(colors) == 0:
        return None
    if len(colors) > 1 and not (colors[:, :3] == colors[0, :3]).all():
        return None
    return hexadecimal(tuple(colors[0]))


def color_of(artist: Any) -> str | None:
    """Give the colour that a legend would show.

    Args:
        artist: A line, a patch or a collection.

    Returns:
        The colour, where there is a single one.
    """
    if hasattr(artist, "get_facecolor"):
        found = artist.get_facecolor()
        if isinstance(found, tuple):
            return hexadecimal(found) or hexadecimal(artist.get_edgecolor())
        return common(found) if len(found) else common(artist.get_edgecolor())
    return hexadecimal(artist.get_color())


def numbers(values: Any) -> Any:
    """Give values as an array of floats, hidden ones as NaN.

    Args:
        values: Anything array-like that holds numbers.

    Returns:
        An array of one dimension or more.
    """
    numpy = sys.modules["numpy"]
    return numpy.atleast_1d(numpy.ma.filled(numpy.ma.asarray(values, float), numpy.nan))
