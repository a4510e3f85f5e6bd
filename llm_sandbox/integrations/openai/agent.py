"""One call from a question to an answer: a model and a sandbox in a loop that ends."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.openai.chat import ChatTurns
from llm_sandbox.integrations.openai.code_tool import Answered, CodeTool
from llm_sandbox.integrations.openai.responses import ResponsesTurns
from llm_sandbox.integrations.openai.transcript import Step, Transcript
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from openai import OpenAI

__all__ = ["Bounds", "TextListener", "run_agent"]

TextListener = Callable[[str], None]


@dataclass(frozen=True)
class Bounds:
    """When a loop ends at the latest."""

    steps: int = 10
    """Answers of the model; the last one gets no tool."""
    seconds: float = 300.0
    """Seconds in all."""
    output_tokens: int = 50_000
    """Tokens that the model may write in all."""

    def __post_init__(self) -> None:
        for name in ("steps", "seconds", "output_tokens"):
            if not getattr(self, name) > 0:
                raise ValidationError(f"{name} must be more than 0", parameter=name)


def run_agent(
    client: "OpenAI",
    model: str,
    question: str,
    *,
    session: BaseSession,
    api: Literal["responses", "chat"] = "responses",
    tool: Literal["custom", "function"] = "custom",
    instructions: str | None = None,
    bounds: Bounds | None = None,
    options: ToolOptions | None = None,
    stream: bool = False,
    on_text: TextListener | None = None,
    on_run: Callable[[Answered], None] | None = None,
) -> Transcript:
    """Have a model answer a question by running code, until it has or a bound is reached.

    Args:
        client: The SDK's client.
        model: The model's name.
        question: What it is asked.
        session: An open session, which stays open.
        api: ``chat`` for Chat Completions, which many other providers speak.
        tool: ``custom`` takes code as plain text; ``function`` is for models without custom tools.
            Chat Completions always gets a function.
        instructions: More for the model to keep to.
        bounds: When it ends at the latest; default: 10 steps, 300 seconds, 50,000 tokens.
        options: How the tool behaves.
        stream: Whether the model's words are streamed to `on_text`.
        on_text: Called with the model's words as they come.
        on_run: Called after each run.

    Returns:
        What was done, with all artifacts. Its `ended` says whether a bound cut it off.

    Raises:
        openai.OpenAIError: The provider failed.
        SandboxError: The sandbox failed.
    """
    bounds = bounds or Bounds()
    code_tool = CodeTool(session, options)
    turns: ResponsesTurns | ChatTurns
    if api == "chat":
        turns = ChatTurns(client, model, code_tool, instructions)
    elif api == "responses":
        turns = ResponsesTurns(client, model, code_tool, instructions, custom=tool == "custom")
    else:
        raise ValidationError(f"api is 'responses' or 'chat', not {api!r}", parameter="api")
    transcript = Transcript(question)
    transcript.history = turns.history
    turns.ask(question)
    give_up = time.monotonic() + bounds.seconds
    for number in range(1, bounds.steps + 1):
        started = time.monotonic()
        last = number == bounds.steps
        left = give_up - started
        turn = turns.next(
            left, with_tool=not last, on_text=on_text if stream else None, stream=stream
        )
        transcript.input_tokens += turn.input_tokens
        transcript.output_tokens += turn.output_tokens
        calls = []
        for item in turn.calls:
            answered = _within(code_tool, give_up).call(item)
            calls.append((item, answered))
            if on_run is not None:
                on_run(answered)
        turns.answer(calls)
        spent = time.monotonic() - started
        transcript.steps.append(Step(turn.text, tuple(done for _, done in calls), spent))
        if not calls:
            return transcript
        if time.monotonic() >= give_up:
            transcript.ended = "seconds"
            return transcript
        if transcript.output_tokens >= bounds.output_tokens:
            transcript.ended = "output"
            return transcript
    transcript.ended = "steps"
    return transcript


def _within(tool: CodeTool, give_up: float) -> CodeTool:
    """The same tool, whose runs end with the loop at the latest."""
    left = max(0.1, give_up - time.monotonic())
    timeout = tool.options.timeout
    return CodeTool(
        tool.session,
        replace(tool.options, timeout=left if timeout is None else min(timeout, left)),
    )
