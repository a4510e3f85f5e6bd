"""Documents of bokeh as charts, and what their capture leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.charts.cases import CHART_MIME, Runner, charts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.timeout(180)
SETUP = "from bokeh.plotting import figure, show\nimport numpy as np\np = figure()\n"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """A process that has loaded bokeh and altair."""
    process = Runner({"bokeh", "altair"})
    yield process
    process.close()


def draw(runner: Runner, program: str) -> dict[str, Any]:
    """Run a program that draws into `p`, and return its chart."""
    answer = runner.run(f"{SETUP}{program}\nshow(p)")
    assert [None] == answer["errors"], answer["stdout"]
    (found,) = charts_of(answer)
    return found


def test_stacked_bars_keep_their_own_values(runner: Runner) -> None:
    found = draw(
        runner,
        "p = figure(x_range=['a'])\n"
        "p.vbar_stack(['u', 'v'], x='k', source=dict(k=['a'], u=[0.1], v=[0.2]))",
    )
    assert [[0.1], [0.2]] == [series["columns"]["y"] for series in found["series"]]
    assert [0.1] == found["series"][1]["columns"]["base"]


def test_rows_that_a_view_hides_are_not_drawn(runner: Runner) -> None:
    found = draw(
        runner,
        "from bokeh.models import CDSView, GroupFilter, ColumnDataSource\n"
        "s = ColumnDataSource(dict(x=[1, 2, 3], y=[4, 5, 6], g=['a', 'b', 'a']))\n"
        "view = CDSView(filter=GroupFilter(column_name='g', group='a'))\n"
        "p.scatter('x', 'y', source=s, view=view)",
    )
    assert {"x": [1, 3], "y": [4, 6]} == found["series"][0]["columns"]


def test_milliseconds_on_an_axis_for_dates_are_dates(runner: Runner) -> None:
    found = draw(runner, "p = figure(x_axis_type='datetime')\np.line([0, 86400000], [1, 2])")
    assert ["1970-01-01", "1970-01-02"] == found["series"][0]["columns"]["x"]


def test_quads_with_gaps_that_stand_on_zero_are_a_histogram(runner: Runner) -> None:
    found = draw(runner, "p.quad(left=[0, 2], right=[1, 3], bottom=0, top=[5, 6])")
    assert ("histogram", [5, 6]) == (found["kind"], found["series"][0]["columns"]["count"])


def test_quads_over_each_other_are_none(runner: Runner) -> None:
    found = draw(runner, "p.quad(left=[0, 0.5], right=[1, 3], bottom=0, top=[5, 6])")
    assert "other" == found["kind"]


def test_angles_without_a_column_of_values_are_parts_of_the_circle(runner: Runner) -> None:
    found = draw(
        runner,
        "p.wedge(x=0, y=0, radius=1, start_angle=[0, np.pi], end_angle=[np.pi, 2 * np.pi])",
    )
    assert [0.5, 0.5] == pytest.approx(found["series"][0]["columns"]["value"])


def test_grouped_legends_divide_points(runner: Runner) -> None:
    found = draw(
        runner,
        "p.scatter('x', 'y', source=dict(x=[1, 2, 3], y=[1, 2, 3], c=['u', 'v', 'u']), "
        "legend_group='c')",
    )
    assert ["u", "v"] == [series["label"] for series in found["series"]]


def test_nothing_is_written_or_opened_without_output_file(runner: Runner) -> None:
    answer = runner.run(
        "import webbrowser\nwebbrowser.open = None\n" + SETUP + "p.line([1], [1])\nshow(p)"
    )
    assert ([], [None], "") == (answer["files"], answer["errors"], answer["stderr"])


def test_a_shown_figure_may_join_a_document_afterwards(runner: Runner) -> None:
    answer = runner.run(
        SETUP + "from bokeh.io import curdoc\np.line([1], [1])\nshow(p)\ncurdoc().add_root(p)"
    )
    assert [None] == answer["errors"]
    assert 1 == len(charts_of(answer))


def test_bundles_hold_the_document_and_a_page(runner: Runner) -> None:
    answer = runner.run(SETUP + "p.line([1], [1])\nshow(p)")
    data = answer["records"][0]["data"]
    assert {CHART_MIME, "application/vnd.bokeh.document+json", "text/html", "text/plain"} == set(
        data
    )
    assert "cdn.bokeh.org" in data["text/html"]
    assert data["application/vnd.bokeh.document+json"]["roots"]


def test_bundles_of_altair_hold_the_specification_and_a_page(runner: Runner) -> None:
    answer = runner.run(
        "import altair as alt\n"
        "alt.Chart(alt.InlineData([{'a': 1}])).mark_bar().encode(x='a:O').show()"
    )
    data = answer["records"][0]["data"]
    (mime,) = set(data) - {CHART_MIME, "text/html", "text/plain"}
    assert mime.startswith("application/vnd.vegalite.v")
    assert "bar" == data[mime]["mark"]["type"]
    assert data["text/html"].lstrip().lower().startswith("<!doctype html")


def test_a_reader_that_fails_costs_the_chart_only(runner: Runner) -> None:
    answer = runner.run(
        "import sys\nget_ipython\n"
        + SETUP
        + "import shim.charts.bokeh.figure as f\n"
        + "def fail(models): raise MemoryError\nf.bokeh_chart = fail\np.line([1], [1])\nshow(p)"
    )
    assert [None] == answer["errors"], answer["stdout"]
    assert [["application/vnd.bokeh.document+json", "text/html", "text/plain"]] == [
        sorted(record["data"]) for record in answer["records"]
    ]
