"""Toolkit of Agno that runs code in a session."""

import base64

from agno.media import Image
from agno.tools import Toolkit
from agno.tools.function import Function, ToolResult

from llm_sandbox.aio import AsyncSession
from llm_sandbox.integrations.calls import CodeCalls
from llm_sandbox.integrations.tool import PARAMETERS, ToolOptions, ToolReply
from llm_sandbox.session.session import BaseSession

__all__ = ["SandboxTools"]


class SandboxTools(Toolkit):
    """Toolkit with a session as its one tool, for `run` and `arun`.

    Answers are Agno's own `ToolResult`, with the figures as `Image`. Code that fails, takes too
    long (60 s, unless `options` say otherwise) or is refused is an answer; if the sandbox fails,
    Agno tells the model that the call failed. Cancelling `arun` stops the code. Concurrent calls
    are made one after another.

    Args:
        session: Session, which must be open when the tool is called, and is left open.
        options: Options of the tool; None for the defaults.

    Raises:
        MissingDependencyError: The package `agno` is not installed; raised by the import of this
            module.
        ValidationError: An argument has the wrong type.
    """

    def __init__(
        self, session: BaseSession | AsyncSession, options: ToolOptions | None = None
    ) -> None:
        calls = CodeCalls(session, options)

        def run_code(code: str, libraries: list[str] | None = None) -> ToolResult:
            return _result(calls.answer(code, libraries))

        async def run_code_async(code: str, libraries: list[str] | None = None) -> ToolResult:
            return _result(await calls.answer_async(code, libraries))

        super().__init__(name="sandbox", auto_register=False)
        told = {
            "name": calls.options.name,
            "description": calls.description,
            "parameters": PARAMETERS,
            "skip_entrypoint_processing": True,
        }
        self.functions[calls.options.name] = Function(entrypoint=run_code, **told)
        self.async_functions[calls.options.name] = Function(entrypoint=run_code_async, **told)


def _result(reply: ToolReply) -> ToolResult:
    parts = reply.parts("mcp")
    images = [
        Image(content=base64.b64decode(part["data"]), mime_type=part["mimeType"])
        for part in parts
        if part["type"] == "image"
    ]
    words = "\n".join(part["text"] for part in parts if part["type"] == "text")
    return ToolResult(content=words, images=images or None)
