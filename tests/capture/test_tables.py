"""Tables that are displayed leave with a record, and what plays with its recording."""

from __future__ import annotations

import base64
import gc
import io
import json
import time
import wave
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from llm_sandbox.language_handlers.python.shim.handles import Handles
from llm_sandbox.language_handlers.python.shim.tables import record_of

MIME = "application/vnd.llm-sandbox.table+json"
FRAME = "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2], 'b': ['x', None]})\n"


def tables(answer: dict[str, Any]) -> list[dict[str, Any]]:
    assert [None] * len(answer["errors"]) == answer["errors"], answer["stderr"]
    return [r["data"][MIME] for r in answer["records"] if MIME in r["data"]]


def only(answer: dict[str, Any]) -> dict[str, Any]:
    (found,) = tables(answer)
    return found


@pytest.mark.slow
def test_a_frame_as_value_and_as_display(zygote: Any) -> None:
    answer = zygote.run(FRAME + "display(df)\ndf")
    first, second = tables(answer)
    assert first == second
    assert ["execute_result"] == [r["type"] for r in answer["records"] if r["type"][0] == "e"]
    assert {
        "version": 1,
        "library": "pandas",
        "name": None,
        "columns": [
            {"name": "a", "type": "integer", "dtype": "int64", "role": "value"},
            {"name": "b", "type": "string", "dtype": "str", "role": "value"},
        ],
        "shape": [2, 2],
        "head": [[1, "x"], [2, None]],
        "tail": [],
    } == {key: value for key, value in first.items() if key != "handle"}


def test_the_type_is_said_as_ever(zygote: Any) -> None:
    (record,) = zygote.run(FRAME + "df")["records"]
    assert {"type": "pandas.DataFrame"} == record["metadata"]["llm_sandbox"]
    assert {"text/plain", "text/html", MIME} == set(record["data"])


def test_a_series_has_a_record_beside_its_text(zygote: Any) -> None:
    found = only(zygote.run(FRAME + "df.set_index('b')['a']"))
    assert "a" == found["name"]
    assert ["index", "value"] == [column["role"] for column in found["columns"]]
    assert [["x", 1], [None, 2]] == found["head"]


def test_who_asks_for_certain_types_gets_those(zygote: Any) -> None:
    code = FRAME + "display(df, include=['text/html'])\n"
    code += f"display(df, exclude=['{MIME}'])\ndisplay(df, include=['{MIME}', 'text/html'])"
    assert 1 == len(tables(zygote.run(code)))


@pytest.mark.parametrize(
    "value", ["[1, 2]", "{'a': 1}", "df.columns", "len(df)", "df.groupby('a')"]
)
def test_what_is_no_table_has_no_record(zygote: Any, value: str) -> None:
    assert [] == tables(zygote.run(FRAME + value))


def test_nothing_is_imported_for_a_cell_without_tables(cold: Any) -> None:
    code = "import sys\n1\nprint([m for m in sys.modules if m.startswith('shim.tables')])"
    answer = cold.run(code)
    assert "[]\n" == answer["stdout"]
    assert [] == [name for name in ("pandas", "numpy") if name in answer["modules"]]


HOSTILE = """
import pandas as pd
class Frame(pd.DataFrame):
    @property
    def {name}(self): raise {error}
class Plain(pd.DataFrame):
    _repr_html_ = __repr__ = lambda self: 'drawn'
    shape = property(lambda self: (_ for _ in ()).throw({error}))
frame = Plain({{'a': [1]}})
frame
"""


@pytest.mark.parametrize("error", ["ValueError()", "SystemExit()", "RecursionError()"])
def test_a_subclass_that_raises_is_still_displayed(cold: Any, error: str) -> None:
    """Without a record, and without a word about it."""
    answer = cold.run(HOSTILE.format(name="shape", error=error))
    assert [] == tables(answer)
    assert ["drawn"] == [record["data"]["text/plain"] for record in answer["records"]]
    assert "" == answer["stderr"]


def test_a_cell_whose_text_raises_costs_that_cell_only(cold: Any) -> None:
    code = """
import pandas as pd
class Broken:
    def __str__(self): raise ValueError
class Quiet: pass
df = pd.DataFrame({'a': [Broken(), 1, Quiet()]}, index=[5, 6, 7])
from IPython import get_ipython
get_ipython().display_formatter.formatters['text/html'].enabled = False
pd.DataFrame.__repr__ = lambda self: 'drawn'
df
"""
    head = only(cold.run(code))["head"]
    assert [[5, "<__main__.Broken object>"], [6, 1], [7, "<__main__.Quiet object>"]] == head


def test_polars_and_arrow_tables_have_records(cold: Any) -> None:
    code = """
import polars as pl
df = pl.DataFrame({'a': [1, None], 'b': [[1, 2], []], 'c': ['x', 'y']})
display(df, df['c'], df.lazy(), df.to_arrow(), df.to_arrow()['a'], df.to_arrow().to_batches()[0])
"""
    found = tables(cold.run(code))
    assert ["polars", "polars", "pyarrow", "pyarrow", "pyarrow"] == [r["library"] for r in found]
    assert [[1, "[1, 2]", "x"], [None, "[]", "y"]] == found[0]["head"] == found[2]["head"]
    assert [[1], [None]] == found[3]["head"]
    assert "c" == found[1]["name"]


DTYPES = pd.DataFrame(
    {
        "number": [1.5, np.nan, np.inf],
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "category": pd.Categorical(["u", None, "u"]),
        "midnights": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
        "moments": pd.to_datetime(["2024-01-01 00:00", None, "2024-01-03 10:00"]),
        "zoned": pd.to_datetime(["2024-07-01", None, None]).tz_localize("Europe/Berlin"),
        "delta": pd.to_timedelta([1, None, 3], unit="h"),
        "period": pd.PeriodIndex(["2024-01", "NaT", "2024-02"], freq="M"),
        "interval": pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3]),
        "list": [[1], None, list(range(10**6))],
        "dict": [{"a": 1}, None, {}],
        "mixed": [1, "x", None],
        "binary": [b"\x00", None, b"x"],
        "long": ["x" * 10**6, None, ""],
        "arrow": pd.Series([[1], None, []], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        "bool": [True, False, True],
    }
)
EXPECTED = {
    "number": ("number", [1.5, None, "inf"]),
    "nullable": ("integer", [1, None, 3]),
    "category": ("category", ["u", None, "u"]),
    "midnights": ("datetime", ["2024-01-01", None, "2024-01-03"]),
    "moments": ("datetime", ["2024-01-01T00:00:00", None, "2024-01-03T10:00:00"]),
    "zoned": ("datetime", ["2024-07-01T00:00:00+02:00", None, None]),
    "delta": ("duration", ["0 days 01:00:00", None, "0 days 03:00:00"]),
    "period": ("other", ["2024-01", None, "2024-02"]),
    "interval": ("other", ["(0, 1]", "(1, 2]", "(2, 3]"]),
    "list": ("list", ["[1]", None, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …]"]),
    "dict": ("struct", ["{'a': 1}", None, "{}"]),
    "mixed": ("other", [1, "x", None]),
    "binary": ("binary", [r"b'\x00'", None, "b'x'"]),
    "long": ("string", ["x" * 499 + "…", None, ""]),
    "arrow": ("list", ["[1]", None, "[]"]),
    "bool": ("boolean", [True, False, True]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_kind_of_column_is_told_apart(name: str) -> None:
    found = record_of(DTYPES[[name]], Handles())
    assert found is not None
    kind, cells = EXPECTED[name]
    assert kind == found["columns"][0]["type"]
    assert [[cell] for cell in cells] == json.loads(json.dumps(found["head"], allow_nan=False))


def test_levels_of_rows_and_columns_have_names() -> None:
    frame = pd.DataFrame(
        [[1, 2]],
        index=pd.MultiIndex.from_tuples([("x", 1)], names=["outer", None]),
        columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]),
    )
    found = record_of(frame, Handles())
    assert found is not None
    assert ["outer", "level_1", "a / b", "a / c"] == [c["name"] for c in found["columns"]]
    assert [1, 2] == found["shape"]
    assert [["x", 1, 1, 2]] == found["head"]


def test_wide_and_long_tables_are_cut() -> None:
    frame = pd.DataFrame(np.zeros((101, 60)), index=pd.Index(range(101), name="i"))
    found = record_of(frame, Handles())
    assert found is not None
    assert [50, 50, 50] == [len(found[key]) for key in ("columns", "head", "tail")]
    assert [101, 60] == found["shape"]
    assert [49, 51, 100] == [found["head"][-1][0], found["tail"][0][0], found["tail"][-1][0]]


@pytest.mark.slow
def test_ten_million_rows_are_not_converted(capsys: pytest.CaptureFixture[str]) -> None:
    """Their record is that of its ends; the cost against ten rows is printed."""
    texts = np.array(["text"])
    for make in (
        lambda n: pd.DataFrame({"a": np.arange(n), "b": np.broadcast_to(texts, n).astype(object)}),
        lambda n: pl.DataFrame({"a": np.arange(n)}),
        lambda n: pa.table({"a": np.arange(n)}),
    ):
        taken = []
        for rows in (10, 10_000_000):
            table = make(rows)
            handles = Handles()
            record_of(table, handles)
            started = time.perf_counter()
            found = record_of(table, handles)
            taken.append(time.perf_counter() - started)
            assert found is not None
            assert rows == found["shape"][0]
            assert rows - 1 == (found["tail"] or found["head"])[-1][0]
        with capsys.disabled():
            print(f" {type(table).__module__}: {taken[1] / taken[0]:.1f} times", end="")


def test_a_handle_is_the_objects_and_goes_with_it() -> None:
    handles = Handles()
    frame = pd.DataFrame({"a": [1]})
    handle = handles.name(frame)
    assert handle == handles.name(frame)
    assert frame is handles.find(handle)
    others = [pd.DataFrame({"a": [n]}) for n in range(64)]
    assert 64 == len({handles.name(other) for other in others})
    assert handles.find(handle) is None
    last = handles.name(others[-1])
    del others
    gc.collect()
    assert handles.find(last) is None
    assert handle != Handles().name(frame), "a handle of an interpreter before means nothing"


def test_sound_leaves_as_a_recording(zygote: Any) -> None:
    code = "from IPython.display import Audio\nAudio([0.0, 0.5] * 100, rate=8000)"
    (record,) = zygote.run(code)["records"]
    with wave.open(io.BytesIO(base64.b64decode(record["data"]["audio/wav"]))) as sound:
        assert (8000, 200) == (sound.getframerate(), sound.getnframes())
    assert "text/html" in record["data"]
    assert record["metadata"]["llm_sandbox"]["type"].endswith(".Audio")


def test_a_video_leaves_as_a_recording(zygote: Any) -> None:
    code = """
from pathlib import Path
from IPython.display import Audio, Video
Path('a.webm').write_bytes(b'webm')
display(Video('a.webm', embed=True), Video(b'mp4', embed=True), Video('a.webm'))
display(Audio(url='http://a/b.wav'), Video(url='http://a/b.mp4'))
"""
    answer = zygote.run(code)
    found = [
        {m: base64.b64decode(v) for m, v in r["data"].items() if m[:5] in ("audio", "video")}
        for r in answer["records"]
    ]
    assert [{"video/webm": b"webm"}, {"video/mp4": b"mp4"}, {}, {}, {}] == found


def test_a_long_recording_leaves_once(zygote: Any) -> None:
    """Its HTML would hold the same bytes again."""
    code = "from IPython.display import Video\ndisplay(Video(bytes(7_000_000), embed=True))"
    code += "\ndisplay(Video(bytes(33 * 2**20), embed=True))"
    first, second = zygote.run(code)["records"]
    assert {"text/plain", "video/mp4"} == set(first["data"])
    assert {"text/plain", "text/html"} == set(second["data"])
