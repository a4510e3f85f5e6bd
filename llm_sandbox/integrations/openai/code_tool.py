"""A session as a tool of OpenAI's APIs: definitions to send, calls to answer."""

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
"""How a tool is defined: for the Responses API, code as it is or a function; or for Chat
Completions.
"""

CALLS = {"custom_tool_call": "custom_tool_call_output", "function_call": "function_call_output"}
"""Types of the Responses API's items that call a tool, and of those that answer them."""


@dataclass(frozen=True)
class Answered:
    """A call and what it was answered."""

    code: str
    """The code that the model wrote; empty when it wrote none, or its arguments are none."""
    reply: ToolReply
    """What came of it."""


@dataclass(frozen=True)
class _Asked:
    """What a call asks for."""

    id: str | None
    """By which the API knows the call; None when it has none."""
    code: str = ""
    libraries: list[str] | None = None
    refusal: str | None = None
    """Why nothing is run, in words for the model; None when something is."""
    page: str | None = None
    """What was read, or why nothing was; None when code is to be run."""


class ToolOfSession:
    """What is the same of the tools below: how a model is told of them, and answered.

    The custom tool of the Responses API takes code as it is, which models write better than code
    inside of JSON; the function tools take libraries, too.

    Args:
        session: An open session.
        options: How the tool behaves.
        reads: Whether the model gets a second tool, which reads what answers leave out: all that
            `definitions` returns has to be sent then.

    Raises:
        ValidationError: An argument is something else.
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
        """Where the code runs."""
        return self._calls.session

    def check_open(self) -> None:
        """Find out before a model is asked that nothing could be run.

        Raises:
            NotOpenSessionError: The session is not open, or closed.
        """
        self._calls.check_open()

    def within(self, seconds: float) -> Self:
        """Return the same tool, whose runs take no longer.

        Args:
            seconds: How long a run may take at most.
        """
        timeout = self.options.timeout
        timeout = seconds if timeout is None else min(timeout, seconds)
        options = replace(self.options, timeout=timeout)
        return type(self)(self.session, options, reads=self._calls.reader is not None)

    # --- definitions

    def definitions(self, kind: Kind) -> list[dict[str, Any]]:
        """Return the definitions to send: of the tool, and of the one that reads, if there is one.

        Args:
            kind: What the tool is to the API. The one that reads is always a function.
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
        """Return the definition for the Responses API whose input is code, not JSON."""
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
        """Whether an item of a response, or a tool call of a chat message, is for these tools."""
        found = _plain(item)
        named = found.get("function") or found
        kind = found.get("type")
        names = (self.options.name, self._calls.reader)
        return (kind in CALLS or kind == "function") and named.get("name") in names

    def _asked(self, item: object) -> _Asked:
        found = _plain(item)
        if not self.is_call(found):
            raise ValidationError(f"not a call of the tool {self.options.name!r}", parameter="item")
        # trust: a model's words; whatever is wrong with them is told to it.
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
        """Answer a call of a tool that there is not, which a model has made up.

        Args:
            item: The call, of either API.
        """
        found = _plain(item)
        # trust: a model's words, told back to it.
        name = str((found.get("function") or found).get("name"))[:64]
        known = [repr(tool) for tool in (self.options.name, self._calls.reader) if tool]
        tools = f"the tool is {known[0]}" if len(known) == 1 else f"tools are {' and '.join(known)}"
        refusal = f"Nothing was run: there is no tool {name!r}; {tools}."
        return Answered("", ToolReply(None, refusal, self.options))

    def _answered(self, asked: _Asked) -> Answered | None:
        """What is answered where nothing is run; None where something has to be."""
        if asked.page is not None:
            return Answered("", ToolReply(None, None, self.options, page=asked.page))
        if asked.refusal is not None:
            return Answered("", ToolReply(None, asked.refusal, self.options))
        return None

    # --- answers

    def output_item(self, item: object, answered: Answered) -> dict[str, Any]:
        """Return the item that answers a call of the Responses API, images included.

        Raises:
            ValidationError: It is no call of the Responses API.
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

        Messages of a tool hold text only; pictures follow in one message of the user.

        Args:
            answers: The calls of that message, with what each was answered.

        Raises:
            ValidationError: One is no call of Chat Completions.
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
    """One session as a tool.

    Calls that are made at the same time, from several threads, run one after another.

    Args:
        session: An open session.
        options: How the tool behaves.
        reads: Whether the model gets a second tool, which reads what answers leave out: all that
            `definitions` returns has to be sent then.
    """

    def call(self, item: object) -> Answered:
        """Run or read what a call asks for.

        Args:
            item: A ``custom_tool_call`` or ``function_call`` item of a response, or a tool call of
                a chat message: the SDK's object or its dictionary.

        Raises:
            ValidationError: It is no call of this tool.
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
    """One session as a tool, for tasks: the event loop goes on while code runs.

    Calls that are made at the same time run one after another.

    Args:
        session: An open session, or the awaitable twin of one.
        options: How the tool behaves.
        reads: As for `CodeTool`.
    """

    async def call(self, item: object) -> Answered:
        """Run or read what a call asks for; cancelled, it stops the code.

        Args:
            item: As for `CodeTool.call`.

        Raises:
            ValidationError: It is no call of this tool.
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


class _PageError(ValueError):
    """The arguments of the tool that reads are none."""


def _read_page(arguments: object) -> tuple[str, int, int]:
    # trust: a model's words; whatever is wrong with them is told to it.
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
            raise _PageError(f"{name} is no whole number")
        numbers.append(default if number is None else number)
    return given["handle"], numbers[0], numbers[1]
