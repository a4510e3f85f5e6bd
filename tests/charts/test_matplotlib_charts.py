"""Tricky readings of matplotlib figures, what reading costs, and what may not break it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.charts.cases import Runner, charts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Charts = Callable[[str], list[dict[str, Any]]]

pytestmark = pytest.mark.timeout(180)
SETUP = "import matplotlib.pyplot as plt, numpy as np\nfig, ax = plt.subplots()\n"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """A process that has loaded matplotlib and seaborn."""
    process = Runner({"matplotlib", "seaborn"})
    yield process
    process.close()


@pytest.fixture(scope="module")
def charts(runner: Runner) -> Charts:
    """Runs a program that draws into `ax` and gives its charts."""

    def run(program: str) -> list[dict[str, Any]]:
        answer = runner.run(SETUP + program)
        assert answer["stderr"] == ""
        return charts_of(answer)

    return run


KINDS = {
    "ax.plot([1, 2])": "line",
    "ax.step([1, 2], [3, 4])": "step",
    "ax.fill_between([1, 2], [3, 4])": "area",
    "ax.stackplot([1, 2], [3, 4], [5, 6])": "area",
    "ax.scatter([1, 2], [3, 4])": "scatter",
    "ax.plot([1, 2], 'o')": "scatter",
    "ax.bar([1, 2], [3, 4])": "bar",
    "ax.stem([1, 2], [3, 4])": "bar",
    "ax.hist([1, 2, 2])": "histogram",
    "ax.hist([1, 2, 2], histtype='step')": "histogram",
    "ax.stairs([1, 2], [0, 1, 2])": "histogram",
    "ax.stairs([1, -2], [0, 1, 2])": "step",
    "ax.pie([1, 2])": "pie",
    "ax.boxplot([1, 2, 3])": "box",
    "ax.violinplot([1, 2, 3])": "violin",
    "ax.imshow(np.eye(3))": "heatmap",
    "ax.imshow(np.eye(3), cmap='gray')": "image",
    "ax.imshow(np.zeros((2, 2, 3)))": "image",
    "ax.pcolormesh(np.eye(3))": "heatmap",
    "ax.hist2d([1, 2], [3, 4])": "heatmap",
    "ax.hexbin([1, 2], [3, 4], gridsize=3)": "scatter",
    "ax.contour(np.eye(3))": "contour",
    "ax.contourf(np.eye(3))": "contour",
    "ax.tricontour([0, 1, 0, 1], [0, 0, 1, 1], [1, 2, 3, 4])": "contour",
    "ax.errorbar([1, 2], [3, 4], yerr=1)": "errorbar",
    "ax.broken_barh([(1, 2)], (0, 1))": "bar",
    "ax.quiver([1, 2], [1, 2], [1, 1], [1, 1])": "other",
    "fig.clf(); fig.add_subplot(projection='polar').plot([1, 2])": "polar",
    "fig.clf(); fig.add_subplot(projection='3d').plot([1], [2], [3])": "line3d",
    "fig.clf(); fig.add_subplot(projection='3d').scatter([1], [2], [3])": "scatter3d",
    "fig.clf(); X = np.eye(3); fig.add_subplot(projection='3d').plot_trisurf("
    "[0, 1, 0, 1], [0, 0, 1, 1], [1, 2, 3, 4])": "scatter3d",
    "fig.clf(); X, Y = np.meshgrid([1, 2], [3, 4]); "
    "fig.add_subplot(projection='3d').plot_surface(X, Y, X * Y)": "surface3d",
    "fig.clf(); fig.subplots(1, 2)[0].plot([1])": "multi",
    "ax.axhline(2)": "other",
    "ax.plot([1, 2]); ax.fill_between([0, 1], [0, 1], [2, 3])": "line",
    "ax.fill_between([0, 1], [0, 1], [2, 3]); ax.plot([1, 2])": "line",
}


@pytest.mark.parametrize("program", KINDS)
def test_kind_is_that_of_the_call(charts: Charts, program: str) -> None:
    found = charts(program)
    assert [chart["kind"] for chart in found] == [KINDS[program]]
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_every_chart_has_all_keys(charts: Charts) -> None:
    chart = charts("ax.plot([1, 2], label='u')")[0]
    assert set(chart) == {
        *("version", "library", "kind", "title", "x", "y", "y2", "z", "orientation"),
        *("stacking", "series", "annotations", "charts", "row", "column"),
        *("more_axes", "unread"),
    }
    assert set(chart["x"]) == {"label", "scale", "limits", "ticks", "tick_labels"}
    assert set(chart["series"][0]) == {
        *("kind", "label", "color", "axis", "columns", "total", "sampling"),
    }


def test_values_are_exact(charts: Charts) -> None:
    series = charts("ax.plot([0.1 + 0.2, 1e-300, 1 / 3, 2 ** 53])")[0]["series"][0]
    assert series["columns"]["y"] == [0.1 + 0.2, 1e-300, 1 / 3, 2**53]


def test_wrappers_keep_names_and_signatures(runner: Runner) -> None:
    answer = runner.run(
        "import inspect, matplotlib.pyplot as plt\nfrom matplotlib.axes import Axes\n"
        "print(Axes.hist.__name__, 'density' in inspect.signature(Axes.hist).parameters,\n"
        "      'density' in inspect.signature(plt.hist).parameters, 'Compute' in plt.hist.__doc__)"
    )
    assert answer["stdout"].strip() == "hist True True True"


def test_methods_of_a_subclass_are_recorded(charts: Charts) -> None:
    found = charts(
        "from matplotlib.axes import Axes\n"
        "class Mine(Axes):\n"
        "    name = 'mine'\n"
        "    def hist(self, *args, **kwargs):\n"
        "        return super().hist(*args, **kwargs)\n"
        "from matplotlib.projections import register_projection\n"
        "register_projection(Mine)\nfig.clf()\n"
        "fig.add_subplot(projection='mine').hist([1, 2, 2], bins=2)"
    )
    assert found[0]["series"][0]["columns"] == {
        "start": [1.0, 1.5],
        "end": [1.5, 2.0],
        "count": [1.0, 2.0],
    }


def test_arrays_changed_after_the_call_do_not_change_the_chart(charts: Charts) -> None:
    chart = charts("z = np.ones((3, 3)); z[0] = 5; ax.contourf(z); z[:] = 0")[0]
    assert chart["series"][0]["columns"]["z"][0] == [5.0, 5.0, 5.0]


def test_legend_names_series_of_proxies_and_lists(charts: Charts) -> None:
    by_list = charts("ax.plot([1, 2]); ax.plot([2, 1]); ax.legend(['up', 'down'])")[0]
    assert [item["label"] for item in by_list["series"]] == ["up", "down"]
    proxies = charts(
        "from matplotlib.patches import Patch\nax.bar([1, 2], [3, 4], color='red')\n"
        "ax.legend(handles=[Patch(color='red', label='sold')])"
    )[0]
    assert proxies["series"][0]["label"] == "sold"
    same_color = charts(
        "ax.scatter([1, 2], [1, 2], color='b', label='data')\n"
        "ax.plot([1, 2], [1, 2], color='b'); ax.legend()"
    )[0]
    assert [item["label"] for item in same_color["series"]] == ["data", None]


def test_invented_labels_are_none(charts: Charts) -> None:
    chart = charts("ax.plot([1]); ax.bar([1], [2]); ax.scatter([1], [2])")[0]
    assert {item["label"] for item in chart["series"]} == {None}


def test_second_axes_are_y2(charts: Charts) -> None:
    chart = charts("ax.plot([1, 2]); b = ax.twinx(); b.plot([5, 6]); b.set_ylabel('right')")[0]
    assert [item["axis"] for item in chart["series"]] == ["y", "y2"]
    assert chart["y2"]["label"] == "right"
    assert chart["kind"] == "line"


def test_colorbars_and_hidden_axes_are_no_panels(charts: Charts) -> None:
    program = (
        "m = ax.imshow(np.eye(3)); fig.colorbar(m, label='t'); "
        ""
        "fig.colorbar(plt.cm.ScalarMappable(), cax=fig.add_axes([0, 0, 0.1, 0.1])); "
        "fig.add_axes([0, 0, 1, 1]).set_visible(False)"
    )
    chart = charts(program)[0]
    assert chart["kind"] == "heatmap"
    assert chart["z"]["label"] == "t"


def test_ticks_are_names_only_where_the_data_is_at_them(charts: Charts) -> None:
    bars = charts("ax.bar([0, 1], [3, 4]); ax.set_xticks([0, 1], ['2019', '2020'])")[0]
    assert bars["x"]["scale"] == "category"
    assert bars["series"][0]["columns"]["x"] == ["2019", "2020"]
    curve = charts("ax.plot([0, 0.5, 1], [1, 2, 3]); ax.set_xticks([0, 1], ['a', 'b'])")[0]
    assert curve["x"]["scale"] == "linear"
    assert curve["x"]["tick_labels"] == ["a", "b"]
    numbers = charts("ax.bar([1, 2], [3, 4]); ax.set_xticks([1, 2], ['1', '2'])")[0]
    assert numbers["series"][0]["columns"]["x"] == [1.0, 2.0]


def test_dates_are_iso_and_local_times_keep_their_offset(charts: Charts) -> None:
    chart = charts(
        "from datetime import datetime, timezone, timedelta\n"
        "zone = timezone(timedelta(hours=2))\n"
        "ax.plot([datetime(2024, 1, 1, 8, tzinfo=zone), datetime(2024, 1, 1, 9, tzinfo=zone)], "
        "[1, 2])"
    )[0]
    assert chart["series"][0]["columns"]["x"] == [
        "2024-01-01T08:00:00+02:00",
        "2024-01-01T09:00:00+02:00",
    ]
    assert chart["x"]["scale"] == "datetime"


def test_cleared_and_removed_artists_are_gone(charts: Charts) -> None:
    chart = charts(
        "ax.hist([1, 2]); ax.cla(); line, = ax.plot([1, 2]); line.remove()\n"
        "ax.plot([3, 4]); ax.plot([5, 6])[0].set_visible(False)"
    )[0]
    assert [item["columns"]["y"] for item in chart["series"]] == [[3.0, 4.0]]


def test_long_series_are_sampled_and_say_so(charts: Charts) -> None:
    chart = charts(
        "ax.plot(np.sin(np.arange(100_000))); ax.scatter(np.arange(50), np.arange(50))\n"
        "ax.lines[0].get_ydata()[777] = 99"
    )[0]
    line, points = chart["series"]
    assert (line["total"], line["sampling"]) == (100_000, "min-max")
    assert max(line["columns"]["y"]) <= 1
    assert (points["total"], points["sampling"]) == (50, None)
    assert size_of(chart) <= 10_000
    peak = charts("y = np.zeros(50_000); y[31_337] = 7; ax.plot(y)")[0]["series"][0]
    assert max(peak["columns"]["y"]) == 7
    dots = charts("ax.scatter(np.arange(50_000) % 7, np.arange(50_000))")[0]["series"][0]
    assert (dots["total"], dots["sampling"]) == (50_000, "stride")
    assert dots["columns"]["y"][-1] == 49_999


def size_of(chart: dict[str, Any]) -> int:
    def count(value: Any) -> int:
        return sum(map(count, value)) if isinstance(value, list) else 1

    return sum(count(values) for item in chart["series"] for values in item["columns"].values())


def test_grids_are_sampled_in_both_directions(charts: Charts) -> None:
    series = charts("ax.imshow(np.arange(1_000_000).reshape(2000, 500))")[0]["series"][0]
    columns = series["columns"]
    assert series["total"] == 1_000_000
    assert len(columns["z"]) == len(columns["y"])
    assert {len(row) for row in columns["z"]} == {len(columns["x"])}
    assert columns["z"][0][0] == 0
    assert columns["z"][-1][-1] == 999_999


def test_countless_artists_are_bounded(charts: Charts) -> None:
    chart = charts("for i in range(3000): ax.plot([i, i + 1])")[0]
    rest = chart["series"][-1]
    assert len(chart["series"]) <= 502
    assert rest["sampling"] == "stride"
    assert rest["total"] + len(chart["series"]) - 1 == 3000


def test_hostile_artists_do_not_hide_the_others(charts: Charts) -> None:
    chart = charts(
        "from matplotlib.lines import Line2D\n"
        "class Bad(Line2D):\n"
        "    armed = False\n"
        "    def get_data(self, orig=True):\n"
        "        raise SystemError('no')\n"
        "    def get_label(self):\n"
        "        return 5\n"
        "ax.add_line(Bad([1, 2], [3, 4])); ax.plot([1, 2], label='good')"
    )[0]
    assert [item["label"] for item in chart["series"]] == ["good"]


def test_a_figure_that_cannot_be_read_is_captured_without_chart(runner: Runner) -> None:
    answer = runner.run(
        "import matplotlib.pyplot as plt\nfrom matplotlib.figure import Figure\n"
        "class Bad(Figure):\n"
        "    @property\n"
        "    def legends(self): raise ValueError('no')\n"
        "    @legends.setter\n"
        "    def legends(self, value): pass\n"
        "    def get_children(self): return [self.patch, *self._localaxes]\n"
        "plt.figure(FigureClass=Bad).add_subplot().plot([1, 2])"
    )
    plots = [r for r in answer["records"] if "image/png" in r["data"]]
    assert len(plots) == 1
    assert charts_of(answer) == []
    assert answer["stderr"] == ""


@pytest.mark.parametrize(
    "call", ["ax.get_xticklabels()", "ax.set_xlim(ax.get_xlim())", "fig.tight_layout()"]
)
@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf", "a.jpg"])
def test_saved_figure_that_was_only_read_is_shown_once(
    charts: Charts, name: str, call: str
) -> None:
    program = f"ax.plot([1, 2]); fig.tight_layout(); fig.savefig('{name}', dpi=50); {call}"
    assert len(charts(f"{program}; plt.show()")) == 1
    assert len(charts(f"{program}; ax.set_title('more'); plt.show()")) == 2


def test_shown_figure_that_was_only_read_is_not_saved_as_another(charts: Charts) -> None:
    program = "ax.plot([1, 2]); plt.show(); ax.set_xlim(ax.get_xlim())"
    assert len(charts(f"{program}; fig.savefig('a.png')")) == 1
    assert len(charts(f"{program}; ax.set_title('t'); fig.savefig('a.png')")) == 2


def test_figures_are_freed_although_they_were_recorded(runner: Runner) -> None:
    answer = runner.run(
        "import gc, weakref, matplotlib.pyplot as plt\n"
        "fig, ax = plt.subplots(); ax.hist([1, 2]); ax.legend(['a']); fig.savefig('a.png')\n"
        "plt.show(); gone = weakref.ref(fig); ax = fig = None; plt.close('all')\n"
        "get_ipython().events.trigger('post_execute'); gc.collect(); print(gone() is None)"
    )
    assert answer["stdout"].strip() == "True"


def test_a_recorded_figure_can_be_pickled(charts: Charts) -> None:
    chart = charts(
        "import pickle\nax.hist([1, 2, 2], bins=2); ax.legend(['n'])\n"
        "copy = pickle.loads(pickle.dumps(fig)); plt.close(fig); copy.savefig('copy.png')"
    )[0]
    assert chart["series"]


def test_a_program_that_draws_nothing_loads_nothing() -> None:
    process = Runner(set())
    try:
        answer = process.run("import sys\nx = 1\nprint('shim.charts.record' in sys.modules)")
    finally:
        process.close()
    assert answer["stdout"].strip() == "False"
    assert answer["modules"] == []
    assert [name for name in answer["names"] if not name.startswith("_")] == ["sys", "x"]


def test_reading_costs_little_beside_drawing(runner: Runner) -> None:
    answer = runner.run(
        "import time, sys, matplotlib.pyplot as plt\n"
        "from shim import figure_render\nfrom shim.charts.matplotlib.figure import read_figure\n"
        "draws, reads = [], []\n"
        "for _ in range(5):\n"
        "    fig, ax = plt.subplots(); ax.plot([1, 2, 3], label='a'); ax.legend()\n"
        "    a = time.perf_counter(); figure_render.render(get_ipython(), fig)\n"
        "    b = time.perf_counter(); assert read_figure(fig); c = time.perf_counter()\n"
        "    draws.append(b - a); reads.append(c - b); plt.close(fig)\n"
        "print(sorted(reads)[2] / sorted(draws)[2])"
    )
    ratio = float(answer["stdout"])
    print(f"reading a default figure costs {ratio:.1%} of drawing it")
    assert ratio < 1


def test_names_that_a_function_writes_are_those_of_bars_only(charts: Charts) -> None:
    """A function that labels positions names bars; it makes no names of a curve's values."""
    label = "ax.{}axis.set_major_locator(MultipleLocator(1)); ax.{}axis.set_major_formatter({})"
    start = "from matplotlib.ticker import MultipleLocator\n"
    named = (
        start + "ax.bar([0, 1], [3, 4]); " + label.format("x", "x", "lambda v, p: 'AB'[int(v) % 2]")
    )
    assert ["A", "B"] == charts(named)[0]["series"][0]["columns"]["x"]
    curve = start + "ax.plot([0, 1], [1, 2]); " + label.format("y", "y", "lambda v, p: f'n{v}'")
    assert [1.0, 2.0] == charts(curve)[0]["series"][0]["columns"]["y"]


UNREAD = {
    "from matplotlib.tri import Triangulation; "
    "ax.tricontour(Triangulation([0, 1, 0, 1], [0, 0, 1, 1]), [1, 2, 3, 4])": [
        "the values that contours were drawn from"
    ],
    "from matplotlib.patches import Ellipse, Wedge; ax.plot([1, 2]); "
    "ax.add_patch(Ellipse((0, 1), 1, 2)); ax.add_patch(Wedge((0, 1), 1, 0, 90))": ["2 shapes"],
    "ax.annotate('a', (0.1, 0.1), (0.5, 0.5), 'axes fraction', 'axes fraction', arrowprops={})": [
        "1 arrow between texts"
    ],
    "ax.pie([1, 2], shadow=True)": [],
    "ax.annotate('peak', (1, 1), (1, 2), arrowprops={}); ax.plot([1, 2])": [],
    "from matplotlib.patches import Ellipse; ax.plot([1, 2]); "
    "ax.add_patch(Ellipse((0, 1), 1, 2, visible=False))": [],
}


@pytest.mark.parametrize("program", UNREAD)
def test_what_is_drawn_and_not_read_is_said(charts: Charts, program: str) -> None:
    assert UNREAD[program] == charts(program)[0]["unread"]


def test_many_reference_lines_are_all_kept(charts: Charts) -> None:
    found = charts("ax.vlines(range(150), 0, 1); ax.plot([0, 150], [0, 1])")[0]["series"]
    assert list(range(150)) == found[0]["columns"]["x"]
