"""The tool of the Claude Agent SDK, called by the Claude Code that the SDK brings."""

import base64
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk", reason="`make frameworks` installs the SDK and runs this")

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from llm_sandbox import create_session
from llm_sandbox.integrations.claude_agent_sdk import make_server, make_tool
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.security import get_security_policy
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.scripted_claude import serve
from tests.integrations.frameworks.steps import CODES, PNG, check_told

pytestmark = pytest.mark.anyio
TOOL = "mcp__sandbox__run_code"


async def ask(session: BaseSession, folder: Path, *codes: str) -> list[dict[str, Any]]:
    """Have a scripted model behind the real loop run code, and return what it was told."""
    with serve(*codes, tool=TOOL) as model:
        options = ClaudeAgentOptions(
            mcp_servers={"sandbox": make_server(session, ToolOptions(timeout=2.0))},
            allowed_tools=[TOOL],
            tools=[],
            setting_sources=[],
            model="claude-sonnet-4-5",
            cwd=folder,
            env={
                "ANTHROPIC_BASE_URL": model.url,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "CLAUDE_CONFIG_DIR": str(folder),
                "HOME": str(folder),
                "NO_PROXY": "127.0.0.1",
            },
        )
        messages = [message async for message in query(prompt="?", options=options)]
        last = messages[-1]
        assert isinstance(last, ResultMessage)
        assert last.result == "Done."
        return model.results(model.requests[-1])


def words(result: dict[str, Any]) -> str:
    content = result["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


async def test_claude_code_gets_text_and_the_picture(session: BaseSession, tmp_path: Path) -> None:
    """State, an error, the end of the time and a figure, in what its model is sent."""
    results = await ask(session, tmp_path, *CODES)
    check_told([words(result) for result in results])
    sources = [part["source"] for part in results[-1]["content"] if part["type"] == "image"]
    assert [base64.b64decode(source["data"]).startswith(PNG) for source in sources] == [True]
    assert len(session.history[-1].result.plots) == 1


async def test_what_cannot_be_run_is_an_error_answer(tmp_path: Path) -> None:
    """Refused code, with the reason; and a sandbox that is not there."""
    policy = get_security_policy("production")
    with create_session("bubblewrap", security_policy=policy) as guarded:
        (refused,) = await ask(guarded, tmp_path, "import os; os.system('id')")
    assert refused["is_error"]
    assert "os.system" in words(refused)
    (broken,) = await ask(guarded, tmp_path, "1")
    assert broken["is_error"]
    assert "sandbox failed" in words(broken)


async def test_the_tool_is_the_sdk_s(session: BaseSession) -> None:
    """For servers with other tools."""
    tool = make_tool(session, ToolOptions(name="python"))
    assert tool.name == "python"
    assert "Memory" in tool.description
    done = await tool.handler({"code": "6 * 7"})
    assert "42" in done["content"][0]["text"]
