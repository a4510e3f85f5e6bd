"""A client's own servers in a sandbox, reached through the server."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.server.requests import Reply, ask, create, inside
from tests.server.servers import Served, served

PORT = 8080
SERVER = """
import http.server, json, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        size = int(self.headers.get("content-length") or 0)
        data = {"method": self.command, "path": self.path, "headers": dict(self.headers),
                "body": self.rfile.read(size).decode()}
        text = json.dumps(data).encode()
        self.send_response(201)
        self.send_header("X-Mine", "yes")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    do_GET = do_POST = answer
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()

import asyncio, websockets
async def echo(connection):
    async for message in connection:
        await connection.send(message)
async def main():
    async with websockets.serve(echo, "127.0.0.1", 8081):
        await asyncio.Future()
threading.Thread(target=asyncio.run, args=(main(),), daemon=True).start()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("--domain", "sandbox.localhost") as running:
        yield running


@pytest.fixture(scope="module")
def made(server: Served) -> dict[str, Any]:
    """A sandbox with a server at port 8080, and one for websockets at 8081."""
    made = create(server.port)
    body = {"code": SERVER}
    assert 200 == ask(server.port, "POST", "/execute", body, inside(made, 49999)).status
    deadline = time.monotonic() + 60
    for port in (PORT, 8081):
        while ask(server.port, "GET", "/", None, inside(made, port)).status == 502:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    return made


def get(server: Served, made: dict[str, Any], path: str = "/", **headers: str) -> Reply:
    return ask(server.port, "GET", path, None, {**inside(made, PORT), **headers})


def test_a_request_is_carried_as_it_is(server: Served, made: dict[str, Any]) -> None:
    reply = get(server, made, "/a%20b/%2e%2e?q=1&q=2", Accept="text/x")
    assert (201, "yes") == (reply.status, reply.headers["x-mine"])
    assert ("/a%20b/%2e%2e?q=1&q=2", "text/x") == (
        *(reply.json["path"], reply.json["headers"]["accept"]),
    )


def test_a_body_is_carried(server: Served, made: dict[str, Any]) -> None:
    headers = {**inside(made, PORT), "Content-Type": "text/plain"}
    reply = ask(server.port, "POST", "/in", b"text", headers)
    assert ("POST", "text") == (reply.json["method"], reply.json["body"])


def test_what_opens_the_sandbox_does_not_reach_it(server: Served, made: dict[str, Any]) -> None:
    seen = str(get(server, made, **{"X-API-Key": "key-of-mine", "X-Other": "other"}).json)
    assert "other" in seen
    for secret in ("key-of-mine", made["envdAccessToken"], made["trafficAccessToken"]):
        assert secret not in seen


def test_a_name_leads_to_a_port(server: Served, made: dict[str, Any]) -> None:
    host = f"{PORT}-{made['sandboxID']}.sandbox.localhost"
    token = {"E2B-Traffic-Access-Token": made["trafficAccessToken"]}
    reply = ask(server.port, "GET", "/by-name", None, {"Host": host, **token})
    assert (201, "/by-name") == (reply.status, reply.json["path"])
    assert 401 == ask(server.port, "GET", "/", None, {"Host": host}).status


def test_a_port_needs_the_token(server: Served, made: dict[str, Any]) -> None:
    headers = inside(made, PORT) | {"X-Access-Token": "0", "E2B-Traffic-Access-Token": "0"}
    assert 401 == ask(server.port, "GET", "/", None, headers).status


def test_a_closed_port_is_said_to_be(server: Served, made: dict[str, Any]) -> None:
    reply = ask(server.port, "GET", "/", None, inside(made, 9999))
    assert (502, "The sandbox is running but port 9999 is not open") == (
        *(reply.status, reply.json["message"]),
    )


def test_a_websocket_is_carried(server: Served, made: dict[str, Any]) -> None:
    url = f"ws://127.0.0.1:{server.port}/socket"
    with connect(url, additional_headers=inside(made, 8081), proxy=None) as socket:
        for message in ("text", b"\x00\xff", "x" * 100_000):
            socket.send(message)
            assert message == socket.recv(timeout=30)


def test_a_websocket_needs_the_token(server: Served, made: dict[str, Any]) -> None:
    headers = {"E2b-Sandbox-Id": made["sandboxID"], "E2b-Sandbox-Port": "8081"}
    url = f"ws://127.0.0.1:{server.port}/"
    with (
        pytest.raises(InvalidStatus, match="403"),
        connect(url, additional_headers=headers, proxy=None),
    ):
        pass
