"""Artifact kinds, their registry, and which displays are plots."""

import base64
import io
import json
import random
import subprocess
import sys
import warnings
from importlib.metadata import EntryPoint

import pytest
from matplotlib.figure import Figure
from PIL import Image

from llm_sandbox.artifacts import ArtifactKind, Dimensions, plot_from_display, registry
from llm_sandbox.artifacts.html import HtmlKind, is_table
from llm_sandbox.artifacts.pdf import PdfKind
from llm_sandbox.artifacts.raster import JpegKind, PngKind
from llm_sandbox.artifacts.svg import SvgKind
from llm_sandbox.exceptions import ConfigurationError, ValidationError
from llm_sandbox.plots import FileType

MIB = 1024**2
KINDS = {
    "png": PngKind(),
    "jpeg": JpegKind(),
    "svg": SvgKind(),
    "pdf": PdfKind(),
    "html": HtmlKind(),
}
PLOT = {"llm_sandbox": {"kind": "plot", "source": "matplotlib", "event": "show"}}
TABLE = (
    "<div>\n<style scoped>\n.x {}\n</style>\n<table border='1'><tr><td>1</td></tr></table></div>"
)
PLOTLY = "application/vnd.plotly.v1+json"


def typed(name):
    return {"llm_sandbox": {"type": name}}


def drawn(name, **options):
    figure = Figure(figsize=(2, 1), dpi=50)
    figure.add_subplot().plot([1, 2])
    buffer = io.BytesIO()
    figure.savefig(buffer, format=name, **options)
    return buffer.getvalue()


def saved(name, size=(7, 5), **options):
    buffer = io.BytesIO()
    Image.new("RGB", size, "red").save(buffer, name, **options)
    return buffer.getvalue()


FILES = {
    "png": drawn("png"),
    "jpeg": drawn("jpeg"),
    "svg": drawn("svg"),
    "pdf": drawn("pdf"),
    "html": b"<!DOCTYPE html>\n<html><body><div>plot</div></body></html>",
}


def carried(name, content=None):
    content = FILES[name] if content is None else content
    kind = KINDS[name]
    return content.decode() if kind.textual else base64.b64encode(content).decode()


def bundle(*names, **others):
    found = {"text/plain": "<Figure>"} | {KINDS[n].mimes[0]: carried(n) for n in names}
    return found | others


# --- what files say about themselves


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("png", Dimensions(100, 50, 50)),
        ("jpeg", Dimensions(100, 50, 50)),
        ("svg", Dimensions(192, 96, None)),
        ("pdf", Dimensions(144, 72, None)),
        ("html", Dimensions()),
    ],
)
def test_a_real_file_is_measured(name, expected):
    assert expected == KINDS[name].describe(FILES[name])


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_matches_its_own_files_alone(name):
    assert [name] == [other for other in KINDS if KINDS[name].matches(FILES[other])]


@pytest.mark.parametrize("dpi", [1, 72, 96, 99.6, 300, 1200])
@pytest.mark.parametrize("name", ["png", "jpeg"])
def test_the_resolution_is_rounded_to_what_was_asked_for(name, dpi):
    assert round(dpi) == KINDS[name].describe(saved(name, dpi=(dpi, dpi))).dpi


def test_a_file_without_a_resolution_has_none():
    assert Dimensions(7, 5) == PngKind().describe(saved("png"))
    assert Dimensions(7, 5) == JpegKind().describe(saved("jpeg"))


def test_pixels_that_are_not_square_have_no_single_resolution():
    assert Dimensions(7, 5) == PngKind().describe(saved("png", dpi=(100, 200)))
    assert Dimensions(7, 5) == JpegKind().describe(saved("jpeg", dpi=(100, 200)))


@pytest.mark.parametrize("options", [{"progressive": True}, {"icc_profile": b"x" * 300_000}])
def test_a_jpeg_with_more_before_its_frame_is_measured(options):
    assert Dimensions(7, 5, 90) == JpegKind().describe(saved("jpeg", dpi=(90, 90), **options))


def test_a_jpeg_may_count_dots_per_centimetre():
    content = saved("jpeg", dpi=(100, 100))
    assert content[13:18] == b"\x01\x00d\x00d"
    assert 254 == JpegKind().describe(content[:13] + b"\x02" + content[14:]).dpi


def test_a_large_picture_is_only_numbers():
    content = FILES["png"]
    side = (60_000).to_bytes(4)
    assert Dimensions(60_000, 60_000, 50) == PngKind().describe(
        content[:16] + side + side + content[24:]
    )


@pytest.mark.parametrize("field", [b"\x00\x00\x00\x00", b"\xff\xff\xff\xff"])
def test_a_size_no_png_can_have_is_unknown(field):
    content = FILES["png"]
    changed = content[:16] + field + content[20:]
    assert Dimensions(None, 50, 50) == PngKind().describe(changed)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('width="20" height="10"', (20, 10)),
        ("width = '20px'\n height='10.4PX'", (20, 10)),
        ('width="72pt" height="6pc"', (96, 96)),
        ('width="1in" height="2.54cm"', (96, 96)),
        ('width="25.4mm" height="101.6q"', (96, 96)),
        ('width=" +1e2 " height=".5"', (100, 1)),
        ('viewBox="0 0 30 40"', (30, 40)),
        ('viewBox="-1,-2 , 30.5,4e1"', (30, 40)),
        ('width="100%" height="100%" viewBox="0 0 30 40"', (30, 40)),
        ('width="60" viewBox="0 0 30 40"', (60, 80)),
        ('height="60" viewBox="0 0 30 40"', (45, 60)),
        ('width="10em" height="2"', (None, 2)),
        ('width="0" height="-3"', (None, None)),
        ('width="1e999" height="nan"', (None, None)),
        ('width="99999999999" height="1"', (None, 1)),
        ('width="60" viewBox="0 0 1e-300 1e300"', (60, None)),
        ('viewBox="0 0 0 0"', (None, None)),
        ('viewBox="0 0 30"', (None, None)),
        ('data-width="5" stroke-width="6"', (None, None)),
        ('width="&w;" height="1"', (None, 1)),
        ('width="1" width="2" height="3"', (1, 3)),
        ("", (None, None)),
    ],
)
def test_an_svg_is_measured_by_its_root_in_css_pixels(attributes, expected):
    text = f'<svg {attributes}><rect width="500" height="500"/></svg>'
    assert Dimensions(*expected) == SvgKind().describe(text.encode())


@pytest.mark.parametrize(
    "before",
    [
        b"\xef\xbb\xbf",
        b" \r\n\t",
        b'<?xml version="1.0"?>\n',
        b"<!-- <svg width='9' height='9'> -- > -->",
        b"<!DOCTYPE svg PUBLIC \"-//W3C//DTD>\" 'x>['>",
        b"<?a?><!--b--><?c?>",
    ],
)
def test_what_may_stand_before_the_root_is_passed_over(before):
    assert Dimensions(4, 3) == SvgKind().describe(before + b'<svg width="4" height="3"/>')
    assert Dimensions(4, 3) == SvgKind().describe(before + b'<s:svg width="4" height="3"/>')


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE svg [<!ENTITY a "b">]><svg width="4" height="3"/>',
        '<!DOCTYPE svg SYSTEM "x" [<!ENTITY % a SYSTEM "file:///etc/passwd">%a;]><svg/>',
        "<html><svg/></html>",
        "<svgx/>",
        "<svg",
        "text <svg/>",
        "<!-- " + "x" * 70_000 + " --><svg/>",
        "",
    ],
)
def test_what_is_no_svg_or_declares_entities_is_refused(text):
    assert not SvgKind().matches(text.encode())
    assert Dimensions() == SvgKind().describe(text.encode())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"/MediaBox [0 0 612 792]", (612, 792)),
        (b"/MediaBox[ 10\n20 .5e 3]/MediaBox[10 20 110.6 70.4 ]", (101, 50)),
        (b"/MediaBox [100 100 0 0]", (100, 100)),
        (b"/MediaBox 5 0 R ... /MediaBox [0 0 1 2]", (1, 2)),
        (b"/MediaBox [0 0 0 0]", (None, None)),
        (b"/MediaBox [0 0 1]", (None, None)),
        (b"/MediaBox", (None, None)),
        (b"x" * 3 * MIB + b"/MediaBox [0 0 3 4]" + b"x" * 100, (3, 4)),
    ],
)
def test_a_pdf_is_measured_by_its_first_readable_media_box(body, expected):
    assert Dimensions(*expected) == PdfKind().describe(b"%PDF-1.4\n" + body)


def test_a_pdf_begins_with_its_header():
    assert not PdfKind().matches(b"<script></script>" + FILES["pdf"])


# --- hostile files


def look(content):
    for kind in KINDS.values():
        matches = kind.matches(content)
        size = kind.describe(content)
        assert matches in (True, False)
        for value in (size.width, size.height, size.dpi):
            assert value is None or 0 < value < 2**31
        if not matches:
            assert Dimensions() == size
    is_table(content)


@pytest.mark.parametrize("name", KINDS)
def test_a_file_cut_anywhere_is_measured_as_far_as_it_goes(name):
    content = FILES[name]
    whole = KINDS[name].describe(content)
    for end in range(len(content)):
        cut = content[:end]
        size = KINDS[name].describe(cut)
        assert size.height in (None, whole.height), end
        assert size.dpi in (None, whole.dpi), end
        if end < 2048:
            look(cut)


@pytest.mark.parametrize("name", KINDS)
def test_no_changed_byte_raises(name):
    content = bytearray(FILES[name])
    for place in range(min(1024, len(content))):
        original = content[place]
        for changed in (original ^ 0xFF, original ^ 1, 0, 0xFF, 0x3C):
            content[place] = changed
            look(bytes(content))
        content[place] = original


@pytest.mark.parametrize("name", KINDS)
def test_no_rubbish_in_a_file_raises(name):
    chance = random.Random(name)
    content = FILES[name]
    words = [b"<", b"<svg ", b"/MediaBox [", b"pHYs", b"\xff\xc0", b"\xff" * 9, b"<!--", b'"', b"0"]
    for _ in range(2000):
        changed = bytearray(content[: chance.randrange(1, 2048)])
        for _ in range(chance.randrange(1, 8)):
            place = chance.randrange(len(changed) + 1)
            new = chance.choice([chance.randbytes(chance.randrange(9)), chance.choice(words)])
            changed[place : place + chance.randrange(9)] = new
        look(bytes(changed) if chance.random() < 0.5 else content[:9] + bytes(changed))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    [
        b"<",
        b"<svg",
        b"<svg ",
        b"<svg a='",
        b"<svg a=''",
        b" ",
        b"<!--",
        b"<!---->",
        b"<?",
        b"<!DOCTYPE",
        b"<!DOCTYPE ''>",
        b'<!DOCTYPE "',
        b"<style>",
        b"<style></style>",
        b"<div>",
        b"<p></p>",
        b"<p>",
        b"<table",
        b"/MediaBox",
        b"/MediaBox [",
        b"/MediaBox [0 0 1 1",
        b"\xff",
        b"\xff\xd0",
        b"\xff\xe0\x00\x02",
        b"\x00\x00\x00\x00aaaa\x00\x00\x00\x00",
        b"0",
        b"'",
        b'""',
    ],
)
def test_a_large_file_of_one_piece_takes_bounded_time(piece):
    """Each look is at a bounded part, or one fast search."""
    body = piece * (8 * MIB // len(piece))
    starts = [
        b"",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + b"\x01" * 17,
        b"\xff\xd8",
        b"%PDF-1.7 ",
        b"<svg ",
        b"<svg width='",
        b"<svg viewBox='",
        b"<!DOCTYPE ",
        b"<html>",
    ]
    for start in starts:
        look(start + body)


@pytest.mark.timeout(60)
def test_a_large_svg_is_a_plot_measured_by_its_first_tag():
    text = '<svg width="4" height="3">' + "<g/>" * (50 * MIB // 4) + "</svg>"
    plot = plot_from_display({"image/svg+xml": text}, PLOT, limit=64 * MIB)
    assert (4, 3) == (plot.width, plot.height)
    assert plot_from_display({"image/svg+xml": text}, PLOT) is None


# --- which displays are plots


@pytest.mark.parametrize("name", ["png", "jpeg", "svg", "pdf"])
@pytest.mark.parametrize("metadata", [{}, PLOT, typed("PIL.Image.Image")])
def test_a_picture_is_a_plot_with_its_own_size(name, metadata):
    plot = plot_from_display(bundle(name), {"image/png": {"width": 1, "height": 2}} | metadata)
    size = KINDS[name].describe(FILES[name])
    assert FileType(name) is plot.format
    assert FILES[name] == plot.bytes()
    assert size == Dimensions(plot.width, plot.height, plot.dpi)


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
        (typed("IPython.core.display.HTML"), {}),
        (typed("IPython.lib.display.IFrame"), {}),
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
        "<tablet>",
        "<p>table <table>",
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


# --- the registry


class GifKind(ArtifactKind):
    """A kind from outside."""

    mimes = ("image/x-gif", "image/gif")
    file_type = FileType.TXT

    def matches(self, content):
        return content.startswith(b"GIF8")

    def describe(self, content):
        return Dimensions.of(len(content), float("nan"), -1)


class IncompleteKind(ArtifactKind):
    mimes = ("image/gif",)

    def matches(self, content):
        return True


GIF = {"image/gif": base64.b64encode(b"GIF89a").decode()}


@pytest.fixture
def points(monkeypatch):
    def install(**targets):
        found = {
            name: EntryPoint(name, target, registry.ENTRY_POINT_GROUP)
            for name, target in targets.items()
        }
        monkeypatch.setattr(registry, "_installed", lambda: found)

    monkeypatch.setattr(registry, "_registered", {})
    install()
    return install


def test_the_built_in_kinds_are_ordered(points):
    assert ["png", "jpeg", "svg", "pdf", "html"] == registry.available()
    assert [type(kind) for kind in KINDS.values()] == [type(kind) for kind in registry.kinds()]
    assert [kind.file_type.mime for kind in KINDS.values()] == [
        kind.mimes[0] for kind in registry.kinds()
    ]
    assert PngKind is registry.load(" PNG ")


def test_an_unknown_kind_is_named(points):
    with pytest.raises(ValidationError, match="known: png, jpeg") as caught:
        registry.load("gif")
    assert "name" == caught.value.parameter


def test_a_registered_kind_comes_after_the_built_in_ones(points):
    assert plot_from_display(GIF, {}) is None
    registry.register("GIF", GifKind)
    assert "gif" == registry.available()[-1]
    plot = plot_from_display(GIF, {})
    assert (FileType.TXT, 6, None, None) == (plot.format, plot.width, plot.height, plot.dpi)
    assert FileType.PNG is plot_from_display(GIF | bundle("png"), {}).format


def test_a_registered_kind_takes_the_place_of_a_built_in_one(points):
    registry.register("png", GifKind)
    assert ["png", "jpeg", "svg", "pdf", "html"] == registry.available()
    assert plot_from_display(bundle("png"), PLOT) is None


@pytest.mark.parametrize("kind", [str, GifKind(), IncompleteKind, ArtifactKind, None])
def test_only_complete_kinds_are_registered(points, kind):
    with pytest.raises(ValidationError):
        registry.register("gif", kind)


def test_an_installed_package_adds_a_kind(points, monkeypatch):
    module = type(sys)("artifact_plugin")
    module.GifKind = GifKind
    monkeypatch.setitem(sys.modules, "artifact_plugin", module)
    points(gif="artifact_plugin:GifKind", png="artifact_plugin:GifKind")
    assert GifKind is registry.load("gif")
    assert PngKind is registry.load("png")
    assert ["png", "jpeg", "svg", "pdf", "html", "gif"] == registry.available()
    assert 6 == plot_from_display(GIF, {}).width


@pytest.mark.parametrize("target", ["no_such_module_here:Kind", "json:no_such_name", "json:loads"])
def test_a_broken_package_costs_a_warning_and_no_plots(points, target):
    points(gif=target)
    with pytest.raises(ConfigurationError, match="'gif'"):
        registry.load("gif")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plot_from_display(bundle("png"), {}) is not None
    with pytest.warns(RuntimeWarning, match="'gif'"):
        assert plot_from_display(GIF, {}) is None


def test_installed_packages_are_read_once():
    registry._installed.cache_clear()
    assert registry._installed() is registry._installed()


def test_no_image_decoder_or_parser_is_imported():
    code = (
        "import sys, base64; from llm_sandbox.artifacts import plot_from_display\n"
        "print([name for name in sys.modules if name.startswith('llm_sandbox.artifacts.')])\n"
        "data = {'image/svg+xml': '<svg/>', 'text/html': '<p>'}\n"
        "assert plot_from_display(data, {}) is not None\n"
        "bad = {'PIL', 'matplotlib', 'xml', 'pyexpat', 'html.parser'} & set(sys.modules)\n"
        "assert not bad, bad\n"
        "assert 'llm_sandbox.artifacts.pdf' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
    assert ".raster" not in done.stdout
