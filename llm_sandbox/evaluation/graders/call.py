"""Grader of functions by their values."""

from llm_sandbox.evaluation.comparison import Difference
from llm_sandbox.evaluation.graders.base import GradingContext, call_checker, register
from llm_sandbox.evaluation.judging import Grade, grade_run, last_error, one_line
from llm_sandbox.evaluation.kinds import CallTest
from llm_sandbox.evaluation.runner import CallRun, Run
from llm_sandbox.evaluation.sample_runner import SampleRunner
from llm_sandbox.evaluation.value_comparison import find_value_checker
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import ValidationError

__all__ = ["CallGrader", "grade_call", "require_python"]


@register("call")
class CallGrader:
    """Grader of `CallTest`."""

    def grade(self, test: CallTest, runner: SampleRunner, context: GradingContext) -> Grade:
        """Call the function and compare its value."""
        require_python(runner)
        checker = find_value_checker(test.checker)
        run = runner.call(test.fn, test.args, test.kwargs)
        failed = grade_call(run)
        if failed is not None:
            return failed
        assert isinstance(run, CallRun)  # noqa: S101 - a module that did not load is graded above
        difference = call_checker(checker, test.expected, run.value)
        if difference is None:
            return Grade(verdict=Verdict.ACCEPTED, run=run)
        return Grade(verdict=Verdict.WRONG_ANSWER, run=run, difference=difference)


def require_python(runner: SampleRunner) -> None:
    """Refuse a candidate whose functions cannot be called.

    Raises:
        ValidationError: It is not in Python.
    """
    if not runner.candidate.is_python:
        raise ValidationError(
            "invalid language: expected python for tests of functions, "
            f"got {runner.candidate.handler.name}",
            parameter="language",
            hint="test a program with StdioTest",
        )


def grade_call(run: Run) -> Grade | None:
    """Return the grade of a call that returned no value; None for one that did."""
    if not isinstance(run, CallRun):
        failed = grade_run(run)
        # Its code ended before any function could be called.
        return failed or Grade(
            verdict=Verdict.RUNTIME_ERROR, run=run, error="the code ended the process"
        )
    if run.ended_by is not None:
        return grade_run(run)
    if run.raised is not None:
        kind, message = run.raised.get("type"), run.raised.get("message")
        error = one_line(f"{kind}: {message}" if message else f"{kind}")
        if kind == "MemoryError":
            return Grade(verdict=Verdict.MEMORY_LIMIT, run=run, error=error, inferred=True)
        return Grade(verdict=Verdict.RUNTIME_ERROR, run=run, error=error)
    if run.not_transferable is not None:
        message = one_line(str(run.not_transferable.get("message", "")))
        kind = one_line(str(run.not_transferable.get("type", "a value")))
        difference = Difference("value", "plain data", f"{kind}: {message}"[:300])
        return Grade(verdict=Verdict.WRONG_ANSWER, run=run, difference=difference)
    if run.has_returned:
        return None
    failed = grade_run(run, exit_codes=())
    if failed is not None and run.exit_code in (0, None):
        return Grade(
            verdict=Verdict.RUNTIME_ERROR,
            run=run,
            error="the function ended its process and returned nothing"
            if run.exit_code == 0
            else last_error(run),
        )
    return failed
