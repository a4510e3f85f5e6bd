"""Parts of the interception without a network: bodies, what is taken out of streams, the answer."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import re
import string
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_sandbox.egress.bindings import Bindings
from llm_sandbox.egress.interception.http_messages import ChunkedBody
from llm_sandbox.egress.interception.http_proxy import HttpProxy, Scrubber
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
    talk = HttpProxy("api.test", 443, bound, bindings)
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


def ask(field: str, path: str = "/a") -> tuple[HttpProxy, str]:
    """A conversation after a request with one field, and what was sent on."""
    bindings = Bindings([BINDING])
    bound = bindings.bound("api.test", 443)
    assert bound is not None
    talk = HttpProxy("api.test", 443, bound, bindings)
    talk.receive_from_client(f"GET {path} HTTP/1.1\r\nHost: api.test\r\n{field}\r\n\r\n".encode())
    return talk, talk.to_server.decode()


def credentials(password: str) -> str:
    return base64.b64encode(f"user:{password}".encode()).decode()


def test_what_is_encoded_is_replaced_in_credentials_alone() -> None:
    """A field that merely looks like one is sent as it came, and no value with it."""
    held, filled = credentials(PLACEHOLDER), credentials(VALUE)
    for name in ("Authorization", "proxy-authorization"):
        assert f"{name}: Basic {filled}\r\n" in ask(f"{name}: Basic {held}")[1]
    for name in ("X-Foo", "X-Authorization", "Authentication", "Cookie", "Referer"):
        for scheme in ("Basic", "basic"):
            sent = ask(f"{name}: {scheme} {held}")[1]
            assert f"{name}: {scheme} {held}\r\n" in sent
            assert filled not in sent


ENCODERS: dict[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "urlsafe": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 in a query": lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "hex with colons": lambda text: text.encode().hex(":"),
    "percent": lambda text: quote(text, safe=""),
    "percent, small": lambda text: re.sub("%..", lambda m: m[0].lower(), quote(text, safe="")),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "percent, all": lambda text: "".join(f"%{ord(sign):02X}" for sign in text),
    "percent, all, small": lambda text: "".join(f"%{ord(sign):02x}" for sign in text),
    "JSON": json.dumps,
    "JSON of PHP": lambda text: json.dumps(text).replace("/", "\\/"),
    "JSON of Go": lambda text: (
        json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    ),
    "JSON, all": lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text),
    "HTML": html.escape,
    "HTML, numbers": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "capitals": str.upper,
    "reversed": lambda text: text[::-1],
}
DECODERS: dict[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64decode(text).decode("latin-1"),
    "hex": lambda text: bytes.fromhex(text).decode("latin-1"),
}


@pytest.mark.redteam
@pytest.mark.parametrize("value", [VALUE, 'sk-proj-Zq8/vN+40=Lb<c7&R"Y\\9'])
@pytest.mark.parametrize("encode", ENCODERS.values(), ids=ENCODERS)
@pytest.mark.parametrize("around", [("", ""), ("u:", ""), ("ab", "yz"), ("abc", "z")])
def test_a_value_is_taken_out_however_it_is_written(
    value: str, encode: Callable[[str], str], around: tuple[str, str]
) -> None:
    """Whatever comes before and after, cut anywhere; without the scrubber it is all there."""
    binding = Binding("TOKEN", ("api.test:443/",), (), PLACEHOLDER, value)
    bound = Bindings([binding]).bound("api.test", 443)
    assert bound is not None
    told = encode(value.join(around))
    body = f"<<{told}>>".encode()
    for step in (1, 7, len(body)):
        scrubber = Scrubber(bound.words())
        pieces = [body[start : start + step] for start in range(0, len(body), step)]
        got = (b"".join(map(scrubber.feed, pieces)) + scrubber.flush()).decode()
        assert len(got) == len(body)
        assert told not in got
        for part in (value, value.upper(), value[::-1]):
            assert part not in got
        for decode in DECODERS.values():
            with contextlib.suppress(ValueError):
                assert value[1:-1] not in decode(got[2:-2])


@pytest.mark.redteam
def test_a_path_that_may_be_another_one_gets_no_value() -> None:
    """Of a secret for a part of a host: one spelling of each path, and no way around it."""
    binding = Binding("TOKEN", ("api.test:443/v1/",), (), PLACEHOLDER, VALUE)
    bound = Bindings([binding]).bound("api.test", 443)
    assert bound is not None
    for path in GOOD_PATHS:
        assert [binding] == bound.at(path), path
    for path in BAD_PATHS:
        assert [] == bound.at(path), path
    for name in ("X-Original-URL", "x-rewrite-url"):
        assert [] == bound.at("/v1/x", [name])
    # The control: a secret for the whole host does not care.
    whole = Bindings([BINDING]).bound("api.test", 443)
    assert whole is not None
    assert all([BINDING] == whole.at(path, ["X-Original-URL"]) for path in BAD_PATHS)


GOOD_PATHS = (
    *("/v1/", "/v1/x", "/v1/x/", "/v1/x/y?z=/../..;/%2e%2e/", "/v1/.well-known/x", "/v1/a.b/v1.0"),
    *("/v1/models/gemini:generate", "/v1/~user/@me/a,b/(c)!$'*+=&", "/v1/a%20b%22%3F%23"),
)
BAD_PATHS = (
    *("/", "/v1", "/v10/x", "/v2/", "/V1/x", "*", "v1/x", "/v1.", "/v1./x", "/v1%2f", "/v%31/x"),
    *("/v1/..", "/v1/../v2", "/v1/./x", "/v1//x", "//v1/x", "/v1/x//", "/v1/.../x", "/v1/. ./x"),
    *("/v1/..;/admin", "/v1/..;a=b/admin", "/v1/;/../x", "/v1/x;v=1", "/v1/x%3b/y", "/v1/x%3B.."),
    *("/v1/%2e%2e/v2", "/v1/%2E%2E/v2", "/v1/.%2e/v2", "/v1/%2e./v2", "/v1/%252e%252e/v2"),
    *("/v1/%25252e/v2", "/v1/x%2fy", "/v1/x%2Fy", "/v1/x%5cy", "/v1/..%5cv2", "/v1/..\\v2"),
    *("/v1/x/%c0%ae%c0%ae/admin", "/v1/%c0%af", "/v1/%e0%80%ae", "/v1/%ef%bc%8e%ef%bc%8e/admin"),
    *("/v1/%ef%bc%8f", "/v1/%e2%80%a5/x", "/v1/%u002e%u002e/x", "/v1/%uff0e/x", "/v1/%"),
    *("/v1/%2", "/v1/%zz", "/v1/%00", "/v1/x%00/../y", "/v1/%0a", "/v1/%0d%0aX:y", "/v1/%7f"),
    *("/v1/x#/../../admin", "/v1/#", "/v1/..%20/x", "/v1/..%20", "/v1/%20/x", "/v1/..%09/x"),
    *("https://api.test/v1/x", "http://api.test/v1/../x", "/https://api.test/v1/x", "/v1|/x"),
    *("/v1/<x", "/v1/{x}", "/v1/^", "/v1/x`", '/v1/"', "/v1/%61dmin", "/v1/é"),
)


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
