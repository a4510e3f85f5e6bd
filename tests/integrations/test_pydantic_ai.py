"""pydantic-ai with models whose answers are written down: one tool, pictures, runs that end."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pydantic_ai import Agent, BinaryContent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from llm_sandbox import SandboxSession, create_session
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import NotOpenSessionError, ValidationError
from llm_sandbox.host.distribution import install_command
from llm_sandbox.integrations.pydantic_ai import SandboxToolset
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.security import get_security_policy
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession
from llm_sandbox.telemetry import RunRecord
from tests.integrations.processes import Marked

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


class Written:
    """A model that makes these calls, one answer after another, and then says ``done``."""

    def __init__(self, *turns: Sequence[dict[str, Any]]) -> None:
        self._turns = list(turns)
        self.tools: list[Any] = []
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.tools = info.function_tools
        if not self._turns:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(
            parts=[ToolCallPart("run_code", arguments) for arguments in self._turns.pop(0)]
        )


def code(text: str) -> list[dict[str, Any]]:
    return [{"code": text}]


def returned(messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
    parts = [part for message in messages for part in message.parts]
    return [part for part in parts if isinstance(part, ToolReturnPart)]


def text_of(part: ToolReturnPart) -> str:
    assert isinstance(part.content, list)
    return "\n".join(item for item in part.content if isinstance(item, str))


async def test_an_agent_draws_in_a_sandbox_of_its_own() -> None:
    """The picture comes as bytes, the whole result as metadata; the sandbox ends with the run."""
    written = Written(code(PLOT), code("print(len(plt.__name__))"))
    toolset: SandboxToolset[None] = SandboxToolset(backend="bubblewrap")
    agent = Agent(written.model, toolsets=[toolset])
    done = await agent.run("How does it grow?")
    assert done.output == "done"
    first, second = returned(done.all_messages())
    assert isinstance(first.content, list)
    pictures = [item for item in first.content if isinstance(item, BinaryContent)]
    assert [(item.media_type, item.data[:8]) for item in pictures] == [("image/png", PNG)]
    assert first.metadata.stdout == "drawn\n"
    assert "17" in text_of(second)
    stored = ModelMessagesTypeAdapter.validate_json(done.all_messages_json())
    assert ExecutionResult.from_dict(returned(stored)[0].metadata) == first.metadata
    definition = written.tools[0]
    assert (definition.name, definition.parameters_json_schema["required"]) == (
        "run_code",
        ["code"],
    )
    assert "Runs python code in a sandbox" in definition.description
    # Of a second run nothing is known in the first one's sandbox.
    written._turns = [code("print(plt)")]
    again = await agent.run("And again?")
    assert "NameError" in text_of(returned(again.all_messages())[0])


async def test_runs_inside_of_a_block_share_a_sandbox_which_ends_with_it() -> None:
    """A block is entered by the agent or by the toolset itself; both may be."""
    marked = Marked()
    start = f"import subprocess\nheld = subprocess.Popen({marked.code.split('run(')[1][:-1]})"
    written = Written(code(start), [])
    toolset: SandboxToolset[None] = SandboxToolset(backend="bubblewrap")
    agent = Agent(written.model, toolsets=[toolset])
    async with agent, toolset:
        await agent.run("first")
        assert await marked.wait(running=True)
        written._turns = [code("print(held.poll())")]
        done = await agent.run("second")
        assert "None" in text_of(returned(done.all_messages())[0])
    assert await marked.wait(running=False)


async def test_what_a_model_can_mend_is_an_answer() -> None:
    """Errors, refusals, times that are up, and arguments that are none."""
    policy = get_security_policy("production")
    config = SessionConfig(security_policy=policy, execution_timeout=60)
    wrong = [{"libraries": []}, {"code": 1}, {"code": "1", "lang": "r"}]
    turns = [code("x = 1\n1 / 0"), code("import os\nos.system('id')"), code("while True: pass")]
    written = Written(*turns, *([arguments] for arguments in wrong))
    toolset: SandboxToolset[None] = SandboxToolset(
        backend="bubblewrap", config=config, options=ToolOptions(timeout=2), max_retries=3
    )
    done = await Agent(written.model, toolsets=[toolset]).run("?")
    parts = returned(done.all_messages())
    failed, refused, late = map(text_of, parts[:3])
    assert "ZeroDivisionError" in failed
    assert "line 2" in failed
    assert "os.system" in refused
    assert "time limit" in late
    assert [part.outcome for part in parts] == ["success"] * 3 + ["retried"] * 3


async def test_calls_of_one_answer_are_made_in_their_order(session: BaseSession) -> None:
    """Each is told by its id, which reaches the record of its run; the session stays open."""
    heard: list[str | None] = []

    def hear(record: RunRecord) -> None:
        heard.append(record.tool_call_id)

    session.add_observer(hear)
    written = Written([*code("order = [1]"), *code("order.append(2)"), *code("print(order)")])
    toolset: SandboxToolset[None] = SandboxToolset(session)
    try:
        done = await Agent(written.model, toolsets=[toolset]).run("?")
    finally:
        session.remove_observer(hear)
    parts = returned(done.all_messages())
    assert "[1, 2]" in text_of(parts[-1])
    assert heard == [part.tool_call_id for part in parts]
    assert session.is_open


@pytest.mark.parametrize("own", [True, False], ids=["its own", "given"])
async def test_a_cancelled_run_stops_the_code(session: BaseSession, own: bool) -> None:
    """Seen from outside: the process is gone, and a session that was given can be used again."""
    marked = Marked()
    toolset: SandboxToolset[None] = (
        SandboxToolset(backend="bubblewrap") if own else SandboxToolset(session)
    )
    written = Written(code(marked.code))
    agent = Agent(written.model, toolsets=[toolset])
    task = asyncio.create_task(agent.run("?"))
    assert await marked.wait(running=True)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await marked.wait(running=False)
    written._turns = [code("print('still here')")]
    done = await agent.run("again")
    assert "still here" in text_of(returned(done.all_messages())[0])


async def test_the_frameworks_own_model_takes_the_tool(session: BaseSession) -> None:
    """`TestModel` makes arguments of the schema, and calls every tool once."""
    toolset: SandboxToolset[None] = SandboxToolset(session, options=ToolOptions(name="python"))
    done = await Agent(TestModel(), toolsets=[toolset]).run("?")
    assert "python" in done.output
    called = [part.tool_name for part in returned(done.all_messages())]
    assert called == ["python", "read_output"]


async def test_mistakes_are_named(session: BaseSession) -> None:
    """Two sessions at once, and one that is not open."""
    with pytest.raises(ValidationError, match="has its settings"):
        SandboxToolset(session, backend="bubblewrap")
    closed = SandboxSession(backend="bubblewrap")
    toolset: SandboxToolset[None] = SandboxToolset(closed)
    with pytest.raises(NotOpenSessionError):
        await Agent(Written(code("1")).model, toolsets=[toolset]).run("?")


def test_a_missing_package_names_what_to_install() -> None:
    """And what the integrations share needs none."""
    program = (
        "import sys; sys.modules['pydantic_ai'] = None\n"
        "import llm_sandbox.integrations.calls\n"
        "from llm_sandbox.exceptions import MissingDependencyError\n"
        "try: import llm_sandbox.integrations.pydantic_ai\n"
        "except MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert install_command("pydantic-ai") in done.stdout, done.stderr
