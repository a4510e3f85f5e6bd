"""Figures of plotly as charts: typed arrays, bins and quartiles as plotly.js has them."""

from __future__ import annotations

import base64
import json
import struct
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from llm_sandbox.language_handlers.python.shim.charts.plotly.bins import auto_bins, step_by
from llm_sandbox.language_handlers.python.shim.charts.plotly.boxes import quartiles, whiskers
from llm_sandbox.language_handlers.python.shim.charts.plotly.figure import plotly_chart
from llm_sandbox.language_handlers.python.shim.charts.plotly.values import (
    clean_text,
    date_of,
    decode,
    to_ms,
    to_number,
)


def typed(values: list[float], **more: Any) -> dict[str, Any]:
    """Write doubles as plotly does."""
    raw = struct.pack(f"<{len(values)}d", *values)
    return {"dtype": "f8", "bdata": base64.b64encode(raw).decode(), **more}


def chart_of(*traces: dict[str, Any], **layout: Any) -> dict[str, Any]:
    """Read a figure of these traces."""
    found = plotly_chart({"data": list(traces), "layout": layout})
    assert found is not None
    json.dumps(found, allow_nan=False)
    return found


def test_typed_arrays_are_decoded_by_type_and_shape() -> None:
    assert [1.5, 2.0] == decode(typed([1.5, 2.0]))
    assert [[1.0, 2.0], [3.0, 4.0]] == decode(typed([1, 2, 3, 4], shape="2, 2"))
    small = base64.b64encode(struct.pack("<3h", -1, 0, 300)).decode()
    assert [-1, 0, 300] == decode({"dtype": "i2", "bdata": small})


@pytest.mark.parametrize(
    "lie",
    [
        typed([1, 2, 3], shape="2, 2"),
        typed([1, 2], shape="-1, -2"),
        typed([1, 2], shape="1e9, 1e9"),
        typed([1, 2], shape=""),
        {"dtype": "f8", "bdata": "AAAA"},
        {"dtype": "f8", "bdata": "not base64!"},
        {"dtype": "O", "bdata": "AAAA"},
        {"dtype": "f8", "bdata": 7},
    ],
)
def test_arrays_that_contradict_themselves_are_nothing(lie: dict[str, Any]) -> None:
    assert decode(lie) is None


def test_a_figure_with_a_lying_array_has_no_points() -> None:
    found = chart_of({"type": "scatter", "y": {"dtype": "f8", "bdata": "AAAA"}})
    assert [0] == [series["total"] for series in found["series"]]


@pytest.mark.parametrize(
    ("value", "number"),
    [("1,234.5", 1234.5), ("$7", 7), (" 12% ", 12), ("1e3", 1000), ("abc", None), (True, None)],
)
def test_texts_are_numbers_where_plotly_reads_them_so(value: Any, number: float | None) -> None:
    assert number == to_number(value)


def test_dates_keep_their_time_and_lose_their_zone() -> None:
    assert datetime(2024, 1, 31, 12, 30) == date_of("2024-01-31T12:30:00+02:00")  # noqa: DTZ001
    assert datetime(2024, 2, 1) == date_of("2024-02")  # noqa: DTZ001
    assert date_of("2024-13-01") is None
    assert date_of("next week") is None


def test_titles_lose_their_tags_only() -> None:
    assert "Sales < 5\nin k" == clean_text({"text": "<b>Sales</b> < 5<br>in <i>k</i>"})


def test_numbers_get_nice_bins() -> None:
    values = np.random.default_rng(0).normal(0, 1, 1000).tolist()
    bins = auto_bins(values, dates=False)
    assert bins is not None
    # 2 deviations / 1000 ** 0.4 = 0.126, and the next nice number is 0.2.
    assert 0.2 == bins.size
    assert bins.start <= min(values)
    assert bins.end > max(values)


def test_integers_lie_in_the_middle_of_their_bins() -> None:
    bins = auto_bins([1, 2, 2, 3, 3, 3, 4], dates=False)
    assert bins is not None
    assert (0.5, 4.5, 1) == (bins.start, bins.end, bins.size)


def test_wanted_numbers_of_bins_are_rounded_to_nice_sizes() -> None:
    bins = auto_bins([0.25, 99.5], dates=False, most=7)
    assert bins is not None
    assert (0, 100, 20) == (bins.start, bins.end, bins.size)


def test_days_over_years_get_bins_of_months() -> None:
    days = [to_ms(datetime(2020 + n // 12, n % 12 + 1, 5)) for n in range(36)]  # noqa: DTZ001
    bins = auto_bins(days, dates=True, most=36)
    assert bins is not None
    assert "M1" == bins.size


def test_months_are_added_at_the_end_of_a_month_too() -> None:
    start = to_ms(datetime(2022, 12, 31, 12))  # noqa: DTZ001
    assert to_ms(datetime(2023, 1, 31, 12)) == step_by(start, "M1")  # noqa: DTZ001


@pytest.mark.parametrize(
    ("method", "expected"),
    [("linear", (2.25, 4, 5.75)), ("inclusive", (2.5, 4, 5.5)), ("exclusive", (2, 4, 6))],
)
def test_quartiles_by_each_method(method: str, expected: tuple[float, ...]) -> None:
    assert expected == quartiles([1, 2, 3, 4, 5, 6, 7], method)


def test_whiskers_end_at_values() -> None:
    values = [-20, 1, 2, 3, 4, 5, 30]
    assert (1, 5) == whiskers(values, 1, 4)


def test_histograms_of_one_panel_share_their_bins() -> None:
    one = {"type": "histogram", "x": [0.1, 0.2, 5.3]}
    two = {"type": "histogram", "x": [20.5, 22.5]}
    together = chart_of(one, two, barmode="stack")
    widths = {
        series["columns"]["end"][0] - series["columns"]["start"][0] for series in together["series"]
    }
    assert 1 == len(widths)
    assert "stacked" == together["stacking"]
    apart = chart_of(one, two, barmode="overlay")["series"]
    widths = {s["columns"]["end"][0] - s["columns"]["start"][0] for s in apart}
    assert 2 == len(widths)


def test_axes_find_their_types() -> None:
    assert "datetime" == chart_of({"x": ["2024-01-01"], "y": [1]})["x"]["scale"]
    assert "category" == chart_of({"x": ["a", "b", "c", "2"], "y": [1, 2, 3, 4]})["x"]["scale"]
    assert "linear" == chart_of({"x": ["2020", "2021"], "y": [1, 2]})["x"]["scale"]
    assert "log" == chart_of({"x": [1], "y": [1]}, xaxis={"type": "log"})["x"]["scale"]


def test_hidden_traces_are_not_drawn() -> None:
    found = chart_of({"y": [1], "name": "a"}, {"y": [2], "name": "b", "visible": "legendonly"})
    assert ["a"] == [series["label"] for series in found["series"]]


def test_missing_numbers_are_null() -> None:
    found = chart_of({"y": typed([1, float("nan"), 3]), "mode": "lines"})
    assert [1, None, 3] == found["series"][0]["columns"]["y"]


def test_a_sphere_is_no_grid() -> None:
    x = [[0, 1], [2, 3]]
    found = chart_of({"type": "surface", "x": x, "y": x, "z": x})
    assert "other" == found["kind"]


def test_an_empty_figure_has_no_chart() -> None:
    assert plotly_chart({"data": [], "layout": {}}) is None


@pytest.mark.parametrize(
    "trace",
    [
        {"type": "histogram", "x": []},
        {"type": "bar", "x": [[1, 2], [3]], "y": [1]},
        {"type": "box", "y": ["a"]},
        {"type": "heatmap", "z": [[1], [2, 3]]},
        {"type": "pie", "labels": None},
        {"type": "no such type", "x": {"a": 1}},
        {"type": "scatter", "x": [1e308, -1e308], "y": [None, "x"]},
        {"type": "histogram", "x": [1, 2], "xbins": {"start": 0, "end": 1e18, "size": 1}},
        {"type": "histogram", "x": ["2024-01-01"], "xbins": {"size": "M0"}},
        {"type": 5, "marker": 7, "line": [], "error_y": "x"},
    ],
)
def test_odd_traces_do_no_harm(trace: dict[str, Any]) -> None:
    json.dumps(plotly_chart({"data": [trace]}), allow_nan=False)
