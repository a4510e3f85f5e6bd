"""The code executor of AutoGen, used by its own `CodeExecutorAgent`."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

pytest.importorskip("autogen_agentchat", reason="`make frameworks` installs AutoGen and runs this")

from autogen_agentchat.agents import CodeExecutorAgent
from autogen_agentchat.messages import CodeExecutionEvent
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelFamily,
    ModelInfo,
    RequestUsage,
)

from llm_sandbox import Sandbox
from llm_sandbox.exceptions import NotOpenSessionError, ValidationError
from llm_sandbox.integrations.autogen import SandboxCodeExecutor, SandboxCodeResult
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.steps import CODES, check_told, warm
from tests.integrations.processes import Marked

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:No approval function set")]
USAGE = RequestUsage(prompt_tokens=1, completion_tokens=1)


class Scripted(ChatCompletionClient):
    """Answers with what is written down."""

    def __init__(self, *answers: str) -> None:
        self.answers = [*answers]
        self.heard: list[str] = []

    async def create(self, messages: Sequence[LLMMessage], **_: Any) -> CreateResult:
        self.heard = [str(message.content) for message in messages]
        text = self.answers.pop(0)
        return CreateResult(finish_reason="stop", content=text, usage=USAGE, cached=False)

    def create_stream(self, *_: Any, **__: Any) -> AsyncGenerator[str | CreateResult, None]:
        raise NotImplementedError

    async def close(self) -> None: ...

    def actual_usage(self) -> RequestUsage:
        return USAGE

    def total_usage(self) -> RequestUsage:
        return USAGE

    def count_tokens(self, *_: Any, **__: Any) -> int:
        return 1

    def remaining_tokens(self, *_: Any, **__: Any) -> int:
        return 1000

    @property
    def capabilities(self) -> Any:
        return self.model_info

    @property
    def model_info(self) -> ModelInfo:
        return ModelInfo(
            vision=False,
            function_calling=False,
            json_output=True,
            structured_output=True,
            family=ModelFamily.UNKNOWN,
        )


def block(code: str, language: str = "python") -> str:
    return f"Now:\n```{language}\n{code}\n```"


async def test_an_agent_writes_repairs_and_draws() -> None:
    """Its own loop: a piece of code, a failure, another try, and a figure; then it reflects."""
    again = '{"reason": "a division", "retry": true}'
    async with SandboxCodeExecutor(backend="bubblewrap", timeout=2.0) as executor:
        warm(executor.session)
        events = []
        for first, second in ((CODES[0], CODES[1]), (CODES[2], CODES[4])):
            retry = [again] if "/ 0" in first else []
            answers = [block(first), *retry, block(second)] if retry else [block(second)]
            if not retry:
                await executor.execute_code_blocks(
                    [CodeBlock(first, "python")], CancellationToken()
                )
            model = Scripted(*answers, "It grows.")
            agent = CodeExecutorAgent(
                "coder", executor, model_client=model, max_retries_on_error=1 if retry else 0
            )
            said = [event async for event in agent.run_stream(task="?")]
            events += [event.result for event in said if isinstance(event, CodeExecutionEvent)]
        assert "x is 21" in events[0].output
        assert (events[1].exit_code, events[2].exit_code) == (1, 0)
        assert "ZeroDivisionError" in events[1].output
        assert "still 20" in events[2].output
        assert any("still 20" in text for text in model.heard)
        drawn = events[2]
        assert isinstance(drawn, SandboxCodeResult)
        assert len(drawn.results[0].plots) == 1


async def test_blocks_are_run_until_one_fails() -> None:
    """Shells beside the interpreter, unknown languages, the end of the time."""
    async with SandboxCodeExecutor(backend="bubblewrap", timeout=2.0) as executor:
        warm(executor.session)

        async def run(*blocks: tuple[str, str]) -> SandboxCodeResult:
            codes = [CodeBlock(code, language) for code, language in blocks]
            return await executor.execute_code_blocks(codes, CancellationToken())

        told = [(await run((code, "python"))).output for code in CODES]
        check_told(told)
        both = await run(("open('a.txt', 'w').write('hi')", "Python"), ("cat a.txt >&2", "bash"))
        assert (both.exit_code, both.output.endswith("hi")) == (0, True)
        stopped = await run(("exit 3", "sh"), ("print('never')", "python"))
        assert (stopped.exit_code, "never" in stopped.output) == (3, False)
        late = await run(("echo begun; sleep 60", "sh"))
        assert (late.exit_code, "begun" in late.output) == (124, True)
        assert "2 seconds" in late.output
        other = await run(("puts 1", "ruby"))
        assert (other.exit_code, "python and sh" in other.output) == (1, True)
        await executor.restart()
        assert "NameError" in (await run(("x", "python"))).output
        assert "hi" in (await run(("print(open('a.txt').read())", "python"))).output


async def test_a_cancelled_token_stops_the_code() -> None:
    """Of the interpreter and of a shell, seen from outside; the executor can be used again."""
    async with SandboxCodeExecutor(backend="bubblewrap") as executor:
        for shell in (False, True):
            marked = Marked()
            words = " ".join(marked._words)
            code = CodeBlock(words, "sh") if shell else CodeBlock(marked.code, "python")
            token = CancellationToken()
            task = asyncio.create_task(executor.execute_code_blocks([code], token))
            assert await marked.wait(running=True)
            token.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await marked.wait(running=False)
        done = await executor.execute_code_blocks([CodeBlock("1 + 1", "py")], CancellationToken())
        assert "2" in done.output


async def test_its_own_session_ends_and_the_caller_s_does_not(session: BaseSession) -> None:
    """And before `start` there is none."""
    executor = SandboxCodeExecutor(backend="bubblewrap")
    with pytest.raises(NotOpenSessionError, match="start"):
        await executor.execute_code_blocks([CodeBlock("1", "python")], CancellationToken())
    await executor.start()
    name = executor.session.sandbox.id
    await executor.stop()
    assert name not in {sandbox.id for sandbox in Sandbox.list()}
    async with SandboxCodeExecutor(session) as given:
        assert given.session is session
    assert session.is_open
    with pytest.raises(ValidationError):
        SandboxCodeExecutor(session, config=SessionConfig())
