"""Bounded agent loop from a question to an answer, synchronous or awaitable."""

import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

from llm_sandbox.aio import AsyncSession
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.openai.chat import ChatConversation
from llm_sandbox.integrations.openai.code_tool import (
    Answered,
    AsyncCodeTool,
    CodeTool,
    ToolOfSession,
)
from llm_sandbox.integrations.openai.conversation import Conversation
from llm_sandbox.integrations.openai.loop import Ask, Bounds, Loop
from llm_sandbox.integrations.openai.responses import ResponsesConversation
from llm_sandbox.integrations.openai.transcript import Transcript
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

__all__ = ["Api", "Bounds", "TextListener", "ToolKind", "run_agent", "run_agent_async"]

TextListener = Callable[[str], None]
"""Callback that receives the model's text."""
Api = Literal["responses", "chat"]
"""OpenAI API to use."""
ToolKind = Literal["custom", "function"]
"""Kind of tool: code as plain text, or as a function argument."""

_LEAST_S = 0.1


def run_agent(
    client: "OpenAI",
    model: str,
    question: str,
    *,
    session: BaseSession,
    api: Api = "responses",
    tool: ToolKind = "custom",
    instructions: str | None = None,
    bounds: Bounds | None = None,
    options: ToolOptions | None = None,
    stream: bool = False,
    on_text: TextListener | None = None,
    on_run: Callable[[Answered], None] | None = None,
) -> Transcript:
    """Let a model answer a question by running code, until it has answered or a bound is reached.

    The model has two tools: one runs code, for at most 60 seconds by default; the other reads
    omitted parts of answers.

    Args:
        client: Client of the SDK.
        model: Name of the model.
        question: Question for the model.
        session: Open session, which is left open.
        api: ``chat`` for Chat Completions, which many other providers speak.
        tool: ``custom`` takes code as plain text; ``function`` is for models without custom tools.
            Chat Completions always gets a function.
        instructions: Further instructions for the model.
        bounds: Limits of the loop; default: 10 steps, 300 seconds, 50,000 tokens.
        options: Options of the tool.
        stream: Whether the model's text is streamed to `on_text`.
        on_text: Called with the model's text as it arrives.
        on_run: Called after each run.

    Returns:
        Transcript with all artifacts, whose `ended` says whether a bound was reached.

    Raises:
        openai.OpenAIError: The provider failed.
        SandboxError: The sandbox failed.
        ValidationError: An argument is invalid, or the client is awaitable.
    """
    if isinstance(client, require("openai", "openai").AsyncOpenAI):
        raise ValidationError(
            "the client is to be awaited", parameter="client", hint="use run_agent_async"
        )
    code_tool = CodeTool(session, options, reads=True)
    code_tool.check_open()
    conversation = _conversation(api, model, code_tool, instructions, tool)
    loop = Loop(question, conversation, bounds or Bounds(), stream=stream)
    while (step := loop.next) is not None:
        if isinstance(step, Ask):
            loop.take(_ask(client, conversation, step, on_text))
            continue
        answered = code_tool.within(_left(step.give_up)).call(step.call)
        if on_run is not None and answered.reply.page is None:
            on_run(answered)
        loop.take(answered)
    return loop.transcript


async def run_agent_async(
    client: "AsyncOpenAI",
    model: str,
    question: str,
    *,
    session: AsyncSession | BaseSession,
    api: Api = "responses",
    tool: ToolKind = "custom",
    instructions: str | None = None,
    bounds: Bounds | None = None,
    options: ToolOptions | None = None,
    stream: bool = False,
    on_text: Callable[[str], Awaitable[None] | None] | None = None,
    on_run: Callable[[Answered], Awaitable[None] | None] | None = None,
) -> Transcript:
    """Run the agent loop with an awaitable client, without blocking the event loop; see
    `run_agent`.

    Cancellation stops the running code, and the session remains usable.

    Args:
        client: Awaitable client of the SDK.
        model: Name of the model.
        question: Question for the model.
        session: Open session, which is left open.
        api: ``chat`` for Chat Completions, which many other providers speak.
        tool: ``custom`` takes code as plain text; ``function`` is for models without custom tools.
        instructions: Further instructions for the model.
        bounds: Limits of the loop; default: 10 steps, 300 seconds, 50,000 tokens.
        options: Options of the tool.
        stream: Whether the model's text is streamed to `on_text`.
        on_text: Called with the model's text as it arrives; may be a coroutine function.
        on_run: Called after each run; may be a coroutine function.

    Returns:
        Transcript with all artifacts, whose `ended` says whether a bound was reached.

    Raises:
        openai.OpenAIError: The provider failed.
        SandboxError: The sandbox failed.
        ValidationError: An argument is invalid, or the client is not awaitable.
    """
    if isinstance(client, require("openai", "openai").OpenAI):
        raise ValidationError(
            "the client is not to be awaited", parameter="client", hint="use run_agent"
        )
    code_tool = AsyncCodeTool(session, options, reads=True)
    code_tool.check_open()
    conversation = _conversation(api, model, code_tool, instructions, tool)
    loop = Loop(question, conversation, bounds or Bounds(), stream=stream)
    while (step := loop.next) is not None:
        if isinstance(step, Ask):
            loop.take(await _ask_async(client, conversation, step, on_text))
            continue
        answered = await code_tool.within(_left(step.give_up)).call(step.call)
        if on_run is not None and answered.reply.page is None:
            await _heard(on_run(answered))
        loop.take(answered)
    return loop.transcript


def _conversation(
    api: str, model: str, tool: ToolOfSession, instructions: str | None, kind: str
) -> Conversation:
    if kind not in ("custom", "function"):
        raise ValidationError(f"tool is 'custom' or 'function', not {kind!r}", parameter="tool")
    if api == "chat":
        return ChatConversation(model, tool, instructions)
    if api == "responses":
        return ResponsesConversation(model, tool, instructions, custom=kind == "custom")
    raise ValidationError(f"api is 'responses' or 'chat', not {api!r}", parameter="api")


def _ask(
    client: "OpenAI", conversation: Conversation, step: Ask, on_text: Callable[[str], Any] | None
) -> Any:
    resource = conversation.resource(client.with_options(timeout=_left(step.give_up)))
    came = resource.create(**step.request)
    if not step.request.get("stream"):
        return came
    stream = conversation.stream_reader()
    with came as events:
        for event in events:
            words = stream.feed(event)
            if words and on_text is not None:
                on_text(words)
            _check(events, step.give_up)
    return stream.whole()


async def _ask_async(
    client: "AsyncOpenAI",
    conversation: Conversation,
    step: Ask,
    on_text: Callable[[str], Any] | None,
) -> Any:
    resource = conversation.resource(client.with_options(timeout=_left(step.give_up)))
    came = await resource.create(**step.request)
    if not step.request.get("stream"):
        return came
    stream = conversation.stream_reader()
    async with came as events:
        async for event in events:
            words = stream.feed(event)
            if words and on_text is not None:
                await _heard(on_text(words))
            _check(events, step.give_up)
    return stream.whole()


async def _heard(answer: object) -> None:
    if inspect.isawaitable(answer):
        await answer


def _left(give_up: float) -> float:
    return max(_LEAST_S, give_up - time.monotonic())


def _check(events: Any, give_up: float) -> None:
    """Raise if the time of the whole answer is over; the SDK's timeout is for each chunk."""
    if time.monotonic() >= give_up:
        raise require("openai", "openai").APITimeoutError(request=events.response.request)
