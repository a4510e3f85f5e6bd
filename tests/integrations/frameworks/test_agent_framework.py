"""The tool of Microsoft's Agent Framework, called by its own agent."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

pytest.importorskip(
    "agent_framework", reason="`make frameworks` installs Agent Framework and runs this"
)

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
)

from llm_sandbox import create_session
from llm_sandbox.integrations.agent_framework import make_tool
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.steps import CODES, check_told
from tests.integrations.processes import Marked

pytestmark = pytest.mark.anyio


class Scripted(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Calls the tool with each code, and says something then."""

    def __init__(self, *codes: str) -> None:
        FunctionInvocationLayer.__init__(self)
        BaseChatClient.__init__(self)
        self.turns = [*codes]
        self.heard: list[Content] = []

    def _inner_get_response(self, *, messages: Any, **_: Any) -> Awaitable[ChatResponse]:
        results = [c for m in messages for c in m.contents if c.type == "function_result"]
        self.heard = results
        content: Any = "It grows."
        if len(results) < len(self.turns):
            code = {"code": self.turns[len(results)]}
            content = Content.from_function_call(f"call_{len(results)}", "run_code", arguments=code)

        async def answer() -> ChatResponse:
            return ChatResponse(messages=[Message(role="assistant", contents=[content])])

        return answer()


async def ask(session: BaseSession, *codes: str) -> Scripted:
    client = Scripted(*codes)
    tool = make_tool(session, ToolOptions(timeout=2.0))
    done = await Agent(client=client, tools=[tool]).run("?")
    assert done.text == "It grows."
    return client


def items(result: Content) -> list[Content]:
    return list(result.items or [])


async def test_an_agent_gets_text_and_the_picture(session: BaseSession) -> None:
    """State, an error, the end of the time and a figure, through the framework's own loop."""
    client = await ask(session, *CODES)
    told = ["\n".join(i.text or "" for i in items(r) if i.type == "text") for r in client.heard]
    check_told(told)
    (picture,) = (item for item in items(client.heard[-1]) if item.type == "data")
    assert picture.media_type == "image/png"
    assert len(session.history[-1].result.plots) == 1


async def test_a_sandbox_that_fails_is_told() -> None:
    """As the framework tells of functions that raise."""
    client = await ask(create_session("bubblewrap"), "1")
    assert client.heard[0].exception


async def test_a_cancelled_run_stops_the_code(session: BaseSession) -> None:
    """Seen from outside: the process is gone, and the session can be used again."""
    marked = Marked()
    agent = Agent(client=Scripted(marked.code), tools=[make_tool(session)])
    task = asyncio.create_task(agent.run("?"))
    assert await marked.wait(running=True)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await marked.wait(running=False)
    assert session.run("print('again')").stdout == "again\n"
