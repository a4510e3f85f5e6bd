"""Session as a tool of OpenAI's APIs: definitions, and answers to calls."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from llm_sandbox.aio import AsyncSession
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.calls import CodeCalls
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.output_reader import PAGE, describe_reader, reader_schema
from llm_sandbox.integrations.tool import ToolOptions, ToolReply, refuse_arguments
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from openai.lib.responses_tool_runner import AsyncRegisteredFunction, RegisteredFunction

__all__ = ["CALLS", "Answered", "AsyncCodeTool", "CodeTool", "Kind", "ToolOfSession"]

Kind = Literal["custom", "function", "chat"]
"""Form of a tool definition: custom or function for the Responses API, or for Chat Completions.
"""

CALLS = {"custom_tool_call": "custom_tool_call_output", "function_call": "function_call_output"}
"""Item types of tool calls in the Responses API, and those of their answers."""


@dataclass(frozen=True)
class Answered:
    """Tool call and its answer."""

    code: str
    """Code from the model; empty if there is none, or the arguments are invalid."""
    reply: ToolReply
    """Answer to the call."""


@dataclass(frozen=True)
class _Asked:
    """Parsed tool call."""

    id: str | None
    """Id of the call in the API; None for none."""
    code: str = ""
    libraries: list[str] | None = None
    refusal: str | None = None
    """Reason for the model why nothing is run; None if code is run."""
    page: str | None = None
    """Page that was read, or the reason why not; None if code is to be run."""


class ToolOfSession:
    """Common base of the tools below: definitions and answers.

    The custom tool of the Responses API takes plain code, which models write better than code in
    JSON; the function tools also take libraries.

    Args:
        session: Open session.
        options: Options of the tool.
        reads: Whether there is a second tool that reads omitted parts of answers: all `definitions`
            must be sent then.

    Raises:
        ValidationError: An argument has the wrong type.
    """

    def __init__(
        self,
        session: BaseSession | AsyncSession,
        options: ToolOptions | None = None,
        *,
        reads: bool = False,
    ) -> None:
        self._calls = CodeCalls(session, options, reads=reads)
        self.options = self._calls.options

    @property
    def session(self) -> BaseSession:
        """Session that runs the code."""
        return self._calls.session

    def check_open(self) -> None:
        """Check that code can be run, before a model is asked.

        Raises:
            NotOpenSessionError: The session is not open.
        """
        self._calls.check_open()

    def within(self, seconds: float) -> Self:
        """Return the same tool with a shorter timeout.

        Args:
            seconds: Maximum seconds of a run.
        """
        timeout = self.options.timeout
        timeout = seconds if timeout is None else min(timeout, seconds)
        options = replace(self.options, timeout=timeout)
        return type(self)(self.session, options, reads=self._calls.reader is not None)

    # --- definitions

    def definitions(self, kind: Kind) -> list[dict[str, Any]]:
        """Return the definitions to send: of the tool, and of the reading tool, if there is one.

        Args:
            kind: Form of the definition. The reading tool is always a function.
        """
        define = {"custom": self.custom, "function": self.function, "chat": self.chat_function}
        found = [define[kind]()]
        if self._calls.reader is not None:
            reads = {
                "name": self._calls.reader,
                "description": describe_reader(self.options.name),
                "strict": True,
                "parameters": reader_schema(strict=True),
            }
            is_chat = kind == "chat"
            found.append({"type": "function", **({"function": reads} if is_chat else reads)})
        return found

    def custom(self) -> dict[str, Any]:
        """Return the definition of a custom tool for the Responses API, which takes plain code."""
        return {
            "type": "custom",
            "name": self.options.name,
            "description": f"{self._calls.description} The input is the code, and nothing else.",
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
            "description": self._calls.description,
            "strict": True,
            "parameters": {
                "type": "object",
                "properties": {"code": code, "libraries": libraries},
                "required": ["code", "libraries"],
                "additionalProperties": False,
            },
        }

    # --- calls

    def is_call(self, item: object) -> bool:
        """Return whether an item of a response, or a tool call of a chat message, is for these
        tools.
        """
        found = _plain(item)
        named = found.get("function") or found
        kind = found.get("type")
        names = (self.options.name, self._calls.reader)
        return (kind in CALLS or kind == "function") and named.get("name") in names

    def _asked(self, item: object) -> _Asked:
        found = _plain(item)
        if not self.is_call(found):
            raise ValidationError(f"not a call of the tool {self.options.name!r}", parameter="item")
        # trust: written by a model; any error is answered to the model.
        known = found.get("call_id") or found.get("id")
        call_id = known if isinstance(known, str) else None
        if found["type"] == "custom_tool_call":
            given = found.get("input")
            if not isinstance(given, str):
                return _Asked(call_id, refusal="Nothing was run: the call has no input.")
            return _Asked(call_id, given)
        named = found.get("function") or found
        arguments = named.get("arguments")
        try:
            if named["name"] == self._calls.reader:
                return _Asked(call_id, page=self._calls.read(*_read_page(arguments)))
            code, libraries = _read_arguments(arguments)
        except _PageError as error:
            return _Asked(call_id, page=f"Nothing was read: {error}.")
        except (ValueError, RecursionError) as error:
            return _Asked(call_id, refusal=refuse_arguments(error))
        return _Asked(call_id, code, libraries)

    def refuse_unknown(self, item: object) -> Answered:
        """Answer a call of an unknown tool.

        Args:
            item: Call of either API.
        """
        found = _plain(item)
        # trust: written by a model, and only shown to the model.
        name = str((found.get("function") or found).get("name"))[:64]
        known = [repr(tool) for tool in (self.options.name, self._calls.reader) if tool]
        tools = f"the tool is {known[0]}" if len(known) == 1 else f"tools are {' and '.join(known)}"
        refusal = f"Nothing was run: there is no tool {name!r}; {tools}."
        return Answered("", ToolReply(None, refusal, self.options))

    def _answered(self, asked: _Asked) -> Answered | None:
        """Return the answer if nothing is run; None if code is to be run."""
        if asked.page is not None:
            return Answered("", ToolReply(None, None, self.options, page=asked.page))
        if asked.refusal is not None:
            return Answered("", ToolReply(None, asked.refusal, self.options))
        return None

    # --- answers

    def output_item(self, item: object, answered: Answered) -> dict[str, Any]:
        """Return the item that answers a call of the Responses API, images included.

        Raises:
            ValidationError: The item is not a call of the Responses API.
        """
        found = _plain(item)
        kind = found.get("type")
        if kind not in CALLS:
            raise ValidationError(
                f"not a call of the Responses API: {kind!r}",
                parameter="item",
                hint="chat_messages answers the calls of Chat Completions",
            )
        return {
            "type": CALLS[kind],
            "call_id": _id_of(found, "call_id"),
            "output": answered.reply.parts("openai"),
        }

    def chat_messages(self, answers: Iterable[tuple[object, Answered]]) -> list[dict[str, Any]]:
        """Return the messages that answer the calls of one chat message.

        Tool messages hold only text; images follow in one user message.

        Args:
            answers: Calls of that message with their answers.

        Raises:
            ValidationError: An item is not a call of Chat Completions.
        """
        messages: list[dict[str, Any]] = []
        pictures: list[dict[str, Any]] = []
        for call, answered in answers:
            parts = answered.reply.parts("openai-chat")
            texts = [part for part in parts if part["type"] == "text"]
            images = [part for part in parts if part["type"] != "text"]
            call_id = _id_of(_plain(call), "id")
            messages.append({"role": "tool", "tool_call_id": call_id, "content": texts})
            if images:
                note = f"Figures of the call {call_id}:"
                pictures += [{"type": "text", "text": note}, *images]
        return [*messages, {"role": "user", "content": pictures}] if pictures else messages


class CodeTool(ToolOfSession):
    """Session as a tool.

    Concurrent calls from several threads run one after another.

    Args:
        session: Open session.
        options: Options of the tool.
        reads: Whether there is a second tool that reads omitted parts of answers: all `definitions`
            must be sent then.
    """

    def call(self, item: object) -> Answered:
        """Answer a call: run code or read a page.

        Args:
            item: ``custom_tool_call`` or ``function_call`` item of a response, or tool call of a
                chat message, as the SDK's object or a dictionary.

        Raises:
            ValidationError: The item is not a call of this tool.
            SandboxError: The sandbox itself failed.
        """
        asked = self._asked(item)
        if (answered := self._answered(asked)) is not None:
            return answered
        reply = self._calls.answer(asked.code, asked.libraries, call_id=asked.id)
        return Answered(asked.code, reply)

    def registered_function(self) -> "RegisteredFunction":
        """Return the tool for the SDK's own `ResponsesToolRunner`.

        Raises:
            MissingDependencyError: The package `openai` is not installed.
        """
        runner = require("openai.lib.responses_tool_runner", "openai")

        def execute(arguments: dict[str, object]) -> Any:
            return self.call(_function_call(self.options.name, arguments)).reply.parts("openai")

        registered: RegisteredFunction = runner.RegisteredFunction(self.function(), execute)
        return registered


class AsyncCodeTool(ToolOfSession):
    """Session as a tool for tasks, without blocking the event loop.

    Concurrent calls run one after another.

    Args:
        session: Open session, or its awaitable twin.
        options: Options of the tool.
        reads: As for `CodeTool`.
    """

    async def call(self, item: object) -> Answered:
        """Answer a call: run code or read a page. Cancellation stops the code.

        Args:
            item: As for `CodeTool.call`.

        Raises:
            ValidationError: The item is not a call of this tool.
            SandboxError: The sandbox itself failed.
        """
        asked = self._asked(item)
        if (answered := self._answered(asked)) is not None:
            return answered
        reply = await self._calls.answer_async(asked.code, asked.libraries, call_id=asked.id)
        return Answered(asked.code, reply)

    def registered_function(self) -> "AsyncRegisteredFunction":
        """Return the tool for the SDK's own `AsyncResponsesToolRunner`.

        Raises:
            MissingDependencyError: The package `openai` is not installed.
        """
        runner = require("openai.lib.responses_tool_runner", "openai")

        async def execute(arguments: dict[str, object]) -> Any:
            answered = await self.call(_function_call(self.options.name, arguments))
            return answered.reply.parts("openai")

        registered: AsyncRegisteredFunction = runner.AsyncRegisteredFunction(
            self.function(), execute
        )
        return registered


def _function_call(name: str, arguments: dict[str, object]) -> dict[str, object]:
    return {"type": "function_call", "name": name, "arguments": arguments}


def _plain(item: object) -> Mapping[str, Any]:
    if isinstance(item, Mapping):
        return item
    dump = getattr(item, "model_dump", None)
    if dump is None:
        raise ValidationError("neither an object of the SDK nor a dictionary", parameter="item")
    found: Mapping[str, Any] = dump()
    return found


def _id_of(found: Mapping[str, Any], key: str) -> Any:
    if key not in found:
        raise ValidationError(f"the call has no {key!r} to answer it by", parameter="item")
    return found[key]


def _read_arguments(arguments: object) -> tuple[str, list[str] | None]:
    # trust: written by a model; any error is answered to the model.
    given = json.loads(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(given, Mapping) or not isinstance(given.get("code"), str):
        raise ValueError("the arguments have no code")
    libraries = given.get("libraries")
    if libraries is not None and not (
        isinstance(libraries, list) and all(isinstance(name, str) for name in libraries)
    ):
        raise ValueError("libraries must be a list of names")
    return given["code"], libraries or None


class _PageError(ValueError):
    """The arguments of the reading tool are invalid."""


def _read_page(arguments: object) -> tuple[str, int, int]:
    # trust: written by a model; any error is answered to the model.
    try:
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError) as error:
        raise _PageError(error) from None
    if not isinstance(given, Mapping) or not isinstance(given.get("handle"), str):
        raise _PageError("the arguments have no handle")
    numbers = []
    for name, default in (("offset", 0), ("limit", PAGE)):
        number = given.get(name)
        if number is not None and type(number) is not int:
            raise _PageError(f"{name} must be a whole number")
        numbers.append(default if number is None else number)
    return given["handle"], numbers[0], numbers[1]
