"""`llm-sandbox mcp --config`: what is pasted into clients starts the server that was described."""

import json
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.integrations.mcp_servers import PATIENCE_S, ROOT, environment, text_of

pytestmark = pytest.mark.slow

NAME = "llm-sandbox"


def configured(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "llm_sandbox", "mcp", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=folder,
        env=environment(**variables),
        check=False,
    )


def blocks(text: str) -> dict[str, Any]:
    """The first client of each block, and what the block says to a parser of its format."""
    found = {}
    for part in f"\n\n{text}".split("\n\n# ")[1:]:
        heading, _, body = part.partition("\n\n")
        client = heading.partition(":")[0]
        found[client] = tomllib.loads(body) if body.startswith("[") else json.loads(body)
    return found


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_every_block_starts_the_server_with_its_options(tmp_path: Path) -> None:
    """As given, from whatever folder a client starts it in: paths are whole."""
    (tmp_path / "mine.toml").write_text('preset = "minimal"\n')
    given = "-l bash --backend bubblewrap --policy mine.toml --no-install --timeout 9"
    given += " --network open -e GREETING=hello --memory 300m"
    done = configured(tmp_path, "--config", *given.split())
    assert done.returncode == 0, done.stderr
    read = blocks(done.stdout)
    assert set(read) == {"Claude Desktop", "VS Code", "Zed", "Codex"}
    entries = [
        read["Claude Desktop"]["mcpServers"][NAME],
        read["VS Code"]["servers"][NAME],
        read["Zed"]["context_servers"][NAME],
        read["Codex"]["mcp_servers"][NAME],
    ]
    started = {(entry["command"], *entry["args"]) for entry in entries}
    assert len(started) == 1
    assert read["VS Code"]["servers"][NAME]["type"] == "stdio"
    assert read["Codex"]["mcp_servers"][NAME]["tool_timeout_sec"] > 9
    entry = entries[0]
    assert Path(entry["command"]).is_absolute()
    assert str(tmp_path / "mine.toml") in entry["args"]
    assert "--config" not in entry["args"]
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=environment(), cwd="/"
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        async with Client(stdio_client(server)) as client:
            await check_machine(client, port)


async def check_machine(client: Client, port: int) -> None:
    """Tools and sandboxes are as the options say."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert "install" not in tools
    annotations = tools["run_code"].annotations
    assert annotations is not None
    assert annotations.open_world_hint is True
    code = f'echo "$GREETING"; : < /dev/tcp/127.0.0.1/{port} && echo reached'
    said = text_of(await client.call_tool("run_code", {"code": code}))
    assert "hello\nreached" in said


def test_blocks_for_http_name_the_address(tmp_path: Path) -> None:
    """And the variable with the token, where there is one; never the token."""
    words = ("--config", "--transport", "http", "--port", "9999")
    plain = blocks(configured(tmp_path, *words).stdout)
    assert plain["Cursor"]["mcpServers"][NAME] == {"url": "http://127.0.0.1:9999/mcp"}
    assert plain["Codex"]["mcp_servers"][NAME]["url"] == "http://127.0.0.1:9999/mcp"
    guarded = configured(tmp_path, *words, "--host", "::", LLM_SANDBOX_MCP_TOKEN="a-secret").stdout
    assert "a-secret" not in guarded
    read = blocks(guarded)
    assert read["VS Code"]["servers"][NAME] == {
        "type": "http",
        "url": "http://HOST:9999/mcp",
        "headers": {"Authorization": "Bearer ${env:LLM_SANDBOX_MCP_TOKEN}"},
    }
    assert read["Codex"]["mcp_servers"][NAME]["bearer_token_env_var"] == "LLM_SANDBOX_MCP_TOKEN"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--backend nosuch", "'nosuch'"),
        ("--backend bubblewrap --image python:3", "--image"),
        ("--backend docker --image x --lang r --lang go", "an image is for one language"),
        ("--lang cobol", "'cobol'"),
        ("--backend bubblewrap --lang bash --lib jq", "'bash' cannot install libraries"),
        ("--policy nosuch", "'nosuch'"),
        ("--memory lots", "--memory"),
        ("--env nonsense", "KEY=VALUE"),
    ],
)
def test_what_cannot_be_honoured_is_refused_at_the_start(
    words: str, said: str, tmp_path: Path
) -> None:
    """Before a client is there, with a sentence about it."""
    done = configured(tmp_path, *words.split())
    assert done.returncode in (2, 125)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_people_start_says_what_to_do() -> None:
    """On a terminal it prints the configuration, and goes on."""
    done = subprocess.run(
        ["script", "-qec", f"{sys.executable} -m llm_sandbox mcp -b bubblewrap", "/dev/null"],
        input="",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=ROOT,
        env=environment(),
        check=False,
    )
    assert "waiting for a client" in done.stdout
    assert '"mcpServers"' in done.stdout
