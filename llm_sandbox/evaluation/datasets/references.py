"""Expected values that a reference solution gives.

Some data sets have inputs and a solution, but no outputs. Their tests have
`EXPECTED_FROM_REFERENCE` for the expected value: whoever evaluates runs the solution of the task in
a sandbox first, once for each such test (`reference_calls`), and then replaces them
(`fill_expected`). `reference_key` names the outcome in a cache.
"""

import enum
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from llm_sandbox.evaluation.datasets.plain_values import value_to_json
from llm_sandbox.evaluation.kinds import CallTest
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["EXPECTED_FROM_REFERENCE", "fill_expected", "reference_calls", "reference_key"]


class _Expectation(enum.Enum):
    """An enumeration, so that copies and pickles of its member are that member."""

    FROM_REFERENCE = "reference"

    def __repr__(self) -> str:
        return "EXPECTED_FROM_REFERENCE"


EXPECTED_FROM_REFERENCE: Final = _Expectation.FROM_REFERENCE
"""Expected value of a `CallTest` that the task's `reference` gives for the same arguments."""


def reference_calls(task: Task) -> list[CallTest]:
    """Return the tests whose expected values the reference gives, in order; often none."""
    return [
        test
        for test in task.tests
        if isinstance(test, CallTest) and test.expected is EXPECTED_FROM_REFERENCE
    ]


def fill_expected(task: Task, values: Sequence[object]) -> Task:
    """Return a task with the expected values that its reference gave.

    Args:
        task: The task.
        values: Values for `reference_calls`, in the same order.

    Raises:
        ValidationError: There are more or fewer values than such tests.
    """
    wanted = len(reference_calls(task))
    if len(values) != wanted:
        raise ValidationError(
            f"invalid values: expected {wanted} for task {task.id}, got {len(values)}",
            parameter="values",
        )
    rest = iter(values)
    tests = [
        replace(test, expected=next(rest))
        if isinstance(test, CallTest) and test.expected is EXPECTED_FROM_REFERENCE
        else test
        for test in task.tests
    ]
    return replace(task, tests=tuple(tests))


def reference_key(task: Task) -> str:
    """Return a SHA-256 of everything that the reference's values depend on.

    That is the language, the setup, the reference, and the function and arguments of each call.
    """
    calls = [
        [test.fn, value_to_json(tuple(test.args)), value_to_json(dict(test.kwargs))]
        for test in reference_calls(task)
    ]
    facts = [task.language, task.setup, task.reference, calls]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
