"""Parts of the interception without a network: bodies, what is taken out of streams, the answer."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from llm_sandbox.egress.bindings import Bindings
from llm_sandbox.egress.interception.bodies import ChunkedBody
from llm_sandbox.egress.interception.conversation import Conversation
from llm_sandbox.egress.interception.scrubber import Scrubber
from llm_sandbox.network.event import HINTS
from llm_sandbox.secrets.plan import Binding

if TYPE_CHECKING:
    from collections.abc import Callable

VALUE, PLACEHOLDER = "aabaab-value-1", "placeholder-22"
BINDING = Binding("TOKEN", ("api.test:443/",), (), PLACEHOLDER, VALUE)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The same in pieces."""
    ends = sorted({place % (len(data) + 1) for place in places} | {len(data)})
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(
    st.lists(st.sampled_from([VALUE, "a", "aab", "aabaab-", "x", VALUE[:-1]]), max_size=12),
    st.lists(st.integers(0, 500), max_size=10),
)
def test_a_value_is_taken_out_wherever_it_is_cut(words: list[str], places: list[int]) -> None:
    """The result is that of the whole, and nothing is kept back at the end."""
    data = "".join(words).encode()
    scrubber = Scrubber({VALUE.encode(): PLACEHOLDER.encode()})
    got = b"".join(map(scrubber.feed, cut(data, places))) + scrubber.flush()
    assert got == data.replace(VALUE.encode(), PLACEHOLDER.encode())


def test_what_is_no_part_of_a_value_is_not_held_back() -> None:
    """Events that a server sends one by one arrive one by one."""
    scrubber = Scrubber({VALUE.encode(): PLACEHOLDER.encode()})
    assert scrubber.feed(b"data: 1\n\n") == b"data: 1\n\n"
    assert scrubber.feed(b"data: aab") == b"data: "
    assert scrubber.feed(b"c\n") == b"aabc\n"


class Eager(Scrubber):
    """The control: only what a value does begin with waits."""

    def feed(self, data: bytes) -> bytes:
        kept = max((n for n in range(len(VALUE)) if data.endswith(VALUE[:n].encode())), default=0)
        return data[: len(data) - kept]


def guess(scrubber: Callable[[], Scrubber]) -> str:
    """What is found out of a value by whoever chooses what its host sends, sign by sign: which end
    of a piece is not passed on at once.
    """
    known = ""
    while len(known) < len(VALUE) - 1:
        passed = {}
        for sign in f"{string.ascii_lowercase}{string.digits}-":
            piece = f"data: {known}{sign}".encode()
            passed[sign] = len(scrubber().feed(piece)) - len(piece)
        least = min(passed.values())
        found = [sign for sign, size in passed.items() if size == least]
        if len(found) != 1:
            return known
        known += found[0]
    return known


def test_what_waits_says_nothing_of_the_value() -> None:
    """And the control finds all of it out but the last sign, which would be taken out."""
    words = {VALUE.encode(): PLACEHOLDER.encode()}
    assert guess(lambda: Eager(words)) == VALUE[:-1]
    assert guess(lambda: Scrubber(words)) == ""


@given(st.lists(st.binary(max_size=30), max_size=8))
def test_pieces_are_as_long_whatever_the_value_is(pieces: list[bytes]) -> None:
    """Two values of one look: nobody who sees lengths can tell which one it is."""
    others = [b"zzyxwv-nonsen-7", VALUE.encode() + b"1"]
    assert len(others[0]) == len(others[1])
    lengths = []
    for value in others:
        scrubber = Scrubber({value: b"*" * len(value)})
        lengths.append([len(scrubber.feed(piece)) for piece in pieces])
    assert lengths[0] == lengths[1]


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=6),
    st.lists(st.integers(0, 500), max_size=10),
)
def test_chunks_are_the_same_wherever_they_are_cut(chunks: list[bytes], places: list[int]) -> None:
    """And what follows the last one is left."""
    data = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\nnext"
    body, buffer, got = ChunkedBody(), bytearray(), b""
    for piece in cut(data, places):
        buffer += piece
        got += body.take(buffer)
    assert body.done
    assert got == b"".join(chunks)
    assert buffer == b"next"


@given(st.lists(st.integers(0, 400), max_size=8), st.lists(st.integers(0, 400), max_size=8))
def test_requests_and_answers_are_the_same_however_they_arrive(
    asked: list[int], answered: list[int]
) -> None:
    """Two requests and their answers, cut anywhere."""
    bindings = Bindings([BINDING])
    bound = bindings.bound("api.test", 443)
    assert bound is not None
    talk = Conversation("api.test", 443, bound, bindings)
    head = f"Host: api.test\r\nX-Key: {PLACEHOLDER}\r\n"
    first = f"POST /a HTTP/1.1\r\n{head}Content-Length: 2\r\n\r\nhi".encode()
    second = f"GET /b HTTP/1.1\r\n{head}\r\n".encode()
    answer = f"HTTP/1.1 200 OK\r\nContent-Length: {len(VALUE)}\r\n\r\n{VALUE}".encode()
    for data in (first, second):
        for piece in cut(data, asked):
            talk.receive_from_client(piece)
        for piece in cut(answer, answered):
            talk.receive_from_server(piece)
    filled = f"Host: api.test\r\nX-Key: {VALUE}\r\n"
    last = "Accept-Encoding: identity\r\n\r\n"
    assert talk.to_server.decode() == (
        f"POST /a HTTP/1.1\r\n{filled}Content-Length: 2\r\n{last}hi"
        f"GET /b HTTP/1.1\r\n{filled}{last}"
    )
    assert talk.to_client == answer.replace(VALUE.encode(), PLACEHOLDER.encode()) * 2
    assert not talk.over


def test_wildcards_are_those_of_rules() -> None:
    """One label more, or any number; never the name itself, nor one that only ends like it."""
    one = Binding("A", ("*.api.test:443/",), (), PLACEHOLDER, VALUE)
    many = Binding("B", ("**.api.test:443/",), (), PLACEHOLDER, VALUE)
    wanted = {
        "a.api.test": (True, True),
        "a.b.api.test": (False, True),
        "api.test": (False, False),
        "evilapi.test": (False, False),
        ".api.test": (False, False),
    }
    for name, (by_one, by_many) in wanted.items():
        found = tuple(Bindings([b]).bound(name, 443) is not None for b in (one, many))
        assert found == (by_one, by_many), name
    assert Bindings([one]).bound("a.api.test", 8443) is None


def test_reasons_have_sentences() -> None:
    """Each that interception gives; letters alone, so that a sentence can be looked for."""
    for reason in (
        *("secret_elsewhere", "secret_in_clear", "host_certificate", "host_tls", "host_header"),
        *("http_malformed", "authority_refused"),
    ):
        assert reason in HINTS
        assert set(reason) <= set(string.ascii_lowercase + "_")
