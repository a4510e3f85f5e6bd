"""The tool of LangChain, called by its own messages and in a graph of LangGraph."""

import asyncio
import base64
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import Field

from llm_sandbox import ExecutionResult, create_session
from llm_sandbox.exceptions import NotOpenSessionError
from llm_sandbox.host.distribution import install_command
from llm_sandbox.integrations.langchain import make_tool
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.security import get_security_policy
from llm_sandbox.session.session import BaseSession
from llm_sandbox.telemetry import RunRecord
from tests.integrations.processes import Marked

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint('drawn')"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        yield opened


class Scripted(BaseChatModel):
    """A model whose answers are written down: code to run, or words."""

    turns: list[AIMessage]
    heard: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> "Scripted":
        assert [tool.name for tool in tools] == ["run_code"]
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.heard.append(messages)
        turn = self.turns[len(self.heard) - 1]
        return ChatResult(generations=[ChatGeneration(message=turn)])


def call(code: str, key: str = "call_1") -> ToolCall:
    return ToolCall(type="tool_call", id=key, name="run_code", args={"code": code})


def calls(*codes: str) -> AIMessage:
    return AIMessage("", tool_calls=[call(code, f"call_{n}") for n, code in enumerate(codes)])


def agent(model: Scripted, tool: BaseTool, checkpointer: Any = None) -> Any:
    """The loop that LangGraph's own agents are made of."""
    bound = model.bind_tools([tool])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": bound.invoke(state["messages"])})
    graph.add_node("tools", ToolNode([tool]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=checkpointer)


def asked() -> dict[str, list[BaseMessage]]:
    return {"messages": [HumanMessage("?")]}


def text_of(message: ToolMessage) -> str:
    return str(message.text)


def pictures_of(message: ToolMessage) -> list[bytes]:
    blocks: list[Any] = [block for block in message.content_blocks if block["type"] == "image"]
    assert [block["mime_type"] for block in blocks] == ["image/png"] * len(blocks)
    return [base64.b64decode(block["base64"]) for block in blocks]


@pytest.mark.anyio
@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
async def test_a_graph_gets_the_picture_and_the_result(session: BaseSession, awaited: bool) -> None:
    """An error, its repair and a figure: what the model hears, and what the program keeps."""
    tool = make_tool(session)
    turns = [calls("x = 1\n1 / 0"), calls(f"print(x)\n{PLOT}"), AIMessage("It grows.")]
    model = Scripted(turns=turns)
    graph = agent(model, tool)
    done = await graph.ainvoke(asked()) if awaited else graph.invoke(asked())
    assert done["messages"][-1].text == "It grows."
    failed, drawn = (item for item in model.heard[2] if isinstance(item, ToolMessage))
    assert "ZeroDivisionError" in text_of(failed)
    assert "line 2" in text_of(failed)
    assert isinstance(failed.artifact, ExecutionResult)
    assert failed.artifact.exit_code == 1
    assert "drawn" in text_of(drawn)
    assert [picture.startswith(PNG) for picture in pictures_of(drawn)] == [True]
    assert drawn.artifact is session.history[-1].result
    assert len(drawn.artifact.plots) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
async def test_calls_of_one_message_are_all_answered(session: BaseSession, awaited: bool) -> None:
    """LangGraph makes them at the same time; awaited, in the order in which the model asked."""
    codes = [f"done = {{*globals().get('done', ()), {n}}}" for n in range(4)]
    if awaited:
        codes = ["n = 1", "n += 1", "n *= 10", "in_order = n"]
    model = Scripted(turns=[calls(*codes), AIMessage("ok")])
    graph = agent(model, make_tool(session))
    done = await graph.ainvoke(asked()) if awaited else graph.invoke(asked())
    results = [item.artifact for item in done["messages"] if isinstance(item, ToolMessage)]
    assert [result.exit_code for result in results] == [0] * 4
    name, value = ("in_order", "20") if awaited else ("done", "{0, 1, 2, 3}")
    assert session.run(name).value == value


def test_a_conversation_is_kept_by_a_checkpointer(session: BaseSession) -> None:
    """Stored and brought back, with the picture, and with the result as its plain data."""
    model = Scripted(turns=[calls(PLOT), AIMessage("ok")])
    graph = agent(model, make_tool(session), InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke(asked(), config)
    (kept,) = (
        item for item in graph.get_state(config).values["messages"] if isinstance(item, ToolMessage)
    )
    assert pictures_of(kept)[0].startswith(PNG)
    assert ExecutionResult.from_dict(kept.artifact) == session.history[-1].result


def test_what_a_model_can_mend_is_an_answer() -> None:
    """A timeout with what was printed, refused code, and arguments that are none."""
    policy = get_security_policy("production")
    with create_session("bubblewrap", security_policy=policy) as guarded:
        tool = make_tool(guarded, ToolOptions(timeout=2.5))
        late = tool.invoke(call("print('begun', flush=True)\nwhile True: pass"))
        assert late.artifact.timed_out
        assert "begun" in text_of(late)
        refused = tool.invoke(call("import os; os.system('id')"))
        assert refused.artifact is None
        assert "os.system" in text_of(refused)
        wrong = ToolCall(type="tool_call", id="1", name="run_code", args={"libraries": ["x"]})
        told = tool.invoke(wrong)
        assert "Nothing was run: code: Field required" in text_of(told)
        assert [entry.code[:5] for entry in guarded.history] == ["print"]


@pytest.mark.anyio
async def test_a_sandbox_that_fails_raises() -> None:
    """Through the graph, too: people have to mend it."""
    closed = create_session("bubblewrap")
    graph = agent(Scripted(turns=[calls("1")]), make_tool(closed))
    with pytest.raises(NotOpenSessionError):
        graph.invoke(asked())
    with pytest.raises(NotOpenSessionError):
        await make_tool(closed).ainvoke(call("1"))


@pytest.mark.anyio
async def test_a_cancelled_graph_stops_the_code(session: BaseSession) -> None:
    """Seen from outside: the process is gone, and the session can be used again."""
    marked = Marked()
    tool = make_tool(session)
    graph = agent(Scripted(turns=[calls(marked.code)]), tool)
    task = asyncio.create_task(graph.ainvoke(asked()))
    assert await marked.wait(running=True)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await marked.wait(running=False)
    again = await tool.ainvoke(call("print('still here')"))
    assert "still here" in text_of(again)


@pytest.mark.anyio
async def test_the_id_of_a_call_reaches_the_record_of_its_run(session: BaseSession) -> None:
    """By both ways; a call that is no message of a model has none."""
    heard: list[str | None] = []

    def hear(record: RunRecord) -> None:
        heard.append(record.tool_call_id)

    tool = make_tool(session)
    session.add_observer(hear)
    try:
        tool.invoke(call("1", "one"))
        await tool.ainvoke(call("2", "two"))
        tool.invoke({"code": "3"})
    finally:
        session.remove_observer(hear)
    assert heard == ["one", "two", None]


def test_a_missing_package_names_what_to_install() -> None:
    """And the library itself, with what its integrations share, needs none."""
    code = (
        "import sys; sys.modules['langchain_core'] = None\n"
        "import llm_sandbox.integrations.calls, llm_sandbox.integrations.dumping\n"
        "from llm_sandbox.exceptions import MissingDependencyError\n"
        "try: import llm_sandbox.integrations.langchain\n"
        "except MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert install_command("langchain") in done.stdout, done.stderr
