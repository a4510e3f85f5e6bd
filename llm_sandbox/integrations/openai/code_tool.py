"""A session as a tool of OpenAI's APIs: definitions to send, calls to answer."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.tool import ToolOptions, ToolReply, answer, describe_session
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from openai.lib.responses_tool_runner import RegisteredFunction

__all__ = ["Answered", "CodeTool"]

_CALLS = {"custom_tool_call": "custom_tool_call_output", "function_call": "function_call_output"}


@dataclass(frozen=True)
class Answered:
    """A call and what it was answered."""

    code: str
    """The code that the model wrote; empty when its arguments could not be read."""
    reply: ToolReply
    """What came of it."""


class CodeTool:
    """One session as a tool.

    The custom tool of the Responses API takes code as it is, which models write better than code
    inside of JSON; the function tools take libraries, too.

    Args:
        session: An open session.
        options: How the tool behaves.
    """

    def __init__(self, session: BaseSession, options: ToolOptions | None = None) -> None:
        self.session = session
        self.options = options or ToolOptions()

    # --- definitions

    def custom(self) -> dict[str, Any]:
        """Return the definition for the Responses API whose input is code, not JSON."""
        return {
            "type": "custom",
            "name": self.options.name,
            "description": f"{self._description} The input is the code, and nothing else.",
        }

    def function(self) -> dict[str, Any]:
        """Return the definition of a strict function for the Responses API."""
        return {"type": "function", **self._function()}

    def chat_function(self) -> dict[str, Any]:
        """Return the definition of a strict function for Chat Completions."""
        return {"type": "function", "function": self._function()}

    def _function(self) -> dict[str, Any]:
        code = {"type": "string", "description": f"{self.session.config.lang} source code"}
        libraries = {
            "type": ["array", "null"],
            "items": {"type": "string"},
            "description": "names of libraries to install first; null for none",
        }
        return {
            "name": self.options.name,
            "description": self._description,
            "strict": True,
            "parameters": {
                "type": "object",
                "properties": {"code": code, "libraries": libraries},
                "required": ["code", "libraries"],
                "additionalProperties": False,
            },
        }

    @property
    def _description(self) -> str:
        return describe_session(self.session, self.options)

    # --- calls

    def is_call(self, item: object) -> bool:
        """Whether an item of a response, or a tool call of a chat message, is for this tool."""
        found = _plain(item)
        named = found.get("function") or found
        kind = found.get("type")
        return (kind in _CALLS or kind == "function") and named.get("name") == self.options.name

    def call(self, item: object) -> Answered:
        """Run what a call asks for.

        Args:
            item: A ``custom_tool_call`` or ``function_call`` item of a response, or a tool call of
                a chat message: the SDK's object or its dictionary.

        Raises:
            ValidationError: It is no call of this tool.
            SandboxError: The sandbox itself failed.
        """
        found = _plain(item)
        if not self.is_call(found):
            raise ValidationError(f"not a call of the tool {self.options.name!r}", parameter="item")
        if found["type"] == "custom_tool_call":
            return self._run(str(found["input"]), None)
        arguments = (found.get("function") or found)["arguments"]
        try:
            given = _read_arguments(arguments)
        except ValueError as error:
            words = f"Nothing was run: {error}. Send an object with code and libraries."
            return Answered("", ToolReply(None, words, self.options))
        return self._run(*given)

    def _run(self, code: str, libraries: list[str] | None) -> Answered:
        timeout = self.options.timeout

        def run() -> Any:
            return self.session.run(code, libraries, timeout)

        return Answered(code, answer(run, self.options))

    # --- answers

    def output_item(self, item: object, answered: Answered) -> dict[str, Any]:
        """Return the item that answers a call of the Responses API, images included."""
        found = _plain(item)
        return {
            "type": _CALLS[found["type"]],
            "call_id": found["call_id"],
            "output": answered.reply.parts("openai"),
        }

    def chat_messages(self, answers: Iterable[tuple[object, Answered]]) -> list[dict[str, Any]]:
        """Return the messages that answer the calls of one chat message.

        Messages of a tool hold text only; pictures follow in one message of the user.

        Args:
            answers: The calls of that message, with what each was answered.
        """
        messages: list[dict[str, Any]] = []
        pictures: list[dict[str, Any]] = []
        for call, answered in answers:
            parts = answered.reply.parts("openai-chat")
            texts = [part for part in parts if part["type"] == "text"]
            images = [part for part in parts if part["type"] != "text"]
            call_id = _plain(call)["id"]
            messages.append({"role": "tool", "tool_call_id": call_id, "content": texts})
            if images:
                note = f"Figures of the call {call_id}:"
                pictures += [{"type": "text", "text": note}, *images]
        return [*messages, {"role": "user", "content": pictures}] if pictures else messages

    def registered_function(self) -> "RegisteredFunction":
        """Return the tool for the SDK's own `ResponsesToolRunner`.

        Raises:
            MissingDependencyError: The package `openai` is not installed.
        """
        runner = require("openai.lib.responses_tool_runner", "openai")

        def execute(arguments: dict[str, object]) -> Any:
            call = {"type": "function_call", "name": self.options.name, "arguments": arguments}
            return self.call(call).reply.parts("openai")

        registered: RegisteredFunction = runner.RegisteredFunction(self.function(), execute)
        return registered


def _plain(item: object) -> Mapping[str, Any]:
    if isinstance(item, Mapping):
        return item
    dump = getattr(item, "model_dump", None)
    if dump is None:
        raise ValidationError("neither an object of the SDK nor a dictionary", parameter="item")
    found: Mapping[str, Any] = dump()
    return found


def _read_arguments(arguments: object) -> tuple[str, list[str] | None]:
    # trust: a model's words; whatever is wrong with them is told to it.
    given = json.loads(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(given, Mapping) or not isinstance(given.get("code"), str):
        raise ValueError("the arguments have no code")
    libraries = given.get("libraries")
    if libraries is not None and not (
        isinstance(libraries, list) and all(isinstance(name, str) for name in libraries)
    ):
        raise ValueError("libraries is no list of names")
    return given["code"], libraries or None
