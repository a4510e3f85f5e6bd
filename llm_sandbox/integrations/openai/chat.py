"""Conversations with the Chat Completions API, which many providers support."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from llm_sandbox.integrations.openai.code_tool import Answered, ToolOfSession
from llm_sandbox.integrations.openai.conversation import ModelMessage, failure

__all__ = ["ChatConversation"]

_CUTS = ("length", "content_filter")


class ChatConversation:
    """Conversation with the Chat Completions API; see `Conversation`.

    Args:
        model: Name of the model.
        tool: Tool of the model.
        instructions: Further instructions for the model.
    """

    def __init__(self, model: str, tool: ToolOfSession, instructions: str | None) -> None:
        self._model = model
        self.tool = tool
        self.history: list[Any] = []
        if instructions is not None:
            self.history.append({"role": "system", "content": instructions})

    def ask(self, question: str) -> None:
        """Add a message of the user."""
        self.history.append({"role": "user", "content": question})

    def request(self, *, with_tool: bool, stream: bool) -> dict[str, Any]:
        """Return the arguments of the next request."""
        request: dict[str, Any] = {
            "model": self._model,
            "messages": self.history,
            "tools": self.tool.definitions("chat"),
            "tool_choice": "auto" if with_tool else "none",
        }
        if stream:
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        return request

    def resource(self, client: Any) -> Any:
        """Return the resource of a client that takes the request."""
        return client.chat.completions

    def stream_reader(self) -> "_MessageStream":
        """Return the reader of a streamed answer."""
        return _MessageStream()

    def take(self, reply: Any) -> ModelMessage:
        """Add a complete answer."""
        if not reply.choices:
            raise failure("the completion has no choices")
        message = reply.choices[0].message
        said: dict[str, Any] = {"role": "assistant", "content": message.content}
        # What the API takes of a call, and no more of what it gave.
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls or ()
            if call.type == "function"
        ]
        if calls:
            said["tool_calls"] = calls
        self.history.append(said)
        usage = reply.usage
        return ModelMessage(
            message.content or "",
            calls,
            reply.choices[0].finish_reason in _CUTS,
            usage.prompt_tokens if usage else 0,
            usage.completion_tokens if usage else 0,
        )

    def answer(self, calls: Sequence[tuple[object, Answered]]) -> None:
        """Add the results of the calls."""
        self.history.extend(self.tool.chat_messages(calls))


class _MessageStream:
    def __init__(self) -> None:
        self._words: list[str] = []
        self._calls: dict[int, SimpleNamespace] = {}
        self._usage: Any = None
        self._finish_reason: str | None = None

    def feed(self, event: Any) -> str:
        # Some providers send the usage with the last chunk, others in a separate one.
        self._usage = event.usage or self._usage
        if not event.choices:
            return ""
        choice = event.choices[0]
        self._finish_reason = choice.finish_reason or self._finish_reason
        for piece in choice.delta.tool_calls or ():
            function = SimpleNamespace(name="", arguments="")
            new = SimpleNamespace(id="", type="function", function=function)
            call = self._calls.setdefault(piece.index, new)
            call.id = piece.id or call.id
            if piece.function is not None:
                call.function.name += piece.function.name or ""
                call.function.arguments += piece.function.arguments or ""
        words = choice.delta.content or ""
        self._words.append(words)
        return words

    def whole(self) -> SimpleNamespace:
        """Return the completion, with the fields that are used."""
        if self._finish_reason is None:
            raise failure("the stream ended before the completion did")
        message = SimpleNamespace(
            content="".join(self._words) or None,
            tool_calls=[self._calls[index] for index in sorted(self._calls)],
        )
        choice = SimpleNamespace(message=message, finish_reason=self._finish_reason)
        return SimpleNamespace(choices=[choice], usage=self._usage)
