"""Messages between a kernel and its interpreter survive any cut of the bytes, and nothing else
passes for one.
"""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_sandbox.guest.fields import FieldError, FieldReader, encode

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\n", exclude_categories=("Cs",)), min_size=1
).map(lambda name: name[:40])
VALUES = st.binary(max_size=300) | st.text(max_size=80)
MESSAGES = st.lists(
    st.tuples(
        NAMES, st.dictionaries(NAMES.filter(lambda name: name != "kind"), VALUES, max_size=5)
    ),
    max_size=6,
)


def in_bytes(value: str | bytes) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


@given(MESSAGES, st.data())
def test_any_cut_gives_the_messages(
    messages: list[tuple[str, dict[str, str | bytes]]], data: st.DataObject
) -> None:
    """Messages come out whole and in order, wherever the stream is cut."""
    stream = b"".join(encode(kind, fields.items()) for kind, fields in messages)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=12))
    edges = [0, *sorted(cuts), len(stream)]
    reader, found = FieldReader(), []
    for start, end in itertools.pairwise(edges):
        reader.feed(stream[start:end])
        found += list(reader)

    expected = [
        {"kind": kind.encode(), **{name: in_bytes(value) for name, value in fields.items()}}
        for kind, fields in messages
    ]
    assert expected == found


@given(st.binary(max_size=400))
def test_any_bytes_are_messages_or_an_error(data: bytes) -> None:
    """No bytes do worse than a `FieldError`, and every message has a kind."""
    reader = FieldReader()
    reader.feed(data)
    try:
        for message in reader:
            assert "kind" in message
    except FieldError:
        return


@given(MESSAGES.filter(bool), st.data())
def test_a_changed_byte_is_no_crash(
    messages: list[tuple[str, dict[str, str | bytes]]], data: st.DataObject
) -> None:
    stream = bytearray(b"".join(encode(kind, fields.items()) for kind, fields in messages))
    stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    reader = FieldReader()
    reader.feed(stream)
    try:
        assert len(list(reader)) <= 2 * len(stream)
    except FieldError:
        return


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (b"kind 3\nrunX\n", "not as long"),
        (b"kind three\n", "no head"),
        (b"kind -1\n", "no head"),
        (b" 3\n", "no head"),
        (b"kind\n", "no head"),
        (b"\n", "no kind"),
        (b"code 1\nx\n\n", "no kind"),
        (b"x" * 200, "no end"),
        (b"kind 9999999999999\n", "too large"),
    ],
)
def test_what_is_no_message_is_refused(stream: bytes, words: str) -> None:
    reader = FieldReader()
    reader.feed(stream)
    with pytest.raises(FieldError, match=words):
        list(reader)


def test_the_fields_of_a_message_count_together() -> None:
    """Many small fields are held to the same limit as a large one."""
    reader = FieldReader(largest=100)
    reader.feed(b"".join(b"f%d 40\n%s\n" % (number, b"x" * 40) for number in range(3)))
    with pytest.raises(FieldError, match="too large"):
        list(reader)


def test_the_limit_is_of_one_message() -> None:
    reader = FieldReader(largest=100)
    for _ in range(5):
        reader.feed(encode("run", [("code", b"x" * 80)]))
        assert [{"kind": b"run", "code": b"x" * 80}] == list(reader)


def test_a_large_message_in_small_pieces() -> None:
    """Megabytes that arrive in pieces are not searched again for each."""
    stream = encode("display", [("data:image/png", bytes(range(256)) * 40_000)])
    reader = FieldReader()
    found = []
    for start in range(0, len(stream), 4096):
        reader.feed(stream[start : start + 4096])
        found += list(reader)
    assert [len(message["data:image/png"]) for message in found] == [10_240_000]
