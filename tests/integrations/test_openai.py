"""The tools of OpenAI's APIs, driven by its own SDK against a model with written answers."""

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.lib.responses_tool_runner import ResponsesToolRunner

from llm_sandbox import create_session
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.openai import CodeTool, run_agent
from llm_sandbox.integrations.openai.agent import Bounds
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.security import get_security_policy
from llm_sandbox.session.session import BaseSession
from tests.integrations.scripted_model import Call, Say, ScriptedModel, serve

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint('drawn')"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        yield opened


def client_of(model: ScriptedModel) -> openai.OpenAI:
    return openai.OpenAI(base_url=model.url, api_key="none", max_retries=0)


def images_of(parts: list[dict[str, Any]]) -> list[bytes]:
    urls = [
        part["image_url"] if part["type"] == "input_image" else part["image_url"]["url"]
        for part in parts
        if part["type"] in ("input_image", "image_url")
    ]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("api", "tool"), [("responses", "custom"), ("responses", "function"), ("chat", "function")]
)
def test_a_question_is_answered_with_a_figure(
    session: BaseSession, api: Any, tool: Any, stream: bool
) -> None:
    """A call, its run, the picture sent back, and the answer, by every way."""
    words: list[str] = []
    with serve([Say("Let me see."), Call(PLOT)], [Say("It grows.")]) as model:
        done = run_agent(
            client_of(model),
            "m",
            "How does it grow?",
            session=session,
            api=api,
            tool=tool,
            stream=stream,
            on_text=words.append,
        )
    assert (done.answer.strip(), done.ended) == ("It grows.", "answered")
    assert [result.stdout for result in done.results] == ["drawn\n"]
    assert [artifact.mime for artifact in done.artifacts] == ["image/png"]
    assert (done.input_tokens, done.output_tokens) == (200, 20)
    assert "".join(words).split() == (["Let", "me", "see.", "It", "grows."] if stream else [])
    sent = model.requests[1]
    parts = sent["input"][-1]["output"] if api == "responses" else sent["messages"][-1]["content"]
    pictures = images_of(parts)
    assert len(pictures) == 1
    assert pictures[0].startswith(PNG)


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_an_error_is_told_and_tried_again(session: BaseSession, api: Any) -> None:
    """The model sees the exception with its line, and its second attempt counts."""
    with serve([Call("x = 1\n1 / 0")], [Call("print(x)")], [Say("1")]) as model:
        done = run_agent(client_of(model), "m", "?", session=session, api=api)
    assert [result.exit_code for result in done.results] == [1, 0]
    told = json.dumps(model.requests[1])
    assert "ZeroDivisionError" in told
    assert "line 2" in told


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_several_calls_of_one_answer_are_all_answered(session: BaseSession, api: Any) -> None:
    """Each in its order; pictures of chat's calls follow all of its texts."""
    with serve([Call(PLOT), Call("print('second')"), Call(PLOT)], [Say("ok")]) as model:
        done = run_agent(client_of(model), "m", "?", session=session, api=api)
    assert [call.reply.failed for call in done.steps[0].calls] == [False] * 3
    assert len(model.requests) == 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("api", "tool"), [("responses", "custom"), ("responses", "function"), ("chat", "function")]
)
def test_a_tool_that_there_is_not_is_named(
    session: BaseSession, api: Any, tool: Any, stream: bool
) -> None:
    """Every call is answered, also one that the model has made up, and it may try again."""
    turns = [Call("x", name="browser"), Call("print(6 * 7)")], [Say("42")]
    with serve(*turns) as model:
        options: Any = {"session": session, "api": api, "tool": tool, "stream": stream}
        done = run_agent(client_of(model), "m", "?", **options)
    assert (done.answer.strip(), done.ended) == ("42", "answered")
    assert [result.stdout for result in done.results] == ["42\n"]
    told = json.dumps(model.requests[1])
    assert "there is no tool 'browser'; tools are 'run_code' and 'read_output'" in told


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_model_that_only_makes_up_tools_has_not_answered(session: BaseSession, api: Any) -> None:
    with serve([Call("x", name="browser")]) as model:
        bounds = Bounds(steps=3)
        done = run_agent(client_of(model), "m", "?", session=session, api=api, bounds=bounds)
    assert (done.ended, done.answer, len(done.steps)) == ("steps", "", 3)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", ["responses", "chat"])
def test_an_answer_that_was_cut_off_says_so(session: BaseSession, api: Any, stream: bool) -> None:
    with serve([Say("The first half of", is_cut=True)]) as model:
        done = run_agent(client_of(model), "m", "?", session=session, api=api, stream=stream)
    assert (done.ended, done.answer.strip()) == ("cut off", "The first half of")
    assert "the answer was cut off" in str(done)


def test_a_loop_is_bounded_in_steps(session: BaseSession) -> None:
    """The last answer gets no tool; a model that calls it all the same is cut off."""
    with serve([Call("print(1)")]) as model:
        done = run_agent(client_of(model), "m", "?", session=session, bounds=Bounds(steps=3))
    assert (done.ended, len(done.steps)) == ("steps", 3)
    assert [request["tool_choice"] for request in model.requests] == ["auto", "auto", "none"]


def test_bounds_are_bounds(session: BaseSession) -> None:
    """Anything else is refused before the model is asked."""
    with serve([Call("print(1)")]) as model:
        with pytest.raises(ValidationError, match="bounds are Bounds, not dict"):
            run_agent(client_of(model), "m", "?", session=session, bounds={"steps": 3})  # type: ignore[arg-type]
        assert model.requests == []


def test_a_loop_is_bounded_in_seconds(session: BaseSession) -> None:
    """Code that would go on for ever ends with the loop, and is told as a timeout."""
    started = time.monotonic()
    with serve([Call("while True: pass")]) as model:
        done = run_agent(client_of(model), "m", "?", session=session, bounds=Bounds(seconds=2))
    assert done.ended == "seconds"
    assert [result.timed_out for result in done.results] == [True]
    assert time.monotonic() - started < 30


def test_a_loop_is_bounded_in_output(session: BaseSession) -> None:
    """What the model has written counts, not what it has read."""
    with serve([Call("print(1)")]) as model:
        bounds = Bounds(output_tokens=15)
        done = run_agent(client_of(model), "m", "?", session=session, bounds=bounds)
    assert (done.ended, len(done.steps)) == ("output", 2)


def test_a_provider_that_does_not_answer_in_time_is_its_sdks_error(session: BaseSession) -> None:
    """The bound on seconds holds for the request, too."""
    with serve([Say("late")], delay_s=20) as model, pytest.raises(openai.APITimeoutError):
        run_agent(client_of(model), "m", "?", session=session, bounds=Bounds(seconds=1))


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.parametrize(
    "arguments", ["{", "[]", '{"libraries": null}', '{"code": 1, "libraries": []}']
)
def test_arguments_that_are_none_are_told(session: BaseSession, api: Any, arguments: str) -> None:
    """A model that writes broken JSON hears so, and nothing is run."""
    with serve([Call("", arguments)], [Say("ok")]) as model:
        done = run_agent(client_of(model), "m", "?", session=session, api=api, tool="function")
    assert done.results == ()
    assert "Nothing was run" in json.dumps(model.requests[1])


def test_refused_code_is_told_with_what_to_write_instead() -> None:
    """The policy's message for models goes to the model; nothing ran."""
    policy = get_security_policy("production")
    with (
        create_session("bubblewrap", security_policy=policy) as guarded,
        serve([Call("import os\nos.system('id')")], [Say("ok")]) as model,
    ):
        done = run_agent(client_of(model), "m", "?", session=guarded)
    assert done.results == ()
    told = model.requests[1]["input"][-1]["output"][0]["text"]
    assert "os.system" in told


def test_a_library_that_does_not_exist_is_told(session: BaseSession) -> None:
    """The model may try another one."""
    arguments = json.dumps({"code": "print(1)", "libraries": ["no such thing"]})
    with serve([Call("", arguments)], [Say("ok")]) as model:
        done = run_agent(client_of(model), "m", "?", session=session, tool="function")
    assert done.results == ()
    assert "not a package requirement" in json.dumps(model.requests[1])


def test_the_sdks_own_runner_takes_the_tool(session: BaseSession) -> None:
    """`RegisteredFunction` in `ResponsesToolRunner`: the picture arrives as a content part."""
    tool = CodeTool(session)
    with serve([Call(PLOT)], [Say("done")]) as model:
        runner = ResponsesToolRunner(functions=[tool.registered_function()])
        params: Any = {"model": "m", "input": "?"}
        response = runner.run(client_of(model), params, max_steps=3)
    assert response.output_text == "done"
    assert images_of(model.requests[1]["input"][-1]["output"])[0].startswith(PNG)


def test_what_a_person_writes_by_hand_works(session: BaseSession) -> None:
    """The loop as the documentation shows it, without ours."""
    tool = CodeTool(session, ToolOptions(name="python"))
    with serve([Call("print(6 * 7)")], [Say("42")]) as model:
        client = client_of(model)
        history: list[Any] = [{"role": "user", "content": "6 * 7?"}]
        tools: Any = [tool.custom()]
        response = client.responses.create(model="m", input=history, tools=tools)
        history += response.output
        history += [
            tool.output_item(item, tool.call(item))
            for item in response.output
            if tool.is_call(item)
        ]
        response = client.responses.create(model="m", input=history, tools=tools)
    assert response.output_text == "42"
    assert model.requests[0]["tools"][0]["name"] == "python"


def test_mistakes_are_named(session: BaseSession) -> None:
    """What is no call, no name and no API is refused before anything is sent."""
    with pytest.raises(ValidationError, match="not a call of the tool 'run_code'"):
        CodeTool(session).call({"type": "function_call", "name": "other", "arguments": "{}"})
    with pytest.raises(ValidationError, match="neither an object"):
        CodeTool(session).call("print(1)")
    with pytest.raises(ValidationError, match="letters, digits"):
        ToolOptions(name="run code")
    with pytest.raises(ValidationError, match="steps must be a whole number above 0"):
        Bounds(steps=0)
    wrong: Any = "completions"
    with serve([Say("x")]) as model, pytest.raises(ValidationError, match="'responses' or 'chat'"):
        run_agent(client_of(model), "m", "?", session=session, api=wrong)
