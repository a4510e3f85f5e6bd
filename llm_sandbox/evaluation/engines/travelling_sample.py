"""Sample on its way: where it was, and what became of it."""

from dataclasses import dataclass, field, replace
from typing import Any

from llm_sandbox.evaluation.preparation import Prepared
from llm_sandbox.evaluation.results import SampleResult, TestResult
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["TravellingSample"]

_RUNS = 3
"""A test that may have been delayed by others is run up to three times."""


@dataclass(eq=False)
class TravellingSample:
    """Sample that is sent to workers until it has a result."""

    index: int
    """Position in the run."""
    prepared: Prepared
    record: dict[str, Any]
    """The sample as JSON."""
    attempts: int = 0
    """Attempts that gave no result."""
    lost: int = 0
    """Number of workers that failed with it."""
    avoided: set[str] = field(default_factory=set)
    """Workers that failed with it."""
    error: str = ""
    """How the last of them failed."""

    def fail(self, worker: str, error: str, attempts: int = 1) -> None:
        """Count a failure of a worker.

        Args:
            worker: Its name.
            error: How it failed.
            attempts: Number of attempts that it has made.
        """
        self.attempts += attempts
        self.lost += 1
        self.avoided.add(worker)
        self.error = error

    def most_seconds(self) -> float:
        """Return the time after which one attempt would have been ended by its limits, by far."""
        limits = self.prepared.candidate.limits
        runs = _RUNS * max(1, len(self.prepared.tests))
        return 2 * limits.compile_time + runs * (limits.wall_seconds + 1.0)

    def result(self, found: SampleResult) -> SampleResult:
        """Return the result of a worker as that of the run.

        Args:
            found: The worker's.
        """
        return replace(found, key=self.prepared.key, attempts=found.attempts + self.attempts)

    def failure(self, worker: str, engine: str) -> SampleResult:
        """Return the result of a sample with which all workers failed.

        Args:
            worker: Name of the last one.
            engine: Name and version of what runs the tests.
        """
        prepared = self.prepared
        sample, task = prepared.sample, prepared.task
        infra = TestResult(index=0, verdict=Verdict.INFRA_ERROR, error=self.error)
        return SampleResult(
            id=sample.id,
            task=task.id if task is not None else sample.task,
            verdict=Verdict.INFRA_ERROR,
            score=None,
            tests=(infra,),
            error=self.error,
            language=prepared.candidate.handler.name,
            attempts=self.attempts,
            weight=sample.weight,
            worker=worker,
            engine=engine,
            code_sha256=prepared.code_sha256,
            tests_sha256=prepared.tests_sha256,
            key=prepared.key,
            meta={**(task.meta if task is not None else {}), **sample.meta},
        )
