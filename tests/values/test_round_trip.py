"""Round trip of transferable values: plain data, arrays, tables."""

from __future__ import annotations

import datetime as dt
import sys
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from polars.testing import assert_frame_equal as assert_polars_equal

from llm_sandbox.language_handlers.python.shim import values
from tests.values.same import same

ZONES = [None, dt.UTC, dt.timezone(dt.timedelta(minutes=-150)), zoneinfo.ZoneInfo("Europe/Berlin")]
TEXTS = st.text(st.characters(codec=None, categories=None)) | st.just("\ud83d\ude00")
MOMENTS = st.datetimes(timezones=st.sampled_from(ZONES), allow_imaginary=True)
HASHABLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers().map(lambda number: number << 3000)
    | st.floats()
    | st.complex_numbers()
    | TEXTS
    | st.binary()
    | MOMENTS
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.decimals().filter(lambda number: not number.is_snan())  # has no hash
    | st.fractions()
    | st.uuids()
    | st.builds(PurePosixPath, st.text("ab/.")),
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.frozensets(inner, max_size=4),
    max_leaves=8,
)
PLAIN = st.recursive(
    HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(HASHABLE, inner, max_size=5)
        | st.sets(HASHABLE, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
    ),
    max_leaves=20,
)
DTYPES = (
    arrays.boolean_dtypes()
    | arrays.integer_dtypes()
    | arrays.unsigned_integer_dtypes()
    | arrays.floating_dtypes(sizes=(16, 32, 64))
    | arrays.complex_number_dtypes(sizes=(64, 128))
    | arrays.datetime64_dtypes()
    | arrays.timedelta64_dtypes()
    | arrays.unicode_string_dtypes(max_len=5)
    | arrays.byte_string_dtypes(max_len=5)
)
RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def over(value: Any) -> Any:
    return values.decode(*values.encode(value))


@RELAXED
@given(PLAIN)
def test_plain_data_arrives_as_it_was(value: Any) -> None:
    assert same(value, over(value))


@RELAXED
@given(st.lists(st.floats(), min_size=16) | st.lists(st.integers(), min_size=16))
def test_long_lists_arrive_as_they_were(value: list[Any]) -> None:
    assert same(value, over(value))


@RELAXED
@given(st.lists(TEXTS | st.none(), min_size=16))
def test_long_lists_of_texts_arrive_as_they_were(value: list[str | None]) -> None:
    assert same(value, over(value))


@RELAXED
@given(arrays.arrays(DTYPES, arrays.array_shapes(min_dims=0, min_side=0)))
def test_arrays_arrive_as_they_were(value: Any) -> None:
    assert same(value, over(value))


@pytest.mark.slow
@RELAXED
@given(arrays.arrays(object, arrays.array_shapes(max_side=4), elements=PLAIN))
def test_arrays_of_plain_data_arrive_as_they_were(value: Any) -> None:
    assert same(value, over(value))


@RELAXED
@given(DTYPES.flatmap(arrays.from_dtype))
def test_scalars_arrive_as_they_were(value: Any) -> None:
    assert same(np.asarray(value), np.asarray(over(value)))


@pytest.mark.parametrize(
    "value",
    [
        Counter("hello"),
        OrderedDict(b=1, a=2),
        deque([1, 2], 5),
        bytearray(b"ab"),
        range(3, 10, 2),
        -(10**5000),
        np.str_(""),
        np.bytes_(b"a"),
        dt.datetime(2024, 10, 27, 2, 30, tzinfo=ZONES[3], fold=1),
        Decimal("-0E+7"),
        Fraction(-1, 3),
        "long " * 1000 + "\ud800",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_else_is_plain(value: Any) -> None:
    found = over(value)
    assert type(value) is type(found)
    assert value == found


def test_a_default_dict_keeps_its_default() -> None:
    found = over(defaultdict(list, {"a": [1]}))
    assert [] == found["b"]
    assert defaultdict is type(found)


def test_a_path_arrives_as_a_pure_one() -> None:
    assert type(over(Path("/etc/x"))) is PurePosixPath


def test_an_array_does_not_keep_the_blob_alive() -> None:
    """Arrays that arrive have memory of their own and can be written to."""
    array = over(np.arange(5))
    array[0] = 9
    assert array.base is None


FRAME = pd.DataFrame(
    {
        "int": [1, 2, 3],
        "small": pd.Series([1, 2, 3], dtype="uint8"),
        "float": [1.5, float("nan"), float("inf")],
        "text": ["x", None, "é\n|"],
        "string": pd.array(["a", None, "b"], dtype="string"),
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "bool": pd.array([True, None, False], dtype="boolean"),
        "single": pd.array([1.5, None, 2], dtype="Float32"),
        "category": pd.Categorical(["u", None, "u"], ["v", "u"], ordered=True),
        "date": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
        "nano": pd.to_datetime(["2024-01-01 00:00:00.123456789"] * 3).astype("datetime64[ns]"),
        "zoned": pd.to_datetime(["2024-07-01", None, None]).tz_localize("Europe/Berlin"),
        "delta": pd.to_timedelta([1, None, 3], unit="h"),
        "period": pd.PeriodIndex(["2024-01", "NaT", "2024-02"], freq="M"),
        "interval": pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3]),
        "object": [Decimal("1.10"), None, {"a": [1]}],
        "arrow": pd.Series([[1, 2], None, []], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        "missing": [pd.NA, pd.NaT, pd.Timestamp("2024-01-01", tz="UTC")],
        "dated": [dt.date(2024, 1, 1), None, dt.date(1, 1, 1)],
    }
)
FRAMES = [
    FRAME,
    FRAME.set_index(["category", "date"]),
    FRAME.set_index("zoned"),
    FRAME.iloc[1:],
    FRAME.iloc[:0],
    pd.DataFrame(np.zeros((2, 3)), columns=["a", "a", "b"]),
    pd.DataFrame({1: [1], ("x", "y"): [2]}),
    pd.DataFrame({"a": range(4)}, index=pd.date_range("2024", periods=4, freq="2D")),
    pd.DataFrame({"a": range(2)}, index=pd.period_range("2024", periods=2, freq="Q")),
    pd.DataFrame(
        [[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")], names=["x", "y"])
    ),
    pd.DataFrame(index=[1, 2]),
    pd.DataFrame(),
]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: f"{frame.shape}")
def test_pandas_frames_arrive_as_they_were(frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(frame, over(frame))


@pytest.mark.parametrize("name", FRAME)
def test_pandas_series_and_indexes_arrive_as_they_were(name: str) -> None:
    pd.testing.assert_series_equal(FRAME[name], over(FRAME[name]))
    if name not in ("object", "arrow"):
        index = pd.Index(FRAME[name])
        pd.testing.assert_index_equal(index, over(index))


POLARS = pl.DataFrame(
    {
        "int": pl.Series([1, None], dtype=pl.Int16),
        "float": [1.5, float("nan")],
        "bool": [True, None],
        "text": ["é", None],
        "bytes": [b"x", None],
        "list": [[1, None], []],
        "array": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int8, 2)),
        "struct": [{"a": 1, "b": ["x"]}, {"a": None, "b": None}],
        "date": [dt.date(2024, 1, 1), None],
        "time": [dt.time(1, 2, 3), None],
        "delta": [dt.timedelta(1, 2, 3), None],
        "decimal": [Decimal("1.1"), None],
        "null": [None, None],
        "category": pl.Series(["a", None], dtype=pl.Categorical),
        "enum": pl.Series(["a", None], dtype=pl.Enum(["b", "a"])),
        "zoned": pl.Series([dt.datetime(2024, 7, 1, tzinfo=ZONES[3]), None]),
        "nano": pl.Series([1, None], dtype=pl.Int64).cast(pl.Datetime("ns")),
    }
)


@pytest.mark.parametrize("frame", [POLARS, POLARS[:0], pl.DataFrame()], ids=["all", "no rows", "-"])
def test_polars_frames_arrive_as_they_were(frame: pl.DataFrame) -> None:
    found = over(frame)
    assert_polars_equal(frame, found)
    assert frame.schema == found.schema


def test_a_polars_series_arrives_as_it_was() -> None:
    found = over(POLARS["enum"])
    assert ("enum", ["a", None], POLARS["enum"].dtype) == (found.name, found.to_list(), found.dtype)


ARROW = pa.table(
    {
        "int": pa.array([1, None], pa.int16()),
        "float": pa.array([1.5, None]),
        "bool": [True, None],
        "text": ["é", None],
        "large": pa.array(["a", None], pa.large_string()),
        "bytes": [b"x", None],
        "dictionary": pa.array(["x", None]).dictionary_encode(),
        "decimal": pa.array([Decimal("1.10"), None], pa.decimal128(5, 2)),
        "date": [dt.date(2024, 1, 1), None],
        "date64": pa.array([86_400_000, None], pa.date64()),
        "nano": pa.array([1, None], pa.timestamp("ns", "UTC")),
        "time": pa.array([1, None], pa.time32("s")),
        "delta": pa.array([1, None], pa.duration("ms")),
        "list": [[1, None], None],
        "fixed": pa.array([[1, 2], None], pa.list_(pa.int8(), 2)),
        "struct": [{"a": 1, "b": ["x"]}, None],
        "null": pa.nulls(2),
    }
)


@pytest.mark.parametrize("table", [ARROW, ARROW.slice(1), ARROW.slice(0, 0)], ids=len)
def test_arrow_tables_arrive_as_they_were(table: pa.Table) -> None:
    assert table.equals(over(table))
    batch = table.combine_chunks().to_batches()
    assert all(piece.equals(over(piece)) for piece in batch)


def test_arrow_arrays_arrive_as_they_were() -> None:
    for value in (pa.chunked_array([[1], [None]]), pa.array(["a", None])):
        assert value.equals(over(value))


def test_nothing_is_imported_to_encode_plain_data() -> None:
    """No library is needed for what is of none."""
    code = (
        "import sys; from llm_sandbox.language_handlers.python.shim import values;"
        "values.decode(*values.encode([1, 'a', {2: b'b'}]));"
        "print(sorted({'numpy', 'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout
