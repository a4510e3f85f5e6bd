"""LangChain and LangGraph: a session as a tool, whose figures the model sees.

Needs the extra ``langchain``; importing this without it says what to type.
"""

from typing import Any

from pydantic import BaseModel, Field

from llm_sandbox.aio import AsyncSession
from llm_sandbox.data import ExecutionResult
from llm_sandbox.integrations.calls import CodeCalls, known_as
from llm_sandbox.integrations.dumping import let_pydantic_dump_results
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.output_reader import (
    ABOUT_HANDLE,
    ABOUT_LIMIT,
    ABOUT_OFFSET,
    PAGE,
    describe_reader,
)
from llm_sandbox.integrations.tool import ToolOptions, ToolReply, refuse_arguments
from llm_sandbox.session.session import BaseSession

require("langchain_core.tools", "langchain")

from langchain_core.messages import ToolCall  # noqa: E402 - the line above says what to install
from langchain_core.runnables import RunnableConfig  # noqa: E402
from langchain_core.tools import StructuredTool  # noqa: E402

__all__ = ["make_tool", "make_tools"]


def make_tool(
    session: BaseSession | AsyncSession, options: ToolOptions | None = None
) -> StructuredTool:
    """Return a session as one tool for `bind_tools`, `ToolNode` and agents.

    `make_tools` adds one that reads omitted parts of answers.

    Messages hold text and images as LangChain's own content blocks; their `artifact` is the
    `ExecutionResult`, or None if nothing was run. A checkpointer stores its `to_dict`.

    Code that fails, takes too long or is refused is an answer; a sandbox that fails raises
    `SandboxError`. Cancelling `ainvoke` stops the code. Concurrent calls are made one after
    another.

    Args:
        session: Session, which must be open when the tool is called, and is left open.
        options: Options of the tool; None for the defaults.

    Raises:
        MissingDependencyError: The package `langchain_core` is not installed; raised by the import
            of this module.
        ValidationError: An argument has the wrong type.
    """
    return _runs(CodeCalls(session, options))


def make_tools(
    session: BaseSession | AsyncSession, options: ToolOptions | None = None
) -> list[StructuredTool]:
    """Return a session as tools for `bind_tools`, `ToolNode` and agents.

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


def _runs(calls: CodeCalls) -> StructuredTool:
    let_pydantic_dump_results()

    def run(code: str, libraries: list[str] | None = None) -> _Answer:
        return _answer(calls.answer(code, libraries))

    async def run_async(code: str, libraries: list[str] | None = None) -> _Answer:
        return _answer(await calls.answer_async(code, libraries))

    return _CodeTool(
        name=calls.options.name,
        description=calls.description,
        args_schema=_Arguments,
        func=run,
        coroutine=run_async,
        response_format="content_and_artifact",
        handle_validation_error=_explain,
    )


def _reads(calls: CodeCalls, name: str) -> StructuredTool:
    async def read_async(handle: str, offset: int = 0, limit: int = PAGE) -> str:
        return calls.read(handle, offset, limit)

    return StructuredTool(
        name=name,
        description=describe_reader(calls.options.name),
        args_schema=_PageArguments,
        func=calls.read,
        coroutine=read_async,
    )


_Answer = tuple[list[dict[str, Any]], ExecutionResult | None]


class _Arguments(BaseModel):
    code: str = Field(description="source code")
    libraries: list[str] | None = Field(
        default=None, description="names of libraries to install first"
    )


class _PageArguments(BaseModel):
    handle: str = Field(description=ABOUT_HANDLE)
    offset: int = Field(default=0, description=ABOUT_OFFSET)
    limit: int = Field(default=PAGE, description=ABOUT_LIMIT)


class _CodeTool(StructuredTool):
    """Tool that passes the id of a call on, which LangChain gives functions only on demand."""

    def invoke(
        self,
        input: str | dict[str, Any] | ToolCall,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        with known_as(_id_of(input)):
            return super().invoke(input, config, **kwargs)

    async def ainvoke(
        self,
        input: str | dict[str, Any] | ToolCall,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        with known_as(_id_of(input)):
            return await super().ainvoke(input, config, **kwargs)


def _id_of(input: str | dict[str, Any] | ToolCall) -> str | None:
    if isinstance(input, dict) and input.get("type") == "tool_call":
        found: str | None = input.get("id")
        return found
    return None


def _answer(reply: ToolReply) -> _Answer:
    return [_block(part) for part in reply.parts("mcp")], reply.result


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "image":
        return {"type": "image", "base64": part["data"], "mime_type": part["mimeType"]}
    return {"type": "text", "text": part["text"]}


def _explain(error: Any) -> str:
    # trust: written by a model; any error is answered to the model.
    problems = "; ".join(
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
    )
    return refuse_arguments(problems)
