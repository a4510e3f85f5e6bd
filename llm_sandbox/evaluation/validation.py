"""Validation of tasks: whether their own reference solutions pass here."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from llm_sandbox.evaluation.batch import evaluate
from llm_sandbox.evaluation.engines.base import Engine, EngineName
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.sample import Sample, Task

__all__ = ["valid_tasks"]


def valid_tasks(
    tasks: Mapping[str, Task] | Iterable[Task],
    *,
    limits: EvalLimits | None = None,
    preload: Sequence[str] = (),
    workers: int | Literal["auto"] = "auto",
    backend: str | None = None,
    engine: Engine | EngineName | None = None,
) -> tuple[dict[str, Task], dict[str, str]]:
    """Run the reference solutions of tasks, and leave out the tasks whose own does not pass.

    A library may be missing here, or a limit too low: then no sample could pass either, and its
    score would say nothing about it.

    Args:
        tasks: The tasks; those without a reference are valid.
        limits: As for `Evaluator`.
        preload: As for `Evaluator`.
        workers: As for `Evaluator`.
        backend: As for `Evaluator`.
        engine: As for `evaluate`.

    Returns:
        The valid tasks by id, and the reason for each other one.
    """
    known = dict(tasks) if isinstance(tasks, Mapping) else {task.id: task for task in tasks}
    failed: dict[str, str] = {}
    references = [
        Sample(task.id, task.reference, task=task.id)
        for task in known.values()
        if task.reference is not None
    ]
    for result in evaluate(
        references,
        tasks=known,
        limits=limits,
        preload=preload,
        workers=workers,
        backend=backend,
        engine=engine,
    ):
        if result.passed:
            continue
        first = next((test for test in result.tests if not test.points), None)
        error = result.error or (first.error if first is not None else "")
        failed[result.id] = f"has the verdict {result.verdict.words}: {error}".rstrip(": ")
    return {name: task for name, task in known.items() if name not in failed}, failed
