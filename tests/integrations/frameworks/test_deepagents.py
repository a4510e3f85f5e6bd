"""The backend of Deep Agents, used by its own agent and its own file tools."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("deepagents", reason="`make frameworks` installs Deep Agents and runs this")

from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from llm_sandbox import Sandbox
from llm_sandbox.exceptions import SessionClosedError, ValidationError
from llm_sandbox.integrations.deepagents import SandboxBackend
from llm_sandbox.integrations.langchain import make_tool
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.steps import CODES, check_told
from tests.integrations.processes import Marked

pytestmark = pytest.mark.anyio


class Scripted(BaseChatModel):
    """Makes the calls that are written down, one an answer."""

    calls: list[tuple[str, dict[str, Any]]]
    heard: list[BaseMessage] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> "Scripted":
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.heard[:] = messages
        done = sum(isinstance(message, ToolMessage) for message in messages)
        turn = AIMessage("It grows.")
        if done < len(self.calls):
            name, given = self.calls[done]
            turn = AIMessage("", tool_calls=[{"name": name, "args": given, "id": f"call_{done}"}])
        return ChatResult(generations=[ChatGeneration(message=turn)])

    @property
    def told(self) -> list[ToolMessage]:
        return [message for message in self.heard if isinstance(message, ToolMessage)]


@pytest.fixture(scope="module")
def backend(session: BaseSession) -> SandboxBackend:
    return SandboxBackend(session, timeout=5.0)


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
async def test_an_agent_works_inside(session: BaseSession, awaited: bool) -> None:
    """Its own file tools, commands with an error and the end of the time, and a live kernel."""
    backend = SandboxBackend(session, timeout=2.0)
    path = f"{backend.workdir}/notes/plan-{awaited}.md"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("write_file", {"file_path": path, "content": "one\ntwo\n"}),
        ("edit_file", {"file_path": path, "old_string": "two", "new_string": "three"}),
        ("read_file", {"file_path": path}),
        ("grep", {"pattern": "three", "path": backend.workdir}),
        ("glob", {"pattern": "**/*.md", "path": backend.workdir}),
        ("execute", {"command": f"cat {path}; echo problem >&2; exit 3"}),
        ("execute", {"command": "echo begun; sleep 60"}),
        *(("run_code", {"code": code}) for code in CODES),
        ("run_code", {"code": f"print(open({path!r}).read())"}),
    ]
    model = Scripted(calls=calls)
    tool = make_tool(session, ToolOptions(timeout=2.0))
    agent = create_deep_agent(model=model, tools=[tool], backend=backend)
    asked = {"messages": [{"role": "user", "content": "?"}]}
    done = await agent.ainvoke(asked) if awaited else await asyncio.to_thread(agent.invoke, asked)
    assert done["messages"][-1].text == "It grows."
    told = [str(message.text) for message in model.told]
    assert "three" in told[2]
    assert path in told[3]
    assert path.removeprefix(backend.workdir) in told[4]
    assert "three\nproblem" in told[5]
    assert "3" in told[5]
    assert "begun" in told[6]
    assert "2 seconds" in told[6]
    check_told(told[7:12])
    assert "one\nthree" in told[12]
    assert len(session.history[-2].result.plots) == 1


def test_a_file_that_cannot_be_is_told_in_the_framework_s_words(backend: SandboxBackend) -> None:
    """Each for itself; the others are there."""
    home = backend.workdir
    sent = backend.upload_files([(f"{home}/a/b.bin", b"\0\xff"), ("/proc/no", b""), (home, b"")])
    assert [bool(item.error) for item in sent] == [False, True, True]
    assert sent[2].error == "is_directory"
    got = backend.download_files([f"{home}/a/b.bin", f"{home}/none", f"{home}/a"])
    assert [(item.content, item.error) for item in got] == [
        (b"\0\xff", None),
        (None, "file_not_found"),
        (None, "is_directory"),
    ]


async def test_cancelling_ends_the_command(backend: SandboxBackend) -> None:
    """Seen from outside."""
    marked = Marked()
    task = asyncio.create_task(backend.aexecute(" ".join(marked._words), timeout=60))
    assert await marked.wait(running=True)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await marked.wait(running=False)


def test_more_than_is_kept_is_said(backend: SandboxBackend) -> None:
    """The start and the end are there."""
    done = backend.execute("echo first; yes x | head -c 300000; echo last")
    assert done.truncated
    assert done.output.startswith("first")
    assert done.output.rstrip().endswith("last")
    assert not backend.execute("echo short").truncated


def test_it_is_the_machine_that_it_is_given() -> None:
    """A sandbox without an interpreter will do; one that has ended raises."""
    with Sandbox.create(backend="bubblewrap") as sandbox:
        backend = SandboxBackend(sandbox)
        assert backend.id == sandbox.id
        assert backend.execute("pwd").output.strip() == backend.workdir
    with pytest.raises(SessionClosedError):
        backend.execute("pwd")
    with pytest.raises(ValidationError):
        SandboxBackend("sandbox")  # type: ignore[arg-type]
