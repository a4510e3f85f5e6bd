"""Microsoft Agent Framework: a session as a function tool, whose figures the model sees.

Needs the extra ``agent-framework``; importing this without it says what to type.
"""

import base64
from typing import Any

from llm_sandbox.aio import AsyncSession
from llm_sandbox.integrations.calls import CodeCalls
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.tool import PARAMETERS, ToolOptions
from llm_sandbox.session.session import BaseSession

require("agent_framework", "agent-framework")

from agent_framework import Content, FunctionTool  # noqa: E402 - see the line above

__all__ = ["make_tool"]


def make_tool(
    session: BaseSession | AsyncSession, options: ToolOptions | None = None
) -> FunctionTool:
    """Return a session as a tool for `Agent(tools=[...])`.

    Answers are the framework's own `Content`: text and images. Code that fails, takes too long (60
    s, unless `options` say otherwise) or is refused is an answer; a sandbox that fails raises
    `SandboxError` into the framework, which tells the model that the function failed. Cancelling
    the run stops the code. Concurrent calls are made one after another.

    Args:
        session: Session, which must be open when the tool is called, and is left open.
        options: Options of the tool; None for the defaults.

    Raises:
        MissingDependencyError: The package `agent_framework` is not installed; raised by the import
            of this module.
        ValidationError: An argument has the wrong type.
    """
    calls = CodeCalls(session, options)

    async def run_code(code: str, libraries: list[str] | None = None) -> list[Content]:
        reply = await calls.answer_async(code, libraries)
        return [_content(part) for part in reply.parts("mcp")]

    return FunctionTool(
        func=run_code,
        name=calls.options.name,
        description=calls.description,
        input_model=PARAMETERS,
    )


def _content(part: dict[str, Any]) -> Content:
    if part["type"] == "image":
        return Content.from_data(base64.b64decode(part["data"]), part["mimeType"])
    return Content.from_text(part["text"])
