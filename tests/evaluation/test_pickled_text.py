"""Texts in pickles, read without unpickling."""

from __future__ import annotations

import base64
import pickle
import pickletools
import zlib
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox.evaluation.datasets.pickled_text import read_pickled_text, unpack_text
from llm_sandbox.exceptions import ValidationError

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
TEXTS = [
    "",
    "[]",
    '[{"input": "1 2\\n", "output": "3"}]',
    "Grüße, 世界 \N{GRINNING FACE}\nline\u2028 two\r\n\x00 end \\u0041",
    "x" * 300,
    "é" * 70_000,  # over the size of a frame
]


def pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


class Hostile:
    """An object whose unpickling makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_string_of_every_protocol_is_read(text: str, protocol: int) -> None:
    data = pickle.dumps(text, protocol)
    assert text == read_pickled_text(data)
    assert text == unpack_text(pack(data))
    assert text == read_pickled_text(pickletools.optimize(data))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_hostile_pickle_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    data = pickle.dumps(Hostile(tmp_path / "made"), protocol)
    with pytest.raises(ValidationError, match="expected a pickle of one string, got the opcode"):
        unpack_text(pack(data))
    assert not (tmp_path / "made").exists()
    pickle.loads(data)  # the control: unpickling runs it
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "value",
    [None, True, 1, 1.5, b"bytes", [], ["a"], ("a", "b"), {"a": "b"}, set(), len, Path],
    ids=repr,
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_values_that_are_no_string_are_refused(value: object, protocol: int) -> None:
    with pytest.raises(ValidationError, match="expected a pickle of one string"):
        read_pickled_text(pickle.dumps(value, protocol))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"\x80\x04.",
        b"\x80\x04\x95",
        pickle.dumps("abc")[:-1],
        pickle.dumps("abc")[:-3],
        pickle.dumps("abc") + b".",
        pickle.dumps("abc") + pickle.dumps("def"),
        b"\x80\x04\x8c\x01a\x8c\x01b.",  # two strings
        b"\x80\x04\x94\x8c\x01a.",  # a memo before the string
        b"\x8c\x01a\x80\x04.",  # a header after the string
        b"\x80\x04\x8c\x01a0.",  # a string that is taken off again
        b"\x80\x04\x8c\x02\xff\xfe.",  # no UTF-8
        b"X\xff\xff\xff\x7fabc.",  # a length beyond the end
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffabc.",
        b"Vabc",  # no end of line
        b"S'abc'\n.",  # a byte string of Python 2
        b"cos\nsystem\n(S'true'\ntR.",
        b"\xff\xff\xff",
        bytes(range(256)),
    ],
    ids=range(20),
)
def test_damaged_and_crafted_pickles_are_refused(data: bytes) -> None:
    with pytest.raises(ValidationError, match="expected a pickle of one string"):
        read_pickled_text(data)


def test_a_bomb_is_refused_before_it_is_large() -> None:
    bomb = pack(pickle.dumps("0" * 20_000_000))
    assert len(bomb) < 40_000
    with pytest.raises(ValidationError, match="expected at most 1000000 bytes"):
        unpack_text(bomb, most_bytes=1_000_000)
    assert 20_000_000 == len(unpack_text(bomb))


def test_the_limit_is_inclusive() -> None:
    data = pickle.dumps("0" * 1000)
    assert "0" * 1000 == unpack_text(pack(data), most_bytes=len(data))
    with pytest.raises(ValidationError, match="got more"):
        unpack_text(pack(data), most_bytes=len(data) - 1)


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        ("§", "expected base64"),
        ("abc", "expected base64"),
        ("YWJj", "expected zlib data, got damage"),
        (base64.b64encode(zlib.compress(pickle.dumps("a" * 99))[:-4]).decode(), "cut off"),
        (base64.b64encode(zlib.compress(b"x") + b"rest").decode(), "bytes after its end"),
        ("", "cut off"),
    ],
)
def test_damaged_wrappings_are_refused(packed: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message) as caught:
        unpack_text(packed, name="private_test_cases")
    assert "private_test_cases" == caught.value.parameter
