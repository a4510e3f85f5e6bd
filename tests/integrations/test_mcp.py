"""The MCP server, driven by the protocol's own client: in this process, over stdio, over HTTP."""

import base64
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from llm_sandbox.integrations.mcp import ServerOptions, make_server
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.security import get_security_policy

ROOT = Path(__file__).resolve().parents[2]
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint('drawn')"
PNG = b"\x89PNG\r\n\x1a\n"
TOOLS = {
    "run_code",
    "run_command",
    "install",
    "list_files",
    "read_file",
    "write_file",
    "list_artifacts",
    "create_session",
    "close_session",
}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


@asynccontextmanager
async def in_process(options: ServerOptions | None = None) -> AsyncIterator[Client]:
    options = options or ServerOptions(backend="bubblewrap")
    async with Client(make_server(options)) as client:
        yield client


def command(*words: str) -> list[str]:
    return ["-m", "llm_sandbox", "mcp", "--backend", "bubblewrap", *words]


@asynccontextmanager
async def over_stdio(*words: str) -> AsyncIterator[Client]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    server = StdioServerParameters(
        command=sys.executable, args=command(*words), env=environment, cwd=str(ROOT)
    )
    async with Client(stdio_client(server)) as client:
        yield client


@asynccontextmanager
async def served(*words: str) -> AsyncIterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, *command("--transport", "http", "--port", str(port), *words)]
    process = subprocess.Popen(argv, env=environment, stderr=subprocess.PIPE)  # noqa: ASYNC220
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, process.communicate()[1]
            await anyio.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.communicate(timeout=60)


async def test_every_tool_is_listed_with_what_it_takes() -> None:
    """Clients choose by descriptions and schemas."""
    async with in_process() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(listed) == TOOLS
    assert all(tool.description for tool in listed.values())
    schema = listed["run_code"].input_schema
    assert schema["required"] == ["code"]
    assert "context" not in schema["properties"]
    annotations = listed["run_code"].annotations
    assert annotations is not None
    assert (annotations.read_only_hint, annotations.open_world_hint) == (False, False)


async def test_every_tool_is_called() -> None:
    """Code, commands, files, artifacts and sessions, in the order of a day's work."""
    async with in_process() as client:
        drawn = await client.call_tool("run_code", {"code": f"x = 41\n{PLOT}"})
        assert not drawn.is_error
        assert "drawn" in text_of(drawn)
        pictures = [part for part in drawn.content if part.type == "image"]
        assert [part.mime_type for part in pictures] == ["image/png"]
        assert base64.b64decode(pictures[0].data).startswith(PNG)
        facts = drawn.structured_content
        assert (facts["status"], facts["exit_code"]) == ("ok", 0)

        uri = facts["artifacts"][0]["uri"]
        resource = await client.read_resource(uri)
        assert base64.b64decode(resource.contents[0].blob).startswith(PNG)

        kept = await client.call_tool("run_code", {"code": "x + 1"})
        assert kept.structured_content["value"] == "42"

        await client.call_tool("write_file", {"path": "a.txt", "content": "text\n"})
        said = await client.call_tool("run_command", {"command": "cat a.txt; exit 3"})
        assert said.structured_content["stdout"] == "text\n"
        assert said.structured_content["exit_code"] == 3
        assert "a.txt" in text_of(await client.call_tool("list_files", {}))
        assert text_of(await client.call_tool("read_file", {"path": "a.txt"})) == "text\n"
        assert "image/png" in text_of(await client.call_tool("list_artifacts", {}))

        other = text_of(await client.call_tool("create_session", {})).removeprefix("session: ")
        gone = await client.call_tool("run_code", {"code": "x", "session": other})
        assert gone.structured_content["error"]["name"] == "NameError"
        await client.call_tool("close_session", {"session": other})
        closed = await client.call_tool("run_code", {"code": "1", "session": other})
        assert closed.is_error
        assert "there is no session" in text_of(closed)


async def test_a_failing_program_is_a_result_and_a_refused_one_is_not() -> None:
    """The difference between the program's fault and the tool's."""
    options = ServerOptions(backend="bubblewrap", policy=get_security_policy("production"))
    async with in_process(options) as client:
        failed = await client.call_tool("run_code", {"code": "1 / 0"})
        assert not failed.is_error
        assert failed.structured_content["error"]["line"] == 1
        refused = await client.call_tool("run_code", {"code": "import os; os.system('id')"})
        assert refused.is_error
        assert "os.system" in text_of(refused)


async def test_mistakes_say_what_to_do() -> None:
    """A missing file, a language that is not offered, one session too many."""
    async with in_process(ServerOptions(backend="bubblewrap", sessions=1)) as client:
        missing = await client.call_tool("read_file", {"path": "none.txt"})
        assert missing.is_error
        assert "none.txt" in text_of(missing)
        language = await client.call_tool("run_code", {"code": "1", "language": "cobol"})
        assert "this server runs python, not cobol" in text_of(language)
        many = await client.call_tool("create_session", {})
        assert "close one with close_session" in text_of(many)
        with pytest.raises(MCPError):
            await client.read_resource("sandbox://nobody/artifacts/nothing")


async def test_a_timeout_keeps_what_was_printed() -> None:
    """The server's limit holds, whatever the client asks for."""
    options = ServerOptions(backend="bubblewrap", tool=ToolOptions(timeout=1.5))
    async with in_process(options) as client:
        code = "print('begun', flush=True)\nwhile True: pass"
        result = await client.call_tool("run_code", {"code": code, "timeout": 100})
        assert result.structured_content["timed_out"]
        assert "begun" in text_of(result)


async def test_a_sandbox_that_nobody_uses_ends() -> None:
    """And a later call gets a fresh one."""
    async with in_process(ServerOptions(backend="bubblewrap", idle_s=0.5)) as client:
        first = await client.call_tool("run_code", {"code": "x = 1"})
        await anyio.sleep(4)
        second = await client.call_tool("run_code", {"code": "x"})
    assert second.structured_content["session"] != first.structured_content["session"]
    assert second.structured_content["error"]["name"] == "NameError"


def spinning(mark: str) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if mark in " ".join(process.info["cmdline"] or ())
    ]


async def wait_for(there: bool, mark: str) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if bool(spinning(mark)) == there:
            return True
        await anyio.sleep(0.1)
    return False


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_cancelled_call_stops_the_code(transport: str) -> None:
    """Seen from outside: the process is gone, and the session can be used again."""
    mark = f"sleep 98765.{os.getpid()}{transport == 'http':d}"
    code = f"import subprocess\nsubprocess.run({mark.split()!r})"

    async def cancel(client: Client) -> None:
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                await client.call_tool("run_code", {"code": code})

            tasks.start_soon(call)
            assert await wait_for(True, mark)
            tasks.cancel_scope.cancel()
        assert await wait_for(False, mark)
        again = await client.call_tool("run_code", {"code": "print('still here')"})
        assert "still here" in text_of(again)

    if transport == "stdio":
        async with over_stdio() as client:
            await cancel(client)
    else:
        async with served() as url, Client(url) as client:
            await cancel(client)


async def test_progress_of_a_long_run_is_told() -> None:
    """Seconds go up, and the last line is there."""
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    code = "import time\nfor n in range(6):\n    print('step', n, flush=True)\n    time.sleep(0.6)"
    async with over_stdio() as client:
        await client.call_tool("run_code", {"code": code}, progress_callback=hear)
    assert len(told) >= 2
    assert [seconds for seconds, _ in told] == sorted(seconds for seconds, _ in told)
    assert any(message and message.startswith("step") for _, message in told)


async def test_two_clients_have_their_own_sessions() -> None:
    """Over HTTP neither sees the other's variables, nor can guess its session."""
    async with served() as url, Client(url) as one, Client(url) as other:
        mine = await one.call_tool("run_code", {"code": "secret = 1"})
        name = mine.structured_content["session"]
        theirs = await other.call_tool("run_code", {"code": "secret"})
        assert theirs.structured_content["error"]["name"] == "NameError"
        assert theirs.structured_content["session"] != name
        again = await one.call_tool("run_code", {"code": "secret + 1", "session": name})
        assert again.structured_content["value"] == "2"


async def test_a_client_that_goes_takes_its_sandbox_along() -> None:
    """Over stdio the server ends with its client, and everything in it."""
    mark = f"sleep 87654.{os.getpid()}"
    async with over_stdio() as client:
        await client.call_tool("run_command", {"command": f"{mark} >/dev/null 2>&1 &"})
        code = f"import subprocess; p = subprocess.Popen({mark.split()!r})"
        await client.call_tool("run_code", {"code": code})
        assert await wait_for(True, mark)
    assert await wait_for(False, mark)


async def test_limits_come_from_the_command_line() -> None:
    """What a person starts the server with holds for every client."""
    async with over_stdio("--memory", "300m", "--no-install") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS - {"install"}
        code = "block = bytearray(2_000_000_000)"
        result = await client.call_tool("run_code", {"code": code})
        assert result.structured_content["error"]["name"] == "MemoryError"
        libraries = {"code": "1", "libraries": ["tabulate"]}
        denied = await client.call_tool("run_code", libraries)
        assert "installs no libraries" in text_of(denied)
    async with over_stdio("--policy", "production") as client:
        refused = await client.call_tool("run_code", {"code": "import os; os.system('id')"})
        assert refused.is_error


def test_the_configuration_of_clients_is_printed() -> None:
    """One block that clients take, with the options that were given."""
    done = subprocess.run(
        [sys.executable, *command("--memory", "300m", "--config")],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert '"mcpServers"' in done.stdout
    assert '"--memory"' in done.stdout
    assert "--config" not in done.stdout
