"""Chart records as hostile code might write them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from llm_sandbox.results.charts import ChartKind, SeriesKind
from tests.charts.samples import SAMPLES

__all__ = ["JSON", "RECORD"]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["2024-01-31", "2024-02-30", "\x1b[31m", "\ud800", "=1+1"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
COLUMN = st.lists(SCALARS | st.lists(SCALARS, max_size=3), max_size=5) | JSON
_KNOWN = [item["columns"] for sample in SAMPLES.values() for item in sample["series"]]
NAMES = st.sampled_from(sorted({"mean", "x_base", "x_low", "shape", "other"}.union(*_KNOWN)))
AXIS = (
    st.none()
    | JSON
    | st.fixed_dictionaries(
        {},
        optional={
            "label": SCALARS,
            "scale": st.sampled_from(["linear", "log", "symlog", "category", "datetime"]) | SCALARS,
            "limits": st.lists(SCALARS, max_size=3),
            "ticks": st.lists(SCALARS, max_size=4),
            "tick_labels": st.lists(SCALARS, max_size=4),
        },
    )
)
SHAPES = {
    item["kind"]: sorted(item["columns"])
    for sample in SAMPLES.values()
    for item in sample["series"]
}
GRID = st.lists(st.lists(SCALARS, min_size=2, max_size=3), min_size=1, max_size=6)
SHAPED = st.sampled_from(sorted(SHAPES)).flatmap(
    lambda kind: st.fixed_dictionaries(
        {
            "kind": st.just(kind),
            "columns": st.fixed_dictionaries(
                {name: st.lists(SCALARS, min_size=1, max_size=6) | GRID for name in SHAPES[kind]}
            ),
        }
    )
)
"""Series with the columns of their kind, and anything in them."""
SERIES = (
    JSON
    | SHAPED
    | st.fixed_dictionaries(
        {
            "kind": st.sampled_from([*SeriesKind, "nonsense"]) | SCALARS,
            "columns": st.dictionaries(NAMES, COLUMN, max_size=8) | JSON,
        },
        optional={
            "label": SCALARS,
            "color": st.sampled_from(["#123456", "red", "#12345\n"]) | SCALARS,
            "axis": st.sampled_from(["y", "y2", "y3", "x2"]) | SCALARS,
            "total": SCALARS,
            "sampling": st.sampled_from(["stride", "min-max"]) | JSON,
        },
    )
)
FIELDS: dict[str, Any] = {
    "title": JSON,
    "library": JSON,
    "x": AXIS,
    "y": AXIS,
    "y2": AXIS,
    "z": AXIS,
    "orientation": st.sampled_from(["horizontal", "vertical"]) | JSON,
    "stacking": st.sampled_from(["stacked", "grouped", "overlaid"]) | JSON,
    "series": st.lists(SERIES, max_size=4) | JSON,
    "annotations": st.lists(
        JSON | st.fixed_dictionaries({"text": SCALARS}, optional={"x": SCALARS, "y": SCALARS}),
        max_size=3,
    ),
    "row": SCALARS,
    "column": SCALARS,
    "more_axes": st.dictionaries(st.sampled_from(["x2", "y3", "y", "z9"]), AXIS) | JSON,
    "unread": st.lists(SCALARS, max_size=3) | JSON,
}
KINDS = st.sampled_from([*ChartKind, "nonsense"]) | SCALARS
PANEL = st.fixed_dictionaries({"version": st.just(1), "kind": KINDS}, optional=FIELDS)
RECORD = st.fixed_dictionaries(
    {"version": st.just(1), "kind": KINDS},
    optional=FIELDS | {"charts": st.lists(PANEL | JSON, max_size=3) | JSON},
)
