"""The score of a chart falls with everything that is wrong with it, and with nothing else."""

from __future__ import annotations

import copy
import datetime
import math
from typing import TYPE_CHECKING, Any

import pytest

from tests.charts.cases import load_case
from tests.charts.samples import SAMPLES, axis, chart, series
from tests.charts.scoring import MEASURES, Score, score_charts

if TYPE_CHECKING:
    from pathlib import Path


def share_of(expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> dict[str, float]:
    score = score_charts(expected, found)
    return {measure: score.share(measure) for measure in MEASURES}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_chart_agrees_with_itself(name: str) -> None:
    score = score_charts([SAMPLES[name]], [copy.deepcopy(SAMPLES[name])])
    assert [] == score.mismatches
    assert {100.0} == {score.share(measure) for measure in MEASURES}
    assert 1 == score.once


EXPECTED = chart("line", series("line", "a", x=[1, 2], y=[3, 4]), series("line", "b", x=[1], y=[2]))


@pytest.mark.parametrize(
    ("measure", "change"),
    [
        ("kinds", {"kind": "step"}),
        ("titles", {"title": "Another"}),
        ("labels", {"x": axis("Another")}),
        ("scales", {"x": axis("Across", "log")}),
        ("orientation", {"orientation": "horizontal"}),
        ("details", {"row": 3}),
    ],
)
def test_each_measure_sees_its_own_mistake(measure: str, change: dict[str, Any]) -> None:
    shares = share_of([EXPECTED], [EXPECTED | change])
    assert {measure} == {name for name, share in shares.items() if share < 100}


def test_values_are_counted_one_by_one() -> None:
    wrong = chart("line", series("line", "a", x=[1, 2], y=[3, 9]), EXPECTED["series"][1])
    score = score_charts([EXPECTED], [wrong])
    assert (5, 6) == (score.right["values"], score.total["values"])
    assert (1, 2) == (score.right["series"], score.total["series"])
    assert ["chart 0 series 0 'a' y: 1 of 2 values wrong: [1] is 9 instead of 4"] == (
        score.mismatches
    )


def test_a_missing_series_counts_all_its_values_wrong() -> None:
    score = score_charts([EXPECTED], [chart("line", EXPECTED["series"][1])])
    assert (2, 6) == (score.right["values"], score.total["values"])


def test_a_series_too_many_is_a_series_that_is_wrong() -> None:
    score = score_charts([chart("line", EXPECTED["series"][0])], [EXPECTED])
    assert (1, 2) == (score.right["series"], score.total["series"])
    assert (4, 4) == (score.right["values"], score.total["values"])


def test_values_too_many_or_too_few_are_wrong() -> None:
    for y in ([3], [3, 4, 5]):
        wrong = chart("line", series("line", "a", x=[1, 2], y=y), EXPECTED["series"][1])
        assert score_charts([EXPECTED], [wrong]).share("values") < 100


def test_a_figure_that_came_twice_or_not_at_all_is_not_there_once() -> None:
    twice, none = score_charts([EXPECTED], [EXPECTED] * 2), score_charts([EXPECTED], [])
    assert (0, 0) == (twice.once, none.once)
    assert (1, 2) == (twice.right["figures"], twice.total["figures"])
    assert {0} == set(none.right.values())


def test_series_are_found_by_their_label() -> None:
    turned = EXPECTED | {"series": EXPECTED["series"][::-1]}
    assert [] == score_charts([EXPECTED], [turned]).mismatches


def compare(expected: object, found: object, tolerance: float = 1e-9) -> bool:
    wanted = [{"series": [{"columns": {"x": [expected, 1000.0]}}]}]
    came = [{"series": [{"columns": {"x": [found, 1000.0]}}]}]
    return not score_charts(wanted, came, tolerance).mismatches


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (0.1 + 0.2, 0.3),
        (0.0, 1e-13),
        (3, 3.0),
        (math.nan, None),
        (datetime.date(2024, 1, 31), "2024-01-31"),
        (datetime.datetime(2024, 1, 31), "2024-01-31"),  # noqa: DTZ001
        ((1, 2), [1, 2]),
    ],
)
def test_what_counts_as_equal(expected: object, found: object) -> None:
    assert compare(expected, found)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (1.0, 1.00001),
        (10**17, 10**17 + 1),
        (0.0, 1e-6),
        (True, 1),
        (1, "1"),
        ("a", "A"),
        (None, 0),
        ([1, 2], [1]),
        ("2024-01-31", "2024-01-31T12:00:00"),
    ],
)
def test_what_counts_as_different(expected: object, found: object) -> None:
    assert not compare(expected, found)


def test_a_case_may_allow_more() -> None:
    assert compare(1.0, 1.000001, 1e-5)


def sampled(rows: list[int], total: int = 20_000) -> Score:
    whole = {"x": list(range(20_000)), "y": [i % 97 for i in range(20_000)]}
    kept = {name: [values[i] for i in rows] for name, values in whole.items()}
    item = series("line", columns=kept) | {"total": total, "sampling": "stride"}
    return score_charts([chart("line", series("line", columns=whole))], [chart("line", item)])


def test_a_sample_is_right_when_its_rows_are_of_the_data_in_their_order() -> None:
    rows = list(range(0, 20_000, 10))
    assert 100 == sampled(rows).share("values")
    assert sampled(rows[::-1]).share("values") < 1
    assert 0 == sampled(rows, total=5).share("values")
    assert 0 == sampled(rows[:3]).share("values")


def test_what_fits_has_no_business_being_sampled() -> None:
    item = series("line", x=[1], y=[3]) | {"total": 2, "sampling": "stride"}
    expected = chart("line", series("line", x=[1, 2], y=[3, 4]))
    assert 50 == score_charts([expected], [chart("line", item)]).share("values")


def test_a_case_is_its_program_and_what_its_data_say(tmp_path: Path) -> None:
    path = tmp_path / "line.py"
    path.write_text(
        "# %% data\nx = [1, 2]\n# %% program\nprint(x)\n"
        "# %% expected\ntolerance = 1e-6\nexpected = [{'kind': 'line', 'title': str(x)}]\n"
    )
    case = load_case(path)
    assert "# %% data\nx = [1, 2]\n# %% program\nprint(x)\n" == case.program
    assert ([{"kind": "line", "title": "[1, 2]"}], 1e-6) == (case.expected, case.tolerance)


@pytest.mark.parametrize(
    "text", ["# %% data\n# %% program\n", "# %% data\n# %% program\n# %% expected\nexpected = 1\n"]
)
def test_a_case_without_what_it_expects_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "line.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"line\.py"):
        load_case(path)
