"""Charts as CSV and Markdown keep all values, and hostile text stays text."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.cells import markdown_text
from llm_sandbox.results.charts import Chart
from tests.charts.samples import BOX, MONTHS, SAMPLES, axis, chart, series


def read(record: dict[str, Any]) -> Chart:
    found = Chart.from_record(record)
    assert found is not None
    return found


def table(record: dict[str, Any], **options: bool) -> list[dict[str, str]]:
    text = read(record).to_csv(**options)
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def cells(markdown: str) -> list[list[str]]:
    """Rows of all tables, split where Markdown splits them."""
    lines = [line for line in markdown.split("\n") if line.startswith("|")]
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]] for line in lines
    ]


def test_csv_has_a_row_a_point() -> None:
    assert (
        "series,x,y\n2023,3,Jan\n2023,1,Feb\n2023,2,Mar\n2024,4,Jan\n2024,2,Feb\n2024,1,Mar\n"
        == read(SAMPLES["bar-horizontal"]).to_csv()
    )


def test_csv_of_several_panels_and_kinds_names_them() -> None:
    found = table(SAMPLES["multi"])
    assert ["1"] * 7 + ["2"] * 3 + ["3"] * 2 + ["4"] * 6 == [row["chart"] for row in found]
    assert {"line", "rule", "bar", "violin"} == {row["kind"] for row in found}
    assert "kind" not in table(SAMPLES["bar"])[0]


def test_csv_keeps_numbers_exactly() -> None:
    values = [0.1 + 0.2, 1e-300, -0.0, 2**70, 1e22, None, True]
    found = table(chart("line", series("line", x=list(range(7)), y=values)))
    assert [json.dumps(v) if v is not None else "" for v in values] == [row["y"] for row in found]


def test_csv_of_a_grid_has_a_row_a_cell() -> None:
    found = table(SAMPLES["heatmap"])
    assert ("2.0", "20.0", "5") == (found[4]["x"], found[4]["y"], found[4]["z"])
    assert 6 == len(found)


def test_csv_of_lists_is_json_in_a_cell() -> None:
    found = table(SAMPLES["box"])
    assert BOX["outliers"] == [json.loads(row["outliers"]) for row in found]


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@given(texts=st.lists(TEXT, min_size=1, max_size=4))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_csv_reads_back_as_written(texts: list[str]) -> None:
    """No text breaks a cell: quotes, commas, line ends and spaces included."""
    record = chart("bar", series("bar", "s", x=texts, y=[1] * len(texts)))
    assert texts == [row["x"] for row in table(record, safe=False)]


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "@SUM(A1)", "\t=1", "=cmd|' /C calc'!A0", "-2+3+cmd|'x'!A0", "＝1", "\n=1"],  # noqa: RUF001
)
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    record = chart("bar", series("bar", text, x=[text], y=[-1]))
    row = table(record)[0]
    assert (f"'{text}", f"'{text}", "-1") == (row["series"], row["x"], row["y"])
    assert text == table(record, safe=False)[0]["x"]


@pytest.mark.parametrize("text", ["-5", "-10 - 0", "2024-01-31", "a=b", "-1,000.5"])
def test_text_that_is_harmless_is_left_alone(text: str) -> None:
    assert text == table(chart("bar", series("bar", x=[text], y=[1])))[0]["x"]


def test_column_names_from_inside_are_text_as_well() -> None:
    record = chart("other", series("other", columns={"=1+1": [1], "a,b": [2]}))
    assert {"series": "", "'=1+1": "1", "a,b": "2"} == table(record)[0]


def test_markdown_puts_series_side_by_side() -> None:
    text = read(SAMPLES["bar-stacked"]).to_markdown()
    assert text.startswith("**A bar** (bar, vertical, stacked)\n- x: Month, category scale\n")
    assert [["x", "2023", "2024"], ["---", "---:", "---:"], ["Jan", "3", "4"]] == cells(text)[:3]


def test_markdown_keeps_the_base_of_bars_that_float() -> None:
    record = chart("bar", series("bar", x=MONTHS, y=[1, 2, 3], base=[10, 11, 12]))
    assert ["x", "y", "base"] == cells(read(record).to_markdown())[0]


def test_markdown_shows_axes_lines_and_notes() -> None:
    record = SAMPLES["line"] | {"x": axis("Time (s)", "log", limits=[1, 100.5])}
    text = read(record).to_markdown()
    assert "- x: Time (s), log scale, 1 to 100.5\n" in text
    assert "- line at y = 2 (limit)\n" in text
    assert "- note: peak\n" in text


def test_markdown_counts_exactly_what_it_leaves_out() -> None:
    record = chart("line", series("line", "s", x=list(range(2_000)), y=list(range(2_000))))
    rows = cells(read(record).to_markdown(5))
    assert ["0", "1", "2", "… 1,995 rows left out …", "1998", "1999"] == [
        row[0] for row in rows[2:]
    ]
    assert 20 + 3 == len(cells(read(record).to_markdown()))


def test_markdown_of_everything_has_no_gap() -> None:
    record = chart("line", series("line", "s", x=list(range(20)), y=list(range(20))))
    assert "left out" not in read(record).to_markdown(20)


def test_markdown_of_very_much_stays_short_and_says_so() -> None:
    many = [series("line", f"s{n}", x=list(range(n + 1)), y=[1] * (n + 1)) for n in range(200)]
    text = read(chart("line", *many)).to_markdown(4)
    assert "188 more series left out" in text
    wide = [series("line", f"s{n}", x=[1, 2], y=[1, 2]) for n in range(200)]
    assert "189 more series left out" in read(chart("line", *wide)).to_markdown()
    panels = read(chart("multi", charts=[SAMPLES["bar"]] * 50)).to_markdown()
    assert "38 more charts left out" in panels
    row = list(range(200))
    grid = read(chart("heatmap", series("heatmap", x=row, y=[0], z=[row]))).to_markdown()
    assert "188 more columns left out" in grid


def test_markdown_says_what_was_sampled() -> None:
    record = chart("line", series("line", x=[1], y=[1], total=1_000_000, sampling="min-max"))
    assert "- sampled: 1 of 1,000,000 points of 1 series\n" in read(record).to_markdown()


def test_markdown_needs_two_rows() -> None:
    with pytest.raises(ValidationError, match="two rows"):
        read(SAMPLES["line"]).to_markdown(1)


HOSTILE = [
    "a|b",
    "a\\|b",
    "a\nb",
    "a\r\n| b |",
    "\x1b[31mred",
    "<script>alert(1)</script>",
    "![x](http://example.com/?q=1)",
    "[x](http://example.com)",
    "`code",
    "**bold",
    "&#124;",
    "a\u2028b",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_does_not_leave_its_cell(text: str) -> None:
    record = chart("bar", series("bar", text, x=[text, "b"], y=[1, 2]), title=text)
    shown = read(record).to_markdown()
    assert [2, 2, 2, 2] == [len(row) for row in cells(shown)]
    assert len(shown.splitlines()) == len(
        read(chart("bar", *_plain(), title="t")).to_markdown().splitlines()
    )
    assert "<script" not in shown.replace("\\<", "")
    assert not re.search(r"(?<!\\)\]\(|(?<!\\)!\[", shown)


def _plain() -> list[dict[str, Any]]:
    return [series("bar", "s", x=["a", "b"], y=[1, 2])]


@given(text=st.text(max_size=40))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_escaped_text_is_one_cell_of_one_line(text: str) -> None:
    assert [["---", "---"], [markdown_text(text), "b"]] == cells(
        f"| --- | --- |\n| {markdown_text(text)} | b |"
    )
