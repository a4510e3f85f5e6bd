"""What a loop of a model and a sandbox did."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from llm_sandbox.data import ExecutionResult
from llm_sandbox.integrations.openai.code_tool import Answered

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact

__all__ = ["Ending", "Step", "Transcript"]

Ending = Literal["answered", "cut off", "steps", "seconds", "output"]
"""Why a loop ended: the model has answered, its provider cut its answer off, or a bound was
reached.
"""


@dataclass(frozen=True)
class Step:
    """One answer of the model."""

    text: str
    """What it said beside its calls."""
    calls: tuple[Answered, ...]
    """The code that it ran, and what came of each."""
    seconds: float
    """How long the model and the code took together."""


@dataclass
class Transcript:
    """A question, everything that was done for it, and its answer."""

    question: str
    """What was asked."""
    steps: list[Step] = field(default_factory=list)
    """The model's answers, in order."""
    ended: Ending = "answered"
    """Why it ended."""
    input_tokens: int = 0
    """Tokens that the model read, as its provider counts."""
    output_tokens: int = 0
    """Tokens that it wrote."""
    history: list[Any] = field(default_factory=list, repr=False)
    """All messages in the shape of the API, to go on from."""

    @property
    def answer(self) -> str:
        """The model's last words; empty when it was cut off before it said any."""
        return next((step.text for step in reversed(self.steps) if step.text), "")

    @property
    def results(self) -> tuple[ExecutionResult, ...]:
        """All runs, in order."""
        replies = (call.reply.result for step in self.steps for call in step.calls)
        return tuple(result for result in replies if result is not None)

    @property
    def artifacts(self) -> "tuple[Artifact, ...]":
        """Everything that the runs made: figures, tables and files, in order."""
        return tuple(artifact for result in self.results for artifact in result.artifacts)

    def __str__(self) -> str:
        runs = len(self.results)
        words = f"{len(self.steps)} steps, {runs} runs, {len(self.artifacts)} artifacts"
        if self.ended == "cut off":
            words += ", the answer was cut off"
        elif self.ended != "answered":
            words += f", stopped by the bound on {self.ended}"
        return f"{self.answer}\n[{words}]"
