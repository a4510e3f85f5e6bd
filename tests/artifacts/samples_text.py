"""Samples of text: tables, structured data, markup, prose and source."""

import csv
import io
import json

import nbformat
import nbformat.v4

from llm_sandbox.artifacts.base import Dimensions
from tests.artifacts.samples import ZIP, Samples
from tests.artifacts.samples_pictures import PNG

__all__ = ["SAMPLES"]

MIB = 1024**2
CHARACTER = "é".encode()
WITHIN = "cut short: it ends within a character"
VALUE = "cut short: it ends within a value"
DEEP = 20 * MIB


def table(delimiter, rows=5):
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerow(["name", "size", "remark"])
    for row in range(rows):
        writer.writerow([f"n{row}", row * 1.5, f'with "quotes", a{delimiter}b\nand a line'])
    return buffer.getvalue().encode()


def plain_table(delimiter, rows):
    return delimiter.join(["a", "b"]).encode() + f"\n1{delimiter}2".encode() * rows


def lying(**options):
    """Under the names of text there are bytes that are none."""
    return {"lie": ZIP, "lie_kind": "zip", "lie_holds": "a ZIP archive"} | options


NOTEBOOK = nbformat.writes(
    nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("1 + 1"), nbformat.v4.new_markdown_cell("# Title")]
    )
).encode()
POINT = {"type": "Point", "coordinates": [1.5, 2.5]}
FEATURE = {"type": "Feature", "geometry": POINT, "properties": {"name": "a"}}
GEOJSON = json.dumps({"type": "FeatureCollection", "features": [FEATURE]}).encode()
JSON = json.dumps({"a": [1, 2.5, None, True], "b": {"c": "é"}}, indent=1).encode()
NDJSON = b"".join(json.dumps({"row": n, "text": "a\nb"}).encode() + b"\n" for n in range(5))
HTML = b"<!DOCTYPE html>\n<html><head><title>t</title></head><body><p>text</p></body></html>\n"
XML = b'<?xml version="1.0"?>\n<note id="1"><to>a</to></note>\n'
MARKDOWN = b"# Title\n\nSome *text*, with [a link](b).\n\n```python\n1 + 1\n```\n"
LATEX = b"\\documentclass{article}\n\\begin{document}\nA formula: $x^2$.\n\\end{document}\n"
PYTHON = b"import sys\n\n\ndef main():\n    print(sys.argv)\n"
JAVASCRIPT = b"const a = { b: 1 };\nconsole.log(a);\n"
YAML = b"a: 1\nb:\n  - 2\n  - c\n"
TOML = b'[section]\nkey = "value"\nlist = [1, 2]\n'
TEXT = "Some text, and more of it; in words — with é.\nAnother line.\n".encode()
CSV, TSV = table(","), table("\t")

SAMPLES = {
    "csv": Samples(
        "a.csv", CSV, Dimensions(rows=5, columns=3),
        CSV[: CSV.rindex(b"and a")],
        "cut short: a quoted cell does not end",
        plain_table(",", 8_000_000), Dimensions(rows=8_000_000, columns=2), "",
        **lying(),
        others={
            "b.csv": table(";"),
            "c.csv": table("|"),
            "d.csv": b"one\ncolumn\n1\n",
            "e.csv": "\ufeffname,größe\na,1\n".encode(),
            "f.csv": b"a,b\r\n1,2\r\n",
        },
    ),
    "tsv": Samples(
        "a.tsv", TSV, Dimensions(rows=5, columns=3),
        b"a\tb\tc\n1\t2\t3\n4\t5", "cut short: the last row is shorter than the others",
        plain_table("\t", 8_000_000), Dimensions(rows=8_000_000, columns=2), "",
        **lying(),
    ),
    "json": Samples(
        "a.json", JSON, Dimensions(), JSON[:-9], VALUE,
        b"[" * DEEP, Dimensions(), "cut short: its last bracket is missing",
        **lying(),
        others={
            "b.json": b"[]", "c.json": b" {}\n", "d.json": b"[1, 2]", "e.json": b'"text"',
            "f.json": b"null", "g.json": b"-1.5e3", "h.json": b"\xef\xbb\xbf[true]",
            "i.json": b'[{"a": 1}]', "j.json": b'["a"]',
        },
    ),
    "ndjson": Samples(
        "a.jsonl", NDJSON, Dimensions(rows=5),
        NDJSON[:-9], "cut short: the last line ends within a value",
        NDJSON * 200_000, Dimensions(rows=1_000_000), "",
        **lying(),
        others={"b.ndjson": b'{"a": 1}', "c.ndjson": b'{"a": 1}\r\n{"a": 2}\r\n'},
    ),
    "geojson": Samples(
        "a.geojson", GEOJSON, Dimensions(), GEOJSON[:-9], VALUE,
        GEOJSON[:-2] + b" " * 9 * MIB + b"]}", Dimensions(), "",
        **lying(),
        others={
            "b.geojson": json.dumps(FEATURE).encode(),
            "c.geojson": json.dumps(POINT).encode(),
            "d.json": json.dumps({"features": [FEATURE], "type": "FeatureCollection"}).encode(),
        },
    ),
    "ipynb": Samples(
        "a.ipynb", NOTEBOOK, Dimensions(), NOTEBOOK[:-9], VALUE,
        NOTEBOOK[:-2] + b" " * 9 * MIB + b"}", Dimensions(), "",
        **lying(),
        others={"b.ipynb": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}'},
    ),
    "html": Samples(
        "a.html", HTML, Dimensions(), HTML[:-9], "cut short: the html element does not end",
        HTML[:-15] + b"<p>" * 8_000_000 + HTML[-15:], Dimensions(), "",
        **lying(),
        others={"b.htm": b"<p>text", "c.html": b"Some <b>text</b>", "d.html": b"<!-- a --><div>"},
    ),
    "xml": Samples(
        "a.xml", XML, Dimensions(), XML[:-9], "cut short: the outermost element does not end",
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "' + b"c" * 9 * MIB + b'">]><a>&b;</a>',
        Dimensions(), "declares entities",
        **lying(),
        others={"b.xml": b"<note>text</note>", "c.kml": b"<?xml version='1.0'?><kml></kml>"},
    ),
    "markdown": Samples(
        "a.md", MARKDOWN, Dimensions(), MARKDOWN[:-9], "a block of code does not end",
        MARKDOWN * 200_000, Dimensions(), "",
        **lying(),
        others={"b.md": b"<div align=center>\n\n# Title", "c.md": b"[a](b)", "d.md": b"text"},
    ),
    "latex": Samples(
        "a.tex", LATEX, Dimensions(), LATEX[:-9], "cut short: the document does not end",
        LATEX[:-15] + b"{" * 8_000_000 + LATEX[-15:], Dimensions(), "",
        **lying(),
    ),
    "python": Samples(
        "a.py", PYTHON, Dimensions(), PYTHON + CHARACTER[:1], WITHIN,
        PYTHON + b"(" * 8_000_000, Dimensions(), "",
        **lying(),
        others={"b.py": b"[1, 2]\n", "c.py": b'{"a": 1}\n', "d.py": b"a, b\n1, 2\n"},
    ),
    "javascript": Samples(
        "a.js", JAVASCRIPT, Dimensions(), JAVASCRIPT + CHARACTER[:1], WITHIN,
        JAVASCRIPT + b"{" * 8_000_000, Dimensions(), "",
        **lying(),
    ),
    "yaml": Samples(
        "a.yaml", YAML, Dimensions(), YAML + CHARACTER[:1], WITHIN,
        b"a: &a [x]\n" + b"b: [*a, *a, *a]\n" * 500_000, Dimensions(), "",
        **lying(),
        others={"b.yml": b'{"a": 1}', "c.yaml": b"- a\n- b\n"},
    ),
    "toml": Samples(
        "a.toml", TOML, Dimensions(), TOML + CHARACTER[:1], WITHIN,
        b"a = " + b"[" * 8_000_000, Dimensions(), "",
        **lying(),
        others={"b.toml": b'["quoted"]\na = 1\n'},
    ),
    "text": Samples(
        "a.txt", TEXT, Dimensions(), TEXT + CHARACTER[:1], WITHIN,
        TEXT * 200_000, Dimensions(), "",
        **lying(lie=PNG, lie_kind="png", lie_holds="a PNG image"),
        others={
            "b.log": b"[INFO] started\n[INFO] done\n",
            "c": b"a, b and c.\nd, e and f.\n",
            "d.txt": "text".encode("utf-16"),
            "e.sql": b"select 1;\n",
            "f.txt": b"<alice> hello\n<bob> hi\n",
            "g.R": b"[1] 1 2 3\n",
            "h.sh": b"#!/bin/sh\necho\n",
        },
    ),
}  # fmt: skip
