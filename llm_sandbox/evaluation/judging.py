"""Verdicts of runs: how a run ended, before anything that it said is looked at."""

from dataclasses import dataclass
from typing import Any

from llm_sandbox.evaluation.comparison import Difference
from llm_sandbox.evaluation.results import Integrity, TestResult
from llm_sandbox.evaluation.runner import Run
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["Grade", "grade_run", "last_error", "one_line", "to_result"]

_LIMITS = {"cpu": "cpu", "wall": "wall", "idle": "idle"}
_MOST_ERROR = 500


@dataclass(frozen=True, kw_only=True)
class Grade:
    """What a grader says about one test."""

    verdict: Verdict
    """Verdict of the test."""
    run: Run | None = None
    """Run that it is about; None if there was none."""
    points: float | None = None
    """Share of the points; None for 1 if accepted, otherwise 0."""
    difference: Difference | None = None
    """First difference of a wrong answer."""
    error: str = ""
    """Error in one line."""
    integrity: Integrity = "isolated"
    """Where the verdict was decided."""
    inferred: bool = False
    """Whether the reason was inferred from what the program wrote."""


def grade_run(run: Run, *, exit_codes: tuple[int, ...] = (0,)) -> Grade | None:
    """Return the grade of a run that did not end as required; None for one that did.

    Args:
        run: The run.
        exit_codes: Exit codes of a success.
    """
    if run.ended_by is not None:
        by = run.ended_by
        if by in _LIMITS:
            return Grade(verdict=Verdict.TIME_LIMIT, run=run, error=_time_error(run))
        if by == "output":
            return Grade(verdict=Verdict.OUTPUT_LIMIT, run=run, error="more output than is allowed")
        return Grade(verdict=Verdict.MEMORY_LIMIT, run=run, error="more memory than is allowed")
    if run.start_error is not None:
        error = one_line(str(run.start_error.get("error", "")))
        line = run.start_error.get("line")
        where = f"line {line}: " if isinstance(line, int) and "line" not in error else ""
        return Grade(verdict=Verdict.COMPILE_ERROR, run=run, error=f"{where}{error}")
    if run.exit_code in exit_codes:
        return None
    if run.was_killed_for_memory:
        error = "killed at the memory limit"
        return Grade(verdict=Verdict.MEMORY_LIMIT, run=run, error=error)
    if run.ran_out_of_memory:
        return Grade(verdict=Verdict.MEMORY_LIMIT, run=run, error=last_error(run), inferred=True)
    return Grade(verdict=Verdict.RUNTIME_ERROR, run=run, error=last_error(run))


def _time_error(run: Run) -> str:
    if run.ended_by == "cpu":
        return f"stopped after {run.cpu_s:.2f} s of CPU time"
    if run.ended_by == "idle":
        return f"stopped after {run.wall_s:.2f} s of waiting"
    return f"stopped after {run.wall_s:.2f} s"


def last_error(run: Run) -> str:
    """Return the error of a run in one line: its last words, or how its process ended."""
    lines = [line for line in run.stderr_text.splitlines() if line.strip()]
    if lines and run.signal is None:
        return one_line(lines[-1])
    if run.signal is not None:
        return f"signal {run.signal}"
    return f"exit code {run.exit_code}" if run.exit_code is not None else "no exit code"


def one_line(text: str) -> str:
    """Return a text on one line, cut to 500 characters."""
    return " ".join(text.split())[:_MOST_ERROR]


def to_result(grade: Grade, **fields: Any) -> TestResult:
    """Return the result of a test.

    Args:
        grade: Its grade.
        fields: Fields that a grade does not have.
    """
    run = grade.run
    accepted = 1.0 if grade.verdict is Verdict.ACCEPTED else 0.0
    values: dict[str, Any] = {
        "verdict": grade.verdict,
        "points": accepted if grade.points is None else grade.points,
        "difference": grade.difference,
        "error": grade.error,
        "integrity": grade.integrity,
        "inferred": grade.inferred,
    }
    if run is not None:
        values |= {
            "time_cpu": round(run.cpu_s, 6),
            "time_wall": round(run.wall_s, 6),
            "memory_peak": run.peak or None,
            "memory_source": "rusage" if run.peak else None,
            "limit": _LIMITS.get(run.ended_by or ""),
            "exit_code": run.exit_code,
            "signal": run.signal,
            "stdout_tail": run.stdout_text,
            "stderr_tail": run.stderr_text,
            "contended": run.is_contended,
        }
    return TestResult(**values, **fields)
