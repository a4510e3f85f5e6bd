"""Reader of plotly figures: chart records."""

from __future__ import annotations

import re
from typing import Any

from .. import record
from ..colors import web_color
from .axes import Layout
from .panels import Panel, build_chart, panels_of
from .states import unread_states
from .values import clean_text, to_number

__all__ = ["plotly_chart"]

_AXIS = re.compile(r"([xy]\d*)( domain)?\Z")
_NEAR = 1e-6


def plotly_chart(content: dict[str, Any]) -> record.Record | None:
    """Read a figure.

    Args:
        content: The figure as JSON values, as plotly serialises it.

    Returns:
        The chart record; ``None`` if nothing in the figure can be read.
    """
    about = content.get("layout")
    layout = Layout(about if isinstance(about, dict) else {})
    panels = panels_of(content, layout)
    charts = [(panel, build_chart(panel, layout)) for panel in panels]
    known = [(panel, chart) for panel, chart in charts if chart is not None]
    if not known:
        return None
    notes = [note for note in layout.get("annotations") or () if isinstance(note, dict)]
    title = clean_text(layout.get("title"))
    about_title = layout.get("title")
    below = clean_text(about_title.get("subtitle")) if isinstance(about_title, dict) else None
    subtitles = [record.annotation(below)] if below else []
    for panel, chart in known:
        _add_rules(panel, chart, layout)
    if len(known) == 1:
        panel, chart = known[0]
        chart["title"] = title or panel.title
        chart["annotations"] += [_note(note, panel, layout) for note in notes if _text(note)]
        chart["annotations"] += subtitles
        chart["unread"] += unread_states(content, layout)
        return record.finish(chart)
    for panel, chart in known:
        chart["row"], chart["column"] = panel.row, panel.column
    rest = _title_panels(known, notes)
    whole = record.multi("plotly", [chart for _, chart in known], title)
    for note in rest:
        panel_chart = _owner(note, known)
        target = whole if panel_chart is None else panel_chart[1]
        owner = known[0][0] if panel_chart is None else panel_chart[0]
        target["annotations"].append(_note(note, owner, layout))
    whole["annotations"] += subtitles
    whole["unread"] += unread_states(content, layout)
    return record.finish(whole)


def _text(note: dict[str, Any]) -> str | None:
    return None if note.get("visible") is False else clean_text(note.get("text"))


def _reference(value: Any) -> tuple[str, bool]:
    """Return the axis that a coordinate refers to, if any, and whether it is a fraction of its
    length.
    """
    match = _AXIS.match(str(value or ""))
    return (match[1], bool(match[2])) if match else ("", True)


def _note(note: dict[str, Any], panel: Panel, layout: Layout) -> record.Record:
    places: list[Any] = []
    for letter in "xy":
        name, is_part = _reference(note.get(f"{letter}ref", letter))
        axis = layout.axis(name, letter) if name and panel.key[0] == "flat" else None
        value = note.get(letter)
        if axis is None or is_part or value is None:
            places.append(None)
        elif axis.kind == "log":
            power = to_number(value)
            places.append(10**power if power is not None and abs(power) < 300 else None)
        else:
            places.append(axis.convert([value])[0])
    return record.annotation(_text(note), *places)


def _owner(
    note: dict[str, Any], known: list[tuple[Panel, record.Record]]
) -> tuple[Panel, record.Record] | None:
    x, y = _reference(note.get("xref", "x"))[0], _reference(note.get("yref", "y"))[0]
    for panel, chart in known:
        names = {t.x_axis.name for t in panel.traces}, {t.y_axis.name for t in panel.traces}
        if panel.key[0] == "flat" and (x in names[0] or not x) and (y in names[1] or not y):
            return (panel, chart) if x or y else None
    return None


def _title_panels(
    known: list[tuple[Panel, record.Record]], notes: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Set panel titles from the texts above panels or beside rows; return other notes."""
    rest = []
    sides: dict[int, str] = {}
    for note in notes:
        text = _text(note)
        if text is None:
            continue
        x, y = to_number(note.get("x")), to_number(note.get("y"))
        if note.get("xref") != "paper" or note.get("yref") != "paper" or x is None or y is None:
            rest.append(note)
            continue
        above = [c for p, c in known if _is_above(p, x, y)]
        beside = [p for p, _ in known if _is_beside(p, x, y)]
        if above and not note.get("textangle"):
            for chart in above:
                chart["title"] = text
        elif beside:
            sides[beside[0].row] = text
        else:
            rest.append(note)
    columns: dict[int, str] = {}
    if sides:
        columns = {p.column: c["title"] for p, c in known if p.row == 0 and c["title"]}
    for panel, chart in known:
        parts = [chart["title"] or columns.get(panel.column), sides.get(panel.row)]
        chart["title"] = " | ".join(part for part in parts if part) or panel.title
    return rest


def _is_above(panel: Panel, x: float, y: float) -> bool:
    (left, right), (_, top) = panel.area
    return abs((left + right) / 2 - x) < _NEAR and abs(top - y) < _NEAR


def _is_beside(panel: Panel, x: float, y: float) -> bool:
    (_, right), (bottom, top) = panel.area
    return abs((bottom + top) / 2 - y) < _NEAR and 0 <= x - right < 0.1


def _add_rules(panel: Panel, chart: record.Record, layout: Layout) -> None:
    """Add the lines across the whole panel, such as those of ``add_hline``."""
    if panel.key[0] != "flat":
        return
    for shape in layout.get("shapes") or ():
        if not isinstance(shape, dict) or shape.get("type") != "line":
            continue
        for letter, other in (("x", "y"), ("y", "x")):
            name, is_part = _reference(shape.get(f"{letter}ref", letter))
            across, spans = _reference(shape.get(f"{other}ref", other))
            names = {
                "x": {t.x_axis.name for t in panel.traces},
                "y": {t.y_axis.name for t in panel.traces},
            }
            start, end = shape.get(f"{letter}0"), shape.get(f"{letter}1")
            if is_part or not spans or start != end or name not in names[letter]:
                continue
            if across and across not in names[other]:
                continue
            value = layout.axis(name, letter).convert([start])
            color = shape.get("line")
            color = web_color(color.get("color")) if isinstance(color, dict) else None
            label = clean_text(shape.get("name")) if shape.get("showlegend") else None
            chart["series"].append(record.series("rule", {letter: value}, label, color))
