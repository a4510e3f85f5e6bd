"""The code executor of Google's ADK, used by its own agent and runner."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="`make frameworks` installs ADK and runs this")

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import Field

from llm_sandbox import Sandbox
from llm_sandbox.exceptions import NotOpenSessionError, ValidationError
from llm_sandbox.integrations.google_adk import SandboxCodeExecutor
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.steps import CODES, PNG, check_told, warm

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


class Scripted(BaseLlm):
    """Answers with each turn in its order, in whatever conversation."""

    turns: list[str]
    heard: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = llm_request.contents[-1].parts or []
        self.heard.append("".join(part.text or "" for part in parts))
        content = types.Content(role="model", parts=[types.Part(text=self.turns.pop(0))])
        yield LlmResponse(content=content)


class Talk:
    """An agent with an executor, in as many conversations as are named."""

    def __init__(self, executor: SandboxCodeExecutor) -> None:
        self.model = Scripted(model="scripted", turns=[])
        agent = LlmAgent(name="analyst", model=self.model, code_executor=executor)
        self.runner = InMemoryRunner(agent, app_name="app")

    async def say(
        self, *codes: str, conversation: str = "one", files: tuple[types.Part, ...] = ()
    ) -> list[str]:
        """Have the model write code, and return what it was told."""
        self.model.turns[:] = [*(f"Now:\n```python\n{code}\n```" for code in codes), "It grows."]
        self.model.heard.clear()
        sessions = self.runner.session_service
        names: dict[str, Any] = {"app_name": "app", "user_id": "u", "session_id": conversation}
        if await sessions.get_session(**names) is None:
            await sessions.create_session(**names)
        asked = types.Content(role="user", parts=[types.Part(text="?"), *files])
        names.pop("app_name")
        last = ""
        async for event in self.runner.run_async(**names, new_message=asked):
            for part in (event.content.parts if event.content else None) or []:
                last = part.text or last
        assert last == "It grows."
        return self.model.heard[1:]

    async def artifact(self, name: str) -> bytes:
        service = self.runner.artifact_service
        assert service is not None
        part = await service.load_artifact(
            app_name="app", user_id="u", session_id="one", filename=name
        )
        assert part is not None
        assert part.inline_data is not None
        return part.inline_data.data or b""


async def test_an_agent_writes_repairs_and_draws() -> None:
    """State, an error, the end of the time; the figure and a file are ADK's artifacts."""
    with SandboxCodeExecutor(backend="bubblewrap", timeout_seconds=2) as executor:
        warm(executor.session_of("one"))
        talk = Talk(executor)
        told = await talk.say(*CODES[:4])
        told += await talk.say(f"{CODES[4]}\nopen('note.txt', 'w').write('hi')")
        check_told(told)
        assert await talk.artifact("note.txt") == b"hi"
        (name,) = (name for name in told[-1].split("`") if name.endswith(".png"))
        assert (await talk.artifact(name)).startswith(PNG)
        assert "picture below" not in told[-1]


async def test_conversations_know_nothing_of_each_other() -> None:
    """One that was ended for another is told so when it goes on; all end with the executor."""
    before = {sandbox.id for sandbox in Sandbox.list()}
    with SandboxCodeExecutor(backend="bubblewrap", max_sessions=1) as executor:
        talk = Talk(executor)
        assert "status: ok" in (await talk.say("secret = 1"))[0]
        other = (await talk.say("print(globals().get('secret'))", conversation="two"))[0]
        assert "None" in other
        assert "new" not in other.partition("status")[0]
        back = (await talk.say("print(globals().get('secret'))"))[0]
        assert "earlier variables and files are gone" in back
        assert "None" in back
    assert {sandbox.id for sandbox in Sandbox.list()} == before


async def test_a_warning_is_no_failure(session: BaseSession) -> None:
    """ADK takes every word on standard error for one; the caller's session stays open."""
    with SandboxCodeExecutor(session) as executor:
        told = await Talk(executor).say("import sys; print('careful', file=sys.stderr); print(1)")
    assert "careful" in told[0]
    assert "Code execution result" in told[0]
    assert session.is_open


async def test_files_of_the_request_are_there(session: BaseSession) -> None:
    """As ADK gives them to executors that ask for them."""
    data = b"a,b\n1,2\n3,4\n"
    table = types.Part(inline_data=types.Blob(data=data, mime_type="text/csv"))
    with SandboxCodeExecutor(session, optimize_data_file=True) as executor:
        talk = Talk(executor)
        told = await talk.say(
            "import glob; print(open(glob.glob('*.csv')[0]).read())", files=(table,)
        )
    assert "3,4" in told[-1]


async def test_a_sandbox_that_fails_raises() -> None:
    """People have to mend it."""
    closed = BaseSession.configured(SessionConfig(), backend="bubblewrap")
    with pytest.raises(NotOpenSessionError):
        await Talk(SandboxCodeExecutor(closed)).say("1")


def test_what_cannot_be_is_refused(session: BaseSession) -> None:
    """Another language, settings for a session that is there, and no room."""
    for wrong in (
        {"config": SessionConfig(lang="ruby")},
        {"config": SessionConfig(persistent=False)},
        {"session": session, "backend": "bubblewrap"},
        {"max_sessions": 0},
        {"timeout_seconds": -1},
    ):
        with pytest.raises(ValidationError):
            SandboxCodeExecutor(**wrong)  # type: ignore[arg-type]
