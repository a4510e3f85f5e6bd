"""The gate as the proxy of programs whose network cannot be entered: hostile heads, and real
connections over the byte stream that carries them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.egress.gate import Gate
from llm_sandbox.egress.interception.refusal import Refusal
from llm_sandbox.egress.netns_sockets import NetnsSockets
from llm_sandbox.egress.proxy_request import read_destination
from llm_sandbox.guest.connections import LISTENING, MOST_CONNECTIONS, OPENED
from llm_sandbox.guest.constants import RELAYED
from llm_sandbox.network import NetworkRules
from llm_sandbox.testing.suite import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "files.test"
ROOT = Path(__file__).parents[2]
INSIDE = (
    "import socket, sys; sys.path.insert(0, sys.argv[1]); from guest import connections; "
    "connections.serve(socket.socket(fileno=int(sys.argv[2])))"
)
LARGE = os.urandom(1 << 20) * 24


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(LARGE if self.path == "/large" else self._seen())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(hashlib.sha256(body).hexdigest().encode())

    def _seen(self) -> bytes:
        return f"{self.requestline}\n{self.headers}".encode()

    def _answer(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


@pytest.fixture
def server() -> Iterator[int]:
    """The port of an HTTP server on the host's loopback."""
    with _Server(("127.0.0.1", 0), _Handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made.server_port
        made.shutdown()


class Inside:
    """The listener of a sandbox, here without one, and the gate behind it."""

    def __init__(self, rules: NetworkRules) -> None:
        near, far = socket.socketpair()
        with far:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    "-c",
                    INSIDE,
                    str(ROOT / "llm_sandbox"),
                    str(far.fileno()),
                ],
                pass_fds=(far.fileno(),),
            )
        answer, self.port = LISTENING.unpack(near.recv(LISTENING.size, socket.MSG_WAITALL))
        assert answer == RELAYED
        self.gate = Gate.start(NetnsSockets([("proxy", near.detach())], redirected=True), rules)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 30)

    def ask(self, data: bytes) -> bytes:
        """Send bytes to the proxy, and return all that it answers; nothing if it is full."""
        with contextlib.suppress(ConnectionResetError), self.connect() as connection:
            connection.sendall(data)
            return _rest(connection)
        return b""

    def tunnel(self, target: str) -> socket.socket:
        """Return a connection that the proxy has made to a host."""
        connection = self.connect()
        connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            piece = connection.recv(1)
            assert piece, head
            head += piece
        assert head.startswith(b"HTTP/1.1 200 "), head
        return connection

    def opener(self) -> urllib.request.OpenerDirector:
        proxies = {"http": f"http://127.0.0.1:{self.port}"}
        return urllib.request.build_opener(urllib.request.ProxyHandler(proxies))

    def close(self) -> None:
        self.gate.close()
        assert self.process.wait(30) == 0


def _rest(connection: socket.socket) -> bytes:
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(1 << 16):
            found += piece
    return found


@pytest.fixture
def inside(server: int) -> Iterator[Inside]:
    """A proxy that may reach the server by one name."""
    made = Inside(_rules(server))
    yield made
    made.close()


def _rules(port: int, **more: Any) -> NetworkRules:
    return NetworkRules.allow(hosts={NAME: "127.0.0.1"}, ports=[port], **more)


# --- heads


@pytest.mark.parametrize(
    ("head", "destination"),
    [
        ("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443", ("a.test", None, 443)),
        ("CONNECT a.test:443 HTTP/1.0", ("a.test", None, 443)),
        ("CONNECT A.Test.:443 HTTP/1.1\r\nHost: a.test", ("a.test", None, 443)),
        ("CONNECT 192.0.2.1:443 HTTP/1.1", (None, "192.0.2.1", 443)),
        ("CONNECT [2001:db8::1]:443 HTTP/1.1", (None, "2001:db8::1", 443)),
        ("GET http://a.test/x?y HTTP/1.1\r\nHost: a.test", ("a.test", None, 80)),
        ("GET http://a.test:81?y HTTP/1.1\r\nHost: a.test:81", ("a.test", None, 81)),
        ("GET HTTP://A.test HTTP/1.1\r\nHost: a.test:80", ("a.test", None, 80)),
    ],
)
def test_destinations(head: str, destination: tuple[str | None, str | None, int]) -> None:
    request = read_destination(bytearray(f"{head}\r\n\r\n".encode()))

    assert request is not None
    name, address, port = destination
    assert (name, port) == (request.name, request.port)
    assert address == (None if request.address is None else str(request.address))


HOSTILE = {
    "no proxy": "GET / HTTP/1.1\r\nHost: a.test",
    "no port": "CONNECT a.test HTTP/1.1",
    "port 0": "CONNECT a.test:0 HTTP/1.1",
    "large port": "CONNECT a.test:65537 HTTP/1.1",
    "signed port": "CONNECT a.test:+443 HTTP/1.1",
    "user": "CONNECT b.test@a.test:443 HTTP/1.1",
    "user in URL": "GET http://b.test@a.test/ HTTP/1.1\r\nHost: a.test",
    "user with colon": "GET http://a.test:80@b.test/ HTTP/1.1\r\nHost: b.test",
    "backslash": "GET http://a.test\\@b.test/ HTTP/1.1\r\nHost: a.test",
    "zone": "CONNECT [fe80::1%25eth0]:443 HTTP/1.1",
    "no address": "CONNECT [12345::]:443 HTTP/1.1",
    "escaped": "CONNECT a%2etest:443 HTTP/1.1",
    "other scheme": "GET https://a.test/ HTTP/1.1\r\nHost: a.test",
    "fragment": "GET http://a.test/#b HTTP/1.1\r\nHost: a.test",
    "TRACE": "TRACE http://a.test/ HTTP/1.1\r\nHost: a.test",
    "two hosts": "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nHost: b.test",
    "other host": "GET http://a.test/ HTTP/1.1\r\nHost: b.test",
    "other host of CONNECT": "CONNECT a.test:443 HTTP/1.1\r\nHost: b.test:443",
    "other port of CONNECT": "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:444",
    "no host": "GET http://a.test/ HTTP/1.1\r\nAccept: *",
    "length of CONNECT": "CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 5",
    "chunks of CONNECT": "CONNECT a.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked",
    "two lengths": "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n"
    "Transfer-Encoding: chunked",
    "unequal lengths": "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n"
    "Content-Length: 6",
    "length taken out": "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n"
    "Connection: content-length",
    "bare line feed": "CONNECT a.test:443 HTTP/1.1\r\nX: 1\nHost: b.test",
    "space before colon": "CONNECT a.test:443 HTTP/1.1\r\nHost : a.test",
    "folded": "CONNECT a.test:443 HTTP/1.1\r\nX: 1\r\n Host: a.test",
    "NUL": "CONNECT a.test:443 HTTP/1.1\r\nX: \x00",
    "two spaces": "CONNECT  a.test:443 HTTP/1.1",
    "other version": "CONNECT a.test:443 HTTP/2.0",
    "SOCKS": "\x05\x01\x00",
    "TLS": "\x16\x03\x01\x02\x00",
}


@pytest.mark.parametrize("head", HOSTILE.values(), ids=HOSTILE)
def test_a_head_that_can_be_read_in_two_ways_is_refused(head: str) -> None:
    with pytest.raises(Refusal):
        read_destination(bytearray(f"{head}\r\n\r\n".encode("latin-1")))


def test_a_head_without_an_end_is_refused() -> None:
    buffer = bytearray(b"CONNECT a.test:443 HTTP/1.1\r\n")
    assert read_destination(buffer) is None
    buffer += b"X: y\r\n" * 20_000
    with pytest.raises(Refusal):
        read_destination(buffer)


# --- connections


def test_a_request_is_sent_on_in_the_form_of_a_server(inside: Inside, server: int) -> None:
    """Without what is for the proxy; and the connection ends with its response."""
    answer = inside.ask(
        f"GET http://{NAME}:{server}/path?query HTTP/1.1\r\nHost: {NAME}:{server}\r\n"
        "Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nX-Own: of one hop\r\n"
        "Connection: keep-alive, x-own\r\nAccept: all\r\n\r\n"
        f"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n".encode()
    ).decode()
    head, _, seen = answer.partition("\r\n\r\n")

    assert head.startswith("HTTP/1.1 200 ")
    assert head.endswith("Connection: close")
    assert seen.splitlines()[0] == "GET /path?query HTTP/1.1"
    assert sorted(filter(None, seen.splitlines()[1:])) == [
        "Accept: all",
        "Connection: close",
        f"Host: {NAME}:{server}",
    ]


def test_what_is_refused_is_answered_and_recorded(inside: Inside, server: int) -> None:
    """Names, addresses and ports that no rule lists, in both forms; with the hint as the answer."""
    targets = {
        f"other.test:{server}": "name_not_listed",
        f"{NAME}:{server ^ 1}": "port_not_listed",
        f"127.0.0.1:{server}": "never",
        f"[::1]:{server}": "never",
        f"10.0.0.1:{server}": "private_address",
        "169.254.169.254:80": "private_address",
        f"8.8.8.8:{server}": "address_not_listed",
    }
    for target, reason in targets.items():
        tunnel = inside.ask(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        event = inside.gate.events()[-1]
        assert reason == event.reason
        assert tunnel.startswith(b"HTTP/1.1 403 Forbidden\r\n")
        assert event.hint.encode() in tunnel
        plain = f"GET http://{target}/ HTTP/1.1\r\nHost: {target}\r\n\r\n".encode()
        assert inside.ask(plain).startswith(b"HTTP/1.1 403 Forbidden\r\n")
        assert 2 == inside.gate.events()[-1].count
    assert 0 == inside.gate.stats().carried
    assert inside.ask(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert "proxy_malformed" == inside.gate.events()[-1].reason


@pytest.mark.parametrize("written", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1"])
def test_an_address_written_as_a_name_is_judged_as_an_address(server: int, written: str) -> None:
    """The control is the same server by an address that a rule lists."""
    inside = Inside(NetworkRules(public=True, hosts=((NAME, "127.0.0.1"),)))
    try:
        target = f"{written}:{server}"
        answer = inside.ask(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        assert b" 200 " not in answer.split(b"\r\n")[0]
        assert inside.gate.events()[-1].reason in ("resolved_private", "not_resolved")
        inside.tunnel(f"{NAME}:{server}").close()
    finally:
        inside.close()


def test_a_tls_client_has_to_ask_for_the_name_of_its_tunnel(inside: Inside, server: int) -> None:
    """Another one ends it; the control is the right name, on which the server's answer arrives."""
    context = ssl.create_default_context()
    for name, wanted in (("other.test", True), (NAME, False)):
        with (
            inside.tunnel(f"{NAME}:{server}") as connection,
            pytest.raises((ssl.SSLError, ConnectionResetError)),
        ):
            context.wrap_socket(connection, server_hostname=name)
        refused = [event for event in inside.gate.events() if event.reason == "tls_name"]
        assert 1 == len(refused), wanted
    assert "other.test" == refused[0].detail


def test_bytes_that_follow_a_head_at_once_are_passed_on(inside: Inside, server: int) -> None:
    target = f"{NAME}:{server}"
    answer = inside.ask(
        f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\nGET /early HTTP/1.0\r\n\r\n".encode()
    )
    assert b"GET /early HTTP/1.0" in answer


def test_large_bodies_arrive_whole_in_both_directions(inside: Inside, server: int) -> None:
    with inside.opener().open(f"http://{NAME}:{server}/large", timeout=60) as response:
        assert hashlib.sha256(LARGE).digest() == hashlib.sha256(response.read()).digest()
    with inside.opener().open(f"http://{NAME}:{server}/", LARGE, timeout=60) as response:
        assert hashlib.sha256(LARGE).hexdigest() == response.read().decode()
    with inside.tunnel(f"{NAME}:{server}") as connection:
        connection.sendall(b"GET /large HTTP/1.0\r\n\r\n")
        found = _rest(connection).partition(b"\r\n\r\n")[2]
    assert hashlib.sha256(LARGE).digest() == hashlib.sha256(found).digest()


def test_a_slow_reader_holds_up_no_other(inside: Inside, server: int) -> None:
    with inside.tunnel(f"{NAME}:{server}") as slow:
        slow.sendall(b"GET /large HTTP/1.0\r\n\r\n")
        with inside.opener().open(f"http://{NAME}:{server}/large", timeout=60) as response:
            assert len(LARGE) == len(response.read())
        assert len(_rest(slow)) > len(LARGE)


def test_many_connections_at_once_are_served(inside: Inside, server: int) -> None:
    """And more than there may be are ended, not left waiting."""
    with contextlib.ExitStack() as held, ThreadPoolExecutor(32) as pool:
        for made in pool.map(lambda _: inside.tunnel(f"{NAME}:{server}"), range(200)):
            held.enter_context(made)
        assert 200 == inside.gate.stats().open
    assert eventually(lambda: inside.gate.stats().open == 0, 60)
    with contextlib.ExitStack() as held:
        for _ in range(MOST_CONNECTIONS):
            held.enter_context(inside.connect())
        # The last one is one too many, or one before it was.
        assert eventually(lambda: inside.ask(b"GET / HTTP/1.1\r\n\r\n") == b"", 60)
    target = f"http://{NAME}:{server}/"
    request = f"GET {target} HTTP/1.1\r\nHost: {NAME}:{server}\r\n\r\n".encode()
    assert eventually(lambda: b" 200 " in inside.ask(request), 60)


def test_new_rules_cut_what_they_do_not_allow(inside: Inside, server: int) -> None:
    with inside.tunnel(f"{NAME}:{server}") as connection:
        assert 1 == inside.gate.update(NetworkRules.allow())
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
    assert b" 403 " in inside.ask(f"CONNECT {NAME}:{server} HTTP/1.1\r\n\r\n".encode())


@pytest.mark.parametrize("side", ["gate", "listener"])
def test_an_end_in_between_is_an_error_for_both_sides(server: int, side: str) -> None:
    """Neither the program nor the host takes it for the end of a message."""
    ended: list[str] = []
    listener = socket.create_server(("127.0.0.1", 0))
    inside = Inside(_rules(listener.getsockname()[1]))
    with listener, inside.tunnel(f"{NAME}:{listener.getsockname()[1]}") as connection:
        host, _ = listener.accept()
        with host:
            connection.sendall(b"half")
            assert b"half" == host.recv(4)
            (inside.gate._kill if side == "gate" else inside.process.kill)()
            for sock in (host, connection):
                sock.settimeout(30)
                with pytest.raises(ConnectionResetError):
                    ended.append(str(sock.recv(1)))
    inside.process.wait(30)
    inside.gate.close()
    assert ended == []


def test_a_program_that_resets_its_connection_resets_that_of_the_host(inside: Inside) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        inside.gate.update(_rules(listener.getsockname()[1]))
        connection = inside.tunnel(f"{NAME}:{listener.getsockname()[1]}")
        host, _ = listener.accept()
        with host:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()
            host.settimeout(30)
            with pytest.raises(ConnectionResetError):
                host.recv(1)


FORGED: dict[str, Callable[[], bytes]] = {
    "a pipe": lambda: _frame(0, 0, OPENED.pack(1, 0, 1, b"{}")),
    "many": lambda: _frame(0, 0, b"\xff" + b"\0" * 5 * 255 + b"{}"),
    "twice": lambda: _frame(0, 0, OPENED.pack(1, 2, 1, b"{}")) * 2,
    "a record": lambda: _frame(0, 0, b'\0{"op": "start"}'),
    "no kind": lambda: _frame(0, 0, OPENED.pack(1, 2, 1, b"{}")) + _frame(77, 1, b""),
    "beyond its credit": lambda: (
        _frame(0, 0, OPENED.pack(1, 2, 1, b"{}")) + _frame(1, 1, bytes(8 << 20))
    ),
    "huge": lambda: b"\1\1\0\0\0\xff\xff\xff\xff",
}


def _frame(kind: int, number: int, payload: bytes) -> bytes:
    return (
        bytes((kind,)) + number.to_bytes(4, "little") + len(payload).to_bytes(4, "little") + payload
    )


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_forged_frames_close_the_network_and_nothing_else(forged: Callable[[], bytes]) -> None:
    """The control is a frame that is well formed, after which the stream is still open."""
    near, far = socket.socketpair()
    sockets = NetnsSockets([("proxy", near.detach())], redirected=True)
    with far, Gate.start(sockets, NetworkRules.allow()) as gate:
        far.settimeout(30)
        far.sendall(
            _frame(0, 0, OPENED.pack(1, 2, 9, b"{}")) + _frame(1, 9, b"GET / HTTP/9\r\n\r\n")
        )
        assert far.recv(1)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            far.sendall(forged())
        _rest(far)
        assert gate.alive
        assert gate.stats().open == 0


def test_a_flood_of_connections_is_bounded() -> None:
    near, far = socket.socketpair()
    sockets = NetnsSockets([("proxy", near.detach())], redirected=True)
    with far, Gate.start(sockets, NetworkRules.allow()) as gate:
        for number in range(1, 20_000):
            far.sendall(_frame(0, 0, OPENED.pack(1, 2, number, b"{}")))
        assert gate.stats().open == 0
        # Those beyond are reset; the kind of the frame is its first byte.
        assert b"\x05" == far.recv(1)
