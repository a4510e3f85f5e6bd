"""Composite marks of Vega-Lite: box plots, error bars and error bands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import record
from .aggregates import aggregate, quantile
from .expression import ExpressionError
from .functions import to_number

if TYPE_CHECKING:
    from .filters import Row
    from .unit import View

__all__ = ["read_band", "read_boxes", "read_error_bars"]

Look = tuple[str | None, str | None]
Values = Callable[..., list[Any]]


def _numbers(view: View, rows: list[Row], name: str) -> list[float]:
    channel = view.channels.get(name)
    values = [row.get(channel.field or "") for row in rows] if channel is not None else []
    found = [to_number(value) for value in values if value is not None]
    return [value for value in found if math.isfinite(value)]


def _grouped(
    view: View, rows: list[Row], along: str, values: Values
) -> list[tuple[Any, list[Row]]]:
    channel = view.channels.get(along)
    if channel is None or channel.field is None:
        return [("", rows)] if rows else []
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.get(channel.field), []).append(row)
    return [(values(channel, members[:1])[0], members) for members in groups.values()]


def read_boxes(
    view: View, rows: list[Row], look: Look, axes: tuple[str, str], values: Values
) -> list[record.Record]:
    """Read box plots: one row per box."""
    along, across = axes
    extent = view.about.get("extent", 1.5)
    names = ("label", "min", "q1", "median", "q3", "max", "outliers")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for label, members in _grouped(view, rows, along, values):
        ordered = sorted(_numbers(view, members, across))
        if not ordered:
            continue
        q1, middle, q3 = (quantile(ordered, part) or 0 for part in (0.25, 0.5, 0.75))
        inside = ordered
        if extent != "min-max":
            reach = to_number(extent) * (q3 - q1)
            inside = [value for value in ordered if q1 - reach <= value <= q3 + reach]
        low, high = inside[0], inside[-1]
        outliers = [value for value in ordered if value < low or value > high]
        row = (label, low, q1, middle, q3, high, outliers)
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
    return [record.series("box", columns, *look)]


def _spread(view: View, members: list[Row], across: str) -> tuple[float, float, float] | None:
    numbers = _numbers(view, members, across)
    if not numbers:
        return None
    extent = view.about.get("extent")
    center = view.about.get("center")
    if extent is None:
        extent = "iqr" if center == "median" else "stderr"
    if extent == "iqr":
        ordered = sorted(numbers)
        parts = [quantile(ordered, part) or 0 for part in (0.25, 0.5, 0.75)]
        return parts[0], parts[1], parts[2]
    if extent not in ("stderr", "stdev"):
        raise ExpressionError("intervals of confidence are drawn at random by Vega")
    middle, reach = aggregate("mean", numbers), aggregate(str(extent), numbers)
    return middle - reach, middle, middle + reach


def _columns(
    view: View, rows: list[Row], axes: tuple[str, str], values: Values
) -> dict[str, list[Any]]:
    along, across = axes
    second, error = view.channels.get(f"{across}2"), view.channels.get(f"{across}Error")
    size = view.channels.get(across)
    found: dict[str, list[Any]] = {along: [], "low": [], across: [], "high": []}
    if second is not None or error is not None:
        # The interval is in the data already.
        middles = values(size, rows)
        found[along] = values(view.channels.get(along), rows)
        if error is not None:
            below = view.channels.get(f"{across}Error2") or error
            above_by, below_by = values(error, rows), values(below, rows)
            sign = 1 if below is error else -1
            found[across] = middles
            found["low"] = [m - sign * e for m, e in zip(middles, below_by, strict=True)]
            found["high"] = [m + e for m, e in zip(middles, above_by, strict=True)]
            return found
        found["low"], found["high"] = middles, values(second, rows)
        found[across] = [(a + b) / 2 for a, b in zip(found["low"], found["high"], strict=True)]
        return found
    for label, members in _grouped(view, rows, along, values):
        spread = _spread(view, members, across)
        if spread is not None:
            found[along].append(label)
            for name, value in zip(("low", across, "high"), spread, strict=True):
                found[name].append(value)
    return found


def read_error_bars(
    view: View, rows: list[Row], look: Look, axes: tuple[str, str], values: Values
) -> list[record.Record]:
    """Read error bars."""
    known = _columns(view, rows, axes, values)
    along, across = axes
    columns = {along: known[along], across: known[across]}
    columns[f"{across}_low"], columns[f"{across}_high"] = known["low"], known["high"]
    return [record.series("errorbar", columns, *look)]


def read_band(
    view: View, rows: list[Row], look: Look, axes: tuple[str, str], values: Values
) -> list[record.Record]:
    """Read an error band as an area."""
    known = _columns(view, rows, axes, values)
    along, across = axes
    columns = {along: known[along], across: known["high"], f"{across}_base": known["low"]}
    return [record.series("area", columns, *look)]
