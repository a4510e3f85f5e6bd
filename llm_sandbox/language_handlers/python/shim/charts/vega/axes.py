"""Axes of Vega-Lite charts: their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import record
from .encoding import Channel, describe_field, domain_of
from .functions import to_text
from .labels import write, writes_names
from .time import moment, parse_date

if TYPE_CHECKING:
    from .unit import View

__all__ = ["axis_of", "shade_axis"]

_SCALES = {"log": "log", "symlog": "symlog", "pow": "other", "sqrt": "other"}


def axis_of(views: list[View], name: str) -> record.Record | None:
    """Describe the axis that views share.

    Args:
        views: The views that share the axis.
        name: ``x`` or ``y``.

    Returns:
        The axis; ``None`` if no view has such a channel.
    """
    owners = [view for view in views if name in view.channels and view.channels[name].is_field]
    if not owners:
        return None
    channels = [view.channels[name] for view in owners]
    first = channels[0]
    labels: dict[Any, None] = {}
    explicit = [c for c in channels if _has_title(c.about)]
    for channel in explicit[:1] or channels:
        label = describe_field(channel.about)
        if label:
            labels.setdefault(str(label))
    label = ", ".join(labels) or None
    scale = next((s for c in channels if isinstance(s := c.about.get("scale"), dict)), {})
    if first.is_discrete:
        names: dict[Any, None] = {}
        for view, channel in zip(owners, channels, strict=True):
            if channel.is_discrete:
                known = domain_of(channel, view.rows, view.source, view.channels)
                names.update(dict.fromkeys(_bin_names(view, channel, known)))
        ticks = [_tick(first, value) for value in names]
        texts = record.column(ticks)
        return record.axis(label, "category", None, texts, texts)
    if writes_names(first):
        field = first.field or ""
        values = {v for view in owners for row in view.rows if (v := row.get(field)) is not None}
        texts = [write(first, value) for value in sorted(values)]
        return record.axis(label, "category", None, texts, texts)
    kind = str(scale.get("type") or "")
    dated = first.kind == "temporal" or kind in ("time", "utc") or first.dates
    limits = scale.get("domain")
    if not (isinstance(limits, list) and len(limits) == 2):
        limits = None
    elif dated:
        limits = [moment(parse_date(value)) for value in limits]
    return record.axis(label, "datetime" if dated else _SCALES.get(kind, "linear"), limits)


def _tick(channel: Channel, value: object) -> object:
    if writes_names(channel):
        return write(channel, value)
    return moment(value) if channel.dates else to_text(value)  # type: ignore[arg-type]


def _bin_names(view: View, channel: Channel, names: list[Any]) -> list[Any]:
    """Return the labels of bins that are shown as categories; other names do not change."""
    if channel.end is None:
        return names
    ends = {row.get(channel.field or ""): row.get(channel.end) for row in view.rows}
    return [
        "null" if name is None else f"{to_text(name)} to {to_text(ends.get(name))}"
        for name in names
    ]


def _has_title(about: dict[str, Any]) -> bool:
    axis = about.get("axis")
    return "title" in about or (isinstance(axis, dict) and "title" in axis)


def shade_axis(views: list[View]) -> record.Record | None:
    """Describe the quantitative colour scale, if there is one."""
    for view in views:
        for name in ("color", "fill", "stroke"):
            channel = view.channels.get(name)
            if channel is not None and channel.is_field and channel.kind == "quantitative":
                scale = channel.about.get("scale")
                kind = str(scale.get("type") or "") if isinstance(scale, dict) else ""
                return record.axis(describe_field(channel.about), _SCALES.get(kind, "linear"))
    return None
