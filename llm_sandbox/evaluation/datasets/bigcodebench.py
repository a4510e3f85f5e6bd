"""BigCodeBench: a function that uses libraries, and a module of unittest.

Fields: ``task_id``, ``complete_prompt``, ``instruct_prompt``, ``code_prompt``,
``canonical_solution``, ``test``, ``entry_point``, ``libs``.

As in its calibrated results, the imports and the head of the function come before each solution.
The limits of its own runs are far above those of `EvalLimits`: a minute for each task.
"""

import ast
from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.kinds import UnitTest
from llm_sandbox.evaluation.sample import Task

__all__ = ["read_bigcodebench"]


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
