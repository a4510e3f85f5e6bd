"""Vega-Lite specifications as charts: expressions, bins, dates and transforms as Vega has them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from llm_sandbox.language_handlers.python.shim.charts.vega.aggregates import aggregate, choose_bins
from llm_sandbox.language_handlers.python.shim.charts.vega.chart import vega_lite_chart
from llm_sandbox.language_handlers.python.shim.charts.vega.expression import (
    Expression,
    ExpressionError,
)
from llm_sandbox.language_handlers.python.shim.charts.vega.time import (
    floor_date,
    moment,
    parse_date,
    split_unit,
)

ROWS = [
    {"k": "b", "g": "x", "v": 3, "d": "2024-03-05T10:00:00"},
    {"k": "a", "g": "y", "v": 1, "d": "2024-01-31"},
    {"k": "b", "g": "y", "v": 5, "d": "2023-12-25"},
]


def evaluate(text: str, **row: Any) -> Any:
    """Evaluate an expression for one row."""
    return Expression(text)(row)


def chart_of(**spec: Any) -> dict[str, Any]:
    """Read a specification over the rows."""
    found = vega_lite_chart({"data": {"values": ROWS}, **spec})
    assert found is not None
    json.dumps(found, allow_nan=False)
    return found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3 % 4", 1),
        ("-datum.a", -4),
        ("datum.a > 3 && datum.b == 'x' ? 'yes' : 'no'", "yes"),
        ("datum['a b'] || 'none'", "none"),
        ("'n' + 1 + 2", "n12"),
        ("1 + 2 + 'n'", "3n"),
        ("1 / 0", math.inf),
        ("datum.a === '4'", False),
        ("datum.a == '4'", True),
        ("!datum.missing", True),
        ("isValid(datum.missing)", False),
        ("Math.sqrt(datum.a) + pow(2, 3)", 10),
        ("round(2.5) + round(-2.5)", 1),
        ("year('2024-03-05') * 100 + month('2024-03-05')", 202402),
        ("indexof('hello', 'l') + length('abc')", 5),
        ("upper(substring('hello', 1, 3))", "EL"),
        ("if(datum.a > 3, 1, 2)", 1),
        ("[1, 2, 3][1]", 2),
        ("inrange(datum.a, [1, 4])", True),
        ("0.1 + 0.2", 0.1 + 0.2),
        ("toNumber('12') + 1", 13),
        ("'caf\\u00e9'", "café"),
    ],
)
def test_expressions_give_what_javascript_gives(text: str, value: Any) -> None:
    assert value == evaluate(text, a=4, b="x")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "datum.__class__.__mro__",
        "datum.constructor('return 1')()",
        "open('/etc/passwd')",
        "(lambda: 1)()",
        "datum.a = 1",
        "datum.a; 1",
        "process.exit()",
        "window",
        "(" * 5000 + "1" + ")" * 5000,
        "!" * 3000 + "1",
        "-" * 3999 + "1",
        "[" * 3000,
        "1 +" * 1500 + "1",
        "pad('x', 1e9, 'y')",
        "now()",
        "random()",
        "",
        "1 +",
        "'open",
        "a" * 5000,
        "1e999 + x",
    ],
)
def test_hostile_expressions_end_as_errors(text: str) -> None:
    try:
        found = evaluate(text, a=1)
    except ExpressionError:
        return
    # Python's own attributes are no fields of a row.
    assert found is None


def test_texts_cannot_grow_without_end() -> None:
    grow = Expression("datum.t + datum.t")
    once = grow({"t": "ab" * 1000})
    assert "ab" * 2000 == once
    with pytest.raises(ExpressionError):
        grow({"t": once * 2})


@pytest.mark.parametrize(
    ("values", "about", "expected"),
    [
        ([0.5, 9.5], {}, (0, 10, 1)),
        ([0, 100], {"maxbins": 20}, (0, 100, 5)),
        ([3, 47], {"step": 10}, (0, 50, 10)),
        ([12, 13.5], {}, (12, 13.6, 0.2)),
        ([5, 5], {}, (5, 5.5, 0.5)),
        ([0, 1], {"extent": [0, 30], "maxbins": 5}, (0, 30, 10)),
        ([0.5, 9.5], {"nice": False}, (0.5, 9.5, 1)),
    ],
)
def test_bins_are_those_of_vega(
    values: list[float], about: dict[str, Any], expected: tuple[float, ...]
) -> None:
    bins = choose_bins(values, about)
    assert bins is not None
    assert expected == pytest.approx((bins.start, bins.stop, bins.step))


def test_the_last_bin_holds_its_end() -> None:
    bins = choose_bins([0, 10], {})
    assert bins is not None
    assert (9, 10) == bins.ends(10)
    assert bins.ends(None) is None
    assert bins.ends(11) is None


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("year", "2024-01-01T00:00:00"),
        ("yearmonth", "2024-03-01T00:00:00"),
        ("month", "2012-03-01T00:00:00"),
        ("yearquarter", "2024-01-01T00:00:00"),
        ("day", "2012-01-03T00:00:00"),
        ("hours", "2012-01-01T10:00:00"),
        ("yearweek", "2024-03-03T00:00:00"),
        ("yearmonthdatehours", "2024-03-05T10:00:00"),
        ("utcmonthdate", "2012-03-05T00:00:00"),
    ],
)
def test_dates_are_cut_off_at_their_unit(unit: str, expected: str) -> None:
    units = split_unit(unit)
    assert units is not None
    found = moment(floor_date(parse_date("2024-03-05T10:20:30") or 0, units))
    assert found is not None
    assert expected == found.isoformat()


@pytest.mark.parametrize("text", ["2024-02-30", "soon", "", "9" * 100, None, [], True])
def test_what_is_no_date_is_nothing(text: Any) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("operation", "value"),
    [("count", 5), ("valid", 3), ("missing", 1), ("distinct", 5), ("mean", 2), ("median", 2),
     ("q1", 1.5), ("variance", 1), ("stdevp", math.sqrt(2 / 3)), ("max", 3)],
)  # fmt: skip
def test_aggregates_pass_over_what_is_missing(operation: str, value: float) -> None:
    assert value == pytest.approx(aggregate(operation, [1, 2, None, 3, float("nan")]))


def test_bars_are_added_up_and_sorted_by_their_values() -> None:
    found = chart_of(
        mark="bar",
        encoding={
            "x": {"field": "k", "type": "nominal", "sort": "-y"},
            "y": {"aggregate": "sum", "field": "v", "type": "quantitative"},
        },
    )
    assert {"x": ["b", "a"], "y": [8, 1]} == found["series"][0]["columns"]
    assert ("Sum of v", "k") == (found["y"]["label"], found["x"]["label"])


def test_layers_with_scales_of_their_own_have_a_second_axis() -> None:
    x = {"field": "k", "type": "nominal"}
    y = {"field": "v", "type": "quantitative"}
    found = chart_of(
        layer=[
            {"mark": "bar", "encoding": {"x": x, "y": y}},
            {"mark": "point", "encoding": {"x": x, "y": {**y, "title": "other"}}},
        ],
        resolve={"scale": {"y": "independent"}},
    )
    assert ["y", "y2"] == [series["axis"] for series in found["series"]]
    assert "other" == found["y2"]["label"]


@pytest.mark.parametrize(
    "step",
    [
        {"loess": "v", "on": "w"},
        {"regression": "v", "on": "v", "method": "poly"},
        {"filter": "nosuch(datum.v)"},
        {"calculate": "datum.v +", "as": "w"},
        {"filter": {"param": "nowhere"}},
        {"something": "new"},
        {"aggregate": [{"op": "ci0", "field": "v", "as": "w"}]},
        {"lookup": "k", "from": {"data": {"url": "x.csv"}, "key": "k", "fields": ["z"]}},
        {"bin": True},
        7,
    ],
)
def test_a_transform_that_is_not_computed_gives_no_values_and_says_so(step: Any) -> None:
    found = chart_of(
        mark="bar",
        transform=[step],
        encoding={"x": {"field": "k"}, "y": {"field": "v", "type": "quantitative"}},
    )
    assert [0] == [series["total"] for series in found["series"]]
    assert found["unread"][0].startswith("its values: ")
    assert "bar" == found["kind"]


def test_data_at_an_address_is_not_fetched() -> None:
    found = chart_of(data={"url": "http://localhost/x.csv"}, mark="line", encoding={})
    assert "address" in found["unread"][0]


@pytest.mark.parametrize(
    "spec",
    [
        {"mark": None},
        {"mark": {"type": 5}, "encoding": {"x": []}},
        {"layer": [{"layer": []}]},
        {"hconcat": [None, 3]},
        {"mark": "bar", "encoding": {"x": {"field": "k", "bin": {"maxbins": 0.5}}}},
        {"mark": "point", "encoding": {"x": {"field": "d", "timeUnit": "fortnight"}}},
        {"mark": "bar", "encoding": {"x": {"field": {"repeat": "row"}}}},
    ],
)
def test_odd_specifications_raise_nothing_through_the_reader(spec: dict[str, Any]) -> None:
    from llm_sandbox.language_handlers.python.shim.charts.vega.chart import altair_chart

    json.dumps(altair_chart({"data": {"values": ROWS}, **spec}), allow_nan=False)


def test_specifications_within_each_other_end() -> None:
    spec: dict[str, Any] = {"mark": "bar"}
    for _ in range(200):
        spec = {"hconcat": [spec]}
    assert vega_lite_chart(spec) is None
