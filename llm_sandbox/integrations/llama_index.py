"""LlamaIndex: the code executor of a `CodeActAgent`, and a session as a tool of other agents.

Needs the extra ``llama-index``; importing this without it says what to type.
"""

import base64
from collections.abc import Awaitable, Callable
from typing import Any

from llm_sandbox.aio import AsyncSession
from llm_sandbox.integrations.calls import CodeCalls
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.tool import ToolOptions, ToolReply, words_only
from llm_sandbox.session.session import BaseSession

require("llama_index.core.tools", "llama-index")

from llama_index.core.base.llms.types import ImageBlock, TextBlock  # noqa: E402 - see above
from llama_index.core.tools import FunctionTool  # noqa: E402

__all__ = ["make_code_execute_fn", "make_tool"]

_Blocks = list[TextBlock | ImageBlock]


def make_code_execute_fn(
    session: BaseSession | AsyncSession, options: ToolOptions | None = None
) -> Callable[[str], Awaitable[str]]:
    """Return a session as the function of `CodeActAgent(code_execute_fn=...)`.

    Answers are text, which the agent inserts into its prompt. The figures are in the session's
    `history`. Variables are kept between runs, as the agent's prompt promises.

    Code that fails, takes too long (60 s, unless `options` say otherwise) or is refused is an
    answer; if the sandbox fails, the framework tells the model. Cancelling the run stops the code.

    Args:
        session: Python session, which must be open when the function is called, and is left open.
        options: Options of the function; None for the defaults. Images are refused; name and
            description are the agent's.

    Raises:
        MissingDependencyError: The package `llama_index.core` is not installed; raised by the
            import of this module.
        ValidationError: An argument has the wrong type.
    """
    calls = CodeCalls(session, words_only(options, "a CodeActAgent"))

    async def execute(code: str) -> str:
        """Run code."""
        return (await calls.answer_async(code)).text

    return execute


def make_tool(
    session: BaseSession | AsyncSession, options: ToolOptions | None = None
) -> FunctionTool:
    """Return a session as a tool for `FunctionAgent(tools=[...])` and others that call functions.

    Answers are text and images as LlamaIndex' own blocks.

    Args:
        session: As in `make_code_execute_fn`; of any language.
        options: Options of the tool; None for the defaults.

    Raises:
        ValidationError: An argument has the wrong type.
    """
    calls = CodeCalls(session, options)

    def run_code(code: str, libraries: list[str] | None = None) -> _Blocks:
        return _blocks(calls.answer(code, libraries))

    async def run_code_async(code: str, libraries: list[str] | None = None) -> _Blocks:
        return _blocks(await calls.answer_async(code, libraries))

    return FunctionTool.from_defaults(
        fn=run_code,
        async_fn=run_code_async,
        name=calls.options.name,
        description=calls.description,
    )


def _blocks(reply: ToolReply) -> _Blocks:
    return [_block(part) for part in reply.parts("mcp")]


def _block(part: dict[str, Any]) -> TextBlock | ImageBlock:
    if part["type"] == "image":
        data = base64.b64decode(part["data"])
        return ImageBlock(image=data, image_mimetype=part["mimeType"])
    return TextBlock(text=part["text"])
