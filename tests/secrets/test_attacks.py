"""Ways to have a value sent or shown where it does not belong; each beside one that is allowed."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.secrets.conftest import NAME, OTHER, THIRD, VALUE, Inside, RawSite, Signer, Site, bound

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

OTHER_VALUE = "ghp_0123456789abcdefghijABCDEFGHIJ"


@pytest.fixture
def other(signer: Signer) -> Iterator[Site]:
    """Another host with a good certificate."""
    made = Site(signer.context(OTHER))
    yield made
    made.close()


def test_placeholder_of_another_host_is_refused(
    behind: Callable[..., Inside], site: Site, other: Site
) -> None:
    """Bare, in basic credentials, in the path and percent-encoded; the host's own is replaced."""
    inside = behind(
        [
            bound(f"{NAME}:{site.port}"),
            bound(f"{OTHER}:{other.port}", name="OTHER", value=OTHER_VALUE),
        ],
        [NAME, OTHER],
    )
    basic = base64.b64encode(f":{inside.placeholder}".encode()).decode()
    quoted = "".join(f"%{ord(character):02x}" for character in inside.placeholder)
    for field, path in (
        (f"Authorization: Bearer {inside.placeholder}", "/"),
        (f"X-Any: a{inside.placeholder}b", "/"),
        (f"Authorization: Basic {basic}", "/"),
        ("Accept: */*", f"/{inside.placeholder}"),
        ("Accept: */*", f"/?q={quoted}"),
    ):
        answer = inside.get(OTHER, other.port, field, path=path)
        assert answer.startswith("HTTP/1.1 403"), (field, path)
    assert other.seen == []
    assert inside.reasons() == [("secret_elsewhere", OTHER)]
    (event,) = inside.gate.events()
    assert event.count == 5
    assert "TOKEN" in event.hint
    assert inside.placeholder not in event.hint
    own = inside.plan.bindings[1].placeholder
    assert "200" in inside.get(OTHER, other.port, f"Authorization: Bearer {own}")
    assert other.seen[0]["fields"]["Authorization"] == f"Bearer {OTHER_VALUE}"


def test_nothing_is_sent_in_clear(behind: Callable[..., Inside]) -> None:
    """A bound host is not spoken to without TLS; another one is, but not with a placeholder."""
    plain = Site(None)
    try:
        inside = behind([bound(f"{NAME}:1", f"{NAME}:{plain.port}")], [NAME, OTHER, THIRD])
        bare = inside.get(NAME, plain.port, tls=False)
        assert VALUE not in bare
        assert plain.seen == []
        elsewhere = inside.get(OTHER, plain.port, f"X: {inside.placeholder}", tls=False)
        assert elsewhere.startswith("HTTP/1.1 403")
        assert plain.seen == []
        assert set(inside.reasons()) == {("secret_in_clear", NAME), ("secret_elsewhere", OTHER)}
        assert inside.get(OTHER, plain.port, "X: y", tls=False).startswith("HTTP/1.1 200")
    finally:
        plain.close()


def test_another_name_is_not_asked_for(behind: Callable[..., Inside], site: Site) -> None:
    """Neither in TLS nor in the request, where a server of several names would give the value to
    another one.
    """
    inside = behind([bound(f"{NAME}:{site.port}")], [NAME, THIRD], tls="off")
    token = f"Authorization: {inside.placeholder}"
    assert inside.get(NAME, site.port, token, asks=THIRD) == "ConnectionResetError"
    send = f"GET / HTTP/1.1\r\nHost: {THIRD}\r\n{token}\r\n\r\n"
    whole = f"GET https://{THIRD}/ HTTP/1.1\r\nHost: {NAME}:{site.port}\r\n{token}\r\n\r\n"
    for text in (send, whole):
        answer = inside.tries({"host": NAME, "port": site.port, "send": [text]})[0]
        assert answer.startswith(("HTTP/1.1 403", "HTTP/1.1 400"))
    assert site.seen == []
    assert {reason for reason, _ in inside.reasons()} == {
        *("tls_name", "host_header", "http_malformed")
    }
    assert "200" in inside.get(NAME, site.port, token)


@pytest.mark.parametrize("wrong", ["signer", "name"])
def test_a_host_that_is_not_proved_gets_nothing(
    behind: Callable[..., Inside], signer: Signer, stranger: Signer, wrong: str
) -> None:
    """A certificate of an authority that nobody trusts, and one for another name."""
    context = stranger.context(NAME) if wrong == "signer" else signer.context(OTHER)
    false, good = Site(context), Site(signer.context(NAME))
    try:
        inside = behind([bound(f"{NAME}:{false.port}", f"{NAME}:{good.port}")], [NAME])
        token = f"Authorization: {inside.placeholder}"
        assert inside.get(NAME, false.port, token) == "ConnectionResetError"
        assert false.seen == []
        assert inside.reasons() == [("host_certificate", NAME)]
        assert "200" in inside.get(NAME, good.port, token)
    finally:
        false.close()
        good.close()


SMUGGLED = {
    "two lengths": "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "lengths": "Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
    "length list": "Content-Length: 0, 5\r\n\r\n",
    "length sign": "Content-Length: +5\r\n\r\n",
    "coding": "Transfer-Encoding: xchunked\r\n\r\n",
    "codings": "Transfer-Encoding: chunked, identity\r\n\r\n",
    "coding twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "space": "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "fold": "X: a\r\n b: c\r\n\r\n",
    "bare line feed": "X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bare return": "X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "nul": "X: a\0b\r\n\r\n",
    "chunk size": "Transfer-Encoding: chunked\r\n\r\n0x5\r\nabcde\r\n0\r\n\r\n",
    "chunk end": "Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n",
    "two hosts": f"Host: {THIRD}\r\n\r\n",
    "too large": f"X: {'a' * 70_000}\r\n\r\n",
}


def test_what_can_be_read_in_two_ways_is_refused(
    behind: Callable[..., Inside], raw_site: Callable[..., RawSite]
) -> None:
    """Requests whose end a server may see elsewhere, so that a second one hides in the first."""
    heard: list[bytes] = []

    def answer(end: ssl.SSLSocket) -> None:
        heard.append(end.recv(65536))
        end.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    site = raw_site(answer)
    inside = behind([bound(f"{NAME}:{site.port}")], [NAME])
    begin = f"POST / HTTP/1.1\r\nHost: {NAME}:{site.port}\r\nX-Key: {inside.placeholder}\r\n"
    attempts = [
        {"host": NAME, "port": site.port, "send": [begin + rest]} for rest in SMUGGLED.values()
    ]
    answers = dict(zip(SMUGGLED, inside.tries(*attempts), strict=True))
    assert {name: said[:12] for name, said in answers.items()} == dict.fromkeys(
        SMUGGLED, "HTTP/1.1 400"
    )
    assert {reason for reason, _ in inside.reasons()} == {"http_malformed"}
    # A head may have gone before its body turned out to be none; nothing that follows it has.
    assert all(b"GET" not in data and data.count(b"HTTP/1.1") <= 1 for data in heard)
    fine = {**attempts[0], "send": [f"{begin}Content-Length: 2\r\n\r\nab"]}
    assert inside.tries(fine)[0].endswith("ok")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\ncut\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_an_answer_that_is_none_is_cut(
    behind: Callable[..., Inside], raw_site: Callable[..., RawSite], answer: bytes
) -> None:
    """What the host says can be read in one way, or the program gets an error."""

    def say(end: ssl.SSLSocket) -> None:
        end.recv(65536)
        end.sendall(answer)

    site = raw_site(say)
    inside = behind([bound(f"{NAME}:{site.port}")], [NAME])
    got = inside.get(NAME, site.port, f"X-Key: {inside.placeholder}")
    assert not got.startswith("HTTP/1.1 200") or got.endswith("cut\n")
    assert ("http_malformed", NAME) in inside.reasons()


def test_a_beginning_of_a_path_is_not_left(behind: Callable[..., Inside], site: Site) -> None:
    """Bound to a part of a site, a placeholder is not replaced in another one."""
    inside = behind([bound(f"{NAME}:{site.port}/v1/")], [NAME])
    token = f"Authorization: {inside.placeholder}"
    out = ("/", "/v1", "/v10/x", "/v2/", "/v1/../v2", "/v1/%2e%2e/v2", "/v1//x", "/v1/..%2fv2")
    for path in (*out, "/v1/..\\v2", "/v1/%252e%252e/v2"):
        assert inside.get(NAME, site.port, token, path=path).startswith("HTTP/1.1 403"), path
    assert site.seen == []
    assert "200" in inside.get(NAME, site.port, token, path="/v1/x/y?z=/../")
    assert site.seen[0]["fields"]["Authorization"] == VALUE


def test_rules_are_judged_first(behind: Callable[..., Inside], site: Site) -> None:
    """A binding opens nothing."""
    inside = behind([bound(f"{NAME}:{site.port}", f"{OTHER}:{site.port}")], [NAME])
    assert inside.get(OTHER, site.port) == "LookupError"
    assert inside.reasons() == [("name_not_listed", OTHER)]
    assert "200" in inside.get(NAME, site.port)


def test_a_program_that_does_not_believe_the_gate_is_told_of(
    behind: Callable[..., Inside], site: Site
) -> None:
    """One that has its own list of authorities fails, and the event says why."""
    inside = behind([bound(f"{NAME}:{site.port}")], [NAME])
    got = inside.get(NAME, site.port, believes=False)
    assert got == "SSLCertVerificationError"
    assert inside.reasons() == [("authority_refused", NAME)]


def test_the_value_is_nowhere_a_program_of_this_machine_looks(
    behind: Callable[..., Inside], site: Site
) -> None:
    """Neither in a command line nor in an environment; the gate's memory is closed to its user."""
    inside = behind([bound(f"{NAME}:{site.port}")], [NAME])
    found: list[Any] = []
    own = Path("/proc/self").resolve().name
    looked = set()
    for place in Path("/proc").glob("[0-9]*"):
        if place.name == own:
            continue
        for name in ("cmdline", "environ"):
            try:
                data = (place / name).read_bytes()
            except OSError:
                continue
            looked.add(place.name)
            found += [place / name] if VALUE.encode() in data else []
    assert found == []
    assert str(inside.gate.pid) in looked
    status = Path(f"/proc/{inside.gate.pid}/status").read_text()
    assert "CapEff:\t0000000000000000" in status
    assert Path(f"/proc/{inside.gate.pid}/environ").stat().st_uid == 0
