"""Reader of Vega-Lite specifications: chart records."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .. import record
from ..names import name_ticks
from .axes import axis_of, shade_axis
from .data import read_data
from .encoding import Channel, describe_field, domain_of
from .expression import ExpressionError
from .functions import to_text
from .labels import ticks_of, unread_labels
from .marks import annotations_of, read_view, values_of
from .transforms import transform_rows
from .unit import View, prepare

if TYPE_CHECKING:
    from .filters import Row

__all__ = ["altair_chart", "vega_lite_chart"]

_FACETS = ("row", "column", "facet")
_SIDED = frozenset({"bar", "boxplot"})
_DEPTH = 12
Spec = dict[str, Any]
Cell = tuple[int, int, record.Record]


@dataclass(frozen=True)
class _Scope:
    """Properties that a part of a specification inherits."""

    library: str
    datasets: dict[str, Any]
    rows: list[Row] | None = None
    names: dict[str, Any] = field(default_factory=dict)
    encoding: dict[str, Any] = field(default_factory=dict)
    failure: str = ""
    """Reason why there are no rows."""
    depth: int = 0


def vega_lite_chart(spec: Spec, library: str = "altair") -> record.Record | None:
    """Read a specification.

    Args:
        spec: The specification as JSON values, with its data.
        library: Library that made the specification.

    Returns:
        The chart record; ``None`` if the specification is not a chart.
    """
    datasets = spec.get("datasets")
    scope = _Scope(library, datasets if isinstance(datasets, dict) else {})
    cells = _read(spec, scope)
    if not cells:
        return None
    if len(cells) == 1:
        chart = cells[0][2]
        chart["annotations"] += _subtitle(spec)
        chart["unread"] += _controls(spec)
        return record.finish(chart)
    single = "layer" in spec or "mark" in spec
    title = _title(spec)
    charts = []
    for row, column, chart in cells:
        if single and chart["title"] == title:
            chart["title"] = None
        chart["row"], chart["column"] = row, column
        charts.append(chart)
    whole = record.multi(library, charts, title)
    whole["annotations"] += _subtitle(spec)
    whole["unread"] += _controls(spec)
    return record.finish(whole)


def _title(spec: Spec) -> str | None:
    title = spec.get("title")
    if isinstance(title, dict):
        title = title.get("text")
    if isinstance(title, list):
        title = "\n".join(map(str, title))
    return title if isinstance(title, str) and title else None


def _subtitle(spec: Spec) -> list[record.Record]:
    title = spec.get("title")
    text = title.get("subtitle") if isinstance(title, dict) else None
    text = "\n".join(map(str, text)) if isinstance(text, list) else text
    return [record.annotation(text)] if isinstance(text, str) and text else []


def _controls(spec: Any) -> list[str]:
    """Describe the interactive controls of a chart, whose other states are not recorded."""
    found: list[str] = []
    if isinstance(spec, dict):
        for about in spec.get("params") or ():
            bind = about.get("bind") if isinstance(about, dict) else None
            inputs = [bind] if isinstance(bind, dict) and "input" in bind else []
            inputs += (
                [b for b in bind.values() if isinstance(b, dict)] if isinstance(bind, dict) else []
            )
            for part in inputs:
                if "input" in part:
                    name = str(part.get("name") or about.get("name")).strip(" :")
                    found.append(f"what the control {name!r} changes")
    return list(dict.fromkeys(found))


def _read(spec: Spec, scope: _Scope) -> list[Cell]:
    """Read a specification of any composition into the cells of a grid."""
    if scope.depth > _DEPTH:
        return []
    scope = _enter(spec, scope)
    for word, across in (("hconcat", True), ("vconcat", False), ("concat", True)):
        if isinstance(spec.get(word), list):
            wrap = spec.get("columns") if word == "concat" else None
            parts = [_read(part, scope) for part in spec[word] if isinstance(part, dict)]
            return _arrange(parts, len(parts) if wrap is None else int(wrap), across)
    if "repeat" in spec and isinstance(spec.get("spec"), dict):
        return _repeat(spec, scope)
    if "facet" in spec and isinstance(spec.get("spec"), dict):
        about = spec["facet"]
        inner = {"facet": {**about, "columns": spec.get("columns")}} if "field" in about else about
        return _panels(spec["spec"], scope, dict(inner), _title(spec))
    if "layer" in spec or "mark" in spec:
        return _panels(spec, scope, {}, None)
    return []


def _enter(spec: Spec, scope: _Scope) -> _Scope:
    """Return the scope inside a specification."""
    names = dict(scope.names)
    for about in spec.get("params") or ():
        if isinstance(about, dict) and isinstance(about.get("name"), str):
            selected = "select" in about
            value = about.get("value")
            chosen = {"is_selection": True, "value": value, "select": about.get("select")}
            names[about["name"]] = chosen if selected else value
    rows, failure = scope.rows, scope.failure
    names["lookup tables"] = lambda data: read_data(data, scope.datasets)
    try:
        if "data" in spec:
            rows, failure = read_data(spec["data"], scope.datasets), ""
        steps = spec.get("transform")
        if rows is not None and isinstance(steps, list) and not failure:
            rows = transform_rows(rows, steps, names)
    except ExpressionError as error:
        rows, failure = [], str(error)
    encoding = {**scope.encoding, **(spec.get("encoding") or {})}
    return replace(
        scope, rows=rows, names=names, encoding=encoding, failure=failure, depth=scope.depth + 1
    )


def _arrange(parts: list[list[Cell]], wrap: int, across: bool) -> list[Cell]:
    """Arrange grids beside or below each other."""
    found: list[Cell] = []
    row = column = height = 0
    for number, cells in enumerate(parts):
        if across and number and wrap and number % wrap == 0:
            row, column, height = row + height, 0, 0
        found += [(row + r, column + c, chart) for r, c, chart in cells]
        tall = max((r for r, _, _ in cells), default=-1) + 1
        wide = max((c for _, c, _ in cells), default=-1) + 1
        if across:
            column, height = column + wide, max(height, tall)
        else:
            row += tall
    return found


def _repeat(spec: Spec, scope: _Scope) -> list[Cell]:
    about = spec["repeat"]
    if isinstance(about, list):
        parts = [_read(_substituted(spec["spec"], {"repeat": f}), scope) for f in about]
        return _arrange(parts, int(spec.get("columns") or 0), True)
    if "layer" in about:
        layers = [_substituted(spec["spec"], {"layer": f}) for f in about["layer"]]
        return _read({"layer": layers}, scope)
    lines = []
    for down in about.get("row") or [None]:
        fields = [{"row": down, "column": c} for c in about.get("column") or [None]]
        parts = [_read(_substituted(spec["spec"], known), scope) for known in fields]
        lines.append(_arrange(parts, 0, True))
    return _arrange(lines, 0, False)


def _substituted(spec: Any, known: dict[str, Any]) -> Any:
    """Return a specification with its repeated fields substituted."""
    if isinstance(spec, dict):
        if set(spec) == {"repeat"} and known.get(spec["repeat"]) is not None:
            return known[spec["repeat"]]
        return {key: _substituted(part, known) for key, part in spec.items()}
    if isinstance(spec, list):
        return [_substituted(part, known) for part in spec]
    return spec


def _panels(spec: Spec, scope: _Scope, facets: Spec, title: str | None) -> list[Cell]:
    """Read a view, or layered views, once for each facet."""
    units: list[tuple[Spec, _Scope]] = []
    _flatten(spec, scope, units, inside=False)
    encoding = {**scope.encoding, **(spec.get("encoding") or {})}
    for name in _FACETS:
        if isinstance(encoding.get(name), dict):
            facets.setdefault(name, encoding[name])
    channels = [Channel(name, facets[name]) for name in _FACETS if name in facets]
    views: list[View] = []
    failed: list[tuple[str, str]] = []
    for unit, inner in units:
        try:
            if inner.failure:
                raise ExpressionError(inner.failure)
            view = _view(unit, inner, channels)
            read_view(view, view.rows[:1])
            views.append(view)
        except ExpressionError as error:
            failed.append((str(_mark(unit).get("type")), str(error)))
    if failed and not views:
        return [(0, 0, _unread(spec, scope, units, failed[0][1]))]
    try:
        cells = _split(spec, scope, views, channels, facets, title)
    except ExpressionError as error:
        return [(0, 0, _unread(spec, scope, units, str(error)))]
    for _, _, chart in cells:
        for mark, reason in failed:
            chart["series"].append(record.series(_KINDS.get(mark, "other"), {}, total=0))
            chart["unread"].append(f"the values of a layer of {mark} marks: {reason}")
    return cells


def _flatten(spec: Spec, scope: _Scope, found: list[tuple[Spec, _Scope]], inside: bool) -> None:
    scope = _enter(spec, scope) if inside or spec.get("data") or spec.get("transform") else scope
    if not inside:
        scope = replace(scope, encoding={**scope.encoding, **(spec.get("encoding") or {})})
    if isinstance(spec.get("layer"), list):
        for part in spec["layer"]:
            if isinstance(part, dict):
                _flatten(part, scope, found, inside=True)
    elif "mark" in spec:
        found.append((spec, scope))


def _mark(spec: Spec) -> Spec:
    mark = spec.get("mark")
    return dict(mark) if isinstance(mark, dict) else {"type": str(mark)}


def _view(spec: Spec, scope: _Scope, facets: list[Channel]) -> View:
    encoding = {name: about for name, about in scope.encoding.items() if name not in _FACETS}
    added = {f"facet {facet.name}": facet.about for facet in facets}
    rows = [{}] if scope.rows is None else scope.rows
    mark = _mark(spec)
    view = prepare(mark, {**encoding, **copy.copy(added)}, rows)
    for facet in facets:
        made = view.channels.pop(f"facet {facet.name}")
        facet.field, facet.end, facet.dates = made.field, made.end, made.dates
    return view


def _split(
    spec: Spec,
    scope: _Scope,
    views: list[View],
    facets: list[Channel],
    about: Spec,
    title: str | None,
) -> list[Cell]:
    title = (
        title
        or _title(spec)
        or next((t for u in spec.get("layer") or () if (t := _title(u))), None)
    )
    independent = _is_independent(spec)
    if not facets:
        chart = _chart(scope, views, [view.rows for view in views], independent)
        chart["title"] = title
        return [(0, 0, chart)]
    everything = [row for view in views for row in view.rows]
    source = [row for view in views for row in view.source]
    names = views[0].channels if views else {}
    domains = {f.name: domain_of(f, everything, source, names) for f in facets}
    by_name = {facet.name: facet for facet in facets}
    wrap = int(about.get("facet", {}).get("columns") or 0) if "facet" in by_name else 0
    found: list[Cell] = []
    for row, down in enumerate(domains.get("row", [None])):
        across = domains.get("column") or domains.get("facet") or [None]
        for column, value in enumerate(across):
            known = {"row": down, "column": value, "facet": value}
            parts = [
                [r for r in view.rows if all(r.get(f.field or "") == known[f.name] for f in facets)]
                for view in views
            ]
            if not any(parts):
                continue
            chart = _chart(scope, views, parts, independent)
            labels = [
                _facet_label(by_name[n], known[n])
                for n in ("column", "facet", "row")
                if n in by_name
            ]
            chart["title"] = " | ".join(labels)
            place = divmod(column, wrap) if wrap else (row, column)
            found.append((*place, chart))
    return found


def _facet_label(facet: Channel, value: Any) -> str:
    return to_text(record.plain(values_of(facet, [{facet.field or "": value}])[0]))


def _is_independent(spec: Spec) -> bool:
    resolve = spec.get("resolve")
    scale = resolve.get("scale") if isinstance(resolve, dict) else None
    return isinstance(scale, dict) and scale.get("y") == "independent"


def _chart(
    scope: _Scope, views: list[View], parts: list[list[Row]], independent: bool
) -> record.Record:
    series: list[record.Record] = []
    notes: list[record.Record] = []
    second: list[View] = []
    further: dict[str, list[View]] = {}
    first_own = next((v for v in views if "y" in v.channels and v.mark != "text"), None)
    for view, rows in zip(views, parts, strict=True):
        made = read_view(view, rows)
        notes += annotations_of(view, rows)
        if independent and view is not first_own and "y" in view.channels and made:
            slot = _slot(view, further)
            if slot == "y2":
                second.append(view)
            for item in made:
                item["axis"] = slot
        series += made
    others = [view for group in further.values() for view in group]
    first = [view for view in views if view not in others and (view.mark != "text" or not others)]
    chart = record.chart(scope.library, _kind(series), series)
    chart["x"], chart["y"] = axis_of(views, "x"), axis_of(first, "y")
    chart["y2"] = axis_of(second, "y") if second else None
    for slot, group in further.items():
        axis = axis_of(group, "y")
        if slot != "y2" and axis is not None:
            chart["more_axes"][slot] = axis
    chart["z"] = shade_axis(views)
    chart["annotations"] = notes
    _describe_bars(chart, views)
    for name in "xy":
        channel = next((view.channels[name] for view in views if name in view.channels), None)
        if channel is not None and channel.is_field:
            chart["unread"] += unread_labels(channel, name, [])
            if not channel.is_discrete and not channel.dates:
                name_ticks(chart, name, ticks_of(channel))
    return chart


def _slot(view: View, further: dict[str, list[View]]) -> str:
    """Return the axis of a layer with an independent vertical axis."""
    title = describe_field(view.channels["y"].about)
    for slot, group in further.items():
        if describe_field(group[0].channels["y"].about) == title:
            group.append(view)
            return slot
    slot = f"y{min(9, len(further) + 2)}"
    further.setdefault(slot, []).append(view)
    return slot


def _describe_bars(chart: record.Record, views: list[View]) -> None:
    sided = [view for view in views if view.mark in _SIDED]
    if sided:
        chart["orientation"] = "horizontal" if sided[0].horizontal else "vertical"
    for view in views:
        if view.mark not in ("bar", "area") or len(view.apart()) < 1:
            continue
        if "xOffset" in view.channels or "yOffset" in view.channels:
            chart["stacking"] = "grouped"
        else:
            chart["stacking"] = "stacked" if view.stacked else "overlaid"
        break


def _kind(series: list[record.Record]) -> str:
    kinds = [item["kind"] for item in series if item["kind"] != "rule"]
    if not kinds:
        return "other"
    bands = [item for item in series if item["kind"] == "area"]
    are_bands = all({"y_base", "x_base"} & set(item["columns"]) for item in bands)
    return "line" if kinds[0] == "area" and "line" in kinds and are_bands else str(kinds[0])


_KINDS = {
    "line": "line", "trail": "line", "bar": "bar", "area": "area", "rect": "heatmap", "arc": "pie",
    "boxplot": "box", "errorbar": "errorbar", "errorband": "area", "rule": "rule",
    "point": "scatter", "circle": "scatter", "square": "scatter", "tick": "scatter",
}  # fmt: skip


def _unread(
    spec: Spec, scope: _Scope, units: list[tuple[Spec, _Scope]], reason: str
) -> record.Record:
    """Describe a chart whose values cannot be computed, without its values."""
    views = []
    series = []
    for unit, inner in units:
        mark = _mark(unit)
        kind = _KINDS.get(str(mark.get("type")), "other")
        if mark.get("type") != "text":
            series.append(record.series(kind, {}, total=0))
        try:
            views.append(prepare(mark, inner.encoding, []))
        except ExpressionError:
            continue
    chart = record.chart(scope.library, _kind(series), series, _title(spec))
    chart["x"], chart["y"] = axis_of(views, "x"), axis_of(views, "y")
    chart["unread"] = [f"its values: {reason}"]
    return chart


def altair_chart(spec: Spec) -> record.Record | None:
    """Read an Altair chart, ignoring any exception.

    Args:
        spec: The specification, as ``to_dict`` returns it.

    Returns:
        The chart record; ``None`` if the specification cannot be read.
    """
    try:
        return vega_lite_chart(spec)
    except Exception:  # noqa: BLE001 - no chart rather than a broken run
        return None
