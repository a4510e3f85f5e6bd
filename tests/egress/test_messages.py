"""Parsers of bytes from inside: DNS questions and first messages, valid and invalid."""

from __future__ import annotations

import contextlib
import ipaddress
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_sandbox.egress import client_hello, dns_message
from llm_sandbox.egress.client_hello import Hello
from llm_sandbox.egress.dns_stub import SyntheticNames


def hello_of(name: str | None, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.maximum_version = version
    outgoing = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("name", ["example.com", None])
def test_a_real_first_message(version: ssl.TLSVersion, name: str | None) -> None:
    data = hello_of(name, version)
    assert client_hello.examine(data) == Hello(name, encrypted=False)
    # Whatever the pieces that it comes in.
    assert {client_hello.examine(data[:size]) for size in range(len(data))} <= {"more", "other"}
    assert client_hello.examine(data[:3]) == "more"


def test_a_message_in_several_records() -> None:
    body = hello_of("example.com")[5:]
    parts = [body[at : at + 10] for at in range(0, len(body), 10)]
    data = b"".join(b"\x16\x03\x01" + len(part).to_bytes(2, "big") + part for part in parts)
    assert client_hello.examine(data) == Hello("example.com", encrypted=False)


def test_an_encrypted_name_is_seen() -> None:
    data = hello_of("example.com")
    extension = b"\xfe\x0d\x00\x04abcd"
    body = bytearray(data[5:])
    at = 4 + 2 + 32
    at += 1 + body[at]
    at += 2 + int.from_bytes(body[at : at + 2], "big")
    at += 1 + body[at]
    size = int.from_bytes(body[at : at + 2], "big") + len(extension)
    body[at : at + 2] = size.to_bytes(2, "big")
    body += extension
    body[1:4] = (len(body) - 4).to_bytes(3, "big")
    hello = client_hello.examine(b"\x16\x03\x01" + len(body).to_bytes(2, "big") + bytes(body))
    assert hello == Hello("example.com", encrypted=True)
    assert client_hello.objection(hello, "example.com", strict=False) is None
    assert client_hello.objection(hello, "example.com", strict=True) == "tls_encrypted_name"


@given(st.binary(max_size=600))
def test_no_bytes_upset_the_reader_of_first_messages(data: bytes) -> None:
    client_hello.examine(data)
    client_hello.examine(b"\x16\x03\x01" + len(data).to_bytes(2, "big") + data)
    client_hello.examine(
        b"\x16\x03\x01"
        + (len(data) + 4).to_bytes(2, "big")
        + b"\x01"
        + len(data).to_bytes(3, "big")
        + data
    )


@given(st.integers(0, 400), st.binary(min_size=1, max_size=8))
def test_a_bent_first_message_never_passes_for_another_name(at: int, change: bytes) -> None:
    data = bytearray(hello_of("example.com"))
    data[at : at + len(change)] = change
    hello = client_hello.examine(bytes(data))
    assert not isinstance(hello, Hello) or hello.name is None or isinstance(hello.name, str)
    # What starts like TLS and is not understood is not let through.
    if data[:2] == b"\x16\x03":
        assert hello != "other"


NAMES = st.from_regex(r"[a-z]{1,20}(\.[a-z0-9]{1,20}){0,3}", fullmatch=True)


@given(NAMES, st.sampled_from([1, 16, 28, 65]))
def test_questions_are_read_and_answered(name: str, kind: int) -> None:
    question = dns_message.read_query(dns_message.make_query(7, name, kind))
    assert (question.number, question.name, question.kind) == (7, name, kind)
    answer = dns_message.make_answer(
        question, dns_message.OK, ipaddress.IPv4Address("198.18.0.1"), 30
    )
    if kind == dns_message.A:
        read = dns_message.read_response(answer, 7, name, kind)
        assert read.addresses == ("198.18.0.1",)
    with pytest.raises(dns_message.FormatError):
        dns_message.read_response(answer, 8, name, kind)
    with pytest.raises(dns_message.FormatError):
        dns_message.read_response(answer, 7, f"x{name}", kind)


@given(st.binary(max_size=300))
def test_no_bytes_upset_the_readers_of_dns(data: bytes) -> None:
    for read in (
        dns_message.read_query,
        lambda data: dns_message.read_response(data, 7, "a.test", dns_message.A),
        lambda data: dns_message.read_query(dns_message.make_query(7, "a", 1)[:12] + data),
        lambda data: dns_message.read_response(
            b"\0\7\x81\x80\0\1\0\4\0\0\0\0\1a\4test\0\0\1\0\1" + data, 7, "a.test", dns_message.A
        ),
    ):
        with contextlib.suppress(dns_message.FormatError):
            read(data)


def test_aliases_are_followed() -> None:
    question = dns_message.make_query(7, "a.test", 1)[12:]
    alias = b"\xc0\x0c\0\5\0\1\0\0\0\0\0\4\1b\xc0\x0e"
    address = b"\1b\4test\0\0\1\0\1\0\0\0\0\0\4\x08\x08\x08\x08"
    other = b"\1c\4test\0\0\1\0\1\0\0\0\0\0\4\x0a\0\0\1"
    data = b"\0\7\x81\x80\0\1\0\3\0\0\0\0" + question + other + alias + address
    assert dns_message.read_response(data, 7, "a.test", 1).addresses == ("8.8.8.8",)


def test_names_keep_their_addresses_and_the_oldest_goes_first() -> None:
    names = SyntheticNames(most=3)
    first = {name: names.address(name) for name in "abc"}
    assert len(set(first.values())) == 3
    assert names.address("a") == first["a"]
    fourth = names.address("d")
    assert fourth not in first.values()
    assert names.name(first["b"]) is None
    assert [names.name(first[name]) for name in "ac"] == ["a", "c"]
    assert all(address in names for address in (*first.values(), fourth))
    assert ipaddress.ip_address("8.8.8.8") not in names
