"""The tool of OpenAI's Agents SDK, run by its own `Runner` against a model with written answers."""

import asyncio
import base64
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    ToolCallOutputItem,
    ToolOutputImage,
    TracingProcessor,
    UserError,
    set_trace_processors,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from llm_sandbox import create_session
from llm_sandbox.exceptions import NotOpenSessionError
from llm_sandbox.host.distribution import install_command
from llm_sandbox.integrations.agents import make_tool
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.security import get_security_policy
from llm_sandbox.session.session import BaseSession
from llm_sandbox.telemetry import RunRecord
from tests.integrations.processes import Marked
from tests.integrations.scripted_model import Call, Say, ScriptedModel, serve

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint('drawn')"
PNG = b"\x89PNG\r\n\x1a\n"

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        yield opened


@pytest.fixture(autouse=True)
def untraced() -> Iterator[None]:
    """No traces, and nobody who would send them."""
    set_trace_processors([])
    set_tracing_disabled(True)
    yield
    set_tracing_disabled(False)


@asynccontextmanager
async def analyst(
    model: ScriptedModel,
    session: BaseSession,
    options: ToolOptions | None = None,
    speaks: Any = OpenAIResponsesModel,
) -> AsyncIterator[Agent]:
    async with AsyncOpenAI(base_url=model.url, api_key="none", max_retries=0) as client:
        yield Agent("analyst", tools=[make_tool(session, options)], model=speaks("m", client))


def told(request: dict[str, Any]) -> list[str]:
    """The texts that answer calls, in their order."""
    items = [item for item in request["input"] if item.get("type") == "function_call_output"]
    answers = [item["output"] for item in items]
    return [
        answer
        if isinstance(answer, str)
        else "\n".join(part["text"] for part in answer if part["type"] == "input_text")
        for answer in answers
    ]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_model_is_sent_the_picture(session: BaseSession, streamed: bool) -> None:
    """An error, its repair and a figure, in what goes over the wire."""
    turns = [[Call("x = 1\n1 / 0")], [Call(f"print(x)\n{PLOT}")], [Say("It grows.")]]
    with serve(*turns) as model:
        async with analyst(model, session) as agent:
            if streamed:
                done: Any = Runner.run_streamed(agent, "How does it grow?")
                async for _ in done.stream_events():
                    pass
            else:
                done = await Runner.run(agent, "How does it grow?")
    assert done.final_output.strip() == "It grows."
    failed, drawn = told(model.requests[2])
    assert "ZeroDivisionError" in failed
    assert "line 2" in failed
    assert "drawn" in drawn
    parts = model.requests[2]["input"][-1]["output"]
    urls = [part["image_url"] for part in parts if part["type"] == "input_image"]
    assert [base64.b64decode(url.partition(",")[2]).startswith(PNG) for url in urls] == [True]
    outputs = [item.output for item in done.new_items if isinstance(item, ToolCallOutputItem)]
    assert [isinstance(part, ToolOutputImage) for part in outputs[1]].count(True) == 1
    assert len(session.history[-1].result.plots) == 1


async def test_chat_completions_get_the_words(session: BaseSession) -> None:
    """There the SDK sends no images of tools; what the tool is told to leave out is not named."""
    options = ToolOptions(images="none")
    with serve([Call(PLOT)], [Say("ok")]) as model:
        async with analyst(model, session, options, OpenAIChatCompletionsModel) as agent:
            await Runner.run(agent, "?")
    answer = str(model.requests[1]["messages"][-1]["content"])
    assert "drawn" in answer
    assert "picture below" not in answer


async def test_calls_of_one_answer_are_made_in_their_order(session: BaseSession) -> None:
    """The SDK makes them at the same time; each stands on the one before it."""
    codes = ["n = 1", "n += 1", "n *= 10", "print('n is', n)"]
    with serve([Call(code) for code in codes], [Say("ok")]) as model:
        async with analyst(model, session) as agent:
            await Runner.run(agent, "?")
    assert "n is 20" in told(model.requests[1])[3]


async def test_what_a_model_can_mend_is_an_answer() -> None:
    """A timeout with what was printed, refused code, and arguments that are none."""
    late = "print('begun', flush=True)\nwhile True: pass"
    turns = [[Call(late)], [Call("import os; os.system('id')")], [Call("", '{"code": 1}')]]
    turns.append([Call("", '{"code": "print(6 * 7)"}')])
    policy = get_security_policy("production")
    with (
        create_session("bubblewrap", security_policy=policy) as guarded,
        serve(*turns, [Say("ok")]) as model,
    ):
        async with analyst(model, guarded, ToolOptions(timeout=2.5)) as agent:
            await Runner.run(agent, "?")
        assert [entry.result.timed_out for entry in guarded.history] == [True, False]
    timed_out, refused, wrong, lenient = told(model.requests[4])
    assert "begun" in timed_out
    assert "os.system" in refused
    assert "Nothing was run: Invalid JSON input for tool run_code" in wrong
    assert "Send an object with code and libraries" in wrong
    assert "42" in lenient


async def test_a_sandbox_that_fails_ends_the_run() -> None:
    """With the SDK's error, whose cause says what people have to mend."""
    with serve([Call("1")]) as model:
        async with analyst(model, create_session("bubblewrap")) as agent:
            with pytest.raises(UserError) as caught:
                await Runner.run(agent, "?")
    assert isinstance(caught.value.__cause__, NotOpenSessionError)


async def test_a_cancelled_run_stops_the_code(session: BaseSession) -> None:
    """Seen from outside: the process is gone, and the session can be used again."""
    marked = Marked()
    with serve([Call(marked.code)], [Call("print('still here')")], [Say("ok")]) as model:
        async with analyst(model, session) as agent:
            task = asyncio.create_task(Runner.run(agent, "?"))
            assert await marked.wait(running=True)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await marked.wait(running=False)
            await Runner.run(agent, "again")
    assert "still here" in told(model.requests[2])[0]


class Traces(TracingProcessor):
    """What the SDK would have sent."""

    def __init__(self) -> None:
        self.begun = 0

    def on_trace_start(self, trace: Any) -> None:
        self.begun += 1

    def on_trace_end(self, trace: Any) -> None: ...

    def on_span_start(self, span: Any) -> None:
        self.begun += 1

    def on_span_end(self, span: Any) -> None: ...

    def shutdown(self) -> None: ...

    def force_flush(self) -> None: ...


async def test_the_tool_traces_nothing_by_itself(session: BaseSession) -> None:
    """With the SDK's switch off there is nothing to send; with it on there is."""
    traces = Traces()
    set_trace_processors([traces])
    begun = []
    for disabled in (True, False):
        set_tracing_disabled(False)
        with serve([Call("1")], [Say("ok")]) as model:
            async with analyst(model, session) as agent:
                await Runner.run(agent, "?", run_config=RunConfig(tracing_disabled=disabled))
        begun.append(traces.begun)
    assert begun[0] == 0
    assert begun[1] > 0


async def test_the_id_of_a_call_reaches_the_record_of_its_run(session: BaseSession) -> None:
    """It is the one that the model's API gave."""
    heard: list[str | None] = []

    def hear(record: RunRecord) -> None:
        heard.append(record.tool_call_id)

    session.add_observer(hear)
    try:
        with serve([Call("1"), Call("2")], [Say("ok")]) as model:
            async with analyst(model, session) as agent:
                await Runner.run(agent, "?")
    finally:
        session.remove_observer(hear)
    asked = [item for item in model.requests[1]["input"] if item.get("type") == "function_call"]
    assert heard == [item["call_id"] for item in asked]
    assert len(heard) == 2


def test_a_missing_package_names_what_to_install() -> None:
    """And what the integrations share needs none."""
    code = (
        "import sys; sys.modules['agents'] = None\n"
        "import llm_sandbox.integrations.calls\n"
        "from llm_sandbox.exceptions import MissingDependencyError\n"
        "try: import llm_sandbox.integrations.agents\n"
        "except MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert install_command("agents") in done.stdout, done.stderr
