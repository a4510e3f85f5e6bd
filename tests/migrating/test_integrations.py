"""Agents' tools around a session, and the MCP server that clients are configured for."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import (
    SandboxError,
    SecurityError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.mcp_server.server import get_language_details, make_server
from llm_sandbox.mcp_server.settings import ServerSettings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FIGURE = "import matplotlib.pyplot as p\np.plot([1, 3])\np.show()\nprint('drawn')"


def execute_code(code: str, language: str = "python", libraries: list[str] | None = None) -> str:
    """Run code and return what it printed, or its error."""
    try:
        with SandboxSession(lang=language, verbose=False) as session:
            result = session.run(code, libraries=libraries)
            return result.stdout if result.exit_code == 0 else f"Error: {result.stderr}"
    except SandboxError as error:
        return f"Sandbox: {error}"


def test_a_function_for_agents(place: str) -> None:
    assert "120\n" == execute_code("import math; print(math.factorial(5))")
    assert "ZeroDivisionError" in execute_code("1 // 0")
    assert execute_code("1", "cobol").startswith("Sandbox: ")


@pytest.mark.engine("docker", image="python")
def test_a_hardened_tool_for_agents() -> None:
    """The options that the reference's examples of agents all have."""
    hardened = {
        "network_mode": "none",
        "mem_limit": "512m",
        "pids_limit": 128,
        "cap_drop": ["ALL"],
        "cap_add": ["DAC_OVERRIDE"],
        "security_opt": ["no-new-privileges:true"],
    }
    arguments: dict[str, Any] = {"lang": "python", "verbose": False, "keep_template": True}
    # A capability more is a risk that has to be taken by name.
    with pytest.raises(SecurityError, match="cap_add"):
        SandboxSession(backend="docker", runtime_configs=hardened, **arguments)
    del hardened["cap_add"]
    with SandboxSession(backend="docker", runtime_configs=hardened, **arguments) as session:
        result = session.run("print(sum(range(4)))", timeout=30)
    assert (0, "6\n", "") == (result.exit_code, result.stdout, result.stderr)


def test_a_langchain_tool(place: str) -> None:
    tools = pytest.importorskip("langchain_core.tools", reason="langchain-core is not installed")
    tool = tools.StructuredTool.from_function(execute_code, name="execute_code")
    assert "9\n" == tool.invoke({"code": "print(3 ** 2)"})


# --- MCP


def told(result: Any) -> dict[str, Any]:
    texts = [part.text for part in result.content if part.type == "text"]
    facts: dict[str, Any] = json.loads(texts[-1])
    return facts


def serve(words: list[str], variables: Mapping[str, str]) -> StdioServerParameters:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return StdioServerParameters(command=sys.executable, args=words, env=env, cwd=str(ROOT))


def test_the_server(place: str) -> None:
    """Started as the reference's clients start it."""
    server = serve(
        ["-m", "llm_sandbox.mcp_server.server"], {"BACKEND": place, "SANDBOX_MEMORY": "400m"}
    )

    async def main() -> None:
        async with Client(stdio_client(server)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert {"execute_code", "get_supported_languages", "get_language_details"} == set(tools)
            wanted = {"code", "language", "libraries", "timeout"}
            assert wanted == set(tools["execute_code"].input_schema["properties"])

            drawn = await client.call_tool("execute_code", {"code": FIGURE})
            assert ["image", "text"] == [part.type for part in drawn.content]
            assert "image/png" == drawn.content[0].mime_type
            assert (0, "drawn\n") == (told(drawn)["exit_code"], told(drawn)["stdout"])

            await client.call_tool("execute_code", {"code": "x = 1"})
            again = await client.call_tool("execute_code", {"code": "print(x)"})
            assert "NameError" in told(again)["stderr"]

            slow = {"code": "print('began', flush=True)\nwhile True: pass", "timeout": 2}
            stopped = told(await client.call_tool("execute_code", slow))
            assert ("timeout", "began\n") == (stopped["status"], stopped["stdout"])

            unknown = await client.call_tool("execute_code", {"code": "1", "language": "cobol"})
            assert 1 == told(unknown)["exit_code"]
            languages = await client.call_tool("get_supported_languages", {})
            assert {"python", "r", "go"} <= set(json.loads(languages.content[0].text))
            details = told(await client.call_tool("get_language_details", {"language": "ruby"}))
            assert details["library_installation_support"]
            [resource] = (await client.read_resource("sandbox://languages")).contents
            assert details == json.loads(resource.text)["ruby"]

    with anyio.from_thread.start_blocking_portal() as portal:
        portal.call(main)


def test_variables_of_the_server() -> None:
    settings = ServerSettings.from_environment(
        {
            "BACKEND": "podman",
            "COMMIT_CONTAINER": "yes",
            "KEEP_TEMPLATE": "true",
            "SANDBOX_CPUS": "1.5",
            "SANDBOX_MEMORY": "1g",
            "SANDBOX_MEM_LIMIT": "512m",
            "SANDBOX_NETWORK_MODE": "none",
            "SANDBOX_READ_ONLY": "1",
            "SANDBOX_PRIVILEGED": "off",
            "SANDBOX_CAP_DROP": "ALL, ",
            "SANDBOX_SECURITY_OPT": "no-new-privileges:true",
        }
    )
    assert ("podman", True) == (settings.backend, settings.commit_container)
    assert {
        "mem_limit": "512m",
        "nano_cpus": 1_500_000_000,
        "network_mode": "none",
        "read_only": True,
        "privileged": False,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
    } == settings.runtime_configs
    assert ServerSettings() == ServerSettings.from_environment({"SANDBOX_CPUS": " "})
    for name, value in {"COMMIT_CONTAINER": "maybe", "SANDBOX_CPUS": "-1"}.items():
        with pytest.raises(ValidationError, match=name):
            ServerSettings.from_environment({name: value})
    with pytest.raises(UnsupportedError, match="KEEP_TEMPLATE"):
        ServerSettings.from_environment({"KEEP_TEMPLATE": "no"})


def test_a_server_that_cannot_work_says_why() -> None:
    with pytest.raises(SandboxError):
        make_server(ServerSettings(backend="attic"))
    done = subprocess.run(
        [sys.executable, "-m", "llm_sandbox.mcp_server.server"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "BACKEND": "attic"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert 1 == done.returncode
    assert "attic" in done.stderr
    assert "Traceback" not in done.stderr
    assert "error" in get_language_details("cobol")
