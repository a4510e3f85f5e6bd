"""Sans-I/O loop of a model and a sandbox: the next step, and its outcome.

The driver performs the steps, synchronously or not; see `agent`.
"""

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.openai.conversation import Conversation
from llm_sandbox.integrations.openai.transcript import Step, Transcript

__all__ = ["Ask", "Bounds", "Loop", "Run"]


@dataclass(frozen=True)
class Bounds:
    """Limits of a loop."""

    steps: int = 10
    """Maximum number of answers of the model; the last request has no tool."""
    seconds: float = 300.0
    """Maximum seconds in total."""
    output_tokens: int = 50_000
    """Maximum output tokens in total."""

    def __post_init__(self) -> None:
        for name in ("steps", "seconds", "output_tokens"):
            value = getattr(self, name)
            kind = (int, float) if name == "seconds" else int
            if isinstance(value, bool) or not isinstance(value, kind) or not value > 0:
                whole = "number" if name == "seconds" else "whole number"
                raise ValidationError(f"{name} must be a {whole} above 0", parameter=name)


@dataclass(frozen=True)
class Ask:
    """Step that asks the model; its outcome is the SDK's answer."""

    request: dict[str, Any]
    """Arguments of the request."""
    give_up: float
    """Deadline of the loop, on the monotonic clock."""


@dataclass(frozen=True)
class Run:
    """Step that makes a tool call; its outcome is an `Answered`."""

    call: object
    """Tool call."""
    give_up: float
    """Deadline of the loop, on the monotonic clock."""


class Loop:
    """Generator of steps from a question to an answer or a bound.

    Args:
        question: Question for the model.
        conversation: Conversation with the model.
        bounds: Limits of the loop.
        stream: Whether answers are streamed.

    Raises:
        ValidationError: `bounds` are invalid.
    """

    def __init__(
        self, question: str, conversation: Conversation, bounds: Bounds, *, stream: bool
    ) -> None:
        given: object = bounds
        if not isinstance(given, Bounds):
            raise ValidationError(
                f"bounds are Bounds, not {type(given).__name__}",
                parameter="bounds",
                hint="bounds=Bounds(steps=5, seconds=60)",
            )
        self.transcript = Transcript(question)
        """What was done so far."""
        self.transcript.history = conversation.history
        conversation.ask(question)
        self._steps = _steps(conversation, self.transcript, bounds, stream=stream)
        self.next: Ask | Run | None = next(self._steps)
        """What is to be done; None at the end."""

    def take(self, came: Any) -> None:
        """Continue with the outcome of the last step."""
        try:
            self.next = self._steps.send(came)
        except StopIteration:
            self.next = None


def _steps(
    conversation: Conversation, transcript: Transcript, bounds: Bounds, *, stream: bool
) -> Generator[Ask | Run, Any, None]:
    give_up = time.monotonic() + bounds.seconds
    for number in range(1, bounds.steps + 1):
        started = time.monotonic()
        request = conversation.request(with_tool=number < bounds.steps, stream=stream)
        message = conversation.take((yield Ask(request, give_up)))
        transcript.input_tokens += message.input_tokens
        transcript.output_tokens += message.output_tokens
        calls = []
        for call in message.calls:
            known = conversation.tool.is_call(call)
            answered = (
                (yield Run(call, give_up)) if known else conversation.tool.refuse_unknown(call)
            )
            calls.append((call, answered))
        conversation.answer(calls)
        spent = time.monotonic() - started
        transcript.steps.append(Step(message.text, tuple(done for _, done in calls), spent))
        if not calls:
            transcript.ended = "cut off" if message.is_cut else "answered"
            return
        if time.monotonic() >= give_up:
            transcript.ended = "seconds"
            return
        if transcript.output_tokens >= bounds.output_tokens:
            transcript.ended = "output"
            return
    transcript.ended = "steps"
