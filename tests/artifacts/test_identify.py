"""Type of a file: recognised by its bytes, in spite of its name, at a bounded cost."""

import subprocess
import sys

import pytest

from llm_sandbox.artifacts import registry
from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.identify import LOOK, examine, extension_of, identify
from llm_sandbox.artifacts.types import ArtifactType
from tests.artifacts.samples import PAGE, ZIP
from tests.artifacts.samples_archives import DOCX, GZIP, NPZ
from tests.artifacts.samples_pictures import PNG, SVG
from tests.artifacts.samples_text import GEOJSON, JSON, NOTEBOOK


class PictKind(ArtifactKind):
    """A kind from outside."""

    mimes = ("image/pict",)
    type = ArtifactType.IMAGE
    extensions = ("pict",)
    also = ("no kind of ours",)

    def matches(self, content):
        return content.startswith(b"pict")

    def describe(self, content):
        return Dimensions.of(1, 2)


class BrokenKind(PictKind):
    def matches(self, content):
        if content.startswith(b"pict"):
            return True
        raise ZeroDivisionError

    def check(self, content):
        raise ZeroDivisionError


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    return registry.register


@pytest.mark.parametrize(
    ("content", "name", "claimed", "note"),
    [
        (PAGE, "a.png", "", "named .png, holds HTML"),
        (ZIP, "", "image/png", "claims image/png, holds a ZIP archive"),
        (ZIP, "a.PNG", "image/png; x=1", "named .png, claims image/png, holds a ZIP archive"),
        (PNG, "a.exe", "", ""),
        (PNG, "a.jpg", "", "named .jpg, holds a PNG image"),
        (PNG, "a.txt", "text/plain", "named .txt, claims text/plain, holds a PNG image"),
        (PNG, "a.png.", "", ""),
        (PNG, ".jpg", "", ""),
        (PNG, "folder.jpg/a", "", ""),
        (PNG, "a", "application/octet-stream", ""),
        (PNG, "a", "image/x-unheard-of", "claims image/x-unheard-of, holds a PNG image"),
        (PNG, "a", "video/" + "x" * 1000, "claims another type, holds a PNG image"),
        (PNG, "a", "application/x-unheard-of", ""),
        (DOCX, "a.zip", "application/zip", ""),
        (NPZ, "a.npz", "application/zip", ""),
        (ZIP, "a.docx", "", "named .docx, holds a ZIP archive"),
        (SVG, "a.xml", "text/xml", ""),
        (SVG, "a.txt", "text/plain", ""),
        (SVG, "a.png", "", "named .png, holds an SVG drawing"),
        (NOTEBOOK, "a.json", "application/json", ""),
        (GEOJSON, "a.json", "", ""),
        (JSON, "a.csv", "", "named .csv, holds JSON"),
        (JSON, "a.geojson", "", "named .geojson, holds JSON"),
        (b"hello", "a.json", "", "named .json, holds plain text"),
        (b"hello", "a.html", "", "named .html, holds plain text"),
        (b"hello", "a.svg", "image/svg+xml",
         "named .svg, claims image/svg+xml, holds plain text"),
        (b"hello", "a.csv", "", ""),
        (b"a,b\n1,2\n", "a.txt", "", ""),
        (GZIP, "a.csv", "text/csv", "named .csv, claims text/csv, holds a gzip file"),
        (b"\x00\x01\x02", "a.csv", "", "named .csv, holds unknown bytes"),
        (b"", "a.png", "image/png", "empty"),
    ],
)  # fmt: skip
def test_a_name_or_a_claim_that_is_wrong_is_noted(content, name, claimed, note):
    assert note == identify(content, name, claimed).note


@pytest.mark.parametrize(
    ("content", "name", "claimed", "kind"),
    [
        (b"a,b\n1,2\n", "", "", "csv"),
        (b"a;b;c\nx;y;1,5\n", "", "", "csv"),
        (b"a\tb\nc\td\n", "", "", "tsv"),
        (b"a,b\n1,2\n", "a.txt", "", "text"),
        (b"a,b\n1,2\n", "a.md", "", "markdown"),
        (b"a,b\n1,2\n", "", "text/csv", "csv"),
        (b"One, two\nand, three words of a poem\n", "", "", "text"),
        (b"# Title", "", "text/markdown", "markdown"),
        (b"$x^2$", "", "text/latex", "latex"),
        (b"\\documentclass{article}", "", "", "latex"),
        (b"#!/usr/bin/env python3\n", "", "", "python"),
        (b"import os", "a.py", "text/plain", "python"),
        (b"<p>text", "", "text/html", "html"),
        (b"text <b>more</b>", "", "text/html", "html"),
        (b"<svg/>", "", "", "svg"),
        (b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>", "a.svg", "", "xml"),
        (b"<?xml version='1.0'?><html></html>", "a.xhtml", "", "html"),
        (b"<note>a</note>", "", "", "xml"),
        (b"<alice> hello", "", "", "text"),
        (b"{}", "", "", "json"),
        (b"{a: 1}", "", "", "text"),
        (b"[1, 2", "", "", "json"),
        (b"[1] a", "", "", "text"),
        (b"[section]\na = 1\n", "", "", "text"),
        (b'{"a": 1}\n{"a": 2}\n', "", "", "ndjson"),
        (b'{"a": "\\"}"}\n{', "", "", "ndjson"),
        (b'{"type": "Feature"}', "", "", "json"),
        (b'{"a": {"type": "Point", "coordinates": []}}', "", "", "json"),
        (b'{"cells": 1}', "", "", "json"),
        ("é".encode("latin-1") + b" is text in an old encoding\n", "", "", "text"),
        ("text".encode("utf-16"), "", "", "text"),
        (b"text\x00", "", "", "data"),
        (b"\xc3", "", "", "text"),
        (b"\x80\x81\x82\x83\x84", "", "", "data"),
        (b"BMW is a car, and no bitmap", "", "", "text"),
        (b"ID3", "", "", "text"),
        (b"RIFF\x00\x00\x00\x00other", "", "", "data"),
        (b"\xff\xfb\x90\x00 no frame follows" * 40, "", "", "data"),
    ],
)
def test_text_is_told_apart_by_content_first(content, name, claimed, kind):
    assert kind == identify(content, name, claimed).kind


@pytest.mark.parametrize(
    ("name", "extension"),
    [
        ("a.PNG", "png"),
        ("../b/a.tar.gz", "gz"),
        ("a.b/c", ""),
        (".profile", ""),
        ("a.", ""),
        ("", ""),
        ("x" * 10_000 + ".csv", "csv"),
        ("a." + "x" * 100, ""),
        ("a\nb.csv", "csv"),
    ],
)
def test_an_extension_is_what_follows_the_last_dot(name, extension):
    assert extension == extension_of(name)


def test_no_more_than_a_mebibyte_is_looked_at():
    """What follows changes nothing of what a file is."""
    text = b"a line of text\n" * (LOOK // 15 + 1)
    assert "text" == identify(text[:LOOK] + b"\x00").kind
    assert "data" == identify(text[: LOOK - 1] + b"\x00").kind


def test_an_added_kind_is_asked_about_what_no_other_claims(added):
    added("pict", PictKind)
    seen = examine(b"pict of a cat", "a.png")
    assert ("pict", "image/pict", ArtifactType.IMAGE) == (
        seen.identity.kind, seen.identity.mime, seen.identity.type,
    )  # fmt: skip
    assert Dimensions(1, 2) == seen.dimensions
    assert "named .png, holds image/pict" == seen.note
    assert "png" == identify(PNG).kind
    assert "text" == identify(b"a picture").kind


def test_an_added_kind_that_fails_costs_a_warning(added):
    """Nobody else's files are lost to it, and nothing is said of its own."""
    added("pict", BrokenKind)
    with pytest.warns(RuntimeWarning, match="'pict' failed: ZeroDivisionError"):
        assert "text" == identify(b"a picture").kind
    with pytest.warns(RuntimeWarning, match="'pict' failed"):
        seen = examine(b"pict")
    assert ("pict", Dimensions(1, 2), "") == (seen.identity.kind, seen.dimensions, seen.note)


def test_a_picture_loads_the_code_for_pictures_alone():
    """Neither other kinds nor any library's parser is imported for a PNG."""
    code = (
        "import sys; from llm_sandbox.artifacts.identify import examine\n"
        f"assert 'png' == examine({PNG[:200]!r}, 'a.png', 'image/png').identity.kind\n"
        "start = 'llm_sandbox.artifacts.formats.'\n"
        "print([name.removeprefix(start) for name in sys.modules if name.startswith(start)])\n"
        "bad = {'PIL', 'numpy', 'xml', 'zipfile', 'tarfile', 'sqlite3', 'pickle'}\n"
        "assert not bad & set(sys.modules), bad & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
    loaded = eval(done.stdout)
    kinds = {path.rpartition(":")[0].rpartition(".")[2] for path in registry.BUILTIN.values()}
    assert {"images"} == kinds & set(loaded)
