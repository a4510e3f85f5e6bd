"""OpenAI's Agents SDK: a session as a function tool, whose figures the model sees.

Needs the extra ``agents``; importing this without it says what to type.
"""

from typing import Annotated, Any

from llm_sandbox.aio import AsyncSession
from llm_sandbox.integrations.calls import CodeCalls
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.output_reader import (
    ABOUT_HANDLE,
    ABOUT_LIMIT,
    ABOUT_OFFSET,
    PAGE,
    describe_reader,
)
from llm_sandbox.integrations.tool import ToolOptions, refuse_arguments
from llm_sandbox.session.session import BaseSession

require("agents", "agents")

from agents import (  # noqa: E402 - the line above says what to install
    FunctionTool,
    ModelBehaviorError,
    RunContextWrapper,
    Tool,
    ToolOutputImage,
    ToolOutputText,
    function_tool,
)
from agents.tool_context import ToolContext  # noqa: E402

__all__ = ["make_tool", "make_tools"]

_Part = ToolOutputText | ToolOutputImage


def make_tool(
    session: BaseSession | AsyncSession, options: ToolOptions | None = None
) -> FunctionTool:
    """Return a session as one tool for `Agent(tools=[...])`; `make_tools` adds one that reads
    truncated output.

    Answers are the SDK's own `ToolOutputText` and `ToolOutputImage`; the results with all of their
    artifacts are in the session's `history`. With Chat Completions the SDK sends no images of
    tools: use ``ToolOptions(images="none")``.

    Code that fails, takes too long or is refused is an answer; a sandbox that fails ends the run
    with the SDK's `UserError`, whose cause is the `SandboxError`. Cancelling the run stops the
    code. Concurrent calls are made one after another.

    Args:
        session: Session, which must be open when the tool is called, and is left open.
        options: Options of the tool; None for the defaults.

    Raises:
        MissingDependencyError: The package `agents` is not installed; raised by the import of this
            module.
        ValidationError: An argument has the wrong type.
    """
    return _runs(CodeCalls(session, options))


def make_tools(
    session: BaseSession | AsyncSession, options: ToolOptions | None = None
) -> list[Tool]:
    """Return a session as tools for `Agent(tools=make_tools(session))`.

    The first is that of `make_tool`. The second reads omitted parts of answers page by page;
    ``ToolOptions(reader=None)`` omits it.

    Args:
        session: As for `make_tool`.
        options: As for `make_tool`.

    Raises:
        MissingDependencyError: As `make_tool`.
        ValidationError: As `make_tool`.
    """
    calls = CodeCalls(session, options, reads=True)
    return [_runs(calls)] if calls.reader is None else [_runs(calls), _reads(calls, calls.reader)]


def _runs(calls: CodeCalls) -> FunctionTool:
    async def run_code(
        context: ToolContext[Any],
        code: Annotated[str, "source code"],
        libraries: Annotated[
            list[str] | None, "names of libraries to install first; null for none"
        ] = None,
    ) -> list[_Part]:
        reply = await calls.answer_async(code, libraries, call_id=context.tool_call_id)
        return [_output(part) for part in reply.parts("openai")]

    return function_tool(
        run_code,
        name_override=calls.options.name,
        description_override=calls.description,
        failure_error_function=_explain,
    )


def _reads(calls: CodeCalls, name: str) -> FunctionTool:
    async def read_output(
        handle: Annotated[str, ABOUT_HANDLE],
        offset: Annotated[int, ABOUT_OFFSET] = 0,
        limit: Annotated[int, ABOUT_LIMIT] = PAGE,
    ) -> str:
        return calls.read(handle, offset, limit)

    return function_tool(
        read_output,
        name_override=name,
        description_override=describe_reader(calls.options.name),
    )


def _output(part: dict[str, Any]) -> _Part:
    if part["type"] == "input_image":
        return ToolOutputImage(image_url=part["image_url"], detail=part["detail"])
    return ToolOutputText(text=part["text"])


def _explain(context: RunContextWrapper[Any], error: Exception) -> str:
    del context
    if isinstance(error, ModelBehaviorError):  # arguments that do not fit: a model can mend them
        return refuse_arguments(error)
    raise error
