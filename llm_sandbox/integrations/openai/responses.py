"""Turns of the Responses API."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from llm_sandbox.integrations.openai.code_tool import Answered, CodeTool
from llm_sandbox.integrations.openai.turn import Turn

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.responses import Response

__all__ = ["ResponsesTurns"]


class ResponsesTurns:
    """A conversation, kept here and sent whole: nothing is stored at the provider.

    Args:
        client: The SDK's client.
        model: The model's name.
        tool: The tool.
        instructions: More for the model to keep to.
        custom: Whether the tool takes code as plain text.
    """

    def __init__(
        self,
        client: "OpenAI",
        model: str,
        tool: CodeTool,
        instructions: str | None,
        *,
        custom: bool,
    ) -> None:
        self._client = client
        self._model = model
        self._tool = tool
        self._instructions = instructions
        self._definition = tool.custom() if custom else tool.function()
        self.history: list[Any] = []

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
            "input": self.history,
            "tools": [self._definition],
            "tool_choice": "auto" if with_tool else "none",
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        if self._instructions is not None:
            request["instructions"] = self._instructions
        client = self._client.with_options(timeout=timeout_s)
        response = _streamed(client, request, on_text) if stream else _whole(client, request)
        items = [item.model_dump(exclude_none=True) for item in response.output]
        self.history.extend(items)
        usage = response.usage
        return Turn(
            response.output_text,
            [item for item in items if self._tool.is_call(item)],
            usage.input_tokens if usage else 0,
            usage.output_tokens if usage else 0,
        )

    def answer(self, calls: Sequence[tuple[object, Answered]]) -> None:
        """Add what came of the calls."""
        self.history.extend(self._tool.output_item(item, done) for item, done in calls)


def _whole(client: "OpenAI", request: dict[str, Any]) -> "Response":
    response: Response = client.responses.create(**request)
    return response


def _streamed(
    client: "OpenAI", request: dict[str, Any], on_text: Callable[[str], None] | None
) -> "Response":
    with client.responses.stream(**request) as events:
        for event in events:
            if event.type == "response.output_text.delta" and on_text is not None:
                on_text(event.delta)
        response: Response = events.get_final_response()
    return response
