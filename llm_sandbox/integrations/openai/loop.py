"""The loop of a model and a sandbox, without the waiting: what is to be done next, and what came.

Who waits and how is left to whoever drives it; see `agent`.
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
    """When a loop ends at the latest."""

    steps: int = 10
    """Answers of the model; the last one gets no tool."""
    seconds: float = 300.0
    """Seconds in all."""
    output_tokens: int = 50_000
    """Tokens that the model may write in all."""

    def __post_init__(self) -> None:
        for name in ("steps", "seconds", "output_tokens"):
            value = getattr(self, name)
            kind = (int, float) if name == "seconds" else int
            if isinstance(value, bool) or not isinstance(value, kind) or not value > 0:
                whole = "number" if name == "seconds" else "whole number"
                raise ValidationError(f"{name} must be a {whole} above 0", parameter=name)


@dataclass(frozen=True)
class Ask:
    """The model is to be asked; what comes is its answer as the SDK gives it."""

    request: dict[str, Any]
    """The request's arguments."""
    give_up: float
    """When the loop has no more time, on the monotonic clock."""


@dataclass(frozen=True)
class Run:
    """A call is to be made; what comes is an `Answered`."""

    call: object
    """The call."""
    give_up: float
    """When the loop has no more time, on the monotonic clock."""


class Loop:
    """A question on its way to an answer or a bound.

    Args:
        question: What is asked.
        conversation: The conversation.
        bounds: When it ends at the latest.
        stream: Whether answers come in pieces.

    Raises:
        ValidationError: `bounds` are none.
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
        """Go on with what came of `next`."""
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
