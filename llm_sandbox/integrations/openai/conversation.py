"""What a loop needs of an API: requests to send, answers to read, whole or in pieces."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.openai.code_tool import Answered, ToolOfSession

__all__ = ["Conversation", "MessageStream", "ModelMessage", "failure"]


@dataclass(frozen=True)
class ModelMessage:
    """One answer of a model, whichever API it came by."""

    text: str
    """What it said."""
    calls: Sequence[object]
    """Its calls, of the tool or of one that there is not."""
    is_cut: bool = False
    """Whether the provider cut it off: at a length, or by a filter."""
    input_tokens: int = 0
    """Tokens that it read."""
    output_tokens: int = 0
    """Tokens that it wrote."""


class MessageStream(Protocol):
    """An answer that comes in pieces.

    The SDK's own helper reads the arguments of strict functions, too, and raises when a model has
    written broken ones; the model is what has to hear of that.
    """

    def feed(self, event: Any) -> str:
        """Take a piece, and return the words to show that are in it."""

    def whole(self) -> Any:
        """Return the answer, now that there are no more pieces.

        Raises:
            openai.OpenAIError: It is not complete.
        """


class Conversation(Protocol):
    """A conversation, kept here and sent whole: nothing is stored at the provider."""

    history: list[Any]
    """All messages so far, in the shape of the API."""
    tool: ToolOfSession
    """The tool."""

    def ask(self, question: str) -> None:
        """Add what the user says."""

    def request(self, *, with_tool: bool, stream: bool) -> dict[str, Any]:
        """Return the arguments of the next request.

        Args:
            with_tool: Whether the model may call the tool.
            stream: Whether its answer comes in pieces.
        """

    def resource(self, client: Any) -> Any:
        """Return what of a client, waiting or awaitable, has the `create` that takes them."""

    def stream_reader(self) -> MessageStream:
        """Return what reads an answer in pieces."""

    def take(self, reply: Any) -> ModelMessage:
        """Add a whole answer.

        Raises:
            openai.OpenAIError: The provider says that it failed.
        """

    def answer(self, calls: Sequence[tuple[object, Answered]]) -> None:
        """Add what came of the calls."""


def failure(message: str) -> Exception:
    """Return the SDK's error for an answer that is none."""
    error: Exception = require("openai", "openai").OpenAIError(message)
    return error
