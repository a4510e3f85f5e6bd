"""Grader of modules of unittest and pytest."""

from typing import Any

from llm_sandbox.evaluation.comparison import Difference
from llm_sandbox.evaluation.graders.base import GradingContext, register
from llm_sandbox.evaluation.graders.call import grade_call, require_python
from llm_sandbox.evaluation.judging import Grade, one_line
from llm_sandbox.evaluation.kinds import UnitTest
from llm_sandbox.evaluation.runner import CallRun
from llm_sandbox.evaluation.sample_runner import SampleRunner
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import ValidationError

__all__ = ["UnitGrader"]

_FUNCTIONS = {"unittest": "run_unittest", "pytest": "run_pytest"}


@register("unit")
class UnitGrader:
    """Grader of `UnitTest`, always inline: the tests share the process of the candidate."""

    def grade(self, test: UnitTest, runner: SampleRunner, context: GradingContext) -> Grade:
        """Run the test cases beside the candidate."""
        require_python(runner)
        function = _FUNCTIONS.get(test.framework)
        if function is None:
            raise ValidationError(
                f"invalid framework: expected unittest or pytest, got {test.framework!r}",
                parameter="framework",
            )
        arguments = [dict(test.files), list(test.select), test.module]
        run = runner.call(function, arguments, inline=True)
        failed = grade_call(run)
        if failed is not None:
            return failed
        assert isinstance(run, CallRun)  # noqa: S101 - another run is graded above
        return _grade(run, _outcomes(run.value))


def _outcomes(value: Any) -> list[tuple[str, str, str]]:
    # trust: the list was made in the candidate's process.
    if not isinstance(value, list):
        return []
    return [
        (str(item[0]), str(item[1]), str(item[2]))
        for item in value
        if isinstance(item, list) and len(item) == 3
    ]


def _grade(run: CallRun, outcomes: list[tuple[str, str, str]]) -> Grade:
    count = len(outcomes)
    passed = sum(outcome == "passed" for _, outcome, _ in outcomes)
    points = passed / count if count else 0.0
    for wanted, verdict in (("failed", Verdict.WRONG_ANSWER), ("error", Verdict.RUNTIME_ERROR)):
        for name, outcome, message in outcomes:
            if outcome == wanted:
                words = message.strip()
                return Grade(
                    verdict=verdict,
                    run=run,
                    points=points,
                    difference=Difference(name[:300], f"{count} tests pass", words[-300:]),
                    error=one_line(f"{name}: {words}"),
                    integrity="inline",
                )
    if passed == 0 or passed < count:
        skipped = (
            f"{count - passed} of {count} tests were skipped" if count else "no test was found"
        )
        return Grade(verdict=Verdict.NO_TESTS, run=run, error=skipped, integrity="inline")
    return Grade(verdict=Verdict.ACCEPTED, run=run, integrity="inline")
