"""Samples to evaluate, and the tasks that they solve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from llm_sandbox.evaluation.kinds import Test
from llm_sandbox.evaluation.limits import EvalLimits

__all__ = ["Sample", "ScorePolicy", "Task"]

ScorePolicy: TypeAlias = Literal["all", "fraction", "weighted", "groups"]
"""How a sample's score is made of its tests: 1 if all are accepted, their share, the share of their
weights, or the sum over groups of the weight of a group times its worst test."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Task with its tests."""

    id: str
    """Name of the task."""
    tests: Sequence[Test]
    """Tests of each solution."""
    prompt: str = ""
    """What a model is asked."""
    prefix: str = ""
    """Code that a completion continues, such as the head of a function; empty for completions that
    are whole programs."""
    setup: str = ""
    """Code that runs before the candidate's, such as imports."""
    entry_point: str | None = None
    """Name of the function that is asked for."""
    language: str = "python"
    """Language of the solutions."""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    """Files in the working directory, by relative path."""
    limits: EvalLimits | None = None
    """Limits; None for those of the evaluator."""
    score: ScorePolicy | None = None
    """Policy of the score; None for that of the evaluator."""
    reference: str | None = None
    """Solution that must pass, as whole code."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Further fields, copied to results: JSON."""


@dataclass(frozen=True)
class Sample:
    """Solution of a task to evaluate: `code`, or `completion` from which the code is extracted.

    Args:
        id: Name of the sample, unique in a run.
        code: Source code.
        completion: Output of a model; see `extract_code`.
        tests: Tests; None for those of the task.
        task: Id of the task; None for a sample with tests of its own.
        language: Language of the code; None for that of the task, or ``python``.
        entry_point: Name of the function that is tested; None for that of the task.
        setup: Code that runs before the candidate's.
        files: Files in the working directory, by relative path.
        limits: Limits; None for those of the task, or of the evaluator.
        weight: Weight of the sample in averages.
        meta: Further fields, copied to the result: JSON.
    """

    id: str
    code: str | None = None
    completion: str | None = None
    tests: Sequence[Test] | None = None
    task: str | None = None
    language: str | None = None
    entry_point: str | None = None
    setup: str = ""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    limits: EvalLimits | None = None
    weight: float = 1.0
    meta: Mapping[str, Any] = field(default_factory=dict)
