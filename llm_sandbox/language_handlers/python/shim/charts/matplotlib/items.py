"""Series of a panel before its axes are resolved, and properties that all artists have."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

from ..record import color


@dataclass(slots=True)
class Item:
    """One series with the positions that matplotlib draws at.

    Attributes:
        kind: Kind of the series in the record.
        columns: Columns of values; those in ``places`` hold positions on an axis.
        label: Label of the artist itself.
        color: Colour of the series.
        artist: Artist that a legend may refer to.
        places: The axis, ``x`` or ``y``, of every column that runs along one.
        names: The axes whose positions are names if the ticks say so: that of bars and boxes.
        horizontal: Whether bars, histograms, boxes and violins are horizontal.
        stacking: Stacking of several series, if the call determined it.
        main: Whether the series may determine the kind of the chart.
        total: Number of points, if the columns hold fewer.
        axis: Axis of the series if it is not a primary one, such as ``y2``.
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
    """Return the label that the user set.

    Args:
        artist: An artist or a container.

    Returns:
        The label, or ``None`` for those that matplotlib invents.
    """
    label = artist.get_label()
    found = label if isinstance(label, str) else str(label if label is not None else "")
    return None if not found or found.startswith("_") else found


def hexadecimal(value: Any) -> str | None:
    """Return a matplotlib colour as ``#rrggbb``.

    Args:
        value: A name, a cycle reference, or numbers.

    Returns:
        The colour; ``None`` for none and for a transparent one.
    """
    try:
        found = sys.modules["matplotlib.colors"].to_rgba(value)
    except (ValueError, TypeError, KeyError):
        return None
    return color(found) if found[3] else None


def common(colors: Any) -> str | None:
    """Return the common colour of several.

    Args:
        colors: Rows of numbers.

    Returns:
        The colour, or ``None`` if they differ.
    """
    if len(colors) == 0:
        return None
    if len(colors) > 1 and not (colors[:, :3] == colors[0, :3]).all():
        return None
    return hexadecimal(tuple(colors[0]))


def color_of(artist: Any) -> str | None:
    """Return the colour that a legend would show.

    Args:
        artist: A line, a patch or a collection.

    Returns:
        The colour, if there is a single one.
    """
    if hasattr(artist, "get_facecolor"):
        found = artist.get_facecolor()
        if isinstance(found, tuple):
            return hexadecimal(found) or hexadecimal(artist.get_edgecolor())
        return common(found) if len(found) else common(artist.get_edgecolor())
    return hexadecimal(artist.get_color())


def numbers(values: Any) -> Any:
    """Return values as an array of floats, masked ones as NaN.

    Args:
        values: Anything array-like that holds numbers.

    Returns:
        An array of one dimension or more.
    """
    numpy = sys.modules["numpy"]
    return numpy.atleast_1d(numpy.ma.filled(numpy.ma.asarray(values, float), numpy.nan))
