"""Ports of a sandbox that are reached over TLS, with a certificate made for it."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox, TlsPort, UnsupportedError, ValidationError
from llm_sandbox.testing.suite import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox import Tunnel

ECHO = """
import socket, threading
def serve(connection):
    left = int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "big")
    data = b""
    while left > len(data) and (piece := connection.recv(1 << 16)):
        data += piece
    connection.sendall(data[::-1])
    connection.close()
server = socket.create_server(("127.0.0.1", 7000))
while True:
    threading.Thread(target=serve, args=server.accept()[:1]).start()
"""
BIG = 3_000_000


@pytest.fixture(scope="module")
def sandbox(backend: str) -> Iterator[Sandbox]:
    with Sandbox.create(backend=backend, ports=(TlsPort(7000), 7001)) as sandbox:
        sandbox.exec("python3", "-c", ECHO)
        assert eventually(lambda: answered(sandbox.tunnels()[7000]), 30)
        yield sandbox


def answered(tunnel: Tunnel) -> bool:
    with contextlib.suppress(OSError):
        return ask(tunnel, b"ab") == b"ba"
    return False


def ask(tunnel: Tunnel, data: bytes, name: str = "127.0.0.1", trusts: str | None = None) -> bytes:
    context = ssl.create_default_context(cadata=trusts or tunnel.certificate)
    with (
        socket.create_connection(tunnel.tls_socket, 20) as plain,
        context.wrap_socket(plain, server_hostname=name) as connection,
    ):
        connection.sendall(len(data).to_bytes(8, "big") + data)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def test_bytes_go_both_ways_to_whoever_trusts_the_certificate(sandbox: Sandbox) -> None:
    """Megabytes beside small ones; by address and by name; the end is told as TLS tells it."""
    tunnel = sandbox.tunnels()[7000]
    assert tunnel.url == f"https://127.0.0.1:{tunnel.port}"
    big = bytes(range(256)) * (BIG // 256)
    answers: dict[int, bytes] = {}

    def one(number: int) -> None:
        answers[number] = ask(tunnel, big if number == 0 else b"%d" % number, "localhost")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert big[::-1] == answers.pop(0)
    assert {number: b"%d" % number for number in range(1, 8)} == answers


def test_another_certificate_or_name_is_not_believed(sandbox: Sandbox, backend: str) -> None:
    """Each sandbox has a certificate of its own, and for the loopback alone."""
    tunnel = sandbox.tunnels()[7000]
    with Sandbox.create(backend=backend, ports=(TlsPort(7000),)) as other:
        foreign = other.tunnels()[7000].certificate
    assert foreign != tunnel.certificate
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(tunnel, b"x", trusts=foreign)
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(tunnel, b"x", "example.com")
    assert b"x" == ask(tunnel, b"x")  # the control


def test_who_does_not_speak_tls_reaches_nothing_inside(sandbox: Sandbox) -> None:
    tunnel = sandbox.tunnels()[7000]
    with socket.create_connection(tunnel.tcp_socket, 20) as plain:
        plain.sendall((1).to_bytes(8, "big") + b"x")
        came = b""
        with contextlib.suppress(ConnectionResetError):
            came = b"".join(iter(lambda: plain.recv(1 << 16), b""))
    assert came[:1] in (b"", b"\x15")  # at most TLS's own word for it
    assert len(came) < 16
    assert b"x" == ask(tunnel, b"x")


def test_ports_beside_it_have_none(sandbox: Sandbox) -> None:
    plain = sandbox.tunnels()[7001]
    assert plain.certificate is None
    with pytest.raises(UnsupportedError, match="TlsPort"):
        _ = plain.tls_socket


def test_they_end_with_their_sandbox(backend: str) -> None:
    with Sandbox.create(backend=backend, ports=(TlsPort(7000),)) as sandbox:
        sandbox.exec("python3", "-c", ECHO)
        tunnel = sandbox.tunnels()[7000]
        assert eventually(lambda: answered(tunnel), 30)
        context = ssl.create_default_context(cadata=tunnel.certificate)
        plain = socket.create_connection(tunnel.tls_socket, 20)
        held = context.wrap_socket(plain, server_hostname="localhost")
    with held, contextlib.suppress(OSError):
        held.settimeout(20)
        assert b"" == held.recv(1)
    assert not answered(tunnel)
    assert eventually(lambda: not _carrying(), 20)


def _carrying() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "llm-sandbox-tunnel"]


def test_a_kept_sandbox_tells_every_process_what_to_trust() -> None:
    with Sandbox.create(ports=(TlsPort(7000),), on_exit="keep", tags={}) as sandbox:
        sandbox.exec("python3", "-c", ECHO)
        try:
            again = Sandbox.attach(sandbox.id)
            assert eventually(lambda: answered(again.tunnels()[7000]), 30)
            again.detach()
        finally:
            sandbox.terminate()


@pytest.mark.parametrize("ports", [(7000, TlsPort(7000)), (True,), ("80",), (70000,)])
def test_what_is_no_choice_of_ports_is_refused(ports: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError, match="port"):
        Sandbox.create(ports=ports)


@pytest.mark.parametrize("port", [0, 65536, True, "80"])
def test_a_port_is_a_number(port: int) -> None:
    with pytest.raises(ValidationError, match="from 1 to 65535"):
        TlsPort(port)
