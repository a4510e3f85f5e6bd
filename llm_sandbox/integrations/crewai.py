"""CrewAI: a session as a tool for agents.

Needs the extra ``crewai``; importing this without it says what to type.
"""

from typing import Any

from pydantic import BaseModel, Field, PrivateAttr

from llm_sandbox.aio import AsyncSession
from llm_sandbox.integrations.calls import CodeCalls
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.tool import ToolOptions, words_only
from llm_sandbox.session.session import BaseSession

require("crewai.tools", "crewai")

from crewai.tools import BaseTool  # noqa: E402 - the line above says what to install

__all__ = ["make_tool"]


def make_tool(session: BaseSession | AsyncSession, options: ToolOptions | None = None) -> BaseTool:
    """Return a session as a tool for `Agent(tools=[...])`.

    Answers are text only, since CrewAI has no images in tool results. The figures are in the
    session's `history`. Code that fails, takes too long (60 s, unless `options` say otherwise) or
    is refused is an answer; a sandbox that fails raises `SandboxError` into the framework, which
    tells the model. Concurrent calls are made one after another.

    Args:
        session: Session, which must be open when the tool is called, and is left open.
        options: Options of the tool; None for the defaults. Images are refused.

    Raises:
        MissingDependencyError: The package `crewai` is not installed; raised by the import of this
            module.
        ValidationError: An argument has the wrong type.
    """
    calls = CodeCalls(session, words_only(options, "CrewAI"))
    made = _CodeTool(name=calls.options.name, description=calls.description)
    made._calls = calls
    return made


class _Arguments(BaseModel):
    code: str = Field(description="source code")
    libraries: list[str] | None = Field(
        default=None, description="names of libraries to install first"
    )


class _CodeTool(BaseTool):
    args_schema: type[BaseModel] = _Arguments
    _calls: CodeCalls = PrivateAttr()

    # The same code does not give the same answer again: what it stands on has changed.
    cache_function: Any = staticmethod(lambda arguments, result: False)

    def _run(self, code: str, libraries: list[str] | None = None) -> str:
        return self._calls.answer(code, libraries).text

    async def _arun(self, code: str, libraries: list[str] | None = None) -> str:
        return (await self._calls.answer_async(code, libraries)).text
