"""HumanEval: a function to complete, and a function that checks it.

Fields: ``task_id``, ``prompt``, ``canonical_solution``, ``test``, ``entry_point``.
"""

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.kinds import AssertTest
from llm_sandbox.evaluation.sample import Task

__all__ = ["read_humaneval"]


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
