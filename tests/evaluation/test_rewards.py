"""Rewards: numbers for trainers, asked for in the ways of those trainers."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from llm_sandbox.evaluation import (
    AssertTest,
    CallTest,
    EvalLimits,
    Evaluator,
    InteractiveTest,
    StdioTest,
    Task,
)
from llm_sandbox.evaluation.datasets import test_to_json as to_json
from llm_sandbox.evaluation.reward_tests import to_task
from llm_sandbox.evaluation.rewards import completion_text, rewards
from llm_sandbox.evaluation.trainers import (
    OpenR1Provider,
    VerifiersGrader,
    VerlScore,
    compute_score,
    compute_scores,
    trl_reward,
    verifiers_reward,
)
from llm_sandbox.evaluation.trainers import verl as verl_module
from llm_sandbox.exceptions import SandboxError, ValidationError

LIMITS = EvalLimits(cpu_time=2, wall_time=8, memory="128m", output="1m", files="8m")
DOUBLE = (CallTest("f", [2], expected=4), CallTest("f", [3], expected=6))
RIGHT, HALF, WRONG = (
    f"It is:\n```python\ndef f(x): return {value}\n```\n" for value in ("2 * x", "x ** 2", "x")
)
PROGRAM = "I think so.\n```python\nprint(2 * int(input()))\n```\n"
OTHER = "```python\nprint(int(input()) + 1)\n```\n"
PAIRS = {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]}
CASES = [
    {"input": "1\n", "output": "2\n", "type": "stdin_stdout"},
    {"input": "2\n", "output": "4\n", "type": "stdin_stdout"},
]
VERIFICATION = {"language": "python", "test_cases": CASES}
FAILING = InteractiveTest("import sys; sys.exit(3)")
"""Test whose own program fails: nothing is known about the candidate."""


def make() -> Evaluator:
    return Evaluator(limits=LIMITS, workers=2, backend="bubblewrap")


@pytest.fixture(scope="module")
def graded():
    with make() as evaluator:
        yield evaluator


@pytest.fixture
def failed():
    """An evaluator for failures of the sandbox, of which many would stop it."""
    with make() as evaluator:
        yield evaluator


# --- rewards


def test_rewards_are_shares_of_tests(graded):
    completions = [RIGHT, HALF, WRONG, "", "no code at all"]
    assert [1.0, 0.0, 0.0, 0.0, 0.0] == graded.rewards(completions, DOUBLE)
    assert [1.0, 0.5, 0.0, 0.0, 0.0] == graded.rewards(completions, DOUBLE, mode="fraction")


def test_each_completion_has_its_tests(graded):
    wrong = [AssertTest("assert f(1) == 3")]
    assert [1.0, 0.0, 1.0] == graded.rewards([RIGHT, RIGHT, PROGRAM], [DOUBLE, wrong, PAIRS])


def test_no_completions_have_no_rewards(graded):
    assert [] == graded.rewards([], DOUBLE)


def test_a_failure_of_the_sandbox_is_no_zero(failed):
    """It is None, or what was asked for; the rewards beside it stay."""
    tests = [[FAILING], PAIRS]
    assert [None, 1.0] == rewards(failed, [PROGRAM, PROGRAM], tests)
    assert [None, 1.0] == rewards(failed, [PROGRAM, PROGRAM], tests, on_infra="retry")
    assert [-1.0, 1.0] == rewards(failed, [PROGRAM, PROGRAM], tests, on_infra=-1)
    assert math.isnan(rewards(failed, [PROGRAM], [[FAILING]], on_infra=math.nan)[0])


def test_a_task_whose_reference_fails_has_no_rewards(failed):
    from llm_sandbox.evaluation.datasets import EXPECTED_FROM_REFERENCE

    call = CallTest("f", [1], expected=EXPECTED_FROM_REFERENCE)
    bad = Task(id="task", tests=(call,), reference="def f(x): return 1 / 0")
    good = Task(id="task", tests=(call,), reference="def f(x): return 2 * x")
    assert [None, 1.0] == rewards(failed, [RIGHT, RIGHT], [bad, good], on_infra="retry")


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("text", "text"),
        ([{"role": "assistant", "content": "text"}], "text"),
        ([{"role": "user", "content": "no"}, {"role": "assistant", "content": "text"}], "text"),
        ([{"content": [{"type": "text", "text": "te"}, {"type": "image"}, "xt"]}], "text"),
        ([{"role": "assistant", "content": None, "tool_calls": []}], ""),
        ([], ""),
    ],
)
def test_texts_of_completions(completion, text):
    assert text == completion_text(completion)


@pytest.mark.parametrize("completion", [None, 1, b"text", [1], [{"content": 1}]])
def test_invalid_completions(completion):
    with pytest.raises(ValidationError, match="invalid"):
        completion_text(completion)


@pytest.mark.parametrize(
    "value",
    [
        DOUBLE,
        DOUBLE[0],
        Task(id="own", tests=DOUBLE),
        to_json(DOUBLE[0]),
        [to_json(test) for test in DOUBLE],
        json.dumps([to_json(test) for test in DOUBLE]),
        {"tests": [to_json(test) for test in DOUBLE]},
        ["assert f(2) == 4", "assert f(3) == 6"],
        '["assert f(2) == 4"]',
        {"inputs": ["2"], "outputs": ["4"], "fn_name": "f"},
        json.dumps({"assert_case": ["assert f(2) == 4"]}),
        {"ground_truth": json.dumps({"inputs": ["2"], "outputs": ["4"], "fn_name": "f"})},
        {
            "language": "python",
            "test_cases": [
                {"type": "function_call", "fn_name": "f", "input": [2], "output": 4},
            ],
        },
        {"task_id": 1, "code": "", "test_list": ["assert f(2) == 4"], "prompt": "Double."},
    ],
)
def test_what_data_sets_hold_is_a_task(graded, value):
    assert [1.0, 0.0] == graded.rewards([RIGHT, WRONG], [value, value])


@pytest.mark.parametrize(
    "value", [None, 1, b"", [], {}, "assert f(2) == 4", "1", [1], {"kind": "none"}, {"tests": []}]
)
def test_what_is_no_task(value):
    with pytest.raises(ValidationError, match="invalid"):
        to_task(value)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"tests": [DOUBLE]}, "tests"),
        ({"tests": None}, "tests"),
        ({"mode": "some"}, "mode"),
        ({"on_infra": "zero"}, "on_infra"),
        ({"on_infra": None}, "on_infra"),
        ({"on_infra": True}, "on_infra"),
    ],
)
def test_invalid_arguments(graded, arguments, name):
    with pytest.raises(ValidationError, match=f"invalid {name}"):
        graded.rewards([RIGHT, RIGHT], **{"tests": DOUBLE, **arguments})


# --- TRL


def as_trl(function, completions, **columns):
    """Call a function as TRL's trainers do, and return what they make of its answer."""
    logged = []
    answer = function(
        prompts=["Double."] * len(completions),
        completions=completions,
        completion_ids=[[1]] * len(completions),
        **columns,
        trainer_state=object(),
        log_extra=lambda column, values: None,
        log_metric=lambda name, value: logged.append((name, value)),
    )
    return [math.nan if reward is None else float(reward) for reward in answer], logged


def test_trl_with_texts_and_with_conversations(graded):
    function = trl_reward(graded, tests="verification_info")
    assert "code_reward" == function.__name__
    assert not inspect.iscoroutinefunction(function)
    columns = {"verification_info": [VERIFICATION] * 2, "difficulty": [1, 2]}
    for completions in (
        [PROGRAM, OTHER],
        [[{"role": "assistant", "content": text}] for text in (PROGRAM, OTHER)],
    ):
        assert ([1.0, 0.0], [("code_reward/infra_failures", 0.0)]) == as_trl(
            function, completions, **columns
        )


def test_trl_leaves_out_what_was_not_graded(failed):
    function = trl_reward(failed, mode="fraction", name="passed")
    tests = [json.dumps([to_json(FAILING)]), json.dumps([to_json(test) for test in DOUBLE])]
    found, logged = as_trl(function, [PROGRAM, HALF], tests=tests)
    assert math.isnan(found[0])
    assert 0.5 == found[1]
    assert [("passed/infra_failures", 1.0)] == logged


def test_trl_has_rows_of_other_tasks(graded):
    found, _ = as_trl(trl_reward(graded), ["4", PROGRAM], tests=[None, json.dumps(PAIRS)])
    assert math.isnan(found[0])
    assert 1.0 == found[1]


def test_trl_without_the_column(graded):
    with pytest.raises(ValidationError, match="expected a column 'tests', got") as failure:
        trl_reward(graded)(completions=[PROGRAM], verification_info=[VERIFICATION])
    assert "trl_reward(" in failure.value.hint


# --- verl


@pytest.fixture
def score():
    score = VerlScore(make)
    yield score
    score.close()


def test_verl_asks_for_one_score(score):
    for solution, wanted in ((PROGRAM, 1.0), (OTHER, 0.0)):
        for truth in (PAIRS, json.dumps(PAIRS)):
            found = score(
                data_source="code",
                solution_str=solution,
                ground_truth=truth,
                extra_info={"index": 1, "num_turns": None},
            )
            assert (float, wanted) == (type(found), found)
    # The manager `prime` gives the arguments by position.
    assert 1.0 == score("code", PROGRAM, json.dumps(PAIRS), None)


def test_verl_asks_for_a_batch(score):
    found = score.batch(
        data_sources=["code"] * 3,
        solution_strs=[PROGRAM, OTHER, PROGRAM],
        ground_truths=[json.dumps(PAIRS)] * 3,
        extra_infos=[{}, {}, {}],
    )
    assert [1.0, 0.0, 1.0] == found


def test_verl_asks_from_threads(score):
    with ThreadPoolExecutor(6) as threads:
        found = threads.map(lambda text: score("code", text, PAIRS), [PROGRAM, OTHER] * 4)
        assert [1.0, 0.0] * 4 == list(found)


def test_verl_has_an_error_or_a_number_for_a_failure(score):
    truth = json.dumps([to_json(FAILING)])
    with pytest.raises(SandboxError, match="failed for 1 of 2 solutions") as failure:
        score.batch(["code"] * 2, [PROGRAM, PROGRAM], [truth, json.dumps(PAIRS)])
    assert failure.value.retryable
    other = VerlScore(make, on_infra=-0.5)
    try:
        assert -0.5 == other("code", PROGRAM, truth)
    finally:
        other.close()
    with pytest.raises(ValidationError, match="on_infra"):
        VerlScore(make, on_infra="mask")


def test_verl_sends_the_function_to_processes(score):
    assert 1.0 == score("code", PROGRAM, PAIRS)
    other = pickle.loads(pickle.dumps(VerlScore(mode="fraction", on_infra=0.25)))
    assert ("fraction", 0.25) == (other._mode, other._on_infra)
    assert pickle.loads(pickle.dumps(compute_score)) is compute_score
    assert pickle.loads(pickle.dumps(compute_scores)) is compute_scores


def test_verl_loads_the_module_by_its_path():
    """`custom_reward_function` names a file and a function of it."""
    spec = importlib.util.spec_from_file_location("custom_module", verl_module.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        assert 1.0 == module.compute_score(
            data_source="code", solution_str=PROGRAM, ground_truth=PAIRS, extra_info={}
        )
        assert [0.0] == module.compute_scores(
            data_sources=["code"], solution_strs=[OTHER], ground_truths=[PAIRS], extra_infos=[{}]
        )
    finally:
        module._default.close()


# --- verifiers


def as_rubric(function, state, **more):
    """Call a function as a rubric does, and return the reward that it would take."""
    given = {
        "prompt": [{"role": "user", "content": "Double."}],
        "completion": state["completion"],
        "answer": state.get("answer", ""),
        "state": state,
        "task": None,
        "info": state.get("info", {}),
        "parser": object(),
        **more,
    }
    names = inspect.signature(function).parameters
    assert not {"completions", "states", "answers"} & set(names)
    allowed = {name: value for name, value in given.items() if name in names}
    try:
        return float(asyncio.run(function(**allowed)))
    except Exception:  # noqa: BLE001 - as there
        return 0.0


def test_verifiers_asks_for_a_rollout(graded):
    function = verifiers_reward(graded)
    assert "code_reward" == function.__name__
    assert float is inspect.signature(function).return_annotation
    for text, wanted in ((PROGRAM, 1.0), (OTHER, 0.0)):
        by_info = {"completion": [{"role": "assistant", "content": text}], "info": {"tests": PAIRS}}
        by_answer = {"completion": text, "answer": json.dumps(PAIRS)}
        for state in (by_info, by_answer):
            assert wanted == as_rubric(function, state)
            assert "error" not in state


def test_verifiers_marks_what_was_not_graded(failed):
    """A rubric has a zero for it; the state has the error, by which the rollout is repeated."""
    state = {"completion": PROGRAM, "info": {"tests": [FAILING]}, "error": None}
    assert 0.0 == as_rubric(verifiers_reward(failed), state)
    assert "the sandbox failed" in str(state["error"])

    state = {"completion": PROGRAM, "info": {"tests": [FAILING]}}
    assert 0.25 == as_rubric(verifiers_reward(failed, on_infra=0.25), state)
    assert "error" not in state

    for answer in ("", "no tests"):
        state = {"completion": PROGRAM, "answer": answer}
        assert 0.0 == as_rubric(verifiers_reward(failed), state)
        assert "invalid" in str(state["error"])


def test_verifiers_asks_in_a_task(failed):
    """A failure is an error there, by which the rollout has no reward."""
    grader = VerifiersGrader(failed)

    async def passed(completions, tests):
        return await asyncio.gather(*(grader(one, tests) for one in completions))

    assert [1.0, 0.0] * 3 == asyncio.run(passed([PROGRAM, OTHER] * 3, PAIRS))
    with pytest.raises(SandboxError, match="the sandbox failed"):
        asyncio.run(passed([PROGRAM], [FAILING]))


# --- open-r1


def script(code: str, cases=CASES) -> str:
    """Return a script with the variables of those that open-r1's `code_reward` sends."""
    return f"""
    import json
    import subprocess

    def evaluate_code(code, test_cases):
        return 1.0

    code_snippet = {json.dumps(code)}
    test_cases = json.loads({json.dumps(json.dumps(cases))})

    evaluate_code(code_snippet, test_cases)
    """


def test_open_r1_sends_scripts(graded):
    """The candidate is graded by its output, and not by what the script says of it."""
    codes = [
        "print(2 * int(input()))",
        "print(int(input()) + 1)",
        "print(1.0)",
        "",
        "import sys; sys.exit()",
        'x = """}{ \\\\ "quoted" \U0001f600 é"""\nprint(2 * int(input()))',
    ]
    found = OpenR1Provider(graded).execute_scripts(
        [script(code) for code in codes], ["python"] * len(codes)
    )
    assert [1.0, 0.5, 0.0, 0.0, 0.0, 1.0] == found
    # A shorter output is no right one.
    (found,) = OpenR1Provider(graded).execute_scripts(
        [script("print(1)", [{"input": "", "output": "1\n2\n"}])], ["python"]
    )
    assert 0.0 == found


@pytest.mark.parametrize(
    ("scripts", "languages", "name"),
    [
        (["print(1.0)"], ["python"], "scripts"),
        (["def f(:"], ["python"], "scripts"),
        (["code_snippet = open('x').read()\ntest_cases = []"], ["python"], "scripts"),
        ([script("print(1)")], ["cpp"], "languages"),
        ([script("print(1)")], [], "languages"),
    ],
)
def test_open_r1_with_other_scripts(graded, scripts, languages, name):
    with pytest.raises(ValidationError, match=f"invalid {name}"):
        OpenR1Provider(graded).execute_scripts(scripts, languages)


def test_tests_of_standard_input_have_their_kind():
    assert (StdioTest("1\n", "2\n"), StdioTest("2\n", "4\n")) == to_task(VERIFICATION).tests
