"""Measures of PNG, JPEG, SVG, PDF and HTML files that are whole, truncated or hostile."""

import random

import pytest

from llm_sandbox.artifacts.base import Dimensions
from llm_sandbox.artifacts.formats.documents import PdfKind
from llm_sandbox.artifacts.formats.images import JpegKind, PngKind
from llm_sandbox.artifacts.formats.markup import SvgKind, is_table
from tests.artifacts.pictures import FILES, KINDS, saved

MIB = 1024**2


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("png", Dimensions(100, 50, 50)),
        ("jpeg", Dimensions(100, 50, 50)),
        ("svg", Dimensions(192, 96, None)),
        ("pdf", Dimensions(144, 72, pages=1)),
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
        assert isinstance(kind.check(content), str)
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
        assert size.pages in (None, whole.pages), end
        kind_check = KINDS[name].check(cut)
        # What is cut says so, but for blanks after the end, and for HTML, which has no end.
        assert kind_check or name == "html" or not content[end:].strip(), end
        if end < 2048:
            look(cut)


@pytest.mark.slow
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
    body = piece * (2 * MIB // len(piece))
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
