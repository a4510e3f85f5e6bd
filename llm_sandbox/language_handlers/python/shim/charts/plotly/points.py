"""Readers of plotly's scatter traces: points, lines, steps, areas and error bars."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import record
from .values import to_number

if TYPE_CHECKING:
    from .trace import Record, Trace

__all__ = ["error_ends", "read_points", "read_texts", "stack_areas"]

_STEPS = frozenset({"hv", "vh", "hvh", "vhv"})
_FEW = 20
_LINE = (("line", "color"), ("marker", "color"), ("fillcolor",))


def read_points(trace: Trace, previous: Trace | None, stack: Record | None) -> list[Record]:
    """Read a scatter trace.

    Args:
        trace: The trace.
        previous: The preceding scatter trace of the panel, which a fill may extend to.
        stack: Columns of the trace in its stack, if it is stacked.

    Returns:
        The series: one, or more for a line with a fill.
    """
    if stack is not None:
        return [trace.series("area", stack, *_LINE)]
    x, y = trace.points()
    mode = str(trace.get("mode") or ("lines+markers" if len(x) < _FEW else "lines"))
    errors = _errors(trace, x, y)
    if errors is not None:
        return [trace.series("errorbar", errors, *_LINE)]
    filled = _fill(trace, previous, x, y)
    if filled is not None:
        return [filled]
    if "lines" in mode:
        step = trace.get("line", "shape") in _STEPS
        columns = {"x": x, "y": y, **_written(trace, len(x))}
        return [trace.series("step" if step else "line", columns, *_LINE)]
    if "markers" in mode or mode == "none":
        columns = {"x": x, "y": y, **_encoded(trace, len(x)), **_written(trace, len(x))}
        return [trace.series("scatter", columns)]
    return []


def read_texts(trace: Trace) -> list[Record]:
    """Return the texts of a scatter trace that has no other marks."""
    if trace.kind != "scatter" or trace.get("mode") != "text":
        return []
    x, y = trace.points()
    rows = zip(trace.texts(len(x)) or [], x, y, strict=False)
    return [record.annotation(text, *place) for text, *place in rows if text]


def _written(trace: Trace, length: int) -> dict[str, Any]:
    texts = trace.texts(length)
    return {} if texts is None else {"text": texts}


def _encoded(trace: Trace, length: int) -> dict[str, Any]:
    """Return the values that size and colour of the markers encode."""
    found = {}
    for name, column in (("size", "size"), ("color", "value")):
        values = trace.items("marker", name)
        if values is not None and any(isinstance(v, (int, float)) for v in values[:10]):
            found[column] = [to_number(value) for value in values[:length]]
    return found


def _errors(trace: Trace, x: list[Any], y: list[Any]) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for letter, values in (("x", x), ("y", y)):
        ends = error_ends(trace, letter, values)
        if ends is not None:
            found[f"{letter}_low"], found[f"{letter}_high"] = ends
    return {"x": x, "y": y, **found} if found else None


def error_ends(
    trace: Trace, letter: str, values: list[Any]
) -> tuple[list[float | None], list[float | None]] | None:
    """Return both ends of the error bars in one direction.

    Args:
        trace: The trace.
        letter: The direction.
        values: Centres of the error bars.

    Returns:
        Lower and upper ends; ``None`` without error bars.
    """
    about = trace.get(f"error_{letter}")
    if not isinstance(about, dict) or about.get("visible") is False:
        return None
    kind = about.get("type") or ("data" if about.get("array") is not None else "percent")
    minus_given = about.get("arrayminus" if kind == "data" else "valueminus") is not None
    symmetric = about.get("symmetric")
    symmetric = not minus_given if symmetric is None else bool(symmetric)
    if kind == "data":
        if about.get("array") is None and not minus_given:
            return None
        above = trace.items(f"error_{letter}", "array") or []
        below = above if symmetric else trace.items(f"error_{letter}", "arrayminus") or []
        return _spread(values, _padded(below, len(values)), _padded(above, len(values)))
    plus = to_number(about.get("value", 10))
    minus = plus if symmetric else to_number(about.get("valueminus", 10))
    return _spread(
        values, [_size(kind, v, minus) for v in values], [_size(kind, v, plus) for v in values]
    )


def _size(kind: str, value: Any, amount: float | None) -> float | None:
    if not isinstance(value, (int, float)) or amount is None:
        return None
    if kind == "percent":
        return abs(value * amount / 100)
    if kind == "sqrt":
        return math.sqrt(abs(value))
    return abs(amount)


def _padded(values: list[Any], length: int) -> list[float | None]:
    numbers = [to_number(value) for value in values[:length]]
    return numbers + [None] * (length - len(numbers))


def _spread(
    values: list[Any], below: list[float | None], above: list[float | None]
) -> tuple[list[float | None], list[float | None]]:
    def moved(value: Any, by: float | None) -> float | None:
        if by is None or not isinstance(value, (int, float)):
            return None
        return value + by

    low = [moved(v, None if b is None else -b) for v, b in zip(values, below, strict=True)]
    return low, [moved(v, a) for v, a in zip(values, above, strict=True)]


def _fill(trace: Trace, previous: Trace | None, x: list[Any], y: list[Any]) -> Record | None:
    fill = trace.get("fill")
    if fill == "tozeroy":
        return trace.series("area", {"x": x, "y": y}, *_LINE)
    if fill == "tozerox":
        return trace.series("area", {"x": x, "y": y, "x_base": [0] * len(x)}, *_LINE)
    if fill in ("tonexty", "tonextx"):
        letter = fill[-1]
        if previous is None:
            return trace.series("area", {"x": x, "y": y}, *_LINE)
        before = dict(zip("xy", previous.points(), strict=True))
        along = "x" if letter == "y" else "y"
        if before[along] == {"x": x, "y": y}[along]:
            columns = {"x": x, "y": y, f"{letter}_base": before[letter]}
            return trace.series("area", columns, *_LINE)
        return trace.series("other", {"x": x, "y": y}, *_LINE)
    if fill in ("toself", "tonext"):
        return _outline(trace, x, y)
    return None


def _outline(trace: Trace, x: list[Any], y: list[Any]) -> Record:
    """Read a closed outline: a band if both directions have the same positions."""
    half, odd = divmod(len(x), 2)
    if half and not odd and x[:half] == x[half:][::-1]:
        columns = {"x": x[:half], "y": y[:half], "y_base": y[half:][::-1]}
        return trace.series("area", columns, *_LINE)
    return trace.series("other", {"x": x, "y": y}, *_LINE)


def stack_areas(traces: list[Trace]) -> dict[int, Record]:
    """Stack the scatter traces that have a stack group.

    Args:
        traces: The traces of a panel.

    Returns:
        Columns of the stacked traces by their index in the list.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for number, trace in enumerate(traces):
        group = trace.get("stackgroup")
        if trace.kind == "scatter" and group:
            groups.setdefault((str(group), trace.slot), []).append(number)
    found: dict[int, Record] = {}
    for members in groups.values():
        across = traces[members[0]].get("orientation") == "h"
        found.update(_stack(traces, members, across))
    return found


def _stack(traces: list[Trace], members: list[int], across: bool) -> dict[int, Record]:
    """Stack one group; a position that a trace lacks counts as zero, as in plotly.js."""
    columns: list[dict[Any, float]] = []
    places: dict[Any, None] = {}
    for number in members:
        x, y = traces[number].points()
        along, sizes = (y, x) if across else (x, y)
        columns.append({a: s for a, s in zip(along, sizes, strict=False) if a is not None})
        places.update(dict.fromkeys(columns[-1]))
    order = list(places)
    if any(list(column) != order for column in columns):
        order = _sorted(order)
    norms = [traces[number].get("groupnorm") for number in members]
    scale = _norm_scale(next((norm for norm in norms if norm), None), columns, order)
    found: dict[int, Record] = {}
    base = [0.0] * len(order)
    for number, column in zip(members, columns, strict=True):
        sizes = [(column.get(place) or 0) * by for place, by in zip(order, scale, strict=True)]
        top = [low + size for low, size in zip(base, sizes, strict=True)]
        names = ("y", "x", "x_base") if across else ("x", "y", "y_base")
        found[number] = {names[0]: order, names[1]: sizes}
        if any(base):
            found[number][names[2]] = base
        base = top
    return found


def _sorted(places: list[Any]) -> list[Any]:
    try:
        return sorted(places)
    except TypeError:
        return places


def _norm_scale(norm: Any, columns: list[dict[Any, float]], order: list[Any]) -> list[float]:
    if norm not in ("percent", "fraction"):
        return [1] * len(order)
    whole = 100.0 if norm == "percent" else 1.0
    totals = [sum(column.get(place) or 0 for column in columns) for place in order]
    return [whole / total if total else 0.0 for total in totals]
