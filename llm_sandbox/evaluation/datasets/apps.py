"""APPS and TACO: questions of contests, with inputs and outputs.

Fields: ``question``, ``input_output`` (see `pairs`; mostly a JSON text), ``solutions`` (a JSON text
of a list), ``starter_code``, ``difficulty``, ``url``; ``problem_id`` in APPS; ``time_limit`` and
``memory_limit`` in TACO.

The id of a task is its ``problem_id``, or where there is none its position in the file, from 0.
"""

from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.datasets.pairs import PRELUDE, read_pairs
from llm_sandbox.evaluation.datasets.record_limits import (
    MEBIBYTE,
    limits_of,
    memory_of,
    seconds_of,
)
from llm_sandbox.evaluation.kinds import CallTest
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["read_apps"]


def read_apps(record: Fields, line: int) -> Task:
    """Return the task of a record.

    Raises:
        ValidationError: A field is missing or of another type, or there is no test.
    """
    starter = record.text("starter_code", "")
    if not record.any("input_output"):
        raise ValidationError(
            "invalid input_output: expected inputs and outputs, got none", parameter="input_output"
        )
    tests = read_pairs(record.fields("input_output"), starter, "method")
    first = tests[0]
    return Task(
        id=record.label("problem_id") if "problem_id" in record else str(line - 1),
        tests=tuple(tests),
        prompt=record.text("question"),
        setup=PRELUDE,
        entry_point=first.fn if isinstance(first, CallTest) else None,
        limits=limits_of(
            seconds_of("time_limit", record.any("time_limit")),
            memory_of("memory_limit", record.any("memory_limit"), MEBIBYTE),
        ),
        reference=_solution(record),
        meta=_meta(record),
    )


def _solution(record: Fields) -> str | None:
    """Return the first solution; None without one."""
    if not record.any("solutions"):
        return None
    found = record.parsed("solutions")
    first = found[0] if isinstance(found, list) and found else None
    return first if isinstance(first, str) else None


def _meta(record: Fields) -> dict[str, Any]:
    names = ("difficulty", "source", "url")
    return {name: record.text(name) for name in names if record.any(name)}
