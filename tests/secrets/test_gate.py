"""Placeholders in the gate: replaced for the hosts they are bound to, and no others."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

from cryptography import x509

from tests.secrets.conftest import NAME, OTHER, VALUE, Inside, RawSite, Signer, Site, bound

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable


def test_placeholder_is_replaced_in_fields_of_the_bound_host(
    behind: Callable[..., Inside], site: Site
) -> None:
    """Bare, as a bearer's and within basic credentials, and in a listed field of the query; the
    answer, which says all of it back, is without it.
    """
    inside = behind([bound(f"{NAME}:{site.port}", query=("key",))], [NAME])
    basic = base64.b64encode(f"user:{inside.placeholder}".encode()).decode()
    path = f"/?key={inside.placeholder}&other={inside.placeholder}"
    answer = inside.get(
        *(NAME, site.port, f"Authorization: Bearer {inside.placeholder}", f"X-Api: {basic}"),
        f"Proxy-Authorization: Basic {basic}",
        "Accept-Encoding: gzip",
        path=path,
    )
    assert answer.startswith("HTTP/1.1 200")
    (asked,) = site.seen
    assert asked["fields"]["Authorization"] == f"Bearer {VALUE}"
    assert base64.b64decode(asked["fields"]["Proxy-Authorization"][6:]) == f"user:{VALUE}".encode()
    assert asked["fields"]["X-Api"] == basic
    assert asked["fields"]["Accept-Encoding"] == "identity"
    assert asked["path"] == f"/?key={VALUE}&other={inside.placeholder}"
    assert VALUE not in answer
    assert f"X-Said: Bearer {inside.placeholder}" in answer
    assert base64.b64encode(f"user:{VALUE}".encode()).decode() not in answer
    assert inside.reasons() == []


def test_one_connection_carries_many_requests(behind: Callable[..., Inside], site: Site) -> None:
    """With bodies of a length, in chunks and after a 100, two of them sent at once."""
    inside = behind([bound(f"{NAME}:{site.port}")], [NAME])
    token = f"Authorization: Bearer {inside.placeholder}"
    host = f"Host: {NAME}:{site.port}\r\n{token}\r\n"
    body = "x" * 70_000
    answer = inside.tries(
        {
            "host": NAME,
            "port": site.port,
            "send": [
                (
                    f"POST /a HTTP/1.1\r\n{host}Content-Length: 3\r\n\r\nabc"
                    f"GET /b HTTP/1.1\r\n{host}\r\n"
                ),
                (
                    f"POST /c HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n"
                    f"{len(body):x};x=y\r\n{body}\r\n1\r\nz\r\n0\r\nTrailer: no\r\n\r\n"
                ),
                f"POST /d HTTP/1.1\r\n{host}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n",
                "ok",
                f"HEAD /none HTTP/1.1\r\n{host}\r\n",
                f"GET /e HTTP/1.1\r\n{host}Connection: close\r\n\r\n",
            ],
            "until": ["/b\n", "70001 bytes", "100 Continue", "2 bytes", "1000", ""],
        }
    )[0]
    assert [(one["path"], len(one["body"])) for one in site.seen] == [
        *(("/a", 3), ("/b", 0), ("/c", 70_001), ("/d", 2), ("/e", 0))
    ]
    assert {one["fields"]["Authorization"] for one in site.seen} == {f"Bearer {VALUE}"}
    assert "3 bytes" in answer
    assert VALUE not in answer
    assert inside.reasons() == []


def test_a_value_that_comes_back_in_pieces_is_taken_out(
    behind: Callable[..., Inside], site: Site
) -> None:
    """In chunks of five bytes, each of which holds a part of it."""
    inside = behind([bound(f"{NAME}:{site.port}")], [NAME])
    answer = inside.get(NAME, site.port, f"X-Key: {inside.placeholder}", path="/pieces")
    assert site.seen[0]["fields"]["X-Key"] == VALUE
    body = re.sub(r"\r\n[0-9a-f]+\r\n", "", answer.partition("\r\n\r\n")[2])
    assert f"X-Key: {inside.placeholder}" in body.replace("\r\n", "")
    assert VALUE not in body


def test_another_protocol_is_passed_after_its_head(
    behind: Callable[..., Inside], raw_site: Callable[..., RawSite]
) -> None:
    """A host that agrees to another protocol gets and sends whatever that is; values still do not
    come back.
    """
    heads: list[bytes] = []

    def switch(end: ssl.SSLSocket) -> None:
        heads.append(end.recv(65536))
        end.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
        )
        # The program waits for the first message, whose end could be that of a value's beginning.
        end.sendall(b"echo " + end.recv(100) + VALUE[:9].encode())
        assert end.recv(100) == b"more"
        end.sendall(VALUE.encode() + b" done")

    site = raw_site(switch)
    inside = behind([bound(f"{NAME}:{site.port}")], [NAME])
    head = (
        f"GET / HTTP/1.1\r\nHost: {NAME}:{site.port}\r\nUpgrade: x\r\nConnection: upgrade\r\n"
        f"Authorization: {inside.placeholder}\r\n\r\n"
    )
    answer = inside.tries(
        {
            "host": NAME,
            "port": site.port,
            "send": [head, "\0\1\2", "more"],
            "until": ["101", VALUE[:9], ""],
        }
    )[0]
    assert VALUE.encode() in heads[0]
    assert answer.endswith(f"echo \0\1\2{VALUE[:9]}{inside.placeholder} done")


def test_the_authority_is_one_sandboxs_and_for_bound_names(behind: Callable[..., Inside]) -> None:
    """What trusts it trusts it for those alone; its key is in nothing that the gate says."""
    one, two = behind([bound(NAME, f"*.{OTHER}:8443")], [NAME]), behind([bound(NAME)], [NAME])
    assert one.gate.authority is not None
    assert one.gate.authority != two.gate.authority
    assert "PRIVATE" not in one.gate.authority
    certificate = x509.load_pem_x509_certificate(one.gate.authority.encode())
    found = certificate.extensions.get_extension_for_class(x509.NameConstraints)
    assert found.critical
    assert found.value.permitted_subtrees == [x509.DNSName(NAME), x509.DNSName(OTHER)]


def test_hosts_that_nothing_is_bound_to_are_not_intercepted(
    behind: Callable[..., Inside], site: Site, signer: Signer
) -> None:
    """Their own certificate is what the program sees, on the same name's other ports, too."""
    other = Site(signer.context(OTHER))
    try:
        inside = behind([bound(f"{NAME}:{other.port}")], [NAME, OTHER])
        theirs = signer.file.read_text()
        for host, port in ((OTHER, other.port), (NAME, site.port)):
            attempt: dict[str, Any] = {
                "host": host,
                "port": port,
                "send": ["GET /x HTTP/1.0\r\n\r\n"],
            }
            attempt["offers"] = ["http/1.1"]
            ours, whole = inside.tries(attempt, {**attempt, "authority": theirs})
            assert ours == "SSLCertVerificationError"
            assert whole.startswith("HTTP/1.1 200")
        assert inside.reasons() == []
    finally:
        other.close()
