"""Evaluator whose samples are evaluated by the workers of an engine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Literal, Self

from llm_sandbox.evaluation.engines.base import Engine, EngineName
from llm_sandbox.evaluation.engines.dask import DaskEngine
from llm_sandbox.evaluation.engines.distribution import distribute
from llm_sandbox.evaluation.engines.http import HttpEngine
from llm_sandbox.evaluation.engines.local import LocalEngine
from llm_sandbox.evaluation.engines.messages import encode_setup
from llm_sandbox.evaluation.engines.ray import RayEngine
from llm_sandbox.evaluation.engines.tested_workers import TestedWorkers
from llm_sandbox.evaluation.kinds import Test
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.preparation import Prepared, Preparer
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.sample import Sample, ScorePolicy, Task
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.security import SecurityPolicy

__all__ = ["DistributedEvaluator"]


class DistributedEvaluator:
    """Evaluator on the workers of an engine, with the results that `Evaluator` gives.

    Tasks and samples go over as JSON, so that a checker must not be a function. It is for one
    thread.

    Args:
        engine: An engine, or its name; started here, and closed with the evaluator.
        language: As for `Evaluator`.
        tasks: As for `Evaluator`.
        tests: As for `Evaluator`.
        limits: As for `Evaluator`.
        preload: As for `Evaluator`.
        workers: Number of processes of the engine ``local``, or of tests that run at the same time
            on each worker of another; ``auto`` for the CPUs there, and for an `Engine`.
        score: As for `Evaluator`.
        stop: As for `Evaluator`.
        repeat: As for `Evaluator`.
        retries: As for `Evaluator`, and of further workers after that.
        security_policy: As for `Evaluator`.
        backend: As for `Evaluator`.

    Raises:
        BackendUnavailableError: No worker can evaluate; the message says why.
        MissingDependencyError: The package of the engine is not installed.
        ValidationError: An argument is invalid, or a test cannot be sent to another process.
    """

    def __init__(
        self,
        engine: Engine | EngineName,
        *,
        language: str = "python",
        tasks: Mapping[str, Task] | Iterable[Task] = (),
        tests: Sequence[Test] | None = None,
        limits: EvalLimits | None = None,
        preload: Sequence[str] = (),
        workers: int | Literal["auto"] = "auto",
        score: ScorePolicy = "all",
        stop: Literal["first_failure", "never"] | None = None,
        repeat: int = 1,
        retries: int = 3,
        security_policy: SecurityPolicy | None = None,
        backend: str | None = None,
    ) -> None:
        self.tasks = tasks if isinstance(tasks, Mapping) else {task.id: task for task in tasks}
        """Tasks by id."""
        options = {
            "language": language,
            "preload": list(preload),
            "score": score,
            "stop": stop,
            "repeat": repeat,
            "retries": retries,
            "backend": backend,
        }
        setup = encode_setup(
            options,
            tasks=self.tasks,
            tests=tests,
            limits=limits,
            security_policy=security_policy,
        )
        self._retries = retries
        self._workers = TestedWorkers(_find(engine, workers), setup)
        self.engine = self._workers.name
        """Name and version of what runs the tests."""
        self.workers = self._workers.total()
        """Number of tests that ran at the same time when all workers had started."""
        self._preparer = Preparer(
            tasks=self.tasks,
            tests=tests,
            limits=limits or EvalLimits(),
            language=language,
            score=score,
            engine=self.engine,
        )

    @property
    def left_out(self) -> Mapping[str, str]:
        """Why workers are left out, by their name."""
        return dict(self._workers.left_out)

    def prepare(self, sample: Sample) -> Prepared:
        """Return a sample with its key; see `Evaluator.prepare`.

        Raises:
            ValidationError: The sample is not valid.
        """
        return self._preparer.prepare(sample)

    def map(
        self, samples: Iterable[Sample | Prepared], *, ordered: bool = False
    ) -> Iterator[SampleResult]:
        """Evaluate samples, and yield results as they come; see `distribute`.

        Args:
            samples: The samples.
            ordered: Whether results come in the order of samples.

        Raises:
            BackendUnavailableError: No worker is left.
            EvaluationStoppedError: Workers and sandboxes fail too often.
            ValidationError: A sample is not valid, or cannot be sent to another process.
        """
        prepared = (one if isinstance(one, Prepared) else self.prepare(one) for one in samples)
        return distribute(prepared, self._workers, ordered=ordered, retries=self._retries)

    def close(self) -> None:
        """End the workers; no effect if repeated."""
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()


def _find(engine: Engine | str, workers: int | Literal["auto"]) -> Engine:
    number = None if workers == "auto" else workers
    if engine == "local":
        return LocalEngine(number)
    if engine == "ray":
        return RayEngine(cpus=number)
    if engine == "dask":
        return DaskEngine(cpus=number)
    if engine == "http" and number is None:
        return HttpEngine()
    if isinstance(engine, str) or not isinstance(engine, Engine):
        raise ValidationError(
            "invalid engine: expected None, 'local', 'ray', 'dask', 'http' or an Engine, got "
            f"{engine!r}",
            parameter="engine",
        )
    if number is not None:
        raise ValidationError(
            f"invalid workers: expected 'auto' with an Engine, got {workers!r}",
            parameter="workers",
            hint="give the number to the engine itself",
        )
    return engine
