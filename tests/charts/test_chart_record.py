"""Records from inside may be anything, and nothing comes of it but a chart or none."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.results.charts import Chart, ChartKind, SeriesKind
from llm_sandbox.results.charts.record import Bounds, from_record
from llm_sandbox.results.charts.series import count_values
from tests.charts.samples import SAMPLES, chart, series
from tests.charts.strategies import JSON, RECORD

FUZZ = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@pytest.mark.slow
@given(record=JSON | RECORD)
@FUZZ
def test_no_record_breaks_anything(record: Any) -> None:
    """Whatever comes, reading and every form of the outcome succeed, and what is stored is JSON."""
    found = Chart.from_record(record)
    if found is None:
        return
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert found == Chart.from_record(stored)
    assert found == Chart.from_dict(stored)
    assert found.total_points >= 0
    assert "\n" not in found.describe() + repr(found)
    found.to_csv()
    found.to_csv(safe=False)
    found.to_markdown(2)
    json.dumps(found.to_e2b(), allow_nan=False)
    with contextlib.suppress(UnsupportedError):
        json.dumps(found.to_vega_lite(), allow_nan=False)


@pytest.mark.slow
@given(record=RECORD)
@FUZZ
def test_bounds_hold(record: Any) -> None:
    """However little may be kept, no more is."""
    found = from_record(record, Bounds(values=7, charts=2, series=3, text=4))
    assert found is not None
    items = [item for part in (found, *found.charts) for item in part.series]
    assert len(found.charts) <= 2
    assert len(items) <= 3
    assert sum(count_values(item.columns) for item in items) <= 7
    axes = [
        getattr(part, name) for part in (found, *found.charts) for name in ("x", "y", "y2", "z")
    ]
    assert sum(len(axis.ticks) + len(axis.tick_labels) for axis in axes if axis) <= 7
    assert len(found.title or "") <= 4
    for item in items:
        assert item.total >= item.points
        assert len(item.label or "") <= 4


def huge(rows: int) -> dict[str, Any]:
    return chart("line", series("line", x=list(range(rows)), y=[0.5] * rows))


def test_more_values_than_allowed_are_cut_by_whole_rows_and_said() -> None:
    found = Chart.from_record(huge(1_000_000))
    assert found is not None
    item = found.series[0]
    assert 25_000 == len(item.columns["x"]) == len(item.columns["y"])
    assert ("first", 1_000_000) == (item.sampling, item.total)


def test_the_bound_is_for_all_panels_together() -> None:
    found = Chart.from_record(chart("multi", charts=[huge(10_000)] * 200))
    assert found is not None
    assert 100 == len(found.charts)
    kept = [count_values(item.columns) for panel in found.charts for item in panel.series]
    assert [20_000, 20_000, 10_000, 0] == kept[:4]


def test_many_series_of_nothing_are_bounded() -> None:
    found = Chart.from_record(chart("multi", charts=[chart("line", *[series("line")] * 900)] * 3))
    assert found is not None
    assert 1_000 == sum(len(panel.series) for panel in found.charts)


def test_a_grid_is_cut_by_rows() -> None:
    row = list(range(400))
    record = chart("heatmap", series("heatmap", x=row, y=row, z=[row] * 400))
    found = Chart.from_record(record)
    assert found is not None
    item = found.series[0]
    lengths = {name: len(values) for name, values in item.columns.items()}
    # Of 50,000 values, 400 name the columns, and each row has 400 and its name.
    assert {"x": 400, "y": 123, "z": 123} == lengths
    assert ("first", 160_000) == (item.sampling, item.total)


def test_nesting_deeper_than_rows_becomes_missing() -> None:
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    found = Chart.from_record(chart("line", series("line", x=[deep, 1], y=[1, 2]), title=deep))
    assert found is not None
    assert (None, 1) == found.series[0].columns["x"]
    assert found.title is None


def test_panels_do_not_hold_panels() -> None:
    inner = chart("multi", charts=[SAMPLES["bar"]])
    found = Chart.from_record(chart("multi", charts=[inner, SAMPLES["bar"]]))
    assert found is not None
    assert [ChartKind.OTHER, ChartKind.BAR] == [panel.kind for panel in found.charts]
    assert () == found.charts[0].charts
    alone = Chart.from_record(SAMPLES["line"] | {"charts": [SAMPLES["bar"]]})
    assert alone is not None
    assert () == alone.charts


@pytest.mark.parametrize(
    ("kind", "columns", "expected"),
    [
        ("line", {"x": [1, 2, 3], "y": [4, 5]}, {"x": (1, 2), "y": (4, 5)}),
        ("scatter", {"x": [1, 2], "y": [3, 4], "size": [9]}, {"x": (1, 2), "y": (3, 4)}),
        ("rule", {"y": [1, 2, 3]}, {"y": (1,)}),
        ("pie", {"label": ["a", "b"], "value": [1]}, {"label": ("a",), "value": (1,)}),
        (
            "heatmap",
            {"x": [1, 2, 3], "y": [1, 2], "z": [[1, 2], [3], [4, 5]]},
            {"x": (1,), "y": (1, 2), "z": ((1,), (3,))},
        ),
        ("other", {"source": [1, 2], "label": ["a"]}, {"source": (1, 2), "label": ("a",)}),
    ],
)
def test_columns_of_different_lengths_are_made_to_agree(
    kind: str, columns: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = Chart.from_record(chart(kind, series(kind, columns=columns)))
    assert found is not None
    assert SeriesKind(kind) is found.series[0].kind
    assert expected == found.series[0].columns


def test_a_series_without_its_columns_is_of_no_known_kind() -> None:
    found = Chart.from_record(chart("box", series("box", label="b", x=[1, 2])))
    assert found is not None
    assert SeriesKind.OTHER is found.series[0].kind
    assert {"x": (1, 2)} == found.series[0].columns


def test_numbers_that_json_should_not_hold_become_missing() -> None:
    values = [math.nan, math.inf, -math.inf, 10**400, 2**1000, True, 1]
    record = chart("line", series("line", x=list(range(7)), y=values), x={"limits": [0, math.inf]})
    found = Chart.from_record(record)
    assert found is not None
    assert (None, None, None, None, 2**1000, True, 1) == found.series[0].columns["y"]
    assert found.x is not None
    assert found.x.limits is None


def test_words_that_are_not_known_are_replaced() -> None:
    record = chart(
        "hologram", series("quark", x=[1], color="javascript:", axis="y9"), x={"scale": 7}
    )
    found = Chart.from_record(record | {"orientation": "up", "stacking": 1, "row": -1, "extra": 1})
    assert found is not None
    assert (ChartKind.OTHER, SeriesKind.OTHER) == (found.kind, found.series[0].kind)
    assert (None, "y") == (found.series[0].color, found.series[0].axis)
    assert found.x is not None
    assert "other" == found.x.scale
    assert (None, None, None) == (found.orientation, found.stacking, found.row)


@pytest.mark.parametrize(
    "record", [None, [], "x", 1, {}, {"version": "1"}, {"version": 2}, {"version": 1.0}]
)
def test_what_is_no_record_of_this_version_is_no_chart(record: object) -> None:
    assert Chart.from_record(record) is None


def test_a_total_never_says_less_than_there_is() -> None:
    for total in (-5, 0, "many", None, True, 2**80):
        found = Chart.from_record(chart("line", series("line", x=[1, 2], y=[1, 2], total=total)))
        assert found is not None
        assert 2 == found.series[0].total
