"""Displays that are plots."""

import base64
import json

import pytest

from llm_sandbox.artifacts.displays import plot_from_display
from llm_sandbox.artifacts.formats.markup import is_table
from llm_sandbox.results.plots import FileType
from tests.artifacts.pictures import FILES, KINDS, PLOT, bundle, carried, typed

MIB = 1024**2
TABLE = (
    "<div>\n<style scoped>\n.x {}\n</style>\n<table border='1'><tr><td>1</td></tr></table></div>"
)
PLOTLY = "application/vnd.plotly.v1+json"


@pytest.mark.timeout(60)
def test_a_large_svg_is_a_plot_measured_by_its_first_tag():
    text = '<svg width="4" height="3">' + "<g/>" * (50 * MIB // 4) + "</svg>"
    plot = plot_from_display({"image/svg+xml": text}, PLOT, limit=64 * MIB)
    assert (4, 3) == (plot.width, plot.height)
    assert plot_from_display({"image/svg+xml": text}, PLOT) is None


@pytest.mark.parametrize("name", ["png", "jpeg", "svg", "pdf"])
@pytest.mark.parametrize("metadata", [{}, PLOT, typed("PIL.Image.Image")])
def test_a_picture_is_a_plot_with_its_own_size(name, metadata):
    plot = plot_from_display(bundle(name), {"image/png": {"width": 1, "height": 2}} | metadata)
    size = KINDS[name].describe(FILES[name])
    assert FileType(name) is plot.format
    assert FILES[name] == plot.bytes()
    assert (size.width, size.height, size.dpi) == (plot.width, plot.height, plot.dpi)


def test_the_best_of_several_formats_is_taken():
    order = ["png", "jpeg", "svg", "pdf", "html"]
    for position, name in enumerate(order):
        present = bundle(*reversed(order[position:]))
        assert FileType(name) is plot_from_display(present, PLOT).format


def test_a_format_that_is_not_what_it_claims_is_passed_over():
    present = bundle("svg") | {"image/png": carried("jpeg"), "image/jpeg": 5}
    assert FileType.SVG is plot_from_display(present, PLOT).format


@pytest.mark.parametrize("claimed", KINDS)
@pytest.mark.parametrize("real", KINDS)
def test_content_of_another_type_is_no_plot(claimed, real):
    kind = KINDS[claimed]
    content = FILES[real]
    text = content.decode("latin-1") if kind.textual else base64.b64encode(content).decode()
    plot = plot_from_display({kind.mimes[0]: text}, PLOT)
    assert (claimed == real) == (plot is not None)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_base64_may_be_wrapped_into_lines(newline):
    text = newline.join([carried("png")[i : i + 76] for i in range(0, len(carried("png")), 76)])
    plot = plot_from_display({"image/png": text + newline}, {})
    assert FILES["png"] == plot.bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: text + "====",
        lambda text: text + text,
        lambda text: text[:40] + " " + text[40:],
        lambda text: text[:40] + "\x00" + text[40:],
        lambda text: text[:40] + "é" + text[40:],
        lambda text: text[:40] + "\ud800" + text[40:],
        lambda text: "data:image/png;base64," + text,
        lambda text: FILES["png"],
        lambda text: [text],
        lambda text: None,
        lambda text: "",
    ],
)
def test_what_is_not_strictly_base64_text_is_no_plot(change):
    # Padded, so that every appendix is wrong.
    text = base64.b64encode(FILES["png"] + b"\x00" * (-(len(FILES["png"]) - 1) % 3)).decode()
    assert text.endswith("==")
    assert plot_from_display({"image/png": text}, PLOT) is not None
    assert plot_from_display({"image/png": change(text)}, PLOT) is None


@pytest.mark.parametrize("name", KINDS)
def test_the_limit_is_on_the_file(name):
    size = len(FILES[name])
    assert plot_from_display(bundle(name), PLOT, limit=size) is not None
    assert plot_from_display(bundle(name), PLOT, limit=size - 1) is None
    assert plot_from_display(bundle(name), PLOT, limit=0) is None


def test_the_limit_is_on_bytes_and_not_on_letters():
    data = {"text/html": "<p>" + "é" * 100}
    assert plot_from_display(data, PLOT, limit=203) is not None
    assert plot_from_display(data, PLOT, limit=202) is None


def test_text_that_no_encoding_has_is_replaced():
    plot = plot_from_display({"image/svg+xml": "<svg><text>\ud800</text></svg>"}, {})
    assert b"<svg><text>?</text></svg>" == plot.bytes()


@pytest.mark.parametrize(
    ("metadata", "others"),
    [
        (PLOT, {}),
        ({"llm_sandbox": {"kind": "plot", "source": "plotly", "event": "savefig"}}, {}),
        ({}, {PLOTLY: {"data": []}}),
        ({}, {"application/vnd.vegalite.v5+json": {}}),
        ({}, {"application/vnd.vega.v5+json": {}}),
        ({}, {"application/vnd.bokehjs_exec.v0+json": ""}),
        (typed("altair.Chart"), {}),
        (typed("folium.Map"), {}),
    ],
)
def test_html_is_a_plot_with_a_hint(metadata, others):
    plot = plot_from_display(bundle("html", **others), metadata)
    assert FileType.HTML is plot.format
    assert FILES["html"] == plot.bytes()
    assert plot.width is plot.height is plot.dpi is None


@pytest.mark.parametrize(
    ("metadata", "others"),
    [
        ({}, {}),
        (typed("sklearn.linear_model.LinearRegression"), {}),
        (typed("mine.HTML"), {}),
        (typed("__main__.IPython"), {}),
        (typed("x" * 10_000), {}),
        ({}, {"application/vnd.bokehjs_load.v0+json": ""}),
        ({}, {"application/vnd.jupyter.widget-view+json": {}}),
        ({"llm_sandbox": None}, {}),
        ({"llm_sandbox": ["plot"]}, {}),
        ({"llm_sandbox": {"kind": ["plot"], "type": {"a": 1}}}, {}),
        ({"kind": "plot"}, {}),
        (typed("IPython.core.display.HTML"), {}),  # neither a picture nor a script is in it
    ],
)
def test_html_without_a_hint_is_no_plot(metadata, others):
    assert plot_from_display(bundle("html", **others), metadata) is None


@pytest.mark.parametrize(
    "name",
    [
        "pandas.DataFrame",
        "pandas.Series",
        "polars.DataFrame",
        "polars.LazyFrame",
        "pandas.io.formats.style.Styler",
        "geopandas.GeoDataFrame",
        "prettytable.PrettyTable",
        "__main__.DataFrame",
    ],
)
def test_a_table_is_no_plot(name):
    data = {"text/plain": "   a", "text/html": TABLE}
    assert plot_from_display(data, typed(name)) is None
    assert plot_from_display(data | bundle("png"), typed(name)) is None
    assert plot_from_display(data, {}) is None


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        "\n  <table>",
        "\ufeff<TABLE class='dataframe'>",
        "<style type='text/css'>\n#T {}\n</style>\n<table id='T_1'>",
        "<div><style>\n.d {}</style>\n<small>shape: (1, 1)</small><table border='1'>",
        "<!DOCTYPE html><html><head><meta charset='utf-8'><title>t</title></head><body><table>",
        "<h1>a</h1><!-- x --><table>",
    ],
)
def test_html_that_is_a_table_is_no_plot_unless_the_capture_says_so(text):
    assert is_table(text.encode())
    assert plot_from_display({"text/html": text}, typed("IPython.core.display.HTML")) is None
    assert plot_from_display({"text/html": text}, PLOT) is not None


@pytest.mark.parametrize(
    "text",
    [
        "<table><tr><td><img src='data:image/png;base64,'></td></tr></table>",
        "<iframe src='x'></iframe>",
        "<div><svg/></div><table>",
    ],
)
def test_html_with_more_than_a_table_is_a_plot(text):
    assert plot_from_display({"text/html": text}, typed("IPython.core.display.HTML")) is not None


@pytest.mark.parametrize(
    ("data", "metadata"),
    [
        ({}, {}),
        ({"text/plain": "1"}, PLOT),
        ({PLOTLY: {"data": []}}, PLOT),
        ({"image/gif": "R0lGODlh"}, PLOT),
        ({"image/png": {"a": 1}}, {"llm_sandbox": 5}),
        ({"text/html": "no tag"}, PLOT),
        ({"text/html": "<?xml version='1.0'?><html/>"}, PLOT),
        ({5: "x"}, [1]),
    ],
)
def test_other_displays_are_no_plots(data, metadata):
    assert plot_from_display(data, metadata) is None


def test_a_plot_survives_json():
    plot = plot_from_display(json.loads(json.dumps(bundle("png"))), PLOT)
    assert plot == type(plot).from_dict(json.loads(json.dumps(plot.to_dict())))
