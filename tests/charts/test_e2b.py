"""Charts in the shape of E2B's SDK, whose readers take every field by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llm_sandbox.results.charts import Chart
from tests.charts.samples import DAYS, MONTHS, SAMPLES, axis, chart, series


def e2b(record: dict[str, Any]) -> dict[str, Any]:
    found = Chart.from_record(record)
    assert found is not None
    shape: dict[str, Any] = json.loads(json.dumps(found.to_e2b(), allow_nan=False))
    return shape


LABELS = {"x_label", "x_unit", "y_label", "y_unit"}
TICKS = {f"{side}_{name}" for side in "xy" for name in ("ticks", "tick_labels", "scale")}
FIELDS = {
    "line": LABELS | TICKS,
    "scatter": LABELS | TICKS,
    "bar": LABELS,
    "box_and_whisker": LABELS,
    "pie": set(),
    "superchart": set(),
    "unknown": set(),
}
TYPES = {
    "line": "line",
    "step": "line",
    "area": "line",
    "errorbar": "line",
    "scatter": "scatter",
    "bar": "bar",
    "histogram": "bar",
    "pie": "pie",
    "box": "box_and_whisker",
    "multi": "superchart",
}
BOX_FIELDS = {"label", "min", "first_quartile", "median", "third_quartile", "max", "outliers"}
ELEMENTS = {
    "line": {"label", "points"},
    "scatter": {"label", "points"},
    "bar": {"label", "group", "value"},
    "pie": {"label", "angle", "radius"},
    "box_and_whisker": BOX_FIELDS,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_kind_has_the_fields_of_its_type(name: str) -> None:
    shape = e2b(SAMPLES[name])
    # Whiskers are ranges around nothing: there is no point in them.
    kind = "unknown" if name == "whiskers" else TYPES.get(SAMPLES[name]["kind"], "unknown")
    assert kind == shape["type"]
    more = {"unread"} if SAMPLES[name].get("unread") else set()
    assert {"type", "title", "elements"} | FIELDS[kind] | more == shape.keys()
    if kind in ELEMENTS:
        assert {frozenset(ELEMENTS[kind])} == {frozenset(item) for item in shape["elements"]}
    elif kind == "unknown":
        assert [] == shape["elements"]


def test_lines_have_points_ticks_scales_and_units() -> None:
    ticks = axis("Speed (m/s)", "log", ticks=[1, 10], tick_labels=["one", "ten"])
    shape = e2b(SAMPLES["dates"] | {"y": ticks})
    assert [
        {"label": "price", "points": [list(p) for p in zip(DAYS, [10, 11, 9], strict=True)]}
    ] == (shape["elements"])
    assert ("datetime", "log") == (shape["x_scale"], shape["y_scale"])
    assert ([1, 10], ["one", "ten"]) == (shape["y_ticks"], shape["y_tick_labels"])
    assert ("Speed (m/s)", "m/s", "Day", None) == (
        shape["y_label"],
        shape["y_unit"],
        shape["x_label"],
        shape["x_unit"],
    )


def test_names_are_a_categorical_scale() -> None:
    shape = e2b(SAMPLES["dual"] | {"kind": "line"})
    assert ("categorical", MONTHS) == (shape["x_scale"], shape["x_ticks"])


def test_reference_lines_are_no_series() -> None:
    assert ["one", "two"] == [item["label"] for item in e2b(SAMPLES["line"])["elements"]]


def test_bars_have_a_row_a_bar_and_categories_on_x() -> None:
    shape = e2b(SAMPLES["bar-horizontal"])
    assert ("Month", "Sales (EUR)", "EUR") == (shape["x_label"], shape["y_label"], shape["y_unit"])
    first, last = shape["elements"][0], shape["elements"][-1]
    assert {"label": "Jan", "group": "2023", "value": 3} == first
    assert {"label": "Mar", "group": "2024", "value": 1} == last


def test_series_without_a_name_are_numbered() -> None:
    assert ["Group 0"] * 3 == [item["group"] for item in e2b(SAMPLES["bar"])["elements"]]
    assert ["Line 0"] == [item["label"] for item in e2b(SAMPLES["step"])["elements"]]


def test_bins_are_named_by_their_ends() -> None:
    assert ["0 - 1", "1 - 2"] * 2 == [
        item["label"] for item in e2b(SAMPLES["histogram"])["elements"]
    ]


def test_slices_are_angles_in_degrees() -> None:
    expected = [("a", 324.0, 1.0), ("b", 36.0, 1.0)]
    assert expected == [tuple(item.values()) for item in e2b(SAMPLES["pie"])["elements"]]
    empty = chart("pie", series("pie", columns={"label": ["a"], "value": [0]}))
    assert [0.0] == [item["angle"] for item in e2b(empty)["elements"]]


def test_boxes_have_quartiles_and_outliers() -> None:
    first = e2b(SAMPLES["box"])["elements"][0]
    expected = {"label": "a", "min": 1.0, "first_quartile": 2.0, "median": 3.0}
    assert expected | {"third_quartile": 4.0, "max": 5.0, "outliers": [9.0, 10.5]} == first
    hues = e2b(SAMPLES["box-hue"])["elements"]
    assert ["a men", "b men", "a women", "b women"] == [item["label"] for item in hues]


def test_panels_are_elements() -> None:
    shape = e2b(SAMPLES["multi"])
    assert ["line", "bar", "unknown", "bar"] == [item["type"] for item in shape["elements"]]
