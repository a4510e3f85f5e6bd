"""Values that cannot be transferred, and their errors."""

from __future__ import annotations

import dataclasses
import enum
import io
import sys
from collections import defaultdict, namedtuple
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from PIL import Image

from llm_sandbox.exceptions import ValueNotTransferableError, ValueTooLargeError
from llm_sandbox.language_handlers.python.shim import values
from llm_sandbox.session import transfer


class Loud:
    """Calls of anything it has are noticed."""

    def __repr__(self) -> str:
        raise AssertionError("repr was called")

    def __reduce__(self) -> Any:
        raise AssertionError("it was pickled")

    __str__ = __repr__


class Colour(enum.Enum):
    RED = 1


class Text(str):
    __slots__ = ()


Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class Record:
    a: int = 1


@pytest.mark.parametrize(
    ("value", "path", "kind", "advice"),
    [
        ({"a": [1, 2, 3, Loud()]}, "value['a'][3]", "Loud", "the parts that are"),
        ([{1: (0, {"x": Loud()})}], "value[0][1][1]['x']", "Loud", "the parts"),
        ({Loud(): 1}, "value.keys()", "Loud", "the parts"),
        ({1: {Loud()}}, "value[1]{…}", "Loud", "the parts"),
        (np.array([1, Loud()], object), "value[1]", "Loud", "the parts"),
        (pd.DataFrame({"z": [1, Loud()]}), "value['z'][1]", "Loud", "the parts"),
        (Colour.RED, "value", "Colour", "value.value"),
        (Pair(1, 2), "value", "Pair", "value._asdict()"),
        (Record(), "value", "Record", "dataclasses.asdict(value)"),
        (Text("a"), "value", "Text", "str(value)"),
        (len, "value", "builtin_function_or_method", "run it there"),
        (Loud, "value", "type", "run it there"),
        ((n for n in ()), "value", "generator", "list(value)"),
        (io.BytesIO(), "value", "BytesIO", "the parts"),
        (Image.new("L", (1, 1)), "value", "Image", "result.artifacts"),
        (pl.LazyFrame(), "value", "LazyFrame", "value.collect()"),
        (np.zeros(1, "i4,f4"), "value", "ndarray", "plain columns"),
        (np.ma.array([1]), "value", "MaskedArray", "the parts"),
        (defaultdict(lambda: 1), "value", "defaultdict", "dict(value)"),
        (pd.Series(pd.arrays.SparseArray([0])), "value", "SparseArray", "astype()"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_error_names_the_type_the_place_and_what_to_do(
    value: Any, path: str, kind: str, advice: str
) -> None:
    with pytest.raises(ValueNotTransferableError) as caught:
        transfer.write(value)
    assert path == caught.value.path
    assert kind == (caught.value.type_name or "").rpartition(".")[2]
    assert advice in (caught.value.hint or "")
    assert str(caught.value).startswith(f"{path}, of type ")


def test_a_cycle_is_refused() -> None:
    ring: list[Any] = [1]
    ring.append({"a": ring})
    with pytest.raises(ValueNotTransferableError, match="contains itself") as caught:
        transfer.write(ring)
    assert "value[1]['a']" == caught.value.path


def test_a_part_that_is_shared_is_no_cycle() -> None:
    part = [1]
    assert [[1], [1]] == values.decode(*values.encode([part, part]))


def test_deep_nesting_is_refused_and_a_hundred_levels_are_not() -> None:
    deep: list[Any] = []
    for _ in range(99):
        deep = [deep]
    assert deep == values.decode(*values.encode(deep))
    with pytest.raises(ValueNotTransferableError, match="deeper than 100"):
        transfer.write([deep])


def test_shared_parts_that_multiply_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty lists of two make 2 ** 60 values, which are never all written."""
    monkeypatch.setattr(values.codec, "_MOST_NODES", 100_000)
    part: list[Any] = [1]
    for _ in range(60):
        part = [part, part]
    with pytest.raises(ValueTooLargeError):
        transfer.write(part)


@pytest.mark.parametrize(
    "value",
    [b"x" * 2000, "x" * 2000, np.zeros(250), ["x" * 100] * 20, [b"x" * 500] * 4, list(range(500))],
    ids=["bytes", "text", "array", "texts", "parts", "numbers"],
)
def test_a_limit_is_kept_to(value: Any) -> None:
    with pytest.raises(values.TooLargeError) as caught:
        values.encode(value, 1000)
    assert 1000 == caught.value.facts["limit"]
    assert sum(map(len, values.encode(value, 10_000))) <= 10_000


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = values.encode(pd.Series([1]))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(values.MissingLibraryError) as caught:
        values.decode(*encoded)
    assert "pandas" == caught.value.facts["library"]
