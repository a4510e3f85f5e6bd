"""pydantic-ai: `Agent(..., toolsets=[SandboxToolset()])` gives an agent a sandbox to run code in.

Needs the extra ``pydantic-ai``; importing this without it says what to type.
"""

import base64
from typing import Any, Self

from anyio import CancelScope, Lock
from pydantic_core import SchemaValidator, core_schema

from llm_sandbox.aio import AsyncSession
from llm_sandbox.backends.base import Backend
from llm_sandbox.exceptions import NotOpenSessionError
from llm_sandbox.integrations.calls import CodeCalls, check_own_session
from llm_sandbox.integrations.dumping import let_pydantic_dump_results
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.output_reader import PAGE, describe_reader, reader_schema
from llm_sandbox.integrations.tool import PARAMETERS, ToolOptions, ToolReply
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession

require("pydantic_ai", "pydantic-ai")

from pydantic_ai import BinaryContent, RunContext, ToolReturn  # noqa: E402 - see the line above
from pydantic_ai.tools import AgentDepsT, ToolDefinition  # noqa: E402
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool  # noqa: E402

__all__ = ["SandboxToolset"]


_ARGUMENTS = SchemaValidator(
    core_schema.typed_dict_schema(
        {
            "code": core_schema.typed_dict_field(core_schema.str_schema()),
            "libraries": core_schema.typed_dict_field(
                core_schema.nullable_schema(core_schema.list_schema(core_schema.str_schema())),
                required=False,
            ),
        },
        extra_behavior="forbid",
    )
)
_number = core_schema.typed_dict_field(core_schema.int_schema(), required=False)
_PAGE_ARGUMENTS = SchemaValidator(
    core_schema.typed_dict_schema(
        {
            "handle": core_schema.typed_dict_field(core_schema.str_schema()),
            "offset": _number,
            "limit": _number,
        },
        extra_behavior="forbid",
    )
)


class SandboxToolset(AbstractToolset[AgentDepsT]):
    """Toolset of a session: a tool that runs code and answers with text and images, and one that
    reads.

    The second returns omitted parts of answers page by page; ``ToolOptions(reader=None)`` omits it.

    Without a session of the caller, each run of an agent has its own sandbox, which ends with the
    run. Inside ``async with agent`` or ``async with toolset`` all runs share one, with its
    variables and files, which ends with the block.

    Code that fails, takes too long or is refused is an answer; a sandbox that fails raises
    `SandboxError` out of the run. Cancelling the run stops the code. Concurrent calls are made one
    after another. The `metadata` of the answer is the `ExecutionResult`, stored as its `to_dict`.

    Args:
        session: Session of the caller, which must be open when the tool is called, and is left
            open.
        config: Settings of own sessions; None for the defaults.
        backend: Backend of own sessions; None picks one that isolates.
        options: Options of the tool; None for the defaults.
        id: Id of the toolset among those of the agent; None if not needed.
        max_retries: Retries after invalid arguments; None for the agent's setting.

    Raises:
        MissingDependencyError: The package `pydantic_ai` is not installed; raised by the import of
            this module.
        ValidationError: A session is given together with settings, or an argument has the wrong
            type.
    """

    def __init__(
        self,
        session: BaseSession | AsyncSession | None = None,
        *,
        config: SessionConfig | None = None,
        backend: str | Backend | None = None,
        options: ToolOptions | None = None,
        id: str | None = None,
        max_retries: int | None = None,
    ) -> None:
        check_own_session(session, config, backend)
        let_pydantic_dump_results()
        self._config = config
        self._backend = backend
        self._options = options or ToolOptions()
        self._id = id
        self._max_retries = max_retries
        self._own: AsyncSession | None = None
        self._makes_own = session is None
        self._calls = None if session is None else self._calls_of(session)
        self._entered = 0
        self._entering = Lock()

    @property
    def id(self) -> str | None:
        """Id of the toolset."""
        return self._id

    # --- life

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractToolset[AgentDepsT]:
        """Return the toolset for one run of an agent: the entered one, or a new one."""
        if not self._makes_own or self._entered:
            return self
        return SandboxToolset(
            config=self._config,
            backend=self._backend,
            options=self._options,
            id=self._id,
            max_retries=self._max_retries,
        )

    async def __aenter__(self) -> Self:
        """Create and open the own session, unless entered before."""
        async with self._entering:
            if self._makes_own and self._entered == 0:
                session = await AsyncSession.configured(self._config, backend=self._backend)
                await session.open()
                self._own = session
                self._calls = self._calls_of(session)
            self._entered += 1
        return self

    async def __aexit__(self, *args: Any) -> bool | None:
        """End the own session after the last exit, even if the task is cancelled."""
        with CancelScope(shield=True):
            async with self._entering:
                self._entered -= 1
                if self._entered == 0 and self._own is not None:
                    session, self._own, self._calls = self._own, None, None
                    await session.close()
        return None

    # --- the tool

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Return the tools.

        Raises:
            NotOpenSessionError: The toolset was not entered.
        """
        calls = self._entered_calls()
        retries = ctx.max_retries if self._max_retries is None else self._max_retries
        runs = ToolDefinition(
            name=self._options.name,
            description=calls.description,
            parameters_json_schema=PARAMETERS,
        )
        defined = [(runs, _ARGUMENTS)]
        if calls.reader is not None:
            reads = ToolDefinition(
                name=calls.reader,
                description=describe_reader(runs.name),
                parameters_json_schema=reader_schema(),
            )
            defined.append((reads, _PAGE_ARGUMENTS))
        return {
            tool.name: ToolsetTool(
                toolset=self, tool_def=tool, max_retries=retries, args_validator=validator
            )
            for tool, validator in defined
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> ToolReturn[Any] | str:
        """Answer a call: run code or read a page.

        Raises:
            NotOpenSessionError: The toolset was not entered, or the session is not open.
            SandboxError: The sandbox itself failed.
        """
        calls = self._entered_calls()
        if name == calls.reader:
            page = (tool_args.get("offset", 0), tool_args.get("limit", PAGE))
            return calls.read(tool_args["handle"], *page)
        code, libraries = tool_args["code"], tool_args.get("libraries")
        reply = await calls.answer_async(code, libraries, call_id=ctx.tool_call_id)
        return ToolReturn(_content(reply), metadata=reply.result)

    def _calls_of(self, session: BaseSession | AsyncSession) -> CodeCalls:
        return CodeCalls(session, self._options, reads=True)

    def _entered_calls(self) -> CodeCalls:
        if self._calls is None:
            raise NotOpenSessionError(
                "the toolset has no session yet", hint="use it in an async with block"
            )
        return self._calls


def _content(reply: ToolReply) -> list[str | BinaryContent]:
    return [
        part["text"]
        if part["type"] == "text"
        else BinaryContent(base64.b64decode(part["data"]), media_type=part["mimeType"])
        for part in reply.parts("mcp")
    ]
