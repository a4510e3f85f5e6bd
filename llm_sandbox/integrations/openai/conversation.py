"""Interface of a conversation with a model, independent of the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.openai.code_tool import Answered, ToolOfSession

__all__ = ["Conversation", "MessageStream", "ModelMessage", "failure"]


@dataclass(frozen=True)
class ModelMessage:
    """Answer of a model, independent of the API."""

    text: str
    """Text of the answer."""
    calls: Sequence[object]
    """Tool calls, possibly of unknown tools."""
    is_cut: bool = False
    """Whether the provider cut the answer off, by length or filter."""
    input_tokens: int = 0
    """Input tokens."""
    output_tokens: int = 0
    """Output tokens."""


class MessageStream(Protocol):
    """Reader of a streamed answer.

    The SDK's helper is not used because it parses the arguments of strict functions and raises if
    they are invalid; such errors must be answered to the model.
    """

    def feed(self, event: Any) -> str:
        """Process a chunk, and return its text for display."""

    def whole(self) -> Any:
        """Return the complete answer after the last chunk.

        Raises:
            openai.OpenAIError: The answer is incomplete.
        """


class Conversation(Protocol):
    """Conversation that is kept locally and sent as a whole: nothing is stored at the provider."""

    history: list[Any]
    """All messages so far, in the form of the API."""
    tool: ToolOfSession
    """Tool of the model."""

    def ask(self, question: str) -> None:
        """Add a message of the user."""

    def request(self, *, with_tool: bool, stream: bool) -> dict[str, Any]:
        """Return the arguments of the next request.

        Args:
            with_tool: Whether the model may call the tool.
            stream: Whether the answer is streamed.
        """

    def resource(self, client: Any) -> Any:
        """Return the resource of a client, synchronous or awaitable, whose `create` takes the
        request.
        """

    def stream_reader(self) -> MessageStream:
        """Return the reader of a streamed answer."""

    def take(self, reply: Any) -> ModelMessage:
        """Add a complete answer.

        Raises:
            openai.OpenAIError: The provider reports a failure.
        """

    def answer(self, calls: Sequence[tuple[object, Answered]]) -> None:
        """Add the results of the calls."""


def failure(message: str) -> Exception:
    """Return the SDK's error for an invalid answer."""
    error: Exception = require("openai", "openai").OpenAIError(message)
    return error
