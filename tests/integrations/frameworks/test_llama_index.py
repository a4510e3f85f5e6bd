"""What LlamaIndex' own agents run code with: the function of a `CodeActAgent`, and the tool."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip(
    "llama_index.core", reason="`make frameworks` installs LlamaIndex and runs this"
)

from llama_index.core.agent.workflow import CodeActAgent, FunctionAgent
from llama_index.core.base.llms.types import ImageBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM

from llm_sandbox import create_session
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.llama_index import make_code_execute_fn, make_tool
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.steps import CODES, PNG, check_told
from tests.integrations.processes import Marked

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
FAST = ToolOptions(timeout=2.0)


class Scripted:
    """Answers with each turn, and says something then."""

    def __init__(self, *turns: ChatMessage) -> None:
        self.turns = [*turns, ChatMessage(role="assistant", content="It grows.")]
        self.heard: list[ChatMessage] = []

    def __call__(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        self.heard = list(messages)
        done = sum(message.role == "assistant" for message in messages)
        return self.turns[done]


def model(*turns: ChatMessage) -> tuple[MockFunctionCallingLLM, Scripted]:
    script = Scripted(*turns)
    return MockFunctionCallingLLM(response_generator=script, is_chat_model=True), script


def written(code: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=f"Now:\n<execute>\n{code}\n</execute>")


def called(code: str, key: int) -> ChatMessage:
    call = ToolCallBlock(
        tool_call_id=f"call_{key}", tool_name="run_code", tool_kwargs={"code": code}
    )
    return ChatMessage(role="assistant", blocks=[call])


async def test_a_code_act_agent_runs_its_code_here(session: BaseSession) -> None:
    """State, an error, the end of the time and a figure, through the framework's own loop."""
    llm, script = model(*map(written, CODES))
    execute = make_code_execute_fn(session, FAST)
    done = await CodeActAgent(code_execute_fn=execute, llm=llm, streaming=False).run("?")
    assert str(done) == "It grows."
    told = [
        str(m.content) for m in script.heard if m.role == "user" and "status:" in str(m.content)
    ]
    check_told(told)
    assert "picture below" not in told[-1]
    assert len(session.history[-1].result.plots) == 1


async def test_a_function_agent_gets_the_picture(session: BaseSession) -> None:
    """As LlamaIndex' own block."""
    llm, script = model(*(called(code, key) for key, code in enumerate(CODES)))
    agent = FunctionAgent(tools=[make_tool(session, FAST)], llm=llm, streaming=False)
    assert str(await agent.run("?")) == "It grows."
    answers = [message for message in script.heard if message.role == "tool"]
    check_told([str(message.content) for message in answers])
    (picture,) = (block for block in answers[-1].blocks if isinstance(block, ImageBlock))
    assert picture.resolve_image().read().startswith(PNG)


async def test_the_tool_can_be_called_without_a_loop(session: BaseSession) -> None:
    """As agents do that are not asynchronous."""
    assert "42" in make_tool(session).call(code="6 * 7").content


async def test_a_sandbox_that_fails_is_told() -> None:
    """As the framework tells of tools that raise."""
    llm, script = model(called("1", 0))
    tool = make_tool(create_session("bubblewrap"))
    await FunctionAgent(tools=[tool], llm=llm, streaming=False).run("?")
    assert "not open" in str(script.heard[-1].content)


async def test_cancelling_stops_the_code(session: BaseSession) -> None:
    """Seen from outside: the process is gone, and the session can be used again."""
    marked = Marked()
    task = asyncio.create_task(make_code_execute_fn(session)(marked.code))
    assert await marked.wait(running=True)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await marked.wait(running=False)
    assert session.run("print('again')").stdout == "again\n"


def test_pictures_for_a_code_act_agent_are_refused(session: BaseSession) -> None:
    """It puts what comes back into a text."""
    with pytest.raises(ValidationError, match="no images"):
        make_code_execute_fn(session, ToolOptions(images="inline"))
