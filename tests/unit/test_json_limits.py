"""Limits of JSON that are judged before it is decoded."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_sandbox.guest import frames
from llm_sandbox.guest.json_limits import DEEPEST, find_excess

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def count(value: Any) -> int:
    """Values and keys."""
    if isinstance(value, dict):
        return 1 + sum(1 + count(item) for item in value.values())
    return 1 + sum(map(count, value)) if isinstance(value, list) else 1


def depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = isinstance(value, (dict, list))
    return own + max(map(depth, inner), default=0)


@pytest.mark.slow
@given(JSON)
def test_nothing_is_let_through_that_is_over_the_limit(value: Any) -> None:
    """The count is never below the true one, and at most twice it."""
    text = json.dumps(value).encode()
    true = count(value)
    if true > 1:
        assert find_excess(text, most_values=true - 1) is not None
    assert find_excess(text, most_values=2 * true + 1) is None


@pytest.mark.parametrize("text", ['"' + "[,:{" * 40_000 + '"', '"' + '\\"[' * 40_000 + '"'])
def test_what_stands_in_a_string_is_no_structure(text: str) -> None:
    assert find_excess(text.encode()) is None


@pytest.mark.parametrize(
    "deep", ['{"a":' * DEEPEST + "1" + "}" * DEEPEST, "[" * DEEPEST + "]" * DEEPEST]
)
def test_depth_is_counted(deep: str) -> None:
    assert depth(json.loads(deep)) == DEEPEST
    assert find_excess(deep.encode()) is None
    wide = f"[{deep},{deep}]"
    assert f"{DEEPEST + 1} levels" in str(find_excess(wide.encode()))
    flat = "[" + "[]," * 1000 + "[]]"
    assert find_excess(flat.encode()) is None


def message(kind: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"header": {"msg_type": kind}, "parent_header": {}, "metadata": {}, "content": content}


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("error", {"ename": "E", "evalue": "é" * 3_000_000, "traceback": ["x" * 600_000] * 3}),
        ("comm_msg", {"data": {"state": {"value": "x" * 2_000_000, "n": [1, 2]}}}),
        ("execute_reply", {"status": "ok", "payload": [{"text": "x" * 2_000_000}]}),
        ("display_data", {"data": {"text/plain": "x"}, "metadata": {"note": "x" * 2_000_000}}),
        ("comm_open", {"data": {"options": list(range(100_000))}}),
        ("comm_open", {"data": {"a" * 1_100_000: 1}}),
        ("history_reply", {"history": [[1, n, "x = 1"] for n in range(30_000)]}),
    ],
)
def test_light_frames_hold_the_same(kind: str, content: dict[str, Any]) -> None:
    """Whatever a message holds, its JSON keeps to the limits and nothing of it is lost."""
    reader = frames.FrameReader(limited=True)
    reader.feed(b"".join(frames.encode_light(3, message(kind, content), [b"own"])))
    (frame,) = reader
    own = frames.restore_bulk(frame.message, frame.buffers)
    restored = frame.message["content"]
    if isinstance(restored, bytes):
        restored = json.loads(restored)
    assert restored == content
    assert [bytes(piece) for piece in own] == [b"own"]


def test_texts_are_bounded_together() -> None:
    lifted = message("input_request", {"prompt": "x" * 3_000_000})
    reader = frames.FrameReader()
    reader.feed(b"".join(frames.encode_light(2, lifted)))
    (frame,) = reader
    with pytest.raises(frames.FrameError, match="3000000 bytes of text, over the limit of 1000"):
        frames.restore_bulk(frame.message, frame.buffers, 1000)
