"""The interpreter for DSPy, used by its own `RLM`, `ProgramOfThought` and `CodeAct`."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("dspy", reason="`make frameworks` installs DSPy and runs this")

import dspy
from dspy.primitives.code_interpreter import (
    CodeExecutionError,
    CodeInterpreter,
    CodeInterpreterError,
    FinalOutput,
)
from dspy.utils import DummyLM

from llm_sandbox import Sandbox, create_session
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.dspy import SandboxInterpreter
from llm_sandbox.security import get_security_policy
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession
from tests.integrations.frameworks.steps import CODES, check_told, warm

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def made() -> SandboxInterpreter:
    interpreter = SandboxInterpreter(backend="bubblewrap", timeout=2.0)
    warm(interpreter.session)
    return interpreter


def turns(*codes: str) -> DummyLM:
    return DummyLM([{"reasoning": "-", "code": f"```python\n{code}\n```"} for code in codes])


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
def test_a_recursive_model_works_inside(awaited: bool) -> None:
    """State, an error, the end of the time, a figure, host tools, a model, and the answer."""
    asked: list[str] = []

    def look_up(word: str) -> dict[str, Any]:
        """Look a word up."""
        asked.append(word)
        return {"word": word, "size": len(word)}

    before = {sandbox.id for sandbox in Sandbox.list()}
    codes = (
        *CODES,
        "found = look_up(word='tall')\nprint(found['size'])",
        "print(llm_query('how high?'))",
        "print(context[:5])\nSUBMIT(answer=f'{x} {found[\"word\"]}')",
    )
    model = turns(*codes)
    rlm = dspy.RLM(
        "context, question -> answer",
        tools=[look_up],
        interpreter_factory=made,
        sub_lm=lambda *_, **__: ["very"],
        max_iters=10,
    )
    given = {"context": "abcdefg" * 1000, "question": "How does it grow?"}
    with dspy.context(lm=model):
        done = asyncio.run(rlm.acall(**given)) if awaited else rlm(**given)
    assert done.answer == "20 tall"
    assert asked == ["tall"]
    told = [step["output"] for step in done.trajectory]
    check_told(told[:5])
    assert "figure" in told[4]
    assert "4" in told[5]
    assert "very" in told[6]
    assert {sandbox.id for sandbox in Sandbox.list()} == before


def test_a_program_of_thought_tries_again() -> None:
    """After an error that it was told."""
    code = [
        {"reasoning": "-", "generated_code": f"```python\n{code}\n```"}
        for code in ("SUBMIT(1 / 0)", "SUBMIT({'answer': 6 * 7})")
    ]
    model = DummyLM([*code, {"reasoning": "-", "answer": "42"}])
    with dspy.context(lm=model):
        done = dspy.ProgramOfThought("question -> answer", interpreter_factory=made)(question="?")
    assert done.answer == "42"
    assert "ZeroDivisionError" in str(model.history[1])
    assert "42" in str(model.history[2]["messages"])


def test_code_act_calls_functions_that_it_sends() -> None:
    """As source, which is run inside."""

    def twice(number: int) -> int:
        return 2 * number

    steps = [
        {"generated_code": "```python\ny = twice(21)\n```", "finished": False},
        {"generated_code": "```python\nprint(y)\n```", "finished": True},
        {"reasoning": "-", "answer": "42"},
    ]
    model = DummyLM(steps)
    act = dspy.CodeAct("question -> answer", tools=[twice], interpreter_factory=made)
    with dspy.context(lm=model):
        done = act(question="?")
    assert done.answer == "42"
    assert any("42" in str(value) for key, value in done.trajectory.items() if "output" in key)


def test_it_is_what_dspy_asks_for() -> None:
    """By its own protocol, with the errors that it names."""
    with made() as interpreter:
        assert isinstance(interpreter, CodeInterpreter)
        assert interpreter.execute("1 + 1") == "2"
        assert interpreter.execute("pass") is None
        assert interpreter.execute("print(a, b)", {"a": [1, None], "b": "x"}) == "[1, None] x"
        with pytest.raises(SyntaxError):
            interpreter.execute("1 +")
        with pytest.raises(CodeExecutionError, match="EOFError"):
            interpreter.execute("input()")
        assert interpreter.execute("SUBMIT([1])") == FinalOutput({"output": [1]})
        interpreter.output_fields = [{"name": "n"}, {"name": "m"}]
        assert interpreter.execute("SUBMIT(1, 2)") == FinalOutput({"n": 1, "m": 2})
        with pytest.raises(CodeExecutionError, match="SUBMIT takes n, m"):
            interpreter.execute("SUBMIT(1)")
        with pytest.raises(CodeInterpreterError, match="cannot be variables"):
            interpreter.execute("1", {"SUBMIT": 1})
        with pytest.raises(CodeInterpreterError):
            interpreter.execute("1", {"a": object()})
        name = interpreter.session.sandbox.id
    assert name not in {sandbox.id for sandbox in Sandbox.list()}
    with pytest.raises(CodeInterpreterError, match="shut down"):
        interpreter.execute("1")


def test_host_tools_are_called_from_inside() -> None:
    """Large values, coroutines, threads, errors; and no function that was not given."""

    async def later(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    def fail() -> None:
        raise LookupError("no such thing")

    tools = {"size": len, "later": later, "fail": fail, "odd": object}
    with SandboxInterpreter(backend="bubblewrap", tools=tools) as interpreter:
        run = interpreter.execute
        assert run("size('x' * 3_000_000)") == "3000000"
        assert run("later(21)") == "42"
        threads = (
            "from concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor(4) as pool: print(list(pool.map(later, range(6))))"
        )
        assert run(threads) == "[0, 2, 4, 6, 8, 10]"
        with pytest.raises(CodeExecutionError, match="LookupError: no such thing"):
            run("fail()")
        with pytest.raises(CodeExecutionError, match="not JSON serializable"):
            run("odd()")
        with pytest.raises(CodeExecutionError, match="cannot be converted to JSON"):
            run("size(object())")
        with pytest.raises(CodeExecutionError, match="there is no function 'eval'"):
            run("_call_host('eval', ['1'], {})")
        assert run("import numpy as np; size(np.arange(5))") == "5"


def test_after_a_lost_interpreter_the_tools_are_there_again() -> None:
    """Variables are not."""
    with SandboxInterpreter(backend="bubblewrap", tools={"size": len}) as interpreter:
        interpreter.execute("x = 1")
        with pytest.raises(CodeExecutionError):
            interpreter.execute("import os; os._exit(3)")
        assert interpreter.execute("size('abc')") == "3"
        with pytest.raises(CodeExecutionError, match="NameError"):
            interpreter.execute("x")


def test_a_policy_s_refusal_is_told_and_the_caller_s_session_stays_open() -> None:
    """The policy judges the model's code."""
    policy = get_security_policy("production")
    with create_session("bubblewrap", security_policy=policy) as guarded:
        with SandboxInterpreter(guarded) as interpreter:
            with pytest.raises(CodeExecutionError, match=r"os\.system"):
                interpreter.execute("import os; os.system('id')")
            assert interpreter.execute("6 * 7") == "42"
        assert guarded.is_open


def test_what_cannot_be_is_refused(session: BaseSession) -> None:
    """Another language, no state, and settings for a session that is there."""
    for wrong in (
        {"config": SessionConfig(lang="ruby")},
        {"config": SessionConfig(persistent=False)},
        {"session": session, "backend": "bubblewrap"},
        {"timeout": -1.0},
    ):
        with pytest.raises(ValidationError):
            SandboxInterpreter(**wrong)  # type: ignore[arg-type]
