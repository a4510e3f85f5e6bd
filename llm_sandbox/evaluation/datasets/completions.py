"""HumanEval and BigCodeBench: functions to complete.

HumanEval has ``task_id``, ``prompt``, ``canonical_solution``, ``entry_point``, and ``test``, which
defines a function that checks the candidate.

BigCodeBench has ``task_id``, ``complete_prompt``, ``instruct_prompt``, ``code_prompt``,
``canonical_solution``, ``entry_point``, ``libs``, and ``test``, a module of unittest. As in its
calibrated results, the imports and the head of the function come before each solution. The limits
of its own runs are far above those of `EvalLimits`: a minute for each task.
"""

import ast
from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.kinds import AssertTest, UnitTest
from llm_sandbox.evaluation.sample import Task

__all__ = ["read_bigcodebench", "read_humaneval"]


def read_humaneval(record: Fields, _line: int) -> Task:
    """Return the task of a record.

    Raises:
        ValidationError: A field is missing or of another type.
    """
    prompt, entry_point = record.text("prompt"), record.text("entry_point")
    solution = record.text("canonical_solution", "")
    return Task(
        id=record.label("task_id"),
        tests=(AssertTest(record.text("test"), entry_point=entry_point, name="check"),),
        prompt=prompt,
        prefix=prompt,
        entry_point=entry_point,
        reference=prompt + solution if solution else None,
    )


def read_bigcodebench(record: Fields, _line: int) -> Task:
    """Return the task of a record; its libraries are in `meta`.

    Raises:
        ValidationError: A field is missing or of another type.
    """
    complete = record.text("complete_prompt")
    head = record.text("code_prompt", "")
    solution = record.text("canonical_solution", "")
    return Task(
        id=record.label("task_id"),
        tests=(UnitTest({"test_candidate.py": record.text("test")}, name="unittest"),),
        prompt=record.text("instruct_prompt", "") or complete,
        prefix=complete,
        setup=f"{head.rstrip()}\n    pass\n" if head.strip() else "",
        entry_point=record.text("entry_point"),
        reference=f"{complete}\n{solution}" if solution else None,
        meta={"libs": _libraries(record)},
    )


def _libraries(record: Fields) -> list[str]:
    """Return the names of the libraries, which some editions write as a Python list in a text."""
    value: Any = record.any("libs")
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            value = [value]
    return [str(one) for one in value] if isinstance(value, list | tuple) else []
