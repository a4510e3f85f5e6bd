"""Grader of programs that talk with an interactor."""

import selectors
import time

from llm_sandbox.evaluation.graders.base import GraderFailedError, GradingContext, register
from llm_sandbox.evaluation.graders.stdio import grade_checker_run, to_bytes
from llm_sandbox.evaluation.judging import Grade, grade_run
from llm_sandbox.evaluation.kinds import InteractiveTest
from llm_sandbox.evaluation.preparation import handler_of
from llm_sandbox.evaluation.runner import Run, Runner
from llm_sandbox.evaluation.sample_runner import Candidate, CompileFailed, SampleRunner
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import BackendError

__all__ = ["InteractiveGrader"]

_INPUT = "input.txt"
_EXTRA_S = 30.0


@register("interactive")
class InteractiveGrader:
    """Grader of `InteractiveTest`."""

    def grade(self, test: InteractiveTest, runner: SampleRunner, context: GradingContext) -> Grade:
        """Run both programs with crossed streams; the interactor's exit code is the verdict."""
        limits = runner.candidate.limits
        interactor = context.tool(
            Candidate(code=test.interactor, handler=handler_of(test.language), limits=limits)
        )
        try:
            interactor.compile()
        except CompileFailed as error:
            raise GraderFailedError(
                f"the interactor does not compile: {error}", op="evaluate"
            ) from None
        runner.compile()
        judge = interactor.begin_dialogue([_INPUT], {_INPUT: to_bytes(test.input)})
        candidate = runner.begin_dialogue()
        try:
            runs, first = _talk(candidate, judge, limits.wall_seconds + _EXTRA_S)
        except BaseException:
            runner.close()
            interactor.close()
            raise
        run, judged = runs[candidate], runs[judge]
        # A judge that has lost its patience or its partner says nothing about a program that a
        # limit ended.
        if run.ended_by is not None and run.ended_by != "idle":
            failed = grade_run(run)
            assert failed is not None  # noqa: S101 - a limit ended it
            return failed
        if judged.ended_by is not None:
            return grade_run(run) or Grade(
                verdict=Verdict.TIME_LIMIT, run=run, error="both programs waited for each other"
            )
        failed = grade_run(run)
        if failed is not None and first is candidate:
            return failed
        try:
            grade = grade_checker_run(judged, run)
        except GraderFailedError:
            if first is judge:
                raise
            # The interactor failed for want of a partner.
            reason = "the program ended before the interactor"
            return Grade(verdict=Verdict.WRONG_ANSWER, run=run, error=reason)
        if grade.verdict is not Verdict.ACCEPTED and first is judge:
            return grade  # what came after it is of no account
        return failed or grade


def _talk(candidate: Runner, judge: Runner, seconds: float) -> tuple[dict[Runner, Run], Runner]:
    """Pass on what each of the two writes; return their runs, and whose output ended first."""
    runs: dict[Runner, Run] = {}
    order: list[Runner] = []
    others = {candidate: judge, judge: candidate}
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for runner in others:
            selector.register(runner.fileno(), selectors.EVENT_READ, runner)
        while len(runs) < 2:
            events = selector.select(max(0.0, deadline - time.monotonic()))
            if not events:
                raise BackendError("a dialogue did not come to an end", op="evaluate")
            for key, _ in events:
                runner = key.data
                found = runner.next_output()
                other = others[runner]
                # The end of an output can come before the run whose program wrote it, and the
                # other program can fail in between.
                if isinstance(found, Run) or not found:
                    order.append(runner)
                if isinstance(found, Run):
                    runs[runner] = found
                    selector.unregister(runner.fileno())
                    if other not in runs:
                        other.send_input(b"")
                elif other not in runs:
                    other.send_input(found)
    return runs, order[0]
