"""Tables as data: records from inside, Markdown, CSV, HTML and JSON."""

import csv
import dataclasses
import io
import json
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.tables import Column, ColumnRole, ColumnType, Table
from llm_sandbox.results.tables.record import to_record

COLUMNS = [
    {"name": "day", "type": "date", "dtype": "object", "role": "index"},
    {"name": "n", "type": "integer", "dtype": "int64", "role": "value"},
    {"name": "share", "type": "number", "dtype": "float64", "role": "value"},
    {"name": "a|b\n<i>", "type": "string", "dtype": "str", "role": "value"},
]


def row(number):
    return [f"2024-01-{number:02}", number, number / 4, f"text {number}"]


def record(**changes):
    return {
        "version": 1,
        "library": "pandas",
        "name": None,
        "columns": COLUMNS,
        "shape": [10_000_000, 5],
        "head": [row(number) for number in range(50)],
        "tail": [row(number) for number in range(50, 100)],
        "handle": "table-1",
        **changes,
    }


def small(rows=3, **changes):
    rows = {"shape": [rows, 3], "head": [row(n) for n in range(rows)], "tail": []}
    return record(**{**rows, **changes})


LARGE = Table.from_record(record())
SMALL = Table.from_record(small())


def test_a_record_becomes_a_table():
    assert (10_000_000, 5) == LARGE.shape
    assert Column("day", ColumnType.DATE, "object", ColumnRole.INDEX) == LARGE.columns[0]
    assert ("2024-01-50", 50, 12.5, "text 50") == LARGE.tail[0]
    assert 9_999_900 == LARGE.omitted_rows
    assert 2 == LARGE.omitted_columns
    assert LARGE.is_truncated
    assert not SMALL.is_truncated


def test_a_table_is_frozen_and_survives_json_and_pickle():
    for table in (LARGE, SMALL, Table()):
        assert table == Table.from_dict(json.loads(json.dumps(table.to_dict(), allow_nan=False)))
        assert table == pickle.loads(pickle.dumps(table))
        assert hash(table) == hash(Table.from_dict(table.to_dict()))
    with pytest.raises(dataclasses.FrozenInstanceError):
        SMALL.name = "other"


@pytest.mark.parametrize("data", [None, [], "x", {}, {"version": 2}, {"version": 1}])
def test_data_that_is_no_table_is_refused(data):
    assert Table.from_record(data) is None
    with pytest.raises(ValidationError):
        Table.from_dict(data)


def test_one_line_says_what_it_is():
    line = "pandas table, 10,000,000 rows x 5 columns: day (date), n (integer), share (number), "
    assert line + "a|b <i> (string), 2 more" == LARGE.describe()
    assert "1 row x 1 column" in Table((Column("a"),), (1, 1)).describe()


def test_markdown_shows_both_ends_and_counts_the_rest():
    expected = """\
| day | n | share |
| --- | ---: | ---: |
| 2024-01-00 | 0 | 0 |
| 2024-01-01 | 1 | 0.25 |
| … 9,999,997 rows left out … |  |  |
| 2024-01-99 | 99 | 24.75 |

3 more columns left out: a\\|b \\<i>, …
"""
    found = LARGE.to_markdown(max_rows=3, max_columns=3)
    assert expected.replace(", …\n", "\n") == found


@pytest.mark.parametrize("rows", [0, 1, 2, 9, 10, 11, 99, 100])
@pytest.mark.parametrize("most", [2, 3, 10, 50, 1000])
def test_markdown_counts_exactly(rows, most):
    """The rows that are shown and those that are counted are all rows, in order."""
    text = Table.from_record(small(rows)).to_markdown(max_rows=most)
    shown = re.findall(r"^\| 2024-01-(\d\d) \|", text, re.M)
    left = re.search(r"… ([\d,]+) rows? left out …", text)
    assert min(rows, most) == len(shown)
    assert rows == len(shown) + (int(left[1]) if left else 0)
    assert sorted(shown) == shown


def test_markdown_of_a_long_table_shows_no_more_than_there_is():
    text = LARGE.to_markdown(max_rows=1000)
    assert "… 9,999,900 rows left out …" in text
    assert 100 + 3 == len(re.findall(r"^\|", text, re.M))


def test_markdown_of_nothing():
    assert "(0 rows x 0 columns)\n" == Table().to_markdown()
    assert Table.from_record(small(0)).to_markdown().startswith("(0 rows x 3 columns)\n\n| day |")
    assert "(7 rows x 0 columns)\n" == Table((), (7, 0)).to_markdown()


def test_markdown_keeps_every_cell_in_its_place():
    """Bars, newlines, control sequences and markup in a cell show as text on its line."""
    hostile = "a|b\nc\r\x1b[31mred`x`<img src=x>![i](j)\\"
    text = Table.from_record(small(1, head=[[hostile, 1, True, hostile * 50]])).to_markdown()
    line = text.splitlines()[2]
    assert 5 == len(re.findall(r"(?<!\\)\|", line))
    assert "\x1b" not in text
    assert "\\<img" in line
    assert len(line) < 300


@pytest.mark.parametrize(("rows", "columns"), [(1, 5), (0, 5), (2, 0)])
def test_markdown_of_too_little_is_refused(rows, columns):
    with pytest.raises(ValidationError):
        SMALL.to_markdown(rows, columns)


def test_csv_holds_the_rows_that_are_here():
    found = list(csv.reader(io.StringIO(LARGE.to_csv(safe=False))))
    assert ["day", "n", "share", "a|b\n<i>"] == found[0]
    assert ["2024-01-99", "99", "24.75", "text 99"] == found[-1]
    assert 101 == len(found)


@pytest.mark.parametrize(
    ("cell", "safe"),
    [("=1+1", "'=1+1"), ("-cmd", "'-cmd"), ("-1.5", "-1.5"), ("@x", "'@x"), (True, "true")],
)
def test_csv_defuses_formulas(cell, safe):
    table = Table.from_record(small(1, head=[[cell, None, 1.5, "x"]]))
    assert [safe, "", "1.5", "x"] == list(csv.reader(io.StringIO(table.to_csv())))[1]


def test_html_is_escaped():
    hostile = "<script>alert(1)</script>"
    columns = [{**COLUMNS[0], "name": hostile}]
    table = Table.from_record(record(columns=columns, head=[[hostile]], library=hostile))
    bundle = table._repr_mimebundle_()
    assert "<script" not in bundle["text/html"]
    assert "&lt;script&gt;" in bundle["text/html"]
    assert {"text/plain", "text/html"} == set(bundle)
    assert 20 == LARGE._repr_mimebundle_()["text/html"].count("<tr>") - 2


HOSTILE = [
    ("columns", [None, 3, {}, {"name": 4}, {"name": "x" * 10_000, "type": "evil", "role": []}]),
    ("columns", [COLUMNS[1]] * 10_000),
    ("columns", []),
    ("shape", None),
    ("shape", [-1, 2]),
    ("shape", [True, "x"]),
    ("shape", [2**70, 10**400]),
    ("shape", [1]),
    ("head", None),
    ("head", [None, 3, [], [1] * 9, {"a": 1}]),
    ("head", [[float("inf"), float("nan"), 10**1000, {"a": [1]}]]),
    ("head", [["x" * 10**6] * 4] * 1000),
    ("tail", 3),
    ("library", 3),
    ("name", ["x"]),
    ("handle", "h" * 10_000),
]


@pytest.mark.parametrize(
    ("key", "value"), HOSTILE, ids=[f"{key}-{number}" for number, (key, _) in enumerate(HOSTILE)]
)
def test_a_hostile_record_is_cut_to_its_bounds(key, value):
    check(Table.from_record(record(**{key: value})))


def check(table):
    assert len(table.columns) <= 50
    assert len(table.head) <= 100
    assert len(table.tail) <= 100
    assert all(len(cells) == len(table.columns) for cells in table.rows)
    assert table.shape[0] >= len(table.rows)
    assert table.omitted_columns >= 0
    assert len(json.dumps(to_record(table), allow_nan=False)) < 7_000_000
    assert len(table.describe()) < 1000
    assert table == Table.from_dict(table.to_dict())
    for text in (table.to_markdown(), table.to_csv(), table._repr_mimebundle_()["text/html"]):
        assert isinstance(text, str)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(record(), ANYTHING)))
def test_any_record_gives_a_table_or_none(changes):
    table = Table.from_record({**record(), **changes})
    if table is not None:
        check(table)
