"""The MCP server, driven by the protocol's own client: in this process, over stdio, over HTTP."""

import base64
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from llm_sandbox.integrations.mcp import ServerOptions
from llm_sandbox.integrations.mcp.server import build_server
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.security import get_security_policy
from tests.integrations.mcp_servers import (
    PATIENCE_S,
    ROOT,
    Served,
    environment,
    in_process,
    leaving,
    name_of,
    over_stdio,
    served,
    text_of,
)
from tests.integrations.processes import Marked

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint('drawn')"
PNG = b"\x89PNG\r\n\x1a\n"
TOOLS = {
    "run_code",
    "run_command",
    "install",
    "list_files",
    "read_file",
    "read_output",
    "write_file",
    "list_artifacts",
    "create_session",
    "close_session",
}
TRANSPORTS = ["stdio", "modern", "legacy"]
"""Standard input and output, and HTTP by the protocol without sessions and by the one with them."""

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """A server over HTTP."""
    with served() as running:
        yield running


@asynccontextmanager
async def client_by(transport: str, server: Served) -> AsyncIterator[Client]:
    """A client, by one of the ways in."""
    way = over_stdio() if transport == "stdio" else getattr(server, transport)()
    async with way as client:
        yield client


async def test_every_tool_is_listed_with_what_it_takes() -> None:
    """Clients choose by descriptions and schemas."""
    async with in_process() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(listed) == TOOLS
    assert all(tool.description for tool in listed.values())
    schema = listed["run_code"].input_schema
    assert schema["required"] == ["code"]
    assert "context" not in schema["properties"]
    assert "context" not in schema["properties"]
    assert "roots" not in schema["properties"]
    description = listed["run_code"].description or ""
    assert "stopped after 60 seconds" in description


HINTS = {
    "run_code": (False, True, False, False),
    "run_command": (False, True, False, False),
    "write_file": (False, True, False, False),
    "install": (False, True, True, True),
    "create_session": (False, False, False, False),
    "close_session": (False, True, True, False),
}
"""Whether a tool only reads, destroys, may be repeated, and reaches out of the sandbox."""


async def test_hints_of_tools_are_true() -> None:
    """Tools that are not in the table only read; an open network is told."""
    async with in_process() as client:
        for tool in (await client.list_tools()).tools:
            hints = tool.annotations
            assert hints is not None
            assert hints.read_only_hint is (tool.name not in HINTS)
            if tool.name in HINTS:
                found = (
                    hints.read_only_hint,
                    hints.destructive_hint,
                    hints.idempotent_hint,
                    hints.open_world_hint,
                )
                assert found == HINTS[tool.name], tool.name
    async with in_process(ServerOptions(backend="bubblewrap", network="open")) as client:
        hints_of = {t.name: t.annotations for t in (await client.list_tools()).tools}
        reaching = {name for name, hints in hints_of.items() if hints and hints.open_world_hint}
        assert reaching == {"run_code", "run_command", "install"}


async def test_what_an_answer_leaves_out_is_read() -> None:
    """By the tool that the answer names, with the handle and the offset that it names."""
    async with in_process() as client:
        before = await client.call_tool("read_output", {"handle": "stdout"})
        assert "nothing has been run yet" in text_of(before)
        code = "for n in range(20_000): print('line', n)"
        shown = text_of(await client.call_tool("run_code", {"code": code}))
        found = re.search(r'read_output\("stdout", offset=(\d+)\) gives them', shown)
        assert found is not None, shown
        asked = {"handle": "stdout", "offset": int(found[1]), "limit": 300}
        page = await client.call_tool("read_output", asked)
        whole = "".join(f"line {n}\n" for n in range(20_000))
        piece = whole[asked["offset"] : asked["offset"] + 300].rstrip()
        assert piece in text_of(page)
        assert f"offset={asked['offset'] + 300}) goes on" in text_of(page)
        last = await client.call_tool("read_output", {"handle": "stdout", "offset": len(whole) - 9})
        assert "that is the end" in text_of(last)
        unknown = text_of(await client.call_tool("read_output", {"handle": "nothing"}))
        assert "Nothing was read" in unknown
    none = ServerOptions(backend="bubblewrap", tool=ToolOptions(reader=None))
    async with in_process(none) as client:
        assert "read_output" not in {tool.name for tool in (await client.list_tools()).tools}
        shown = text_of(await client.call_tool("run_code", {"code": code}))
        assert "characters left out]" in shown
        assert "read" not in shown


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_every_tool_is_called(transport: str, server: Served) -> None:
    """Code, commands, files, artifacts and sessions, in the order of a day's work."""
    async with client_by(transport, server) as client:
        drawn = await client.call_tool("run_code", {"code": f"x = 41\n{PLOT}"})
        assert not drawn.is_error
        assert "drawn" in text_of(drawn)
        pictures = [part for part in drawn.content if part.type == "image"]
        assert [part.mime_type for part in pictures] == ["image/png"]
        assert base64.b64decode(pictures[0].data).startswith(PNG)
        facts = drawn.structured_content
        assert (facts["status"], facts["exit_code"]) == ("ok", 0)
        mine = {"session": name_of(drawn)}

        resource = await client.read_resource(facts["artifacts"][0]["uri"])
        assert base64.b64decode(resource.contents[0].blob).startswith(PNG)

        kept = await client.call_tool("run_code", {"code": "x + 1", **mine})
        assert kept.structured_content["value"] == "42"

        await client.call_tool("write_file", {"path": "a.txt", "content": "text\n", **mine})
        said = await client.call_tool("run_command", {"command": "cat a.txt; exit 3", **mine})
        assert said.structured_content["stdout"] == "text\n"
        assert said.structured_content["exit_code"] == 3
        assert "a.txt" in text_of(await client.call_tool("list_files", mine))
        read = await client.call_tool("read_file", {"path": "a.txt", **mine})
        assert read.content[0].text == "text\n"
        made = await client.call_tool("list_artifacts", mine)
        assert facts["artifacts"][0]["uri"] in text_of(made)

        done = await client.call_tool("install", {"libraries": ["tabulate"], **mine})
        assert text_of(done).startswith("installed: tabulate")
        used = await client.call_tool("run_code", {"code": "import tabulate", **mine})
        assert used.structured_content["status"] == "ok"

        other = text_of(await client.call_tool("create_session", {})).removeprefix("session: ")
        gone = await client.call_tool("run_code", {"code": "x", "session": other})
        assert gone.structured_content["error"]["name"] == "NameError"
        await client.call_tool("close_session", {"session": other})
        closed = await client.call_tool("run_code", {"code": "1", "session": other})
        assert closed.is_error
        assert "is gone, because it was closed" in text_of(closed)
        await client.call_tool("close_session", mine)


@pytest.mark.parametrize("transport", ["stdio", "legacy"])
async def test_a_client_that_is_known_need_not_name_its_session(
    transport: str, server: Served
) -> None:
    """Its calls share one; each language has its own."""
    async with client_by(transport, server) as client:
        first = await client.call_tool("run_code", {"code": "x = 41"})
        second = await client.call_tool("run_code", {"code": "x + 1"})
        assert second.structured_content["value"] == "42"
        assert name_of(first) == name_of(second)


async def test_a_session_keeps_its_language() -> None:
    """What is asked of the wrong one is refused, and not run as something else."""
    options = ServerOptions(backend="bubblewrap", languages=("python", "sh"))
    async with in_process(options) as client:
        python = await client.call_tool("run_code", {"code": "x = 1"})
        bash = await client.call_tool("run_code", {"code": "x=2", "language": "bash"})
        kept = await client.call_tool("run_code", {"code": "echo $x", "language": "shell"})
        assert "2" in text_of(kept).splitlines()
        assert name_of(kept) == name_of(bash) != name_of(python)
        wrong = {"code": "x", "language": "bash", "session": name_of(python)}
        refused = await client.call_tool("run_code", wrong)
        assert refused.is_error
        assert "runs python, not bash" in text_of(refused)


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
        cut = "100 seconds were asked for, and this server gives 1.5 at most"
        assert cut in text_of(result)
        again = await client.call_tool("run_command", {"command": "true", "timeout": 100})
        assert cut in text_of(again)
        less = await client.call_tool("run_code", {"code": "1", "timeout": 1})
        assert "at most" not in text_of(less)


async def test_a_sandbox_that_nobody_uses_ends() -> None:
    """And a later call gets a fresh one."""
    mark = Marked()
    async with in_process(ServerOptions(backend="bubblewrap", idle_s=0.5)) as client:
        first = await client.call_tool("run_code", {"code": leaving(mark)})
        assert await mark.wait(running=False)
        second = await client.call_tool("run_code", {"code": "child"})
    assert name_of(second) != name_of(first)
    assert second.structured_content["error"]["name"] == "NameError"
    assert f"{name_of(first)} is gone, because nobody used it for 0.5 seconds" in text_of(second)


async def test_a_sandbox_that_has_ended_by_itself_is_replaced() -> None:
    """One call says so, and the next has a fresh one: the client is not shut out."""
    server, sessions = build_server(ServerOptions(backend="bubblewrap"), one_client=True)
    async with Client(server) as client:
        first = name_of(await client.call_tool("run_code", {"code": "x = 1"}))
        held = sessions.by_id(first)
        assert held is not None
        await held.session.sandbox.terminate()
        failed = await client.call_tool("run_code", {"code": "x"})
        assert failed.is_error
        assert "has ended" in text_of(failed)
        fresh = await client.call_tool("run_code", {"code": "x = 2; x"})
        assert fresh.structured_content["value"] == "2"
        assert f"{first} is gone, because its sandbox has ended by itself" in text_of(fresh)


async def test_a_note_names_what_a_client_can_set() -> None:
    """An option of the server's command line, and no parameter of Python."""
    async with in_process() as client:
        told = text_of(await client.call_tool("run_code", {"code": "bytearray(1 << 40)"}))
        assert "llm-sandbox mcp --memory" in told
        assert "Limits(" not in told
        code = "import urllib.request; urllib.request.urlopen('http://example.com')"
        offline = text_of(await client.call_tool("run_code", {"code": code}))
        assert "llm-sandbox mcp --network" in offline
        assert "network='" not in offline


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_cancelled_call_stops_the_code(transport: str, server: Served) -> None:
    """Seen from outside: the process is gone, and the session can be used again."""
    mark = Marked()
    async with client_by(transport, server) as client:
        begun = await client.call_tool("run_code", {"code": "kept = 'still here'"})
        mine = {"session": name_of(begun)}
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                await client.call_tool("run_code", {"code": mark.code, **mine})

            tasks.start_soon(call)
            assert await mark.wait(running=True)
            tasks.cancel_scope.cancel()
        assert await mark.wait(running=False)
        again = await client.call_tool("run_code", {"code": "print(kept)", **mine})
        assert "still here" in text_of(again)
        await client.call_tool("close_session", mine)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_progress_of_a_long_run_is_told(transport: str, server: Served) -> None:
    """Seconds go up, and the last line is there."""
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    code = "import time\nfor n in range(5):\n    print('step', n, flush=True)\n    time.sleep(0.6)"
    async with client_by(transport, server) as client:
        done = await client.call_tool("run_code", {"code": code}, progress_callback=hear)
        await client.call_tool("close_session", {"session": name_of(done)})
    assert len(told) >= 2
    assert [seconds for seconds, _ in told] == sorted(seconds for seconds, _ in told)
    assert any(message and message.startswith("step") for _, message in told)


async def test_a_client_that_goes_takes_its_sandbox_along() -> None:
    """Over stdio the server ends with its client, and everything in it."""
    mark = Marked()
    async with over_stdio() as client:
        await client.call_tool("run_code", {"code": leaving(mark)})
        assert await mark.wait(running=True)
    assert await mark.wait(running=False)


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


def test_the_example_is_a_client(tmp_path: Path) -> None:
    """It starts the server, and saves what was drawn."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "integrations" / "mcp_client.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(LLM_SANDBOX_BACKEND="bubblewrap"),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "81" in done.stdout
    assert (tmp_path / "squares.png").read_bytes().startswith(PNG)
