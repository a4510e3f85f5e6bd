"""Charts say what they are."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.charts import Axis, AxisScale, Chart, ChartKind, Series, SeriesKind
from tests.charts.samples import SAMPLES, chart, series


def read(name: str) -> Chart:
    found = Chart.from_record(SAMPLES[name])
    assert found is not None
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_a_record_becomes_a_chart_and_back_without_loss(name: str) -> None:
    found = read(name)
    assert SAMPLES[name]["kind"] == found.kind
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert found == Chart.from_dict(stored)
    assert found == Chart.from_record(stored)
    assert SAMPLES[name]["series"] == stored["series"]


@pytest.mark.parametrize("name", ["line", "multi"])
def test_charts_can_be_copied_and_pickled(name: str) -> None:
    found = read(name)
    assert found == copy.deepcopy(found)
    assert found == pickle.loads(pickle.dumps(found))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("line", "line chart 'A line', 2 series x 3 points, x: Across, y: Up (m/s)"),
        ("bar", "bar chart 'A bar', 3 points, x: Month, y: Up (m/s)"),
        ("histogram", "histogram 'A histogram', 2 series x 2 bins, x: Across, y: Up (m/s)"),
        ("polar", "polar chart 'A polar', 3 series, 9 points, x: Across, y: Up (m/s)"),
        ("pie", "pie chart 'A pie', 2 slices"),
        ("heatmap-named", "heatmap 'A heatmap', 6 cells, x: Month, y: Who"),
        (
            "multi",
            (
                "4 charts 'A multi', line chart 'A line', bar chart 'A bar', "
                "violin plot 'A violin', bar chart 'A bar'"
            ),
        ),
    ],
)
def test_one_line_describes_a_chart(name: str, expected: str) -> None:
    assert expected == read(name).describe()


def test_one_point_is_singular_and_no_series_is_said() -> None:
    one = Chart.from_record(chart("line", series("line", x=[1], y=[2]), title=None, x=None, y=None))
    none = Chart.from_record(chart("line", title=None, x=None, y=None))
    assert one is not None
    assert none is not None
    assert "line chart, 1 point" == one.describe()
    assert "line chart, no series" == none.describe()


def test_points_of_all_panels_are_counted_and_sampling_is_known() -> None:
    sampled = chart("line", series("line", x=[1, 9], y=[1, 9], total=1_000_000, sampling="stride"))
    whole = chart("line", series("line", x=[1, 2], y=[1, 2]))
    found = Chart.from_record(chart("multi", charts=[sampled, whole]))
    assert found is not None
    assert 1_000_002 == found.total_points
    assert found.is_sampled
    assert not found.panels[1].is_sampled
    assert (found.charts[1],) == found.charts[1].panels
    assert "1,000,000 points (2 kept)" in found.charts[0].describe()


def test_text_that_commands_a_terminal_is_kept_as_data_and_never_shown() -> None:
    title = "\x1b]0;owned\x07red \x1b[31malert\r\n\x9b2J"
    label = "\x1b[5mspeed\nper day"
    record = chart("line", series("line", label, x=[1], y=[2]), title=title, x={"label": label})
    found = Chart.from_record(record)
    assert found is not None
    assert found.title == title
    shown = [found.describe(), repr(found), repr(found.series[0]), found.to_markdown()]
    shown += [found.to_csv(), str(found._repr_mimebundle_())]
    assert not [text for text in shown if "\x1b" in text or "\x9b" in text or "\x07" in text]
    assert "line chart 'red alert'" in found.describe()
    assert "speed per day" in found.describe()


def test_a_long_title_makes_a_short_line() -> None:
    found = Chart.from_record(chart("line", title="t" * 10_000, x={"label": "x" * 10_000}))
    assert found is not None
    assert len(found.describe()) < 300
    assert len(repr(found)) < 200


def test_notebooks_get_text_and_markdown() -> None:
    bundle = read("bar")._repr_mimebundle_()
    assert {"text/plain", "text/markdown"} == bundle.keys()
    assert "| Jan |" in str(bundle["text/markdown"])


def test_what_is_not_a_chart_is_refused() -> None:
    for data in ({}, {"version": 2}, {"version": True, "kind": "line"}):
        with pytest.raises(ValidationError, match="chart"):
            Chart.from_dict(data)


def test_a_chart_made_by_hand_survives_beyond_the_bounds_for_records() -> None:
    column = tuple(range(60_000))
    item = Series(SeriesKind.LINE, columns={"x": column, "y": column}, total=60_000)
    made = Chart(ChartKind.LINE, x=Axis("t (s)", AxisScale.LINEAR), series=(item,))
    assert made == Chart.from_dict(made.to_dict())
    cut = Chart.from_record(made.to_dict())
    assert cut is not None
    assert "first" == cut.series[0].sampling
    assert (25_000, 60_000) == (cut.series[0].points, cut.series[0].total)


UNITS = {
    "Speed (m/s)": "m/s",
    "[m/s]": "m/s",
    "Speed [km/h] ": "km/h",
    "Temperature (°C)": "°C",
    "Density (kg/m³)": "kg/m³",
    "Acceleration (m/s^2)": "m/s^2",
    "Speed (m s$^{-1}$)": "m s$^{-1}$",
    r"Wavelength ($\mu$m)": r"$\mu$m",
    r"Price (\$)": "$",
    "Price ($)": "$",
    "Revenue ($M)": "$M",
    "Revenue (in millions)": "in millions",
    "Revenue (million USD)": "million USD",
    "GDP (2020 USD)": "2020 USD",
    "GDP (trillions of USD)": "trillions of USD",
    "Share (%)": "%",
    "Growth (% per year)": "% per year",
    "Age (years)": "years",
    "Current (A)": "A",
    "Rate (requests/s)": "requests/s",
    "Concentration (µmol/L)": "µmol/L",
    "Intensity [counts]": "counts",
    "Intensity [arb. units]": "arb. units",
    "Speed(m/s)": "m/s",
}
OTHERS = [
    "Speed",
    "",
    "()",
    "Sales (2020)",
    "Year [2020]",
    "Year (2019-2020)",
    "date (month)",
    "Axis (left)",
    "Axis [left]",
    "Sales (North)",
    "Group (yes/no)",
    "Panel (A/B)",
    "Sex (m/f)",
    "Value (log)",
    "Value [log10]",
    "p (p < 0.05)",
    "Mean (95% CI)",
    "Average (5 min)",
    "Score (0-100)",
    "Range [0, 1]",
    "N (n=20)",
    "Score [-]",
    "sin(t)",
    "P(A)",
    "Speed (m/s) of cars",
    "x [\x1b31m]",
]


@pytest.mark.parametrize(("label", "unit"), UNITS.items())
def test_a_unit_in_brackets_is_found(label: str, unit: str) -> None:
    assert unit == Axis(label).unit


@pytest.mark.parametrize("label", OTHERS)
def test_brackets_around_other_things_are_no_unit(label: str) -> None:
    assert Axis(label).unit is None


def test_an_axis_without_a_label_has_no_unit() -> None:
    assert Axis().unit is None


def test_what_is_not_known_is_said_in_every_form_that_has_a_place_for_it() -> None:
    """A chart, and a figure that holds it, never pass for whole in one line, Markdown or JSON."""
    triple = SAMPLES["triple"]
    for record in (triple, chart("multi", charts=[SAMPLES["bar"], triple])):
        found = Chart.from_record(record)
        assert found is not None
        assert ("3 arrows", "a table of 2 x 4 cells") == found.all_unread
        assert "not in its data: 3 arrows and 1 more" in found.describe()
        assert "- not in this data: a table of 2 x 4 cells" in found.to_markdown()
        assert {"unread": list(found.all_unread)} == found.to_vega_lite()["usermeta"]
        assert found == Chart.from_dict(found.to_dict())
    shape = read("triple").to_e2b()
    assert ["3 arrows", "a table of 2 x 4 cells"] == shape["unread"]
    assert "unread" not in read("bar").to_e2b()
    assert "usermeta" not in read("bar").to_vega_lite()


def test_series_keep_the_third_axis_they_are_drawn_against() -> None:
    found = read("triple")
    assert ["y", "y2", "y3", "x2"] == [item.axis for item in found.series]
    assert "Pressure (hPa)" == found.more_axes["y3"].label
    assert "- x2: Time, duration scale in seconds" in found.to_markdown()
    assert "pressure (y3) (line):" in found.to_markdown()
    layers = found.to_vega_lite()["layer"]
    assert isinstance(layers, list)
    assert 4 == len(layers)
    sides = [layer["layer"][0]["encoding"] for layer in layers]
    assert {"orient": "right", "offset": 60} == sides[2]["y"]["axis"]
    assert {"orient": "top"} == sides[3]["x"]["axis"]
    unknown = SAMPLES["line"] | {"series": [SAMPLES["line"]["series"][0] | {"axis": "y7"}]}
    kept = Chart.from_record(unknown)
    assert kept is not None
    assert "y" == kept.series[0].axis
