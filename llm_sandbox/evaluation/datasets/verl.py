"""Tests of rewards: open-r1's ``verification_info``, and the ``ground_truth`` of verl.

open-r1 has ``verification_info``: ``{"language", "test_cases": [{"type", "input", "output",
"fn_name"}]}`` where the type is ``stdin_stdout`` or ``function_call``.

verl has ``reward_model.ground_truth``, a JSON text with ``inputs``, ``outputs`` and ``fn_name``
(see `pairs`), or ``assert_case``: assertions, each of which is a test, and which stand in for
inputs and outputs. The same object may be the whole record.

The id of a task is the field ``id``, ``problem_id``, ``task_id`` or ``extra_info.index``, or where
there is none the position in the file, from 0.
"""

from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.datasets.pairs import (
    PRELUDE,
    call_pair,
    callable_name,
    loose_value,
    program_text,
    read_pairs,
)
from llm_sandbox.evaluation.datasets.record_limits import limits_of, memory_of, seconds_of
from llm_sandbox.evaluation.extraction import extract_code
from llm_sandbox.evaluation.kinds import AssertTest, CallTest, StdioTest, Test
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["read_verification_info", "read_verl"]


def read_verification_info(record: Fields, line: int) -> Task:
    """Return the task of a record of open-r1.

    Raises:
        ValidationError: A field is missing or of another type, or there is no test.
    """
    info = record.fields("verification_info")
    prompt = _prompt(record)
    tests = [_case(case, prompt) for case in info.records("test_cases")]
    if not tests:
        path = info.path("test_cases")
        raise ValidationError(
            f"invalid {path}: expected at least one test, got none", parameter=path
        )
    language = info.text("language", "python")
    solution = record.text("gold_standard_solution", "")
    return Task(
        id=_id(record, line),
        tests=tuple(tests),
        prompt=prompt,
        setup=_setup(language, tests),
        entry_point=_entry_point(tests),
        language=language,
        limits=_limits(record),
        reference=extract_code(solution, language).code if solution.strip() else None,
    )


def read_verl(record: Fields, line: int) -> Task:
    """Return the task of a record of verl.

    Raises:
        ValidationError: A field is missing or of another type, or there is no test.
    """
    truth = record
    if "reward_model" in record:
        truth = record.fields("reward_model").fields("ground_truth")
    elif "ground_truth" in record:
        truth = record.fields("ground_truth")
    prompt = _prompt(record)
    tests: list[Test]
    if "assert_case" in truth:
        tests = [AssertTest(source) for source in truth.texts("assert_case")]
        if not tests:
            raise ValidationError("invalid assert_case: expected at least one, got none")
    else:
        tests = read_pairs(truth, prompt, "function")
    return Task(
        id=_id(record, line),
        tests=tuple(tests),
        prompt=prompt,
        setup=_setup("python", tests),
        entry_point=_entry_point(tests),
    )


def _case(case: Fields, prompt: str) -> Test:
    name = case.text("fn_name", "")
    kind = case.text("type", "function_call" if name else "stdin_stdout")
    given, wanted = case.any("input"), case.any("output")
    if kind == "stdin_stdout":
        return StdioTest(
            program_text(case.path("input"), given), program_text(case.path("output"), wanted)
        )
    if kind != "function_call":
        path = case.path("type")
        raise ValidationError(
            f"invalid {path}: expected stdin_stdout or function_call, got another", parameter=path
        )
    fn = callable_name(name, prompt, "function", case.path("fn_name"))
    if isinstance(given, str):
        arguments = loose_value(given)
        if isinstance(arguments, list | tuple):
            given = list(arguments)
            wanted = loose_value(wanted) if isinstance(wanted, str) else wanted
    return call_pair(fn, case.path("input"), given, wanted)


def _prompt(record: Fields) -> str:
    """Return the question: a text, or the contents of a chat's messages."""
    for name in ("problem", "prompt", "question"):
        value: Any = record.any(name)
        if isinstance(value, str):
            return record.text(name)
        if isinstance(value, list):
            messages = [Fields(one, f"{name}[{i}]") for i, one in enumerate(value)]
            return "\n\n".join(one.text("content", "") for one in messages)
    return ""


def _id(record: Fields, line: int) -> str:
    for name in ("id", "problem_id", "task_id"):
        if name in record:
            return record.label(name)
    extra = record.fields("extra_info") if "extra_info" in record else record
    return extra.label("index") if "index" in extra else str(line - 1)


def _setup(language: str, tests: list[Test]) -> str:
    """Return imports for functions in Python, whose heads need those of `typing`."""
    calls = any(isinstance(test, CallTest) for test in tests)
    return PRELUDE if calls and language.lower() in ("python", "python3") else ""


def _entry_point(tests: list[Test]) -> str | None:
    names = {test.fn for test in tests if isinstance(test, CallTest)}
    return names.pop() if len(names) == 1 else None


def _limits(record: Fields) -> EvalLimits | None:
    if not record.any("metadata"):
        return None
    facts = record.fields("metadata")
    size = memory_of("metadata.memory_limit_bytes", facts.any("memory_limit_bytes"), 1)
    if size is None:
        size = memory_of("metadata.memory_limit", facts.any("memory_limit"), 1)
    return limits_of(seconds_of("metadata.time_limit", facts.any("time_limit")), size)
