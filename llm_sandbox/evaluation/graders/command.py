"""Grader of commands by their exit code and their report."""

from defusedxml import ElementTree

from llm_sandbox.evaluation.comparison import Difference
from llm_sandbox.evaluation.graders.base import GradingContext, register
from llm_sandbox.evaluation.graders.stdio import to_bytes
from llm_sandbox.evaluation.judging import Grade, grade_run, last_error, one_line
from llm_sandbox.evaluation.kinds import CommandTest
from llm_sandbox.evaluation.runner import Run
from llm_sandbox.evaluation.sample_runner import SampleRunner
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["CommandGrader"]

_NOT_RUN = 126, 127


@register("command")
class CommandGrader:
    """Grader of `CommandTest`: inline, since the command runs the candidate's code."""

    def grade(self, test: CommandTest, runner: SampleRunner, context: GradingContext) -> Grade:
        """Run the command beside the candidate's files."""
        files = {path: to_bytes(data) for path, data in test.files.items()}
        run = runner.program(
            files=files, argv=list(test.argv), fetch=() if test.junit is None else (test.junit,)
        )
        failed = grade_run(run, exit_codes=(test.expect_exit,))
        if failed is not None and (run.ended_by is not None or run.exit_code in _NOT_RUN):
            return failed
        if test.junit is not None:
            return _grade_report(run.files[0], run, test)
        if failed is not None:
            return _wrong(run, f"exit code {test.expect_exit}", f"exit code {run.exit_code}")
        return Grade(verdict=Verdict.ACCEPTED, run=run, integrity="inline")


def _wrong(run: Run, expected: str, actual: str, points: float | None = None) -> Grade:
    return Grade(
        verdict=Verdict.WRONG_ANSWER,
        run=run,
        points=points,
        difference=Difference("command", expected, actual),
        error=one_line(last_error(run)),
        integrity="inline",
    )


def _grade_report(report: bytes, run: Run, test: CommandTest) -> Grade:
    counts = _counts(report)
    if counts is None:
        error = f"{test.junit}: no JUnit report was written"
        return Grade(verdict=Verdict.NO_TESTS, run=run, error=error, integrity="inline")
    passed, failed, skipped = counts
    count = passed + failed + skipped
    if failed:
        points = passed / count
        return _wrong(run, f"{count} tests pass", f"{failed} of {count} fail", points)
    if passed == 0 or skipped:
        error = f"{skipped} of {count} tests were skipped" if count else "no test ran"
        return Grade(verdict=Verdict.NO_TESTS, run=run, error=error, integrity="inline")
    if run.exit_code != test.expect_exit:
        return _wrong(run, f"exit code {test.expect_exit}", f"exit code {run.exit_code}")
    return Grade(verdict=Verdict.ACCEPTED, run=run, integrity="inline")


def _counts(report: bytes) -> tuple[int, int, int] | None:
    # trust: the file comes from the sandbox; defusedxml refuses entities in every encoding.
    try:
        root = ElementTree.fromstring(report, forbid_dtd=True)
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    passed = failed = skipped = 0
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped
