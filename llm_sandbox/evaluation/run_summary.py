"""Counts of a run, made in one pass over its results."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from llm_sandbox.evaluation.results import Integrity, SampleResult, TestResult
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["Histogram", "RunSummary", "TaskCounts", "task_of"]

_MEGABYTE = 1_000_000
_TIME_EDGES = [round(step * 10.0**power, 6) for power in range(-3, 3) for step in (1, 2, 5)]
_MEMORY_EDGES = [_MEGABYTE * 2.0**power for power in range(2, 16)]


class Histogram:
    """Counts of values in bins that grow with the values.

    Args:
        edges: Upper edges of the bins, in order; one more bin has what is above the last.
    """

    def __init__(self, edges: Sequence[float]) -> None:
        self.edges = tuple(edges)
        self.counts = [0] * (len(edges) + 1)

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.edges, value)] += 1

    @property
    def total(self) -> int:
        """Number of values."""
        return sum(self.counts)

    def bins(self) -> list[tuple[float | None, int]]:
        """Return upper edge and count of the bins from the first to the last that is not empty.

        The edge of the last bin of all is None.
        """
        filled = [place for place, count in enumerate(self.counts) if count]
        if not filled:
            return []
        edges = (*self.edges, None)
        return list(zip(edges, self.counts, strict=True))[filled[0] : filled[-1] + 1]


@dataclass(slots=True)
class TaskCounts:
    """Numbers of samples of a task."""

    scored: int = 0
    """Samples with a score."""
    correct: int = 0
    """Scored samples that passed every test."""
    unscored: int = 0
    """Samples without a score, since the sandbox failed."""


@dataclass(slots=True)
class RunSummary:
    """Counts of a run."""

    samples: int = 0
    tests: int = 0
    """Tests with a result, skipped ones as well."""
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    """Samples by verdict."""
    integrity: Counter[Integrity] = field(default_factory=Counter)
    """Scored samples by integrity."""
    tasks: dict[str, TaskCounts] = field(default_factory=dict)
    """Counts by task; a sample without one is a task of its own."""
    unscored: int = 0
    """Samples without a score."""
    weighted_score: float = 0.0
    """Sum of the scores times the weights."""
    weight: float = 0.0
    """Sum of the weights of scored samples."""
    contended: int = 0
    """Samples that other work on the machine delayed."""
    flaky: int = 0
    """Samples whose repeated evaluations had different verdicts."""
    reruns: int = 0
    """Runs of tests beyond the first."""
    retries: int = 0
    """Evaluations of samples beyond the first, after failures of the sandbox."""
    seconds: float = 0.0
    """Time of all evaluations, added up."""
    times: Histogram = field(default_factory=lambda: Histogram(_TIME_EDGES))
    """CPU time of the tests, in seconds; by the clock where it is not known."""
    memory: Histogram = field(default_factory=lambda: Histogram(_MEMORY_EDGES))
    """Largest memory of the tests, in bytes."""

    @classmethod
    def of(cls, results: Iterable[SampleResult]) -> "RunSummary":
        """Return the counts of results, which may be a stream."""
        summary = cls()
        for result in results:
            summary.add(result)
        return summary

    def add(self, result: SampleResult) -> None:
        """Count a result."""
        self.samples += 1
        self.verdicts[result.verdict] += 1
        counts = self.tasks.setdefault(task_of(result), TaskCounts())
        if result.score is None:
            self.unscored += 1
            counts.unscored += 1
        else:
            counts.scored += 1
            counts.correct += result.passed
            self.integrity[result.integrity] += 1
            self.weighted_score += result.score * result.weight
            self.weight += result.weight
        self.contended += any(test.contended for test in result.tests)
        self.flaky += result.flaky
        self.retries += max(0, result.attempts - 1)
        self.seconds += result.time_s
        for test in result.tests:
            self._add_test(test)

    def _add_test(self, test: TestResult) -> None:
        self.tests += 1
        self.reruns += max(0, test.attempts - 1)
        time = test.time_wall if test.time_cpu is None else test.time_cpu
        if time is not None:
            self.times.add(time)
        if test.memory_peak is not None:
            self.memory.add(test.memory_peak)


def task_of(result: SampleResult) -> str:
    """Return the task of a sample; its own id if it has none."""
    return result.id if result.task is None else result.task
