"""Servers of the Model Context Protocol, and the ways of clients to them."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from llm_sandbox.integrations.mcp import ServerOptions, make_server
from tests.integrations.processes import Marked

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0

Door = Callable[[], AbstractAsyncContextManager[Client]]
"""Opens a client to a server."""


def text_of(result: Any) -> str:
    """The texts of a result, one to a line."""
    return "\n".join(part.text for part in result.content if part.type == "text")


def name_of(result: Any) -> str:
    """The session that a result names."""
    return str(result.structured_content["session"])


@asynccontextmanager
async def in_process(options: ServerOptions | None = None) -> AsyncIterator[Client]:
    """A client of a server in this process."""
    options = options or ServerOptions(backend="bubblewrap")
    async with Client(make_server(options)) as client:
        yield client


def command(*words: str) -> list[str]:
    """What Python is started with."""
    return ["-m", "llm_sandbox", "mcp", "--backend", "bubblewrap", *words]


def environment(**more: str) -> dict[str, str]:
    """The variables of a server."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


@asynccontextmanager
async def over_stdio(*words: str) -> AsyncIterator[Client]:
    """A client that starts its server."""
    server = StdioServerParameters(
        command=sys.executable, args=command(*words), env=environment(), cwd=str(ROOT)
    )
    async with Client(stdio_client(server)) as client:
        yield client


@dataclass(frozen=True)
class Served:
    """A server over HTTP in a process of its own."""

    url: str
    process: subprocess.Popen[bytes]

    @asynccontextmanager
    async def modern(self) -> AsyncIterator[Client]:
        """A client of the protocol without sessions, which is what it chooses by itself."""
        async with Client(self.url) as client:
            assert client.protocol_version == "2026-07-28"
            yield client

    @asynccontextmanager
    async def legacy(self) -> AsyncIterator[Client]:
        """A client of the protocol with sessions; it deletes its own when it goes."""
        async with Client(self.url, mode="legacy") as client:
            yield client

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it, and wait until it has."""
        self.process.send_signal(number)
        try:
            self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise


@contextmanager
def served(*words: str, **variables: str) -> Iterator[Served]:
    """A server over HTTP, until the body ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [sys.executable, *command("--transport", "http", "--port", str(port), *words)]
    process = subprocess.Popen(argv, env=environment(**variables), stderr=subprocess.PIPE)
    server = Served(f"http://127.0.0.1:{port}/mcp", process)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.05)
        yield server
    finally:
        if process.poll() is None:
            server.stop()


def leaving(mark: Marked) -> str:
    """Code that starts what is marked, and ends before it."""
    return mark.code.replace("subprocess.run", "child = subprocess.Popen")
