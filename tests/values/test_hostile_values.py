"""Headers that lie: refused by name, without much memory, and nothing in them is ever run."""

from __future__ import annotations

import ast
import contextlib
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_sandbox.exceptions import ProtocolError
from llm_sandbox.language_handlers.python.shim import values
from llm_sandbox.session import transfer

FOLDER = Path(values.__file__).parent


def number(**changes: Any) -> dict[str, Any]:
    return {"$": "np.array", "d": "<i8", "s": [1], "b": [0, 8], **changes}


def frame(**changes: Any) -> dict[str, Any]:
    names = {"$": "pd.Index", "n": [None], "f": None, "v": objects(["a"])}
    rows = {"$": "pd.RangeIndex", "n": [None], "v": [0, 1, 1]}
    return {"$": "pd.DataFrame", "c": names, "i": rows, "v": [number()], **changes}


def objects(items: list[Any]) -> dict[str, Any]:
    return {"$": "np.objects", "s": [len(items)], "v": items}


def nested(key: str, depth: int) -> Any:
    return {key: nested(key, depth - 1)} if depth else "int8"


LIES: dict[str, Any] = {
    "unknown kind": {"$": "pickle", "v": "x"},
    "no kind": {"v": 1},
    "kind that is no text": {"$": ["dict"]},
    "module as kind": {"$": "os.system", "v": ["true"]},
    "private name as kind": {"$": "pd.__init__", "v": []},
    "bytes beyond": {"$": "bytes", "b": [0, 9]},
    "bytes before": {"$": "bytes", "b": [-8, 8]},
    "bytes by float": {"$": "bytes", "b": [0.0, 8.0]},
    "bytes by boolean": {"$": "bytes", "b": [False, 1]},
    "bytes too many numbers": {"$": "bytes", "b": [0, 1, 2]},
    "the same bytes twice": [{"$": "bytes", "b": [0, 8]}, {"$": "bytes", "b": [0, 8]}],
    "huge shape": number(s=[2**40]),
    "overflowing shape": number(s=[2**32, 2**32]),
    "shape with a zero and a giant": number(s=[0, 2**61], b=[0, 0]),
    "negative shape": number(s=[-1]),
    "many dimensions": number(s=[1] * 5000),
    "object dtype": number(d="|O"),
    "object dtype by word": number(d="object"),
    "record dtype": number(d="i4,O"),
    "record dtype as list": number(d=[["a", "|O"]]),
    "void dtype": number(d="|V8"),
    "empty texts without end": number(d="<U0", s=[2**40], b=[0, 0]),
    "boolean of 255": number(d="|b1", s=[8]),
    "text of no character": number(d="<U2"),
    "scalar of another size": {"$": "np.scalar", "d": "<f8", "v": "00"},
    "objects that are fewer": {"$": "np.objects", "s": [2], "v": [1]},
    "keys without values": {"$": "dict", "k": [1, 2], "v": [1]},
    "a list as key": {"$": "dict", "k": [[1]], "v": [1]},
    "keys that are no list": {"$": "dict", "k": 1, "v": 1},
    "colliding keys": {"$": "dict", "k": [n * (2**61 - 1) for n in range(-4, 4)] * 60, "v": []},
    "defaults of any name": {"$": "defaultdict", "k": [], "v": [], "f": "eval"},
    "float of any text": {"$": "float", "v": "1_0"},
    "date of no calendar": {"$": "date", "v": "2024-02-31"},
    "zone by path": {"$": "zone", "v": "../../etc/passwd"},
    "zone by absolute path": {"$": "zone", "v": "/etc/localtime"},
    "zone that is a folder": {"$": "zone", "v": "Europe"},
    "fraction by nothing": {"$": "fraction", "v": ["0x1", "0x0"]},
    "fraction without end": {"$": "fraction", "v": ["0x" + "f" * 10**6, "0x3"]},
    "texts that are longer": {"$": "texts", "n": [0, 4], "b": [4, 4]},
    "texts of no encoding": {"$": "str", "b": [0, 8]},
    "numbers of half a word": {"$": "floats", "b": [0, 7]},
    "frame without names": frame(v=[number(), number(b=[0, 0], s=[0])]),
    "frame of another length": frame(i={"$": "pd.RangeIndex", "n": [None], "v": [0, 2**40, 1]}),
    "frame of a matrix": frame(v=[number(s=[1, 1])]),
    "frame of code": frame(v=[{"$": "pickle"}]),
    "series of a frame": {"$": "pd.Series", "n": None, "i": frame()["i"], "v": frame()},
    "category beyond": {
        "$": "pd.array",
        "v": {"$": "category", "v": number(), "c": frame()["c"], "o": False},
    },
    "period of any frequency": {
        "$": "pd.array",
        "v": {"$": "period", "v": number(), "f": "__import__('os')"},
    },
    "levels beyond": {"$": "pd.MultiIndex", "n": [None], "l": [frame()["c"]], "c": [number()]},
    "moment of no unit": {"$": "pd.Timestamp", "v": 1, "u": "Z", "z": None},
    "arrow type of any name": {"$": "pa.Array", "v": {"t": "field", "l": [1]}},
    "arrow type without end": {"$": "pa.Array", "v": {"t": nested("list", 50), "l": []}},
    "arrow index beyond": {
        "$": "pa.Array",
        "v": {
            "t": {"dictionary": "string", "index": "int64", "ordered": False},
            "d": [{"t": "int64", "v": number(), "m": None}, {"t": "string", "l": ["a"]}],
        },
    },
    "arrow time on no day": {
        "$": "pa.Array",
        "v": {"t": "time64[us]", "i": {"t": "int64", "v": number(), "m": None}},
    },
    "polars type of any name": {"$": "pl.Series", "n": "a", "t": "Config", "m": None, "l": []},
    "polars time on no day": {"$": "pl.Series", "n": "a", "t": "Time", "m": None, "a": number()},
    "polars mask of another length": {
        "$": "pl.Series", "n": "a", "t": "Int64", "a": number(), "m": number(s=[0], b=[0, 0]),
    },
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_refused(lie: str) -> None:
    """With a typed error that holds nothing of the lie, and less than a megabyte of memory."""
    assert pd
    assert pl
    assert pa
    blob = b"\x05" + bytes(7) if lie.endswith("beyond") else b"\xff" * 8
    header = json.dumps(LIES[lie]).encode()
    # What a library loads at its first use is not the lie's.
    with contextlib.suppress(values.TransferError):
        values.decode(header, blob)
    tracemalloc.start()
    try:
        with pytest.raises(values.TransferError):
            values.decode(header, blob)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000 + 20 * len(header)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{",
        b"\xff",
        b"NaN",
        b"1" * 5000,
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"$":"tuple","v":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"$":"tuple","v":' * 300 + b"[]" + b"}" * 300,
        b'{"$": "bytes", "$": "pickle", "b": [0, 1]}',
    ],
    ids=lambda header: str(header[:20]),
)
def test_a_header_that_is_no_header_is_refused(header: bytes) -> None:
    if header == b"NaN":
        header = b"[NaN, "
    with pytest.raises(ProtocolError):
        transfer.read([memoryview(header), memoryview(b"x")])


def test_a_header_over_its_limit_is_not_parsed() -> None:
    with pytest.raises(values.TooLargeError):
        values.decode(b" " * (32 * 2**20 + 1), b"")


def test_of_keys_that_are_given_twice_the_last_counts() -> None:
    assert b"x" == values.decode(b'{"$": "pickle", "$": "bytes", "b": [0, 1]}', b"x")


@pytest.mark.parametrize("buffers", [[], [memoryview(b"1")], [memoryview(b"1")] * 3])
def test_a_wrong_number_of_buffers_is_refused(buffers: list[memoryview]) -> None:
    with pytest.raises(ProtocolError):
        transfer.read(buffers)


OF_LIBRARIES = [
    *("np.array", "np.objects", "np.scalar", "pd.DataFrame", "pd.Series", "pd.Index", "pd.array"),
    *("pl.Series", "pl.DataFrame", "pa.Table", "pa.Array", "pa.ChunkedArray", "pd.MultiIndex"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["$", *"abcdefiklmnostuvwxz"]), inner, max_size=5)
        | st.fixed_dictionaries(
            {
                "$": st.sampled_from(
                    [*values.plain.DECODERS, *values.moments.DECODERS, *OF_LIBRARIES]
                ),
                "v": inner,
                "k": inner,
                "b": st.just([0, 8]) | inner,
                "n": inner,
                "s": st.just([1]) | inner,
                "d": st.just("<i8") | inner,
                "i": inner,
                "c": inner,
                "t": inner,
                "z": inner,
                "f": inner,
                "m": inner,
            }
        )
    ),
    max_leaves=25,
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(JSON, st.binary(max_size=16))
def test_any_header_gives_a_value_or_a_typed_error(header: Any, blob: bytes) -> None:
    with contextlib.suppress(values.TransferError):
        values.decode(json.dumps(header).encode(), blob)


def test_the_codec_names_nothing_that_runs_code() -> None:
    """No pickle, marshal, eval or exec, neither imported nor called, and no `allow_pickle`."""
    forbidden = {"pickle", "cPickle", "marshal", "shelve", "dill", "eval", "exec", "compile"}
    forbidden |= {"__import__", "allow_pickle", "loads_pickle", "read_pickle", "system", "popen"}
    for path in [*FOLDER.glob("*.py"), Path(transfer.__file__)]:
        for node in ast.walk(ast.parse(path.read_text())):
            names = {getattr(node, key, None) for key in ("id", "attr", "arg", "name", "module")}
            allowed = {"compile"} if path.parent == FOLDER else set()
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                names -= allowed if node.value.id == "re" else set()
            assert not names & forbidden, (path.name, node.lineno, names & forbidden)


def test_nothing_is_pickled_while_values_go_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every loader of code made to fail, frames, arrays and plain data still go over."""
    import marshal
    import pickle

    def trap(*_: Any, **__: Any) -> Any:
        raise AssertionError("code was loaded")

    for module in (pickle, marshal):
        for name in ("loads", "load", "dumps", "dump"):
            monkeypatch.setattr(module, name, trap)
    monkeypatch.setattr(pickle, "Unpickler", trap)
    sample = {
        "f": pd.DataFrame({"a": [1, None], "b": ["x", {"y": 1}]}),
        "p": pl.DataFrame({"a": [1]}),
    }
    found = values.decode(*values.encode([sample, pa.table({"a": [1]}), {1: (2, {3})}]))
    assert ["a", "b"] == list(found[0]["f"].columns)
