"""Claude Agent SDK: a session as an in-process tool, whose figures the model sees.

Needs the extra ``claude-agent-sdk``; importing this without it says what to type.
"""

from typing import Any

from llm_sandbox.aio import AsyncSession
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.integrations.calls import CodeCalls
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.tool import PARAMETERS, ToolOptions
from llm_sandbox.session.session import BaseSession

require("claude_agent_sdk", "claude-agent-sdk")

from claude_agent_sdk import (  # noqa: E402 - the line above says what to install
    McpSdkServerConfig,
    SdkMcpTool,
    create_sdk_mcp_server,
    tool,
)

__all__ = ["make_server", "make_tool"]


def make_tool(
    session: BaseSession | AsyncSession, options: ToolOptions | None = None
) -> SdkMcpTool[Any]:
    """Return a session as a tool for `create_sdk_mcp_server`, to combine with other tools.

    Answers are text and images. Code that fails, takes too long (60 s, unless `options` say
    otherwise) or is refused is an answer. The SDK also turns every exception into an error answer,
    so that the model learns of a failed sandbox. Concurrent calls are made one after another;
    cancelling a call stops the code.

    Args:
        session: Session, which must be open when the tool is called, and is left open.
        options: Options of the tool; None for the defaults.

    Raises:
        MissingDependencyError: The package `claude_agent_sdk` is not installed; raised by the
            import of this module.
        ValidationError: An argument has the wrong type.
    """
    calls = CodeCalls(session, options)

    async def run_code(given: dict[str, Any]) -> dict[str, Any]:
        try:
            reply = await calls.answer_async(given["code"], given.get("libraries"))
        except SandboxError as error:
            words = f"The sandbox failed, and nothing can be run: {error}"
            return {"content": [{"type": "text", "text": words}], "is_error": True}
        return {"content": reply.parts("mcp"), "is_error": reply.result is None}

    made: SdkMcpTool[Any] = tool(calls.options.name, calls.description, PARAMETERS)(run_code)
    return made


def make_server(
    session: BaseSession | AsyncSession, options: ToolOptions | None = None, name: str = "sandbox"
) -> McpSdkServerConfig:
    """Return an in-process server with the tool, for a key of `mcp_servers`.

    Its name in `allowed_tools` is ``mcp__sandbox__run_code``: the key of `mcp_servers`, and the
    name of the tool.

    Args:
        session: As in `make_tool`.
        options: As in `make_tool`.
        name: Name that the server reports.

    Raises:
        ValidationError: An argument has the wrong type.
    """
    server: McpSdkServerConfig = create_sdk_mcp_server(name, tools=[make_tool(session, options)])
    return server
