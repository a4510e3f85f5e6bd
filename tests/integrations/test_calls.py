"""Calls that frameworks make at the same time or give up, from threads and from tasks."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest

from llm_sandbox import Sandbox, aio, create_session
from llm_sandbox.exceptions import (
    NotOpenSessionError,
    SandboxError,
    SessionBusyError,
    ValidationError,
)
from llm_sandbox.integrations.calls import CodeCalls, check_own_session, known_as
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.network import Network, NetworkRules
from llm_sandbox.session.session import BaseSession
from llm_sandbox.telemetry import RunRecord
from tests.integrations.processes import Marked


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        yield opened


@pytest.mark.anyio
async def test_calls_at_the_same_time_are_made_in_their_order() -> None:
    """Ten at once, each standing on the one before it; the session refuses the same by itself."""
    async with aio.create_session("bubblewrap", busy="raise") as twin:
        await _make_calls_at_the_same_time(twin)


async def _make_calls_at_the_same_time(twin: aio.AsyncSession) -> None:
    calls = CodeCalls(twin)
    await calls.answer_async("import time; n = 0")
    texts: list[str] = []

    async def call(number: int) -> None:
        code = f"time.sleep(0.01); assert n == {number}; n += 1; print('step', n)"
        texts.append((await calls.answer_async(code)).text)

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(call, number)
            await anyio.sleep(0.001)  # the order in which tasks of a group begin is trio's secret
    assert [f"step {n + 1}" in text for n, text in enumerate(texts)] == [True] * 10

    refused: list[SandboxError] = []

    async def bare_call() -> None:
        try:
            await twin.run("time.sleep(0.5)")
        except SessionBusyError as error:
            refused.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(bare_call)
    assert len(refused) == 1


def test_calls_of_threads_and_of_tasks_share_one_session(session: BaseSession) -> None:
    """None is refused because another one runs, be it of another tool, and none is lost."""
    calls, other = CodeCalls(session), CodeCalls(aio.AsyncSession(session), ToolOptions(name="py"))
    calls.answer("import threading; count = 0; busy = threading.Lock()")
    code = "assert busy.acquire(blocking=False); count += 1; busy.release()"

    def in_a_thread(_: int) -> bool:
        return calls.answer(code).failed

    def in_a_loop(_: int) -> bool:
        return anyio.run(other.answer_async, code).failed

    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(work, n) for n in range(12) for work in (in_a_thread, in_a_loop)]
    assert [one.result(60) for one in made] == [False] * 24
    assert session.run("count").value == "24"


@pytest.mark.anyio
async def test_a_cancelled_call_stops_the_code_and_one_that_waits_is_never_made(
    session: BaseSession,
) -> None:
    """Seen from outside: what ran is gone; and what had not begun has left no trace."""
    calls = CodeCalls(aio.AsyncSession(session))
    await calls.answer_async("begun = []")
    marked = Marked()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(calls.answer_async, marked.code)
        assert await marked.wait(running=True)
        tasks.start_soon(calls.answer_async, "begun.append(1)")
        await anyio.sleep(0.2)
        tasks.cancel_scope.cancel()
    assert await marked.wait(running=False)
    assert (await calls.answer_async("len(begun)")).result.value == "0"  # type: ignore[union-attr]
    assert not (await calls.answer_async("begun.append(1)")).failed
    assert session.run("begun").value == "[1]"


@pytest.mark.anyio
async def test_a_blocking_call_never_stops_the_event_loop_that_it_waits_for(
    session: BaseSession,
) -> None:
    """It is refused with what to do instead; when nothing is under way it is made."""
    calls = CodeCalls(session)
    assert not calls.answer("1").failed
    marked = Marked()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(calls.answer_async, marked.code)
        assert await marked.wait(running=True)
        with pytest.raises(SessionBusyError, match="await the tool's async call"):
            calls.answer("1")
        tasks.cancel_scope.cancel()
    assert await marked.wait(running=False)
    assert not (await calls.answer_async("1")).failed


def test_the_id_of_a_call_reaches_the_record_of_its_run(session: BaseSession) -> None:
    """In a thread and in a task; a call without one keeps what its caller has set."""
    heard: list[str | None] = []

    def hear(record: RunRecord) -> None:
        heard.append(record.tool_call_id)

    async def call() -> None:
        await calls.answer_async("2", call_id="call_2")

    session.add_observer(hear)
    try:
        calls = CodeCalls(session)
        calls.answer("1", call_id="call_1")
        anyio.run(call)
        with known_as("outer"):
            calls.answer("3")
        calls.answer("4")
    finally:
        session.remove_observer(hear)
    assert heard == ["call_1", "call_2", "outer", None]


def test_what_is_no_session_and_no_option_is_refused_where_the_tool_is_made() -> None:
    """Not at the first call, whose answer would tell the model, which can do nothing about it."""
    wrong: Any
    for wrong in (None, "bubblewrap", Sandbox, {"backend": "bubblewrap"}):
        with pytest.raises(ValidationError, match="needs a session") as caught:
            CodeCalls(wrong)
        assert "create_session()" in (caught.value.hint or "")
    session = create_session("bubblewrap")
    wrong = {"timeout": 5}
    with pytest.raises(ValidationError, match="are ToolOptions, not dict"):
        CodeCalls(session, wrong)
    with pytest.raises(ValidationError, match="config is a SessionConfig, not dict"):
        check_own_session(None, {"lang": "python"}, None)
    with pytest.raises(ValidationError, match="has its settings"):
        check_own_session(session, None, "bubblewrap")
    check_own_session(session, None, None)
    CodeCalls(aio.AsyncSession(session), ToolOptions(timeout=None))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"name": "run code"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "größe"}, "name"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": "5"}, "timeout"),
        ({"max_tokens": 5}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"images": "all"}, "images"),
    ],
)
def test_options_are_checked_when_they_are_made(given: dict[str, Any], name: str) -> None:
    with pytest.raises(ValidationError, match=name) as caught:
        ToolOptions(**given)
    assert caught.value.parameter == name


def test_a_sandbox_that_fails_raises_and_lets_the_next_call_through() -> None:
    """What only people can mend is no answer; nobody waits for a call that has failed."""
    closed = create_session("bubblewrap")
    calls = CodeCalls(closed)
    with pytest.raises(NotOpenSessionError):
        calls.answer("1")
    later: list[bool] = []
    with closed:
        thread = threading.Thread(target=lambda: later.append(calls.answer("1").failed))
        thread.start()
        thread.join(60)
    assert later == [False]


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ("blocked", "There is no network."),
        ("open", "The network can be used."),
        ("internet", "only this can be reached: public addresses."),
        (
            NetworkRules.allow(domains=["pypi.org"], cidrs=["10.0.0.0/8"]),
            "only this can be reached: pypi.org, 10.0.0.0/8.",
        ),
        (NetworkRules.allow(domains=[f"a{n}.test" for n in range(30)]), " and others."),
        (NetworkRules(), "There is no network."),
    ],
)
def test_a_model_is_told_what_it_can_reach(network: Network, words: str) -> None:
    session = create_session(backend="bubblewrap", network=network)

    assert words in CodeCalls(session).description
