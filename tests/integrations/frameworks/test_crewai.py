"""The tool of CrewAI, called by its own agent in a crew."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("crewai", reason="`make frameworks` installs CrewAI and runs this")

from crewai import LLM, Agent, Crew, Task

from llm_sandbox import create_session
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.crewai import make_tool
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.steps import CODES, check_told
from tests.integrations.scripted_model import Call, Say, ScriptedModel, serve

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No telemetry, and no files of CrewAI's in this home."""
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("CREWAI_TRACING_ENABLED", "false")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("HOME", str(tmp_path))
    return iter([None])


def ask(model: ScriptedModel, session: BaseSession, timeout: float = 2.0) -> str:
    llm = LLM(model="openai/gpt-4o", base_url=model.url, api_key="none")
    tool = make_tool(session, ToolOptions(timeout=timeout))
    analyst = Agent(role="analyst", goal="answer", backstory="-", llm=llm, tools=[tool])
    task = Task(description="How does it grow?", expected_output="a sentence", agent=analyst)
    return str(Crew(agents=[analyst], tasks=[task]).kickoff())


def told(model: ScriptedModel) -> list[str]:
    return [str(m["content"]) for m in model.requests[-1]["messages"] if m["role"] == "tool"]


def test_an_agent_gets_the_words(session: BaseSession) -> None:
    """State, an error, the end of the time and a figure, in what goes over the wire."""
    with serve(*([Call(code)] for code in CODES), [Say("It grows.")]) as model:
        assert ask(model, session) == "It grows."
    check_told(told(model))
    assert "picture below" not in told(model)[-1]
    assert len(session.history[-1].result.plots) == 1


def test_the_same_code_is_run_again(session: BaseSession) -> None:
    """CrewAI would answer from its cache."""
    codes = ["n = 1", "n += 1; print('n is', n)", "n += 1; print('n is', n)"]
    with serve(*([Call(code)] for code in codes), [Say("ok")]) as model:
        ask(model, session, 30.0)
    assert "n is 2" in told(model)[1]
    assert "n is 3" in told(model)[2]


def test_a_sandbox_that_fails_is_told() -> None:
    """As CrewAI tells of tools that raise."""
    with serve([Call("1")], [Say("ok")]) as model:
        ask(model, create_session("bubblewrap"))
    assert "not open" in told(model)[0]


def test_the_tool_can_be_awaited(session: BaseSession) -> None:
    """As flows do."""
    assert "42" in asyncio.run(make_tool(session).arun(code="6 * 7"))


def test_pictures_are_refused(session: BaseSession) -> None:
    """There is nothing that they could be sent by."""
    with pytest.raises(ValidationError, match="no images"):
        make_tool(session, ToolOptions(images="inline"))
