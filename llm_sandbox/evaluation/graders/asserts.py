"""Grader of assertions about the candidate."""

from collections.abc import Mapping
from typing import Any

from llm_sandbox.evaluation.comparison import Difference
from llm_sandbox.evaluation.graders.base import GraderFailedError, GradingContext, register
from llm_sandbox.evaluation.graders.call import grade_call, require_python
from llm_sandbox.evaluation.judging import Grade, grade_run, one_line
from llm_sandbox.evaluation.kinds import AssertTest
from llm_sandbox.evaluation.runner import CallRun, Run
from llm_sandbox.evaluation.sample_runner import Candidate, SampleRunner
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import ValidationError

__all__ = ["AssertGrader"]

_MOST_TEXT = 300


@register("assert")
class AssertGrader:
    """Grader of `AssertTest`."""

    def grade(self, test: AssertTest, runner: SampleRunner, context: GradingContext) -> Grade:
        """Run the assertions in a sandbox of their own, or beside the candidate."""
        require_python(runner)
        if test.mode != "inline":
            grade = _by_proxy(test, runner, context)
            if grade is not None:
                return grade
        return _inline(test, runner)


def _by_proxy(test: AssertTest, runner: SampleRunner, context: GradingContext) -> Grade | None:
    """Return the grade; None if the assertions need more than calls, and may have it."""
    calls = _Calls(runner)
    judge = context.tool(
        Candidate(code="", handler=runner.candidate.handler, limits=runner.candidate.limits)
    )
    run, ended = judge.judge(test.source, test.setup, test.entry_point, calls.answer)
    if calls.failed is not None:
        return calls.failed
    if ended is None:
        reason = grade_run(run)
        raise GraderFailedError(
            f"the assertions did not come to an end: {reason.error if reason else 'no report'}",
            op="evaluate",
        )
    if "not_by_proxy" in ended:
        if test.mode == "auto":
            return None
        raise ValidationError(
            f"the assertions need more of the candidate than calls: {ended['not_by_proxy']}",
            parameter="mode",
            hint="AssertTest(mode='auto') runs such a test in the candidate's process",
        )
    spent = calls.spent()
    if ended.get("passed"):
        if calls.count == 0:
            return Grade(verdict=Verdict.NO_TESTS, run=spent, error="the candidate was not called")
        return Grade(verdict=Verdict.ACCEPTED, run=spent, integrity="proxy")
    return _failure(test, ended, spent, "proxy")


def _failure(test: AssertTest, ended: Mapping[str, Any], run: Run | None, integrity: Any) -> Grade:
    kind, message = str(ended.get("type")), str(ended.get("message") or "")
    error = one_line(f"{kind}: {message}" if message else kind)
    if ended.get("is_candidates"):
        verdict = Verdict.MEMORY_LIMIT if kind == "MemoryError" else Verdict.RUNTIME_ERROR
        return Grade(verdict=verdict, run=run, error=error, integrity=integrity)
    line = ended.get("line")
    lines = test.source.splitlines()
    text = lines[line - 1].strip() if isinstance(line, int) and 0 < line <= len(lines) else ""
    difference = Difference(
        f"line {line}" if text else "assertion",
        text[:_MOST_TEXT],
        str(ended.get("last") or error)[:_MOST_TEXT],
    )
    return Grade(
        verdict=Verdict.WRONG_ANSWER,
        run=run,
        difference=difference,
        error=error,
        integrity=integrity,
    )


class _Calls:
    """Calls of the candidate that assertions make, and what they used together."""

    def __init__(self, runner: SampleRunner) -> None:
        self._runner = runner
        self._runs: list[CallRun] = []
        self.failed: Grade | None = None

    @property
    def count(self) -> int:
        return len(self._runs)

    def answer(self, name: str, parts: list[bytes]) -> tuple[CallRun, list[bytes]] | None:
        """Call the candidate; None if it did not come back, which decides the test."""
        called = self._runner.call_encoded(name, parts)
        if isinstance(called, Run):
            self.failed = grade_call(called)
            return None
        run, encoded = called
        self._runs.append(run)
        if run.has_returned and run.ended_by is None:
            return run, encoded
        self.failed = grade_call(run)
        return None

    def spent(self) -> Run | None:
        """Return a run with the sums of all calls."""
        if not self._runs:
            return None
        last = self._runs[-1]
        return Run(
            exit_code=last.exit_code,
            signal=last.signal,
            ended_by=None,
            cpu_s=sum(run.cpu_s for run in self._runs),
            wall_s=sum(run.wall_s for run in self._runs),
            delay_s=sum(run.delay_s or 0.0 for run in self._runs),
            peak=max(run.peak for run in self._runs),
            stdout=last.stdout,
            stderr=last.stderr,
        )


def _inline(test: AssertTest, runner: SampleRunner) -> Grade:
    arguments = [test.source, test.setup, test.entry_point]
    run = runner.call("run_asserts", arguments, inline=True)
    if isinstance(run, CallRun) and run.has_returned and run.ended_by is None:
        if run.raised is None:
            return Grade(verdict=Verdict.ACCEPTED, run=run, integrity="inline")
        line = run.raised.get("line")
        is_candidates = run.raised.get("type") != "AssertionError"
        ended = {**run.raised, "is_candidates": is_candidates, "line": line}
        return _failure(test, ended, run, "inline")
    failed = grade_call(run)
    assert failed is not None  # noqa: S101 - what has returned is graded above
    return failed
