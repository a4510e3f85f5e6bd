"""The toolkit of Agno, called by its own agent."""

import asyncio
import base64
from typing import Any

import pytest

pytest.importorskip("agno", reason="`make frameworks` installs Agno and runs this")

from agno.agent import Agent
from agno.models.openai import OpenAIChat

from llm_sandbox import create_session
from llm_sandbox.integrations.agno import SandboxTools
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.steps import CODES, PNG, check_told
from tests.integrations.processes import Marked
from tests.integrations.scripted_model import Call, Say, ScriptedModel, serve

pytestmark = pytest.mark.anyio


def agent(model: ScriptedModel, session: BaseSession) -> Agent:
    tools = [SandboxTools(session, ToolOptions(timeout=2.0))]
    chat = OpenAIChat(id="m", base_url=model.url, api_key="none", max_retries=0)
    return Agent(model=chat, tools=tools, telemetry=False)


def told(model: ScriptedModel) -> list[str]:
    return [str(m["content"]) for m in model.requests[-1]["messages"] if m["role"] == "tool"]


@pytest.mark.parametrize("awaited", [False, True], ids=["run", "arun"])
async def test_an_agent_gets_text_and_the_picture(session: BaseSession, awaited: bool) -> None:
    """State, an error, the end of the time and a figure, in what goes over the wire."""
    with serve(*([Call(code)] for code in CODES), [Say("It grows.")]) as model:
        it = agent(model, session)
        done: Any = await it.arun("?") if awaited else await asyncio.to_thread(it.run, "?")
    assert done.content == "It grows."
    check_told(told(model))
    urls = [
        part["image_url"]["url"]
        for message in model.requests[-1]["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]
    assert [base64.b64decode(url.partition(",")[2]).startswith(PNG) for url in urls] == [True]
    (tool,) = model.requests[0]["tools"]
    assert "Memory" in tool["function"]["description"]
    assert tool["function"]["parameters"]["required"] == ["code"]


async def test_a_sandbox_that_fails_is_told() -> None:
    """As Agno tells of functions that raise."""
    with serve([Call("1")], [Say("ok")]) as model:
        await agent(model, create_session("bubblewrap")).arun("?")
    assert "not open" in told(model)[0]


async def test_a_cancelled_run_stops_the_code(session: BaseSession) -> None:
    """Seen from outside: the process is gone, and the session can be used again."""
    marked = Marked()
    with serve([Call(marked.code)], [Say("ok")]) as model:
        chat = OpenAIChat(id="m", base_url=model.url, api_key="none", max_retries=0)
        it = Agent(model=chat, tools=[SandboxTools(session)], telemetry=False)
        task = asyncio.create_task(it.arun("?"))
        assert await marked.wait(running=True)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await marked.wait(running=False)
    assert session.run("print('again')").stdout == "again\n"
