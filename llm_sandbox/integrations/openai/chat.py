"""Turns of Chat Completions, which many providers speak."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from llm_sandbox.integrations.openai.code_tool import Answered, CodeTool
from llm_sandbox.integrations.openai.turn import Turn

if TYPE_CHECKING:
    from openai import OpenAI

__all__ = ["ChatTurns"]


class ChatTurns:
    """A conversation, kept here and sent whole.

    Args:
        client: The SDK's client.
        model: The model's name.
        tool: The tool.
        instructions: More for the model to keep to.
    """

    def __init__(
        self, client: "OpenAI", model: str, tool: CodeTool, instructions: str | None
    ) -> None:
        self._client = client
        self._model = model
        self._tool = tool
        self.history: list[Any] = []
        if instructions is not None:
            self.history.append({"role": "system", "content": instructions})

    def ask(self, question: str) -> None:
        """Add what the user says."""
        self.history.append({"role": "user", "content": question})

    def next(
        self,
        timeout_s: float,
        *,
        with_tool: bool,
        stream: bool,
        on_text: Callable[[str], None] | None,
    ) -> Turn:
        """Have the model answer.

        Args:
            timeout_s: Seconds that it may take.
            with_tool: Whether it may call the tool.
            stream: Whether its words come as it writes them.
            on_text: Takes them.
        """
        request: dict[str, Any] = {
            "model": self._model,
            "messages": self.history,
            "tools": [self._tool.chat_function()],
            "tool_choice": "auto" if with_tool else "none",
        }
        client = self._client.with_options(timeout=timeout_s)
        completion = (
            _streamed(client, request, on_text)
            if stream
            else client.chat.completions.create(**request)
        )
        message = completion.choices[0].message
        calls = [call.model_dump(exclude_none=True) for call in message.tool_calls or ()]
        said: dict[str, Any] = {"role": "assistant", "content": message.content}
        # What the API takes of a call, and not what the SDK has parsed of it.
        asked = [
            {
                "id": call["id"],
                "type": "function",
                "function": {key: call["function"][key] for key in ("name", "arguments")},
            }
            for call in calls
            if self._tool.is_call(call)
        ]
        if asked:
            said["tool_calls"] = asked
        self.history.append(said)
        usage = completion.usage
        return Turn(
            message.content or "",
            asked,
            usage.prompt_tokens if usage else 0,
            usage.completion_tokens if usage else 0,
        )

    def answer(self, calls: Sequence[tuple[object, Answered]]) -> None:
        """Add what came of the calls."""
        self.history.extend(self._tool.chat_messages(calls))


def _streamed(
    client: "OpenAI", request: dict[str, Any], on_text: Callable[[str], None] | None
) -> Any:
    request = {**request, "stream_options": {"include_usage": True}}
    with client.chat.completions.stream(**request) as events:
        for event in events:
            if event.type == "content.delta" and on_text is not None:
                on_text(event.delta)
        return events.get_final_completion()
