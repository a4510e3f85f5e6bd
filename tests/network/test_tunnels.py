"""Ports of a sandbox that are reached from this machine, whatever its network."""

from __future__ import annotations

import contextlib
import socket
import threading
import urllib.request
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox, UnsupportedError, ValidationError
from llm_sandbox.testing.suite import eventually
from tests.network.conftest import BACKENDS, usable
from tests.plugins.cluster import POD

if TYPE_CHECKING:
    from collections.abc import Iterator

ECHO = """
import socket, threading
def serve(connection):
    data = b""
    while piece := connection.recv(1 << 16):  # to the end of what is sent, then the answer
        data += piece
    connection.sendall(len(data).to_bytes(8, "big") + data[::-1])
    connection.close()
server = socket.create_server(("127.0.0.1", 7000))
while True:
    threading.Thread(target=serve, args=server.accept()[:1]).start()
"""
BIG = 3_000_000


@pytest.fixture(scope="module", params=[*BACKENDS, POD])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend with tunnels."""
    return usable(request.param)


@pytest.fixture(scope="module")
def sandbox(backend: str) -> Iterator[Sandbox]:
    with Sandbox.create(backend=backend, ports=(7000, 7001, 7000)) as sandbox:
        sandbox.exec("python3", "-c", ECHO)
        assert eventually(lambda: ask(sandbox.tunnels()[7000].tcp_socket, b"x") == b"x", 30)
        yield sandbox


def ask(place: tuple[str, int], data: bytes) -> bytes:
    """Send, say that this was all, and return the answer; empty where there is none."""
    try:
        with socket.create_connection(place, 10) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    except OSError:
        return b""
    return answer[8:] if int.from_bytes(answer[:8], "big") == len(data) else b"cut"


def test_bytes_go_both_ways_at_once_and_to_the_end(sandbox: Sandbox) -> None:
    """Twenty connections at a time, of which one carries megabytes, with no network at all."""
    tunnels = sandbox.tunnels()
    assert set(tunnels) == {7000, 7001}
    tunnel = tunnels[7000]
    assert tunnel.host == "127.0.0.1" != tunnel.port
    assert tunnel.url == f"http://127.0.0.1:{tunnel.port}"
    assert sandbox.network == "blocked"
    answers: dict[int, bytes] = {}

    def work(number: int) -> None:
        data = bytes([number]) * (BIG if number == 0 else number)
        answers[number] = ask(tunnel.tcp_socket, data)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: len(data) for n, data in answers.items()} == {0: BIG} | {n: n for n in range(1, 20)}
    assert all(set(data) == {number} for number, data in answers.items())


def test_where_nothing_listens_the_connection_is_reset(sandbox: Sandbox) -> None:
    address = sandbox.tunnels()[7001].tcp_socket
    # The reset may arrive before the client has noticed that it is connected.
    with (
        pytest.raises(ConnectionResetError),
        socket.create_connection(address, 10) as connection,
    ):
        connection.recv(1)
    # The other port is there all the same: it was not the tunnels that failed.
    assert ask(sandbox.tunnels()[7000].tcp_socket, b"ab") == b"ba"


def test_a_tunnel_lets_nothing_out(sandbox: Sandbox) -> None:
    """The port of the host is not one of the sandbox, nor does it lead back there."""
    port = sandbox.tunnels()[7000].port
    code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 3)"
    assert "ConnectionRefusedError" in sandbox.exec("python3", "-c", code).collect().stderr


def test_a_tls_endpoint_is_refused_with_its_reason(sandbox: Sandbox) -> None:
    with pytest.raises(UnsupportedError, match="certificate") as caught:
        _ = sandbox.tunnels()[7000].tls_socket
    assert "tcp_socket" in str(caught.value.hint)


def test_connections_end_with_the_sandbox(backend: str) -> None:
    sandbox = Sandbox.create(backend=backend, ports=[7000])
    try:
        sandbox.exec("python3", "-c", ECHO)
        place = sandbox.tunnels()[7000].tcp_socket
        assert eventually(lambda: ask(place, b"x") == b"x", 30)
        held = socket.create_connection(place, 10)
        held.sendall(b"half of it")
    finally:
        sandbox.destroy()
    with held:
        held.settimeout(30)
        with contextlib.suppress(ConnectionResetError):
            assert held.recv(1) == b""
    assert eventually(lambda: not ask(place, b"x"), 30)


def test_a_sandbox_that_ends_by_itself_closes_its_tunnels() -> None:
    usable("bubblewrap")
    with Sandbox.create(backend="bubblewrap", ports=(7000,)) as sandbox:
        place = sandbox.tunnels()[7000].tcp_socket
        socket.create_connection(place, 10).close()
        sandbox.set_timeout(0.2)
        assert eventually(lambda: sandbox.poll() == 124, 30)

        def refused() -> bool:
            with socket.socket() as sock:
                return sock.connect_ex(place) != 0

        assert eventually(refused, 30)


def test_an_http_server_is_reached_by_its_url(sandbox: Sandbox) -> None:
    """Bytes that are written while somebody is connected arrive at once, before its end."""
    code = (
        "import http.server, functools; "
        "http.server.HTTPServer.allow_reuse_address = True; "
        "http.server.test(http.server.SimpleHTTPRequestHandler, port=7001, bind='127.0.0.1')"
    )
    sandbox.files.write_text("page.txt", "a page")
    server = sandbox.exec("python3", "-c", code)
    url = f"{sandbox.tunnels()[7001].url}/page.txt"

    def get() -> bytes:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return bytes(answer.read())
        except OSError:
            return b""

    try:
        assert eventually(lambda: get() == b"a page", 30)
    finally:
        server.kill()


@pytest.mark.parametrize("ports", [(0,), (65536,), ("80",), (True,), "80", 80, range(1, 100)])
def test_what_is_no_port_is_refused(ports: object) -> None:
    usable("bubblewrap")
    with pytest.raises(ValidationError, match="port"):
        Sandbox.create(backend="bubblewrap", ports=ports)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::llm_sandbox.backends.local.backend.LocalSandboxWarning")
def test_local_has_no_tunnels_as_its_ports_are_the_hosts() -> None:
    with pytest.raises(UnsupportedError, match="listen on this machine itself") as caught:
        Sandbox.create(backend="local", ports=(7000,))
    assert "127.0.0.1:7000" in str(caught.value.hint)
