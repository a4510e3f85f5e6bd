"""CodeContests of DeepMind: problems of contests, with public, private and generated tests.

Fields: ``name``, ``description``, ``public_tests``, ``private_tests``, ``generated_tests`` (each
``{"input": [...], "output": [...]}`` or ``[{"input", "output"}]``), ``time_limit`` (``{"seconds",
"nanos"}``), ``memory_limit_bytes``, ``solutions``, ``input_file``, ``output_file``.

The groups of tests are ``public``, ``private`` and ``generated``. Outputs compare by tokens, in any
case, numbers within 1e-5. Problems that read or write files are refused. The reference is the first
solution in Python 3.
"""

from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.datasets.oracles import CaselessOutput
from llm_sandbox.evaluation.datasets.record_limits import limits_of, memory_of, seconds_of
from llm_sandbox.evaluation.kinds import StdioTest
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["read_code_contests"]

_CHECKER = CaselessOutput("tokens_float(rel=0, abs=1e-05)")
_PYTHON3 = (3, "PYTHON3")


def read_code_contests(record: Fields, _line: int) -> Task:
    """Return the task of a record.

    Raises:
        ValidationError: A field is missing or of another type, there is no test, or the problem
            needs files.
    """
    for name in ("input_file", "output_file"):
        if record.text(name, ""):
            raise ValidationError(
                f"invalid {name}: expected none, got a text: only standard input and output are "
                "supported",
                parameter=name,
            )
    tests = [
        StdioTest(
            given,
            wanted,
            checker=_CHECKER,
            name=f"{group}/{index}",
            group=group,
            hidden=group != "public",
        )
        for group in ("public", "private", "generated")
        for index, (given, wanted) in enumerate(_pairs(record, f"{group}_tests"))
    ]
    if not tests:
        raise ValidationError("invalid public_tests: expected at least one test, got none")
    return Task(
        id=record.label("name"),
        tests=tuple(tests),
        prompt=record.text("description", ""),
        limits=_limits(record),
        reference=_solution(record),
    )


def _pairs(record: Fields, name: str) -> list[tuple[str, str]]:
    if name not in record:
        return []
    if isinstance(record.any(name), list):
        return [(one.text("input"), one.text("output")) for one in record.records(name)]
    tests = record.fields(name)
    given, wanted = tests.texts("input"), tests.texts("output")
    if len(given) != len(wanted):
        raise ValidationError(
            f"invalid {name}: expected as many outputs as inputs, "
            f"got {len(given)} and {len(wanted)}",
            parameter=name,
        )
    return list(zip(given, wanted, strict=True))


def _limits(record: Fields) -> EvalLimits | None:
    seconds: float | None = None
    if isinstance(record.any("time_limit"), dict):
        duration = record.fields("time_limit")
        seconds = (duration.number("seconds") or 0) + (duration.number("nanos") or 0) * 1e-9
    else:
        seconds = seconds_of("time_limit", record.any("time_limit"))
    size = memory_of("memory_limit_bytes", record.any("memory_limit_bytes"), 1)
    return limits_of(seconds or None, size)


def _solution(record: Fields) -> str | None:
    """Return the first solution in Python 3; None without one."""
    found: Any = record.any("solutions")
    if isinstance(found, dict):
        solutions = record.fields("solutions")
        pairs = list(zip(solutions.items("language"), solutions.texts("solution"), strict=False))
    else:
        pairs = [(one.any("language"), one.text("solution")) for one in record.records("solutions")]
    return next((code for language, code in pairs if language in _PYTHON3), None)
