"""Evaluation of a set of samples, with a journal to resume from and a report."""

import hashlib
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Literal

from llm_sandbox.evaluation.engines.base import Engine, EngineName
from llm_sandbox.evaluation.engines.distributed_evaluator import DistributedEvaluator
from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.journal import Journal, read_journal
from llm_sandbox.evaluation.kinds import Test
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.preparation import Prepared
from llm_sandbox.evaluation.progress import Progress, ProgressMonitor
from llm_sandbox.evaluation.report import Report
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.sample import Sample, ScorePolicy, Task
from llm_sandbox.exceptions import ValidationError

if TYPE_CHECKING:
    from llm_sandbox.security import SecurityPolicy

__all__ = ["evaluate"]


def evaluate(
    samples: Iterable[Sample],
    *,
    tasks: Mapping[str, Task] | Iterable[Task] = (),
    tests: Sequence[Test] | None = None,
    language: str = "python",
    limits: EvalLimits | None = None,
    preload: Sequence[str] = (),
    workers: int | Literal["auto"] = "auto",
    score: ScorePolicy = "all",
    stop: Literal["first_failure", "never"] | None = None,
    repeat: int = 1,
    retries: int = 3,
    security_policy: "SecurityPolicy | None" = None,
    backend: str | None = None,
    engine: Engine | EngineName | None = None,
    results: str | os.PathLike[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: Callable[[Progress], object] | None = None,
    progress_bar: bool = True,
) -> Report:
    """Evaluate samples and return a report.

        report = evaluate(samples, tasks=load_dataset("humaneval.jsonl"), results="run.jsonl")
        print(report)

    Args:
        samples: The samples, each with another id; taken one by one.
        tasks: As for `Evaluator`.
        tests: As for `Evaluator`.
        language: As for `Evaluator`.
        limits: As for `Evaluator`.
        preload: As for `Evaluator`.
        workers: As for `Evaluator`.
        score: As for `Evaluator`.
        stop: As for `Evaluator`.
        repeat: As for `Evaluator`.
        retries: As for `Evaluator`.
        security_policy: As for `Evaluator`.
        backend: As for `Evaluator`.
        engine: Where samples are evaluated: None for threads of this process, ``local`` for
            processes, ``ray`` or ``dask`` for the cluster that `RayEngine` or `DaskEngine` finds
            without an address, ``http`` for the servers that `HttpEngine` finds without addresses,
            or an `Engine`, which is started and closed. `workers` is then the number of processes
            of ``local``, or of tests on each worker of a cluster; a checker must not be a function.
        results: File of JSON lines for the results, written as they come; None to keep them in
            memory.
        resume: Whether samples with a result in the file are skipped; those with the verdict ``IE``
            are not.
        overwrite: Whether a file with results is replaced.
        on_progress: Called after each result.
        progress_bar: Whether a bar is drawn where standard error is a terminal.

    Raises:
        BackendUnavailableError: The backend does not work here, or no worker is there.
        EvaluationStoppedError: The sandbox fails too often; finished results are in the file.
        MissingDependencyError: The package of the engine is not installed.
        SandboxFileExistsError: The file has results, and neither `resume` nor `overwrite` is given.
        ValidationError: A sample or an argument is invalid.
    """
    total = len(samples) if isinstance(samples, Sized) else None
    make = Evaluator if engine is None else partial(DistributedEvaluator, engine)
    with make(
        language=language,
        tasks=tasks,
        tests=tests,
        limits=limits,
        preload=preload,
        workers=workers,
        score=score,
        stop=stop,
        repeat=repeat,
        retries=retries,
        security_policy=security_policy,
        backend=backend,
    ) as evaluator:
        prepared = _prepare(samples, evaluator)
        if results is None:
            with ProgressMonitor(total, on_progress=on_progress, bar=progress_bar) as monitor:
                return Report(list(_counted(evaluator.map(prepared), monitor)))
        header = {
            "dataset_sha256": _hash_of(evaluator.tasks),
            "engine": evaluator.engine,
            "limits": asdict(limits or EvalLimits()),
            "host": {"system": platform.platform(), "cpus": os.cpu_count()},
            "workers": evaluator.workers,
        }
        with (
            Journal.open(results, header, resume=resume, overwrite=overwrite) as journal,
            ProgressMonitor(
                total, resumed=journal.resumed, on_progress=on_progress, bar=progress_bar
            ) as monitor,
        ):
            left = (one for one in prepared if not journal.is_done(one.sample.id, one.key))
            for result in _counted(evaluator.map(left), monitor):
                journal.append(result)
        return Report(read_journal(results))


def _prepare(
    samples: Iterable[Sample], evaluator: Evaluator | DistributedEvaluator
) -> Iterator[Prepared]:
    """Yield prepared samples.

    Raises:
        ValidationError: Two samples have the same id.
    """
    seen: set[str] = set()
    for sample in samples:
        if sample.id in seen:
            raise ValidationError(
                f"invalid samples: expected different ids, got {sample.id!r} twice",
                parameter="samples",
                hint="number the samples of a task: 'task/0', 'task/1'",
            )
        seen.add(sample.id)
        yield evaluator.prepare(sample)


def _counted(results: Iterable[SampleResult], monitor: ProgressMonitor) -> Iterator[SampleResult]:
    for result in results:
        yield result
        monitor.add(result)


def _hash_of(tasks: Mapping[str, Task]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tasks):
        digest.update(name.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
