"""Charts become valid Vega-Lite with all their values in it."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.results.charts import Chart
from tests.charts.samples import DAYS, MONTHS, SAMPLES, axis, chart, series
from tests.charts.strategies import RECORD


def spec_of(record: dict[str, Any]) -> dict[str, Any]:
    found = Chart.from_record(record)
    assert found is not None
    spec: dict[str, Any] = json.loads(json.dumps(found.to_vega_lite(), allow_nan=False))
    return spec


def validate(spec: dict[str, Any]) -> None:
    altair = pytest.importorskip(
        "altair", reason="its schema of Vega-Lite is what is checked against"
    )
    altair.Chart.from_dict(spec, validate=True)


def leaves(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """All views that draw something, in order, with the data they draw."""
    found: list[dict[str, Any]] = []
    parts = spec.get("layer") or spec.get("concat") or ([spec["spec"]] if "spec" in spec else [])
    for part in parts:
        found += leaves({"data": spec.get("data")} | part)
    return found or [spec]


def rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for leaf in leaves(spec) for row in leaf["data"]["values"]]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_specification_is_valid(name: str) -> None:
    spec = spec_of(SAMPLES[name])
    assert spec["$schema"].endswith("/vega-lite/v6.json")
    validate(spec)


@pytest.mark.slow
@given(record=RECORD)
@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
def test_hostile_records_become_valid_specifications_as_well(record: Any) -> None:
    with contextlib.suppress(UnsupportedError):
        validate(spec_of(record))


def test_the_schema_tells_wrong_from_right() -> None:
    spec = spec_of(SAMPLES["line"])
    spec["layer"][0]["mark"]["type"] = "lline"
    jsonschema = pytest.importorskip("jsonschema", reason="altair checks with it")
    with pytest.raises(jsonschema.ValidationError):
        validate(spec)


@pytest.mark.parametrize(
    "name",
    [
        n
        for n, s in SAMPLES.items()
        if n not in ("multi", "violin", "violin-points", "polar", "area")
    ],
)
def test_every_value_is_in_it(name: str) -> None:
    """Numbers of all columns come back from the data of the specification."""
    known = [
        value
        for item in SAMPLES[name]["series"]
        for column, values in item["columns"].items()
        if column != "levels"
        for row in values
        for value in (row if isinstance(row, list) else [row])
        if isinstance(value, (int, float))
    ]
    there = {value for row in rows(spec_of(SAMPLES[name])) for value in row.values()}
    texts = {str(value) for value in there}
    assert not [value for value in known if value not in there and str(value) not in texts]


def test_series_have_their_names_and_colours() -> None:
    color = leaves(spec_of(SAMPLES["line"]))[0]["encoding"]["color"]
    assert ["one", "two", "limit"] == color["scale"]["domain"]
    assert ["#1f77b4", "#ff7f0e", "#ff0000"] == color["scale"]["range"]


def test_points_are_joined_in_their_order_and_not_from_left_to_right() -> None:
    assert "order" in leaves(spec_of(SAMPLES["spiral"]))[0]["encoding"]
    assert "order" not in leaves(spec_of(SAMPLES["line"]))[0]["encoding"]


def test_scales_keep_kind_limits_and_direction() -> None:
    encoding = spec_of(SAMPLES["log"])["encoding"]
    assert {"type": "log", "domain": [1, 100], "nice": False} == encoding["x"]["scale"]
    assert "symlog" == encoding["y"]["scale"]["type"]
    upside_down = spec_of(SAMPLES["image"])["encoding"]["y"]["scale"]
    assert ([-0.5, 1.5], True) == (upside_down["domain"], upside_down["reverse"])


def test_a_logarithmic_scale_cannot_begin_at_zero() -> None:
    record = chart("line", series("line", x=[1], y=[1]), y=axis("n", "log", limits=[0, 10]))
    assert "domain" not in spec_of(record)["encoding"]["y"]["scale"]


def test_dates_are_local_midnights() -> None:
    spec = spec_of(SAMPLES["dates"])
    assert [f"{day}T00:00:00" for day in DAYS] == [row["x"] for row in rows(spec)]
    assert "temporal" == spec["encoding"]["x"]["type"]
    first = spec["encoding"]["x"]["scale"]["domain"][0]
    assert (2024, 1, 29) == (first["year"], first["month"], first["date"])


def test_names_keep_their_order() -> None:
    record = chart(
        "bar",
        series("bar", x=["b", "c"], y=[1, 2]),
        x=axis(None, "category", ticks=["c", "b", "a"]),
        orientation="vertical",
    )
    assert ["c", "b", "a"] == spec_of(record)["encoding"]["x"]["sort"]
    # The first name is the lowest, and Vega lists from the top.
    lying = spec_of(SAMPLES["bar-horizontal"])["encoding"]["y"]["sort"]
    assert MONTHS[::-1] == lying


def test_bars_stand_beside_each_other_or_on_each_other() -> None:
    grouped = spec_of(SAMPLES["bar-horizontal"])["encoding"]
    assert "series" == grouped["yOffset"]["field"]
    assert grouped["x"]["stack"] is None
    stacked = spec_of(SAMPLES["bar-stacked"])
    assert [(0, 3), (0, 1), (0, 2), (3, 7), (1, 3), (2, 3)] == [
        (row["start"], row["end"]) for row in rows(stacked)
    ]
    assert "xOffset" not in stacked["encoding"]


def test_areas_of_a_stack_have_their_own_value_and_bands_their_edges() -> None:
    stacked = rows(spec_of(SAMPLES["area"]))
    assert [(0, 1), (0, 2), (0, 1), (1, 3), (2, 3), (1, 3)] == [
        (row["y_base"], row["y"]) for row in stacked
    ]
    band = leaves(spec_of(SAMPLES["band"]))[1]["data"]["values"]
    assert [(1, 3), (2, 4), (1, 3)] == [(row["y_base"], row["y"]) for row in band]


def test_bars_on_a_logarithmic_axis_begin_above_zero() -> None:
    assert {1} == {row["start"] for row in rows(spec_of(SAMPLES["bar-positions"]))}


def test_bars_whose_ends_are_beyond_all_numbers_stay_json() -> None:
    largest = 1.7e308
    record = chart(
        "bar", series("bar", x=["a"], y=[largest], base=[largest]), orientation="vertical"
    )
    assert [None] == [row["end"] for row in rows(spec_of(record))]


@pytest.mark.parametrize(("library", "day"), [("matplotlib", 1), ("plotly", 86_400_000)])
def test_bars_from_a_date_end_at_a_date(library: str, day: int) -> None:
    """Lengths of bars are in days for matplotlib, in milliseconds for the others."""
    record = chart(
        "bar",
        series("bar", y=["a", "b"], x=[1.5 * day, "long"], base=["2024-02-28", "2024-03-01"]),
        x=axis("When", "datetime"),
        orientation="horizontal",
        library=library,
    )
    spec = spec_of(record)
    validate(spec)
    assert ["2024-02-29T12:00:00", None] == [row["end"] for row in rows(spec)]
    assert "temporal" == spec["encoding"]["x"]["type"]


def test_violins_are_as_wide_on_both_sides() -> None:
    found = rows(spec_of(SAMPLES["violin"]))
    assert [(1.0, -0.1, 0.1), (2.0, -0.5, 0.5), (3.0, -0.1, 0.1)] == [
        (row["value"], row["left"], row["density"]) for row in found[:3]
    ]


def test_two_axes_are_independent() -> None:
    spec = spec_of(SAMPLES["dual"])
    assert "independent" == spec["resolve"]["scale"]["y"]
    left, right = leaves(spec)
    assert ("Up (m/s)", "Rate [%]") == (
        left["encoding"]["y"]["title"],
        right["encoding"]["y"]["title"],
    )


def test_panels_are_laid_out_as_in_the_figure() -> None:
    panels = [
        SAMPLES["bar"] | {"title": f"{row}{column}", "row": row, "column": column}
        for row, column in [(1, 0), (0, 2), (0, 0), (0, 1)]
    ]
    spec = spec_of(chart("multi", charts=panels))
    assert 3 == spec["columns"]
    assert ["00", "01", "02", "10"] == [view["title"] for view in spec["concat"]]


def test_polar_points_lie_in_the_plane() -> None:
    points = rows(spec_of(SAMPLES["polar"]))[:3]
    for point, (x, y) in zip(points, [(1, 0), (0, 2), (-3, 0)], strict=True):
        assert math.isclose(x, point["x"], abs_tol=1e-12)
        assert math.isclose(y, point["y"], abs_tol=1e-12)


def test_cells_have_their_borders_between_the_centres() -> None:
    cells = rows(spec_of(SAMPLES["heatmap"]))
    assert {(0.5, 1.5), (1.5, 2.5), (2.5, 3.5)} == {(c["x_start"], c["x_end"]) for c in cells}
    assert {(5, 15), (15, 25)} == {(c["y_start"], c["y_end"]) for c in cells}


@pytest.mark.parametrize(
    "item",
    [
        series("other", columns={"source": [0, 1], "target": [1, 2], "weight": [5, 6]}),
        series("image", shape=[[480, 640, 3]]),
    ],
)
def test_what_has_no_form_is_refused_by_name(item: dict[str, Any]) -> None:
    found = Chart.from_record(chart(item["kind"], item))
    assert found is not None
    with pytest.raises(UnsupportedError, match=rf"'{item['kind']}'.*to_csv"):
        found.to_vega_lite()


def test_among_panels_it_is_named_in_its_place() -> None:
    flow = chart("other", series("other", columns={"source": [0], "target": [1]}), title="Flow")
    spec = spec_of(chart("multi", charts=[SAMPLES["bar"], flow]))
    validate(spec)
    assert "other: not available" == spec["concat"][1]["mark"]["text"]


def test_a_chart_of_nothing_is_an_empty_view() -> None:
    spec = spec_of(chart("line"))
    validate(spec)
    assert [] == rows(spec)
