"""Whose a sandbox is, and when it ends, on a server with many clients."""

import contextlib
import http.client
import json
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.integrations.mcp_servers import (
    PATIENCE_S,
    Served,
    command,
    environment,
    leaving,
    name_of,
    served,
    text_of,
)
from tests.integrations.processes import Marked

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """A server with room for three sandboxes."""
    with served("--sessions", "3") as running:
        yield running


@contextlib.asynccontextmanager
async def with_headers(server: Served, headers: dict[str, str]) -> AsyncIterator[Client]:
    """A client that sends these with all that it asks."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as sender,
        Client(streamable_http_client(server.url, http_client=sender)) as client,
    ):
        yield client


class RawClient:
    """A client of the protocol with sessions that does as it is told, and tidies up nothing."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        about = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        _, headers = self.post({"id": 0, "method": "initialize", "params": about})
        self._headers["Mcp-Session-Id"] = headers["mcp-session-id"]
        self.post({"method": "notifications/initialized"})

    def request(self, method: str, data: bytes | None = None) -> tuple[int, Any]:
        asked = urllib.request.Request(self._url, data=data, headers=self._headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
                answer.read()
                return answer.status, answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers

    def post(self, message: dict[str, Any]) -> tuple[int, Any]:
        return self.request("POST", json.dumps({"jsonrpc": "2.0", **message}).encode())

    def run(self, code: str) -> tuple[int, Any]:
        call = {"name": "run_code", "arguments": {"code": code}}
        return self.post({"id": 1, "method": "tools/call", "params": call})


async def test_a_client_that_ends_its_session_ends_its_sandboxes(server: Served) -> None:
    """All of them, and nobody else's; one that only goes away leaves its own until it is idle."""
    mine, second, others = Marked(), Marked(), Marked()
    staying = streamable_http_client(server.url, terminate_on_close=False)
    async with Client(staying, mode="legacy") as other:
        kept = name_of(await other.call_tool("run_code", {"code": leaving(others)}))
    async with server.legacy() as client:
        await client.call_tool("run_code", {"code": leaving(mine)})
        more = text_of(await client.call_tool("create_session", {})).removeprefix("session: ")
        await client.call_tool("run_code", {"code": leaving(second), "session": more})
        for mark in (mine, second, others):
            assert await mark.wait(running=True)
        named = await client.call_tool("run_code", {"code": "child", "session": kept})
        assert "there is no session" in text_of(named)
        closed = await client.call_tool("close_session", {"session": kept})
        assert closed.is_error
    assert await mine.wait(running=False)
    assert await second.wait(running=False)
    assert others.is_running()


async def test_a_session_that_is_deleted_stops_what_runs_in_it() -> None:
    """The answer comes when it has; the session is then unknown."""
    mark = Marked()
    with served("--timeout", "600") as server:
        client = RawClient(server.url)
        calling = threading.Thread(target=client.run, args=[mark.code])
        calling.start()
        assert await mark.wait(running=True)
        status, _ = client.request("DELETE")
        assert status == 200
        assert await mark.wait(running=False)
        calling.join(PATIENCE_S)
        assert not calling.is_alive()
        assert client.run("1")[0] == 404


async def test_a_call_that_is_dropped_is_stopped(server: Served) -> None:
    """In the protocol without sessions a connection that breaks ends its call, and the sandbox
    that nobody has heard of.
    """
    mark = Marked()
    program = (
        "import asyncio, sys\nfrom mcp.client import Client\n"
        "async def main():\n"
        "    async with Client(sys.argv[1]) as client:\n"
        "        await client.call_tool('run_code', {'code': sys.argv[2]})\n"
        "asyncio.run(main())\n"
    )
    argv = [sys.executable, "-c", program, server.url, leaving(mark) + "\nchild.wait()"]
    caller = subprocess.Popen(argv)  # noqa: ASYNC220
    try:
        assert await mark.wait(running=True)
    finally:
        caller.kill()
        caller.wait()
    assert await mark.wait(running=False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_server_that_ends_leaves_nothing(number: signal.Signals) -> None:
    """What runs, and what waits for the next call of a client that is still there."""
    idle, busy = Marked(), Marked()
    with served("--timeout", "600") as server:
        quiet, loud = RawClient(server.url), RawClient(server.url)
        assert quiet.run(leaving(idle))[0] == 200

        def call() -> None:
            # The server goes away, as it should.
            with contextlib.suppress(OSError, http.client.HTTPException):
                loud.run(busy.code)

        calling = threading.Thread(target=call)
        calling.start()
        assert await idle.wait(running=True)
        assert await busy.wait(running=True)
        server.stop(number)
        assert await idle.wait(running=False)
        assert await busy.wait(running=False)
        calling.join(PATIENCE_S)
        assert not calling.is_alive()


async def test_a_token_is_asked_for() -> None:
    """Without it nothing is answered; with it everything is."""
    with served(LLM_SANDBOX_MCP_TOKEN="a-long-secret") as server:
        for headers in ({}, {"Authorization": "Bearer a-long"}):
            assert httpx2.post(server.url, headers=headers, json={}).status_code == 401
        async with with_headers(server, {"Authorization": "Bearer a-long-secret"}) as client:
            done = await client.call_tool("run_code", {"code": "6 * 7"})
    assert done.structured_content["value"] == "42"


def test_other_computers_need_a_token() -> None:
    """An address that they reach is not listened at without one."""
    done = subprocess.run(
        [sys.executable, *command("--transport", "http", "--host", "0.0.0.0")],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(),
        check=False,
    )
    assert done.returncode == 2
    assert "LLM_SANDBOX_MCP_TOKEN" in done.stderr
