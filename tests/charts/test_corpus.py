"""Every program of the corpus gives each of its figures once, with the values that are known of it.

The programs run in forks of one interpreter outside of the sandbox, which is quicker;
`python -m benchmarks.accuracy` measures the same in sessions, and after bad endings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.charts.cases import CORPUS, Runner, charts_of, find_cases, load_case
from tests.charts.scoring import score_charts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CASES = find_cases()


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    process = Runner({path.parent.name for path in CASES})
    yield process
    process.close()


def test_the_corpus_is_large_and_covers_the_libraries() -> None:
    assert len(CASES) >= 500
    libraries = {path.parent.name for path in CASES}
    on_matplotlib = {"matplotlib", "networkx", "pandas", "seaborn", "sklearn", "statsmodels"}
    assert {"altair", "bokeh", "plotly", *on_matplotlib} == libraries


@pytest.mark.sampled
@pytest.mark.parametrize("path", CASES, ids=lambda path: str(path.relative_to(CORPUS)))
def test_program(runner: Runner, path: Path) -> None:
    case = load_case(path)
    score = score_charts(case.expected, charts_of(runner.run(case.program)), case.tolerance)
    assert [] == score.mismatches
    assert 1 == score.once
