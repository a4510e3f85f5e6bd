"""Conversations with the Responses API."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llm_sandbox.integrations.openai.code_tool import CALLS, Answered, ToolOfSession
from llm_sandbox.integrations.openai.conversation import ModelMessage, failure

if TYPE_CHECKING:
    from openai.types.responses import Response

__all__ = ["ResponsesConversation"]

_ENDS = ("response.completed", "response.incomplete", "response.failed")


class ResponsesConversation:
    """Conversation with the Responses API; see `Conversation`.

    Args:
        model: Name of the model.
        tool: Tool of the model.
        instructions: Further instructions for the model.
        custom: Whether the tool takes code as plain text.
    """

    def __init__(
        self, model: str, tool: ToolOfSession, instructions: str | None, *, custom: bool
    ) -> None:
        self._model = model
        self.tool = tool
        self._instructions = instructions
        self._tools = tool.definitions("custom" if custom else "function")
        self.history: list[Any] = []

    def ask(self, question: str) -> None:
        """Add a message of the user."""
        self.history.append({"role": "user", "content": question})

    def request(self, *, with_tool: bool, stream: bool) -> dict[str, Any]:
        """Return the arguments of the next request."""
        request: dict[str, Any] = {
            "model": self._model,
            "input": self.history,
            "tools": self._tools,
            "tool_choice": "auto" if with_tool else "none",
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        if self._instructions is not None:
            request["instructions"] = self._instructions
        if stream:
            request["stream"] = True
        return request

    def resource(self, client: Any) -> Any:
        """Return the resource of a client that takes the request."""
        return client.responses

    def stream_reader(self) -> "_MessageStream":
        """Return the reader of a streamed answer."""
        return _MessageStream()

    def take(self, reply: "Response") -> ModelMessage:
        """Add a complete answer."""
        if reply.status == "failed":
            error = reply.error
            raise failure(f"{error.code}: {error.message}" if error else "the response failed")
        items = [item.model_dump(exclude_none=True) for item in reply.output]
        self.history.extend(items)
        usage = reply.usage
        return ModelMessage(
            reply.output_text,
            [item for item in items if item["type"] in CALLS],
            reply.status == "incomplete",
            usage.input_tokens if usage else 0,
            usage.output_tokens if usage else 0,
        )

    def answer(self, calls: Sequence[tuple[object, Answered]]) -> None:
        """Add the results of the calls."""
        self.history.extend(self.tool.output_item(item, done) for item, done in calls)


class _MessageStream:
    def __init__(self) -> None:
        self._response: Response | None = None

    def feed(self, event: Any) -> str:
        if event.type == "response.output_text.delta":
            return str(event.delta)
        if event.type == "error":
            raise failure(f"{event.code}: {event.message}" if event.code else event.message)
        if event.type in _ENDS:
            self._response = event.response
        return ""

    def whole(self) -> "Response":
        if self._response is None:
            raise failure("the stream ended before the response did")
        return self._response
