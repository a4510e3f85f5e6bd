"""Findings about files that are whole, and dangerous or more than they seem."""

import io
import json
import pickle
import struct
import tarfile
import zipfile
import zlib

import numpy as np
import pytest

from llm_sandbox.artifacts.identify import examine
from tests.artifacts.samples import PAGE
from tests.artifacts.samples_archives import DOCX, GZIP, SEVEN, ZIPPED, ZSTD, zipped
from tests.artifacts.samples_media import AVI, FLAC, MP4, OGG, WAV, WEBM
from tests.artifacts.samples_pictures import (
    AVIF,
    BMP,
    GIF,
    ICO,
    JPEG,
    PDF,
    PNG,
    SVG,
    WEBP,
    patched,
)
from tests.artifacts.samples_stores import NPY


def note(content, name=""):
    return examine(content, name).note


@pytest.mark.parametrize(
    "content",
    [PNG, JPEG, GIF, WEBP, BMP, ICO, AVIF, PDF, WAV, AVI, MP4, WEBM, OGG, GZIP, ZSTD, SEVEN, NPY],
)
@pytest.mark.parametrize(
    ("more", "named"),
    [
        (ZIPPED, " (a ZIP archive)"),
        (PAGE, " (HTML)"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), " (a program)"),
        (b"\x01\x02\x03", ""),
    ],
)
def test_what_follows_the_end_is_named(content, more, named):
    """A file that is also another one is not taken for the first alone."""
    assert f"{len(more):,} bytes follow its end{named}" == note(content + more)


def test_one_byte_is_one_byte():
    assert "1 byte follows its end" == note(PNG + b"\x01")
    assert "1 byte follows its end" == note(ZIPPED + b"\n")


def test_an_archive_may_follow_another_file():
    """Readers of ZIP look at the end, and those of pictures at the beginning."""
    content = PNG + ZIPPED
    assert "png" == examine(content).identity.kind
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert ["a.txt", "folder/b.txt"] == file.namelist()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (patched(PNG, 29, b"\x00\x00\x00\x00"), "its header does not have its checksum"),
        (PNG[:30], "cut short: the header is not all there"),
        (PNG[:8], "cut short: the header is not all there"),
        (JPEG[:3], "cut short: there is no frame header; cut short: there is no end of the image"),
        (GIF[:9], "cut short: the header is not all there"),
        (b"%PDF-1.4", "cut short: there is no end of the file"),
    ],
)
def test_a_header_that_is_damaged_is_named(content, said):
    assert said == note(content)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<script>1</script>", "holds a script"),
        ("<a:script/>", "holds a script"),
        ("<g onclick='x()'/>", "holds a script"),
        ('<g\nONLOAD = "x()"/>', "holds a script"),
        ("<a href='javascript:x'/>", "holds a script; refers to other addresses"),
        ("<foreignObject/>", "holds HTML"),
        ("<image href='http://a/b.png'/>", "refers to other addresses"),
        ("<image xlink:href='/etc/passwd'/>", "refers to other addresses"),
        ("<style>@import 'a';</style>", "refers to other addresses"),
        ("<g fill='url(//a/b)'/>", "refers to other addresses"),
        ("<use href='#a'/><image href='data:image/png;base64,'/><g fill='url(#b)'/>", ""),
        ("<text>content of a description</text>", ""),
    ],
)
def test_what_acts_in_a_drawing_is_named(body, said):
    assert said == note(f"<svg>{body}</svg>".encode())


def test_entities_make_xml_of_a_drawing():
    """Billions of laughs are named, and shown to nobody as a picture."""
    content = b"<!DOCTYPE svg [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><svg><text>&b;</text></svg>"
    seen = examine(content, "a.svg", "image/svg+xml")
    assert "xml" == seen.identity.kind
    assert seen.note.endswith("holds XML; declares entities")


def test_what_follows_a_drawing_is_counted():
    assert "" == note(SVG + b"\n<!-- end -->\n")
    followed = b"<svg></svg><script>alert(1)</script>"
    assert "holds a script; 25 bytes follow its end" == note(followed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (b"/OpenAction << /S /JavaScript /JS (x) >>", "holds a script"),
        (b"/S /Launch", "starts programs"),
        (b"/Type /EmbeddedFile", "holds other files"),
        (b"/Encrypt 5 0 R", "is encrypted"),
        (b"/JSX /Launcher", ""),
    ],
)
def test_what_acts_in_a_document_is_named(words, said):
    assert said == note(PDF.replace(b"/Type /Catalog", b"/Type /Catalog " + words, 1))


def archive(name, mode=0, flags=0):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        info = zipfile.ZipInfo(name)
        info.create_system = 3
        info.external_attr = mode << 16
        file.writestr(info, "target")
    content = buffer.getvalue()
    place = content.index(b"PK\x01\x02") + 8
    return patched(content, place, struct.pack("<H", flags))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (archive("../a"), "names files outside of its folder"),
        (archive("a/../../b"), "names files outside of its folder"),
        (archive("/etc/passwd"), "names files outside of its folder"),
        (archive("..\\a"), "names files outside of its folder"),
        (archive("C:/a"), "names files outside of its folder"),
        (archive("a..b/c"), ""),
        (archive("a", 0o120777), "holds links"),
        (archive("a", 0o100644), ""),
        (archive("a", flags=1), "is encrypted"),
        (DOCX, ""),
        (zipped(["_rels/.rels", "word/document.xml", "word/vbaProject.bin"]), "holds macros"),
        (zipped(["_rels/.rels", "word/a.xml"]), "word/document.xml is not in it"),
    ],
)
def test_what_unpacking_an_archive_would_do_is_named(content, said):
    assert said == note(content)


@pytest.mark.parametrize(
    ("name", "form", "said"),
    [
        ("../a", tarfile.REGTYPE, "names files outside of its folder"),
        ("/a", tarfile.REGTYPE, "names files outside of its folder"),
        ("a", tarfile.SYMTYPE, "holds links"),
        ("a", tarfile.LNKTYPE, "holds links"),
        ("a", tarfile.CHRTYPE, "holds devices"),
        ("a", tarfile.DIRTYPE, ""),
    ],
)
def test_what_unpacking_a_tape_would_do_is_named(name, form, said):
    info = tarfile.TarInfo(name)
    info.type = form
    info.linkname = "/etc/passwd"
    assert said == note(info.tobuf() + bytes(1024))


def test_an_archive_that_overlaps_itself_is_no_size():
    """Forty-two gigabytes in forty kilobytes: the directory is summed up, and nothing unpacked."""
    entry = zipped(["a.txt"])
    start = entry.index(b"PK\x01\x02")
    end = entry.index(b"PK\x05\x06")
    central = patched(entry[start:end], 24, struct.pack("<I", 2**31)) * 20
    last = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 20, 20, len(central), start, 0)
    assert "would need 42.9 GB to unpack" == note(entry[:start] + central + last)


def test_objects_in_an_array_are_a_pickle():
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], object), allow_pickle=True)
    assert "holds a pickle, never opened" == note(buffer.getvalue())


def test_a_pickle_is_named_under_any_name():
    seen = examine(pickle.dumps([1, 2]), "a.csv", "text/csv")
    assert "pickle" == seen.identity.kind
    assert "named .csv, claims text/csv, holds a pickle; a pickle, never opened" == seen.note


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "it is not JSON: it is nested too deeply"),
        (b'{"a": NaN}', "it is not JSON: NaN is not a JSON value"),
        (b'{"a": 1} x', "it is not JSON: Extra data (line 1, column 10)"),
        (b"[1,]", "it is not JSON: Illegal trailing comma before end of array (line 1, column 3)"),
        (b"[" + b"9" * 10_000 + b"]", ""),
        (b'["an old encod\xefng"]', "its encoding is unknown"),
        (b"[" + b"{}," * 600_000 + b"{}]", ""),
        (b"[" + b"{}," * 600_000, "cut short: its last bracket is missing"),
    ],
)
def test_json_that_does_not_parse_says_why(content, said):
    found = note(content, "a.json")
    # Before 3.13 a trailing comma has no words of its own.
    older = said.replace("Illegal trailing comma before end of array", "Expecting value")
    assert found in (said, older.replace("column 3", "column 4"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cells": None}, "not a notebook: 'cells' is missing or of another type"),
        ({"nbformat": "4"}, "not a notebook: 'nbformat' is missing or of another type"),
        ({"metadata": []}, "not a notebook: 'metadata' is missing or of another type"),
        ({"cells": None, "worksheets": []}, ""),
    ],
)
def test_a_notebook_has_its_keys(change, said):
    whole = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    assert "" == note(json.dumps(whole).encode(), "a.ipynb")
    assert said == note(json.dumps(whole | change).encode(), "a.ipynb")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\x1b[31mred", "holds terminal control sequences"),
        (b"a" * 2**20 + b"\x00", "it holds zero bytes within MiB 2"),
        (b"a" * 2**20 + b"\xff" + b"a", "it stops being UTF-8 within MiB 2"),
        ("é".encode("latin-1") + b" is text in an old encoding\n", "its encoding is unknown"),
    ],
)
def test_text_that_is_not_only_text_is_noted(content, said):
    assert said == note(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,b\n1,2\n3\n4,5\n", "its rows have from 1 to 2 cells"),
        (b"a,b\n1,2\n3", "cut short: the last row is shorter than the others"),
        (b'a,b\n1,"2\n', "cut short: a quoted cell does not end"),
    ],
)
def test_a_table_with_uneven_rows_is_noted(content, said):
    assert said in note(content, "a.csv")


def test_sound_that_is_not_there_is_missed():
    assert "cut short: no sound follows the header" == note(FLAC[: FLAC.index(b"\xff\xf8")])


@pytest.mark.slow
def test_a_gzip_file_is_unpacked_within_bounds():
    """A thousandfold content is neither held nor waited for."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(2**20)
    content = b"".join(packer.compress(zeros) for _ in range(1024)) + packer.flush()
    assert "would need 1.0 GB to unpack" == note(content)
    assert "cut short: the packed data does not end" == note(GZIP[:-8])
    assert "the packed data is damaged" == note(patched(GZIP, 12, b"\xff" * 8))
