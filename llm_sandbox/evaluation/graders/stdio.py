"""Graders of programs by their output: comparison with an answer, or a checker."""

import re
from collections.abc import Mapping
from typing import Any

from llm_sandbox.evaluation.comparison import Difference, find_checker
from llm_sandbox.evaluation.graders.base import (
    GraderFailedError,
    GradingContext,
    call_checker,
    register,
)
from llm_sandbox.evaluation.judging import Grade, grade_run, last_error, one_line
from llm_sandbox.evaluation.kinds import CheckerTest, StdioTest
from llm_sandbox.evaluation.preparation import handler_of
from llm_sandbox.evaluation.runner import Run
from llm_sandbox.evaluation.sample_runner import Candidate, CompileFailed, SampleRunner
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["CheckerGrader", "StdioGrader", "grade_checker_run", "to_bytes"]

_ACCEPTED, _WRONG, _PRESENTATION, _FAILED, _PARTIAL = 0, 1, 2, 3, 7
_MOST_MESSAGE = 300
_CRASH = re.compile(
    r"^(Traceback \(most recent call last\):|Exception in thread |Node\.js v\d|goroutine \d+ \[)",
    re.MULTILINE,
)
"""Messages of the runtimes of Python, Java, JavaScript and Go on an uncaught exception."""


def to_bytes(data: str | bytes) -> bytes:
    """Return text as UTF-8."""
    return data.encode() if isinstance(data, str) else data


def _files(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    return {path: to_bytes(data) for path, data in files.items()}


@register("stdio")
class StdioGrader:
    """Grader of `StdioTest`."""

    def grade(self, test: StdioTest, runner: SampleRunner, context: GradingContext) -> Grade:
        """Run the program and compare its output."""
        checker = find_checker(test.checker)
        run = runner.program(to_bytes(test.stdin), test.args, _files(test.files))
        failed = grade_run(run)
        if failed is not None:
            return failed
        difference = call_checker(checker, to_bytes(test.expected), run.stdout)
        if difference is None:
            return Grade(verdict=Verdict.ACCEPTED, run=run)
        verdict = Verdict.PRESENTATION if difference.presentation else Verdict.WRONG_ANSWER
        return Grade(verdict=verdict, run=run, difference=difference)


@register("checker")
class CheckerGrader:
    """Grader of `CheckerTest`."""

    def grade(self, test: CheckerTest, runner: SampleRunner, context: GradingContext) -> Grade:
        """Run the program and have the checker judge its output."""
        stdin, answer = to_bytes(test.stdin), to_bytes(test.answer)
        run = runner.program(stdin, test.args, _files(test.files))
        failed = grade_run(run)
        if failed is not None:
            return failed
        if callable(test.checker):
            return _grade_answer(call_checker(test.checker, stdin, run.stdout, answer), run)
        program = Candidate(
            code=test.checker,
            handler=handler_of(test.language),
            limits=runner.candidate.limits,
        )
        files = {"input.txt": stdin, "output.txt": run.stdout, "answer.txt": answer}
        try:
            checked = context.tool(program).program(args=list(files), files=files)
        except CompileFailed as error:
            raise GraderFailedError(
                f"the checker does not compile: {error}", op="evaluate"
            ) from None
        return grade_checker_run(checked, run)


def grade_checker_run(checked: Run, run: Run | None) -> Grade:
    """Return the grade that a checker's program gave by its exit code, as testlib's do.

    Args:
        checked: Run of the checker.
        run: Run of the candidate.

    An uncaught exception has the exit codes of a verdict in most languages, and is none.

    Raises:
        GraderFailedError: The checker failed, which says nothing about the candidate.
    """
    message = (checked.stderr + checked.stdout).decode("utf-8", "replace").strip()
    has_crashed = checked.start_error is not None or _CRASH.search(checked.stderr_text)
    code = None if has_crashed else checked.exit_code
    if code == _ACCEPTED:
        return Grade(verdict=Verdict.ACCEPTED, run=run)
    if code in (_WRONG, _PRESENTATION):
        verdict = Verdict.WRONG_ANSWER if code == _WRONG else Verdict.PRESENTATION
        difference = Difference("checker", "", message[:_MOST_MESSAGE])
        return Grade(verdict=verdict, run=run, difference=difference, error=one_line(message))
    if code == _PARTIAL:
        return Grade(
            verdict=Verdict.WRONG_ANSWER,
            run=run,
            points=_points(message),
            error=one_line(message),
        )
    reason = grade_run(checked)
    words = reason.error if reason is not None else last_error(checked)
    raise GraderFailedError(
        f"the checker failed ({one_line(message) or words})",
        op="evaluate",
        hint="a checker exits with 0, 1, 2 or 7; 3 is a failure of its own",
    )


def _points(message: str) -> float:
    """Return the points that a checker wrote first, from 0 to 1, or up to 100 as per cent."""
    words = message.replace("points", " ").split()
    try:
        points = float(words[0])
    except (IndexError, ValueError):
        return 0.0
    return min(1.0, max(0.0, points if points <= 1 else points / 100))


def _grade_answer(answer: Any, run: Run) -> Grade:
    if isinstance(answer, bool):
        verdict = Verdict.ACCEPTED if answer else Verdict.WRONG_ANSWER
        return Grade(verdict=verdict, run=run)
    if isinstance(answer, int | float):
        points = min(1.0, max(0.0, float(answer)))
        verdict = Verdict.ACCEPTED if points == 1.0 else Verdict.WRONG_ANSWER
        return Grade(verdict=verdict, run=run, points=points)
    return Grade(verdict=Verdict(answer), run=run)
