"""OpenAI's APIs awaited, with its own SDK: the same loop, and runs that end when a task does."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import openai
import pytest
from openai.lib.responses_tool_runner import AsyncResponsesToolRunner

from llm_sandbox import create_session
from llm_sandbox.aio import AsyncSession
from llm_sandbox.exceptions import NotOpenSessionError, ValidationError
from llm_sandbox.integrations.openai import AsyncCodeTool, Bounds, run_agent, run_agent_async
from llm_sandbox.integrations.openai.code_tool import Answered
from llm_sandbox.session.session import BaseSession
from llm_sandbox.telemetry import RunRecord
from tests.integrations.processes import Marked
from tests.integrations.scripted_model import Call, Say, ScriptedModel, serve

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint('drawn')"
PNG = b"\x89PNG\r\n\x1a\n"
APIS = pytest.mark.parametrize("api", ["responses", "chat"])

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        yield opened


def client_of(model: ScriptedModel) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=model.url, api_key="none", max_retries=0)


def pictures_of(parts: list[dict[str, Any]]) -> list[bytes]:
    given = [part["image_url"] for part in parts if "image_url" in part]
    urls = [url if isinstance(url, str) else url["url"] for url in given]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("api", "tool"), [("responses", "custom"), ("responses", "function"), ("chat", "function")]
)
async def test_a_question_is_answered_with_a_figure(
    session: BaseSession, api: Any, tool: Any, stream: bool
) -> None:
    """As when it is waited for; callbacks may be coroutine functions."""
    words: list[str] = []
    runs: list[Answered] = []

    async def hear(text: str) -> None:
        await asyncio.sleep(0)
        words.append(text)

    async def see(run: Answered) -> None:
        await asyncio.sleep(0)
        runs.append(run)

    with serve([Say("Let me see."), Call(PLOT)], [Say("It grows.")]) as model:
        async with client_of(model) as client:
            done = await run_agent_async(
                client,
                "m",
                "How does it grow?",
                session=AsyncSession(session),
                api=api,
                tool=tool,
                stream=stream,
                on_text=hear,
                on_run=see,
            )
    assert (done.answer.strip(), done.ended) == ("It grows.", "answered")
    assert [result.stdout for result in done.results] == ["drawn\n"]
    assert [artifact.mime for artifact in done.artifacts] == ["image/png"]
    assert (done.input_tokens, done.output_tokens) == (200, 20)
    assert [run.code for run in runs] == [PLOT]
    assert "".join(words).split() == (["Let", "me", "see.", "It", "grows."] if stream else [])
    sent = model.requests[1]
    parts = sent["input"][-1]["output"] if api == "responses" else sent["messages"][-1]["content"]
    assert [picture[:8] for picture in pictures_of(parts)] == [PNG]


@pytest.mark.parametrize("awaited", [False, True], ids=["waiting", "awaited"])
@APIS
async def test_streamed_arguments_that_are_none_are_told(
    session: BaseSession, api: Any, awaited: bool
) -> None:
    """A model that breaks off its JSON hears so, and what it writes then is run."""
    asked: dict[str, Any] = {"session": session, "api": api, "tool": "function", "stream": True}
    with serve([Call("", '{"code": "pri')], [Call("print(6 * 7)")], [Say("42")]) as model:
        if awaited:
            async with client_of(model) as client:
                done = await run_agent_async(client, "m", "?", **asked)
        else:
            with openai.OpenAI(base_url=model.url, api_key="none") as waiting:
                done = run_agent(waiting, "m", "?", **asked)
    assert [result.stdout for result in done.results] == ["42\n"]
    assert "Nothing was run" in json.dumps(model.requests[1])
    assert done.answer.strip() == "42"


async def test_a_cancelled_task_stops_the_code(session: BaseSession) -> None:
    """Seen from outside: the process is gone, and the session can be used again."""
    marked = Marked()
    with serve([Call(marked.code)], [Call("print('still here')")], [Say("ok")]) as model:
        async with client_of(model) as client:
            task = asyncio.create_task(run_agent_async(client, "m", "?", session=session))
            assert await marked.wait(running=True)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await marked.wait(running=False)
            done = await run_agent_async(client, "m", "again", session=session)
    assert [result.stdout for result in done.results] == ["still here\n"]


async def test_the_bounds_hold(session: BaseSession) -> None:
    """In steps, the last of which gets no tool, in seconds, code included, and in tokens."""
    with serve([Call("print(1)")]) as model:
        async with client_of(model) as client:
            steps = await run_agent_async(client, "m", "?", session=session, bounds=Bounds(steps=2))
            tokens = await run_agent_async(
                client, "m", "?", session=session, bounds=Bounds(output_tokens=15)
            )
    assert (steps.ended, len(steps.steps)) == ("steps", 2)
    assert [request["tool_choice"] for request in model.requests] == ["auto", "none"] + 2 * ["auto"]
    assert (tokens.ended, len(tokens.steps)) == ("output", 2)
    with serve([Call("while True: pass")]) as model:
        async with client_of(model) as client:
            bounds = Bounds(seconds=2)
            seconds = await run_agent_async(client, "m", "?", session=session, bounds=bounds)
    assert (seconds.ended, [result.timed_out for result in seconds.results]) == ("seconds", [True])


async def test_calls_at_the_same_time_are_made_in_their_order(session: BaseSession) -> None:
    """A session is for one at a time; the tool makes a line of them."""
    tool = AsyncCodeTool(session)
    codes = ["order = [1]", "order.append(2)", "print(order)"]
    calls = [{"type": "custom_tool_call", "name": "run_code", "input": code} for code in codes]
    bounded = [tool, tool.within(50), tool.within(40)]
    done = await asyncio.gather(*(one.call(call) for one, call in zip(bounded, calls, strict=True)))
    assert [answered.reply.failed for answered in done] == [False] * 3
    assert "[1, 2]" in done[-1].reply.text


async def test_calls_that_are_not_whole_are_told_or_named(session: BaseSession) -> None:
    """What a model can mend is told to it; what the caller can, to the caller."""
    tool = AsyncCodeTool(session)
    for kind in ("custom_tool_call", "function_call"):
        answered = await tool.call({"type": kind, "name": "run_code"})
        assert "Nothing was run" in answered.reply.text
        with pytest.raises(ValidationError, match="no 'call_id'"):
            tool.output_item({"type": kind, "name": "run_code"}, answered)
    of_chat = {"type": "function", "id": "1", "function": {"name": "run_code", "arguments": "{}"}}
    with pytest.raises(ValidationError, match="not a call of the Responses API") as caught:
        tool.output_item(of_chat, await tool.call(of_chat))
    assert "chat_messages" in (caught.value.hint or "")
    with pytest.raises(ValidationError, match="no 'id'"):
        tool.chat_messages([({"type": "function_call"}, answered)])


async def test_no_model_is_asked_for_a_session_that_is_not_open() -> None:
    """Its answers cost something, and could not be run."""
    closed = create_session("bubblewrap")
    with serve([Say("ok")]) as model:
        async with client_of(model) as client:
            with pytest.raises(NotOpenSessionError):
                await run_agent_async(client, "m", "?", session=closed)
        with (
            openai.OpenAI(base_url=model.url, api_key="none") as waiting,
            pytest.raises(NotOpenSessionError),
        ):
            run_agent(waiting, "m", "?", session=closed)
    assert model.requests == []


@pytest.mark.parametrize(
    "given", [{"steps": 0}, {"steps": 1.5}, {"seconds": "10"}, {"output_tokens": True}]
)
async def test_bounds_are_checked(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(ValidationError, match=name):
        Bounds(**given)


async def test_the_sdks_own_runner_takes_the_tool(session: BaseSession) -> None:
    """`AsyncRegisteredFunction`: the picture arrives as a content part."""
    with serve([Call(PLOT)], [Say("done")]) as model:
        async with client_of(model) as client:
            runner = AsyncResponsesToolRunner(
                functions=[AsyncCodeTool(session).registered_function()]
            )
            params: Any = {"model": "m", "input": "?"}
            response = await runner.run(client, params, max_steps=3)
    assert response.output_text == "done"
    assert pictures_of(model.requests[1]["input"][-1]["output"])[0].startswith(PNG)


@APIS
async def test_the_id_of_a_call_reaches_the_record_of_its_run(
    session: BaseSession, api: Any
) -> None:
    """It is the one that the API gave."""
    heard: list[str | None] = []

    def hear(record: RunRecord) -> None:
        heard.append(record.tool_call_id)

    session.add_observer(hear)
    try:
        with serve([Call("1"), Call("2")], [Say("ok")]) as model:
            async with client_of(model) as client:
                await run_agent_async(client, "m", "?", session=session, api=api)
    finally:
        session.remove_observer(hear)
    sent = model.requests[1]
    items = sent["input"] if api == "responses" else sent["messages"]
    told = [item.get("call_id") or item.get("tool_call_id") for item in items]
    assert heard == list(dict.fromkeys(filter(None, told)))
    assert len(heard) == 2


def events(*given: dict[str, Any]) -> bytes:
    return b"".join(
        f"event: {event.get('type', '')}\ndata: {json.dumps(event)}\n\n".encode() for event in given
    )


def answering(content: bytes | AsyncIterator[bytes]) -> openai.AsyncOpenAI:
    def handle(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(handle))
    return openai.AsyncOpenAI(api_key="none", max_retries=0, http_client=client)


DELTA = {"type": "response.output_text.delta", "delta": "It ", "sequence_number": 1}
CHUNK = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": "It "}, "finish_reason": None}],
}
FAILED = {
    "type": "response.failed",
    "sequence_number": 2,
    "response": {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "status": "failed",
        "model": "m",
        "output": [],
        "error": {"code": "server_error", "message": "it fell over"},
    },
}


@pytest.mark.parametrize(
    ("api", "content", "words"),
    [
        ("responses", events(DELTA), "ended before the response did"),
        ("chat", events(CHUNK), "ended before the completion did"),
        ("responses", events(DELTA, FAILED), "it fell over"),
        ("responses", events({"type": "error", "code": None, "message": "no more"}), "no more"),
    ],
)
async def test_an_answer_that_breaks_off_is_no_answer(
    session: BaseSession, api: Any, content: bytes, words: str
) -> None:
    """The words until then are not taken for it: the SDK's error says what happened."""
    async with answering(content) as client:
        with pytest.raises(openai.OpenAIError, match=words):
            await run_agent_async(client, "m", "?", session=session, api=api, stream=True)


async def test_words_that_never_end_are_bounded_in_seconds(session: BaseSession) -> None:
    """Each piece comes in time; all of them together do not."""

    async def drip() -> AsyncIterator[bytes]:
        while True:
            yield events(DELTA)
            await asyncio.sleep(0.05)

    async with answering(drip()) as client:
        with pytest.raises(openai.APITimeoutError):
            await run_agent_async(
                client, "m", "?", session=session, stream=True, bounds=Bounds(seconds=1)
            )


async def test_a_client_of_the_other_kind_is_refused(session: BaseSession) -> None:
    """Before anything is sent, with the name of what takes it."""
    waiting: Any = openai.OpenAI(api_key="none")
    awaited: Any = openai.AsyncOpenAI(api_key="none")
    with pytest.raises(ValidationError, match="run_agent_async"):
        run_agent(awaited, "m", "?", session=session)
    with pytest.raises(ValidationError, match="use run_agent"):
        await run_agent_async(waiting, "m", "?", session=session)
    wrong: Any = "text"
    with pytest.raises(ValidationError, match="'custom' or 'function'"):
        await run_agent_async(awaited, "m", "?", session=session, tool=wrong)
    waiting.close()
    await awaited.close()
