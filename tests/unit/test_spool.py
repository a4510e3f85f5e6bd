"""Spools, excerpts of them, and the ways to read them."""

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_sandbox.sandbox.spool import Spool
from llm_sandbox.sandbox.streams import OutputStream, make_excerpt

MIB = 1 << 20


def spool_of(*pieces: bytes, cap: int = 10 * MIB) -> Spool:
    spool = Spool(cap)
    for piece in pieces:
        spool.write(piece)
    spool.end()
    return spool


def read_all(spool: Spool, size: int) -> bytes:
    found = b""
    while piece := spool.read(len(found), size):
        found += piece
    return found


@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(0, 2000), st.integers(1, 700))
def test_a_spool_keeps_the_start_and_counts_all(pieces, cap, size):
    spool, whole = spool_of(*pieces, cap=cap), b"".join(pieces)

    assert read_all(spool, size) == whole[:cap]
    assert (spool.kept, spool.total) == (len(whole[:cap]), len(whole))


@pytest.mark.parametrize("size", [MIB - 1, MIB, MIB + 1, 3 * MIB])
def test_moving_to_a_file_changes_no_byte(size):
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    pieces = [data[start : start + 70_000] for start in range(0, size, 70_000)]

    assert read_all(spool_of(*pieces), 99_999) == data


def test_the_file_is_given_back_with_the_spool(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spool = spool_of(b"x" * (2 * MIB))
    descriptor = spool._file
    assert descriptor is not None
    assert list(tmp_path.iterdir()) == []

    del spool
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_a_full_disk_only_counts(monkeypatch):
    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("llm_sandbox.sandbox.spool.unnamed_file", full)
    spool = spool_of(b"x" * MIB, b"y" * MIB)

    assert (spool.kept, spool.total) == (MIB, 2 * MIB)
    assert read_all(spool, MIB) == b"x" * MIB


def test_readers_wait_for_bytes_and_for_the_end():
    spool = Spool(100)
    found = []
    reader = threading.Thread(target=lambda: found.append(read_all(spool, 10)))
    reader.start()
    spool.write(b"some")
    spool.write(b"thing")
    assert reader.is_alive()
    spool.end()
    reader.join(5)

    assert found == [b"something"]


def test_a_spool_ends_once():
    spool = Spool(1)
    spool.end(5.0)
    spool.end(7.0)

    assert spool.ended_at == 5.0
    assert spool.wait_end(0)


def test_waiting_for_the_end_may_be_too_short():
    assert not Spool(1).wait_end(0.01)


# --- text ----------------------------------------------------------------------------------------


@given(st.text(), st.integers(1, 7))
def test_pieces_of_text_make_the_text_wherever_bytes_are_cut(text, size):
    raw = text.encode("utf-8", "replace")
    spool = spool_of(*(raw[start : start + size] for start in range(0, len(raw), size)))
    stream = OutputStream(spool)

    assert "".join(stream) == stream.read() == raw.decode()


@given(st.binary(max_size=200), st.integers(1, 9))
def test_any_bytes_are_read_alike_in_pieces_and_whole(data, size):
    spool = Spool(1000)
    pieces = []
    reader = threading.Thread(target=lambda: pieces.extend(OutputStream(spool)))
    reader.start()
    for start in range(0, len(data), size):
        spool.write(data[start : start + size])
    spool.end()
    reader.join(5)

    assert "".join(pieces) == OutputStream(spool).read() == data.decode("utf-8", "backslashreplace")
    assert "" not in pieces


@given(st.lists(st.text("ab\r\x0b\u2028 ", max_size=5), max_size=8), st.booleans())
def test_lines_are_what_newlines_separate(lines, ends):
    text = "\n".join(lines) + ("\n" if ends else "")
    expected = text.split("\n")
    if expected[-1] == "":
        expected.pop()

    assert list(OutputStream(spool_of(text.encode())).lines()) == expected


# --- excerpts ------------------------------------------------------------------------------------


@given(st.text(max_size=50), st.integers(0, 60), st.sampled_from(["head", "tail", "both"]))
def test_an_excerpt_counts_what_it_leaves_out(text, most, keep):
    raw = text.encode("utf-8", "replace")
    text = raw.decode()
    excerpt = make_excerpt(spool_of(raw), most, keep)

    if len(text) <= most:
        assert (excerpt.text, excerpt.dropped_bytes, excerpt.truncated) == (text, 0, False)
        return
    shown = {
        "head": text[:most],
        "tail": text[len(text) - most :],
        "both": text[: most // 2] + text[len(text) - (most - most // 2) :],
    }[keep]
    assert excerpt.dropped_bytes == len(raw) - len(shown.encode())
    if keep == "both":
        mark = f"\n[... {excerpt.dropped_bytes} bytes left out ...]\n"
        assert excerpt.text.replace(mark, "", 1) == shown
    else:
        assert excerpt.text == shown


def test_an_excerpt_of_all_that_is_kept_still_counts_the_rest():
    excerpt = make_excerpt(spool_of(b"x" * 30, cap=10), None, "head")

    assert (excerpt.text, excerpt.dropped_bytes) == ("x" * 10, 20)


def test_the_tail_of_a_long_stream_is_its_end():
    spool = spool_of(*[b"line\n"] * 100_000, b"the end", cap=200_000)

    assert make_excerpt(spool, 12, "tail").text == "line\nthe end"
    both = make_excerpt(spool, 20, "both").text
    assert both.startswith("line\nline\n")
    assert both.endswith("e\nthe end")


def test_the_kept_end_does_not_start_within_a_character():
    spool = spool_of("€".encode() * 100_000, cap=65_536)
    text = make_excerpt(spool, None, "tail").text

    assert set(text) == {"€"}
