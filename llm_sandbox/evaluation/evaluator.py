"""Evaluator: graded samples at the speed of forks, on the cores of this machine."""

import os
import random
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from llm_sandbox.backends import selection
from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.const import VERSION
from llm_sandbox.evaluation.breaker import Breaker, EvaluationStoppedError
from llm_sandbox.evaluation.graders.base import (
    GraderFailedError,
    GradingContext,
    ToolSandboxes,
    find_grader,
)
from llm_sandbox.evaluation.judging import Grade, to_result
from llm_sandbox.evaluation.kinds import Test
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.preparation import Prepared, Preparer, handler_of
from llm_sandbox.evaluation.reference_values import ReferenceValues
from llm_sandbox.evaluation.result_stream import ResultStream
from llm_sandbox.evaluation.results import SampleResult, TestResult
from llm_sandbox.evaluation.sample import Sample, ScorePolicy, Task
from llm_sandbox.evaluation.sample_runner import CompileFailed, SampleRunner
from llm_sandbox.evaluation.scoring import integrity_of, score_of, verdict_of
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import (
    SandboxError,
    ToolchainNotFoundError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.settings import get_settings

if TYPE_CHECKING:
    from llm_sandbox.evaluation.rewards import Completion, OnInfra
    from llm_sandbox.security import SecurityPolicy

__all__ = ["EvaluationStoppedError", "Evaluator"]

_RETRY_S = 0.2
_MOST_RERUNS = 2
_LIMIT_SLACK = 1.1


class Evaluator:
    """Evaluator of samples, safe to use from several threads.

    Args:
        language: Language of samples that name none.
        tasks: Tasks that samples name: by id, or in any order.
        tests: Tests of samples that have neither tests nor a task.
        limits: Limits of samples that have none.
        preload: Libraries of Python that candidates find loaded, such as ``("numpy",)``: their
            import takes no time of a test then.
        workers: Number of tests that run at the same time; ``auto`` for the CPUs of this process.
        score: How a score is made of tests.
        stop: ``first_failure`` skips the tests after the first that is not accepted; ``never``
            runs all. None for ``first_failure`` with the score ``all``, otherwise ``never``.
        repeat: Number of evaluations of each sample; different verdicts make it ``flaky``.
        retries: Number of further attempts after a failure of the sandbox.
        security_policy: What it refuses does not run, and has the verdict ``SV``; None to run all.
        backend: Backend, or its name; None to choose one.

    Raises:
        BackendUnavailableError: The backend does not work here.
        ToolchainNotFoundError: The language's programs are not installed.
        UnsupportedError: The backend cannot run tests.
        ValidationError: An argument is invalid.
    """

    def __init__(
        self,
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
        security_policy: "SecurityPolicy | None" = None,
        backend: str | Backend | None = None,
    ) -> None:
        self.workers = _check_workers(workers)
        """Number of tests that run at the same time."""
        if backend is None:
            backend = selection.choose(language)[0]
        self._backend = get_backend(backend) if isinstance(backend, str) else backend
        if not self._backend.isolates:
            raise UnsupportedError("evaluation", self._backend.name, "it isolates nothing")
        self._backend.check()
        self._check_language(language)
        if repeat < 1:
            raise ValidationError(
                f"invalid repeat: expected at least 1, got {repeat!r}", parameter="repeat"
            )
        self._policy = security_policy
        self._stop = stop
        self._repeat = repeat
        self._retries = retries
        self._preload = tuple(preload)
        self.engine = f"llm-sandbox {VERSION} {self._backend.name}"
        """Name and version of what runs the tests."""
        self.tasks = tasks if isinstance(tasks, Mapping) else {task.id: task for task in tasks}
        """Tasks by id."""
        self._preparer = Preparer(
            tasks=self.tasks,
            tests=tests,
            limits=limits or EvalLimits(),
            language=language,
            score=score,
            engine=self.engine,
            fill=ReferenceValues(
                self._backend,
                limits or EvalLimits(),
                get_settings().cache_dir / "evaluation" / "references",
                self._preload,
            ).fill,
        )
        self._slots = _Slots()
        self._threads = threading.local()
        self._tools: list[ToolSandboxes] = []
        self._lock = threading.Lock()
        self._breaker = Breaker()
        self._is_closed = False

    def _check_language(self, language: str) -> None:
        toolchain = handler_of(language).toolchain
        path = self._backend.search_path
        missing = toolchain.missing(path) if toolchain is not None and path else []
        if toolchain is not None and missing:
            raise ToolchainNotFoundError(
                language,
                missing,
                f"in {path} of this computer",
                backend=self._backend.name,
                hint=f"install it: apt-get install {' '.join(toolchain.packages)}",
            )

    # --- evaluation

    def prepare(self, sample: Sample, task: Task | None = None) -> Prepared:
        """Return a sample with its code, tests, limits and key.

        Args:
            sample: The sample.
            task: Its task; None for the one that it names.

        Raises:
            ValidationError: The sample is not valid.
        """
        return self._preparer.prepare(sample, task)

    def run(self, sample: Sample | Prepared) -> SampleResult:
        """Evaluate one sample.

        Returns:
            The result; a failure of the sandbox is one with the verdict ``IE`` and no score.

        Raises:
            EvaluationStoppedError: The sandbox fails too often.
            ValidationError: The sample is not valid.
        """
        if self._is_closed:
            raise ValidationError("the evaluator is closed", hint="make another one")
        prepared = sample if isinstance(sample, Prepared) else self.prepare(sample)
        self._check_language(prepared.candidate.handler.name)
        if prepared.left_out:
            infra = Grade(verdict=Verdict.INFRA_ERROR, error=prepared.left_out)
            return self._result(prepared, [to_result(infra, index=0)], prepared.left_out, 0, 0.0)
        results = [self._evaluate(prepared) for _ in range(self._repeat)]
        result = results[0]
        if self._repeat > 1:
            verdicts = tuple(found.verdict for found in results)
            result = replace(result, verdicts=verdicts, flaky=len(set(verdicts)) > 1)
        self._breaker.note(result.verdict is Verdict.INFRA_ERROR, result.error)
        return result

    def map(
        self, samples: Iterable[Sample | Prepared], *, ordered: bool = False
    ) -> Iterator[SampleResult]:
        """Evaluate samples, `workers` at a time, and yield results as they come.

        At most a few samples are taken ahead of the results that were consumed. Closing the
        iterator stops the evaluation.

        Args:
            samples: The samples.
            ordered: Whether results come in the order of samples.

        Raises:
            EvaluationStoppedError: The sandbox fails too often.
            ValidationError: A sample is not valid.
        """
        stream = self.start(samples, ordered=ordered)
        try:
            while (result := stream.next()) is not None:
                yield result
        finally:
            stream.stop()

    def start(self, samples: Iterable[Sample | Prepared], *, ordered: bool = False) -> ResultStream:
        """Start the evaluation of samples, and return the stream of their results.

        Args:
            samples: As for `map`.
            ordered: As for `map`.
        """
        return ResultStream(iter(samples), self.run, self.workers, ordered=ordered)

    def rewards(
        self,
        completions: "Sequence[Completion]",
        tests: Any,
        *,
        mode: ScorePolicy = "all",
        on_infra: "OnInfra" = "mask",
    ) -> list[float | None]:
        """Return the rewards of completions; None where the sandbox failed.

        Args:
            completions: Outputs of a model: texts, or conversations, whose last message counts.
            tests: Tests, the same for all completions or a list with those of each; see `rewards`.
            mode: How a reward is made of tests.
            on_infra: What a failure of the sandbox gives; see `rewards`.

        Raises:
            EvaluationStoppedError: The sandbox fails too often.
            SandboxError: The sandbox failed, and `on_infra` is ``raise``.
            ValidationError: A completion or a test is not valid.
        """
        from llm_sandbox.evaluation.rewards import rewards

        return rewards(self, completions, tests, mode=mode, on_infra=on_infra)

    def _evaluate(self, prepared: Prepared) -> SampleResult:
        begun = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            try:
                results, error = self._run_tests(prepared)
                break
            except SandboxError as failure:
                if isinstance(failure, ValidationError | UnsupportedError):
                    raise
                if not isinstance(failure, GraderFailedError):
                    # One of them may be lost, and would fail every further sample of this thread.
                    self._thread_tools().close()
                if attempt > self._retries or isinstance(failure, GraderFailedError):
                    infra = Grade(verdict=Verdict.INFRA_ERROR, error=failure.message)
                    results, error = [to_result(infra, index=0)], failure.message
                    break
                time.sleep(_RETRY_S * attempt * (1 + random.random()))  # noqa: S311 - jitter
        return self._result(prepared, results, error, attempt, time.monotonic() - begun)

    def _result(
        self,
        prepared: Prepared,
        results: list[TestResult],
        error: str,
        attempts: int,
        time_s: float,
    ) -> SampleResult:
        sample, tests = prepared.sample, prepared.tests
        return SampleResult(
            id=sample.id,
            task=prepared.task.id if prepared.task is not None else sample.task,
            verdict=verdict_of(tests, results),
            score=score_of(tests, results, prepared.score),
            tests=tuple(results),
            integrity=integrity_of(results),
            error=error,
            language=prepared.candidate.handler.name,
            attempts=attempts,
            weight=sample.weight,
            worker=f"{os.uname().nodename}:{os.getpid()}",
            engine=self.engine,
            code_sha256=prepared.code_sha256,
            tests_sha256=prepared.tests_sha256,
            key=prepared.key,
            time_s=round(time_s, 6),
            meta={**(prepared.task.meta if prepared.task else {}), **sample.meta},
        )

    def _run_tests(self, prepared: Prepared) -> tuple[list[TestResult], str]:
        stop = self._stop or ("first_failure" if prepared.score == "all" else "never")
        results: list[TestResult] = []
        refusal = self._refusal(prepared)
        if refusal is not None:
            grade = Grade(verdict=Verdict.BLOCKED, error=refusal)
            return self._only_first(grade, prepared), refusal
        runner = SampleRunner(self._backend, prepared.candidate, self._preload)
        try:
            with self._slots.shared():
                runner.compile()
            for index, test in enumerate(prepared.tests):
                results.append(self._run_test(index, test, runner))
                if stop == "first_failure" and results[-1].verdict is not Verdict.ACCEPTED:
                    results += self._skipped(prepared.tests, index + 1)
                    break
        except CompileFailed as failure:
            grade = Grade(verdict=Verdict.COMPILE_ERROR, run=failure.run, error=str(failure))
            return self._only_first(grade, prepared), str(failure)
        finally:
            runner.close()
        return results, ""

    def _refusal(self, prepared: Prepared) -> str | None:
        """Return why the policy refuses the code; None if it does not."""
        if self._policy is None:
            return None
        from llm_sandbox.security import scan_with

        candidate = prepared.candidate
        code = candidate.program.decode("utf-8", "replace")
        report = scan_with(candidate.handler, code, self._policy)
        return None if report.is_safe else report.blocking[0].message

    def _only_first(self, grade: Grade, prepared: Prepared) -> list[TestResult]:
        """Return results in which the first test has a grade and the others are skipped."""
        tests = prepared.tests
        if not tests:
            return []
        first = to_result(grade, index=0, name=tests[0].name, hidden=tests[0].hidden)
        return [first, *self._skipped(tests, 1)]

    @staticmethod
    def _skipped(tests: Sequence[Test], begin: int) -> list[TestResult]:
        skipped = Grade(verdict=Verdict.SKIPPED)
        return [
            to_result(skipped, index=index, name=test.name, hidden=test.hidden)
            for index, test in enumerate(tests[begin:], begin)
        ]

    def _run_test(self, index: int, test: Test, runner: SampleRunner) -> TestResult:
        grader, context = find_grader(test), self._context()
        limits = runner.candidate.limits
        with self._slots.shared():
            grade = _with_time(grader.grade(test, runner, context), limits)
        runs = 1
        while runs <= _MOST_RERUNS and _is_doubtful(grade, limits, runs):
            runs += 1
            with self._slots.alone():
                grade = _with_time(grader.grade(test, runner, context), limits)
        return to_result(grade, index=index, name=test.name, hidden=test.hidden, attempts=runs)

    def _context(self) -> GradingContext:
        return GradingContext(self._backend, self._thread_tools().get)

    def _thread_tools(self) -> ToolSandboxes:
        """Return the sandboxes of this thread for code of tests."""
        tools: ToolSandboxes | None = getattr(self._threads, "tools", None)
        if tools is None:
            tools = self._threads.tools = ToolSandboxes(self._backend)
            with self._lock:
                self._tools.append(tools)
        return tools

    # --- its end

    def close(self) -> None:
        """End all sandboxes; no effect if repeated."""
        self._is_closed = True
        with self._lock:
            tools, self._tools = self._tools, []
        for found in tools:
            found.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()


def _check_workers(workers: int | str) -> int:
    if workers == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise ValidationError(
            f"invalid workers: expected 'auto' or at least 1, got {workers!r}", parameter="workers"
        )
    return workers


def _with_time(grade: Grade, limits: EvalLimits) -> Grade:
    """Return a grade that is ``TLE`` if the run took more than its limit and still came to an end:
    runs are stopped a little later.
    """
    run = grade.run
    if run is None or run.ended_by is not None or run.cpu_s <= limits.cpu_time:
        return grade
    error = f"took {run.cpu_s:.2f} s of CPU time"
    return replace(
        grade,
        verdict=Verdict.TIME_LIMIT,
        run=replace(run, ended_by="cpu"),
        error=error,
        difference=None,
        points=None,
    )


def _is_doubtful(grade: Grade, limits: EvalLimits, runs: int) -> bool:
    """Return whether other work on the machine may have made a ``TLE`` of another verdict."""
    run = grade.run
    if grade.verdict is not Verdict.TIME_LIMIT or run is None:
        return False
    if run.ended_by == "cpu":
        is_close = run.cpu_s <= _LIMIT_SLACK * limits.cpu_time
        return runs == 1 and (run.is_contended or is_close)
    return run.is_contended or (run.ended_by == "wall" and run.cpu_s < 0.5 * limits.cpu_time)


class _Slots:
    """Right to use the cores: shared by tests, or of one test alone."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._sharing = 0
        self._is_taken = False
        self._waiting = 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Run beside others."""
        with self._condition:
            self._condition.wait_for(lambda: not self._is_taken and not self._waiting)
            self._sharing += 1
        try:
            yield
        finally:
            with self._condition:
                self._sharing -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run with no other test at the same time."""
        with self._condition:
            self._waiting += 1
            self._condition.wait_for(lambda: not self._is_taken and not self._sharing)
            self._waiting -= 1
            self._is_taken = True
        try:
            yield
        finally:
            with self._condition:
                self._is_taken = False
                self._condition.notify_all()
