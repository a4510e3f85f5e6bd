"""Transcripts of agent loops."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from llm_sandbox.data import ExecutionResult
from llm_sandbox.integrations.openai.code_tool import Answered

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact

__all__ = ["Ending", "Step", "Transcript"]

Ending = Literal["answered", "cut off", "steps", "seconds", "output"]
"""Reason for the end of a loop: the model answered, the provider cut the answer off, or a bound was
reached.
"""


@dataclass(frozen=True)
class Step:
    """Answer of the model with its tool calls."""

    text: str
    """Text of the answer."""
    calls: tuple[Answered, ...]
    """Calls of the tool, with their answers."""
    seconds: float
    """Seconds of the model and the code together."""


@dataclass
class Transcript:
    """Question, steps, and answer of a loop."""

    question: str
    """Question of the user."""
    steps: list[Step] = field(default_factory=list)
    """Answers of the model, in order."""
    ended: Ending = "answered"
    """Reason for the end."""
    input_tokens: int = 0
    """Input tokens, as counted by the provider."""
    output_tokens: int = 0
    """Output tokens, as counted by the provider."""
    history: list[Any] = field(default_factory=list, repr=False)
    """All messages in the form of the API, to continue from."""

    @property
    def answer(self) -> str:
        """Last text of the model; empty if a bound was reached before any."""
        return next((step.text for step in reversed(self.steps) if step.text), "")

    @property
    def results(self) -> tuple[ExecutionResult, ...]:
        """Results of all runs, in order."""
        replies = (call.reply.result for step in self.steps for call in step.calls)
        return tuple(result for result in replies if result is not None)

    @property
    def artifacts(self) -> "tuple[Artifact, ...]":
        """Artifacts of all runs: figures, tables and files, in order."""
        return tuple(artifact for result in self.results for artifact in result.artifacts)

    def __str__(self) -> str:
        runs = len(self.results)
        words = f"{len(self.steps)} steps, {runs} runs, {len(self.artifacts)} artifacts"
        if self.ended == "cut off":
            words += ", the answer was cut off"
        elif self.ended != "answered":
            words += f", stopped by the bound on {self.ended}"
        return f"{self.answer}\n[{words}]"
