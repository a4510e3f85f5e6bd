"""Nothing in a file makes the look at it raise, or take long."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_sandbox.artifacts import registry
from llm_sandbox.artifacts.identify import Examination, examine
from llm_sandbox.artifacts.registry import load
from tests.artifacts.test_samples import SAMPLES

MIB = 1024**2
SMALL = {name: sample.good for name, sample in SAMPLES.items() if len(sample.good) <= 64 * 1024}
NAMES = sorted({sample.name for sample in SAMPLES.values()} | {"", "\x00/..", "a.\ud800"})
MIMES = sorted({load(name).mimes[0] for name in SAMPLES} | {"", "image/", "\ud800/;"})
STARTS = sorted({sample.good[:64] for sample in SAMPLES.values()})
BOUND = 10.0
"""Seconds that no look may take, on a busy machine; what takes a square of its size takes hours."""


def look(content, name="", claimed=""):
    """Every kind is asked, whatever the content is: the registry promises that this is safe."""
    began = time.monotonic()
    seen = examine(content, name, claimed)
    assert isinstance(seen, Examination)
    assert seen.identity.kind in registry.BUILTIN
    assert len(seen.note) < 1000
    for size in (seen.dimensions.width, seen.dimensions.height, seen.dimensions.pages):
        assert size is None or 0 < size < 2**31
    assert time.monotonic() - began < BOUND
    return seen


def ask_all(content):
    for name in registry.BUILTIN:
        kind = load(name)()
        assert kind.matches(content) in (True, False)
        kind.describe(content)
        assert isinstance(kind.check(content), str)


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=4096),
    st.sampled_from(STARTS) | st.just(b""),
    st.sampled_from(NAMES),
    st.sampled_from(MIMES),
)
def test_no_bytes_raise(content, start, name, claimed):
    look(start + content, name, claimed)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=2000), st.sampled_from(NAMES), st.sampled_from(MIMES))
def test_no_text_raises(text, name, claimed):
    look(text.encode("utf-8", "surrogatepass"), name, claimed)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=600), st.sampled_from(STARTS) | st.just(b""))
def test_no_kind_raises_for_what_is_not_its_own(content, start):
    ask_all(start + content)


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(sorted(SMALL)),
    st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(0, 2**32), st.binary(min_size=1, max_size=8)), max_size=8),
    st.booleans(),
)
def test_a_good_file_that_is_cut_and_changed_raises_nothing(name, end, changes, is_cut):
    content = bytearray(SMALL[name])
    for place, new in changes:
        if content:
            # Half of the changes are to what stands first, which decides most.
            start = place // 2 % (min(len(content), 128) if place % 2 else len(content))
            content[start : start + len(new)] = new
    look(bytes(content[: end % (len(content) + 1)] if is_cut else content), SAMPLES[name].name)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_file_cut_anywhere_raises_nothing(name):
    content = SMALL[name]
    ends = range(len(content)) if len(content) < 1500 else random.Random(name).sample(
        range(len(content)), 800
    )  # fmt: skip
    for end in ends:
        look(content[:end], SAMPLES[name].name)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_file_that_repeats_itself_takes_bounded_time(name):
    """Steps are counted, and parts within parts are not read over and over."""
    content = SMALL[name][: 64 * 1024]
    if not content:
        return
    for piece in (content[:4], content[:8], content[8:24], content[:64], content):
        if piece:
            look(content + piece * (2 * MIB // len(piece)), SAMPLES[name].name)
            look(piece * (2 * MIB // len(piece)), SAMPLES[name].name)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    [
        b"PK\x03\x04" + bytes(26),
        b"PK\x01\x02" + bytes(42),
        b"PK\x05\x06",
        b"OggS\x00",
        b"\xff\xf8",
        b"\xff\xfb\x90\x00",
        b"\xff\xf1\x50\x80\x00\xff\xfc",
        b"\x00\x00\x00\x08moov",
        b"\x00\x00\x00\x08trak",
        b"\x00\x00\x00\x00ipco",
        b"\xae\x80",
        b"\xe0\x80",
        b"\x1aE\xdf\xa3\x80",
        b"RIFF\x00\x00\x00\x00AVIX",
        b"data\x00\x00\x00\x00",
        b",\x00\x00",
        b"!\xf9\x00",
        b"/Type /Pages ",
        b"/Type /Pages /Count 1 obj ",
        b"%%EOF",
        b"%%BoundingBox: 1 ",
        b"\xff\xda\x00\x02",
        b"\x19\xfc\xff\xff\x03",
        b'{"a":',
        b'"\\',
        b'"\n',
        b"a,",
        b"</svg>",
        b" onaaa =",
        b" href =",
        b"<!ENTITY",
        b"```\n",
        b"'shape': (",
        b"\x00\x00\x00",
        b"\x00" * 12 + b"IDAT",
    ],
)
def test_a_file_of_one_piece_takes_bounded_time_for_every_kind(piece):
    body = piece * (MIB // len(piece))
    ask_all(body)
    for start in STARTS:
        look(start + body)
