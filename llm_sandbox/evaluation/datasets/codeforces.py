"""Codeforces problems of open-r1, with official tests and checkers in Python.

Fields: ``id``, ``official_tests`` (``[{"input", "output"}]``), ``generated_checker``,
``input_mode``, ``interaction_format``, ``time_limit`` (seconds), ``memory_limit`` (megabytes),
``examples``, ``description`` with ``input_format``, ``output_format`` and ``note``; or ``prompt``
with ``language``, where each problem comes once for each language, and has the id of the problem
with the language.

Tests that are examples of the statement are not hidden. Time limits are for compiled languages.
Problems that read or write files, and interactive ones, are refused. ``generated_tests``, which
counts tests in files of their own, is kept in `meta`.
"""

from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.datasets.record_limits import (
    MEBIBYTE,
    limits_of,
    memory_of,
    seconds_of,
)
from llm_sandbox.evaluation.kinds import CheckerTest, StdioTest, Test
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["adapt_checker", "read_codeforces"]

_META = ("rating", "tags", "contest_id", "official_tests_complete", "executable", "generated_tests")


def read_codeforces(record: Fields, _line: int) -> Task:
    """Return the task of a record.

    Raises:
        ValidationError: A field is missing or of another type, there is no test, or the problem
            needs files or an interactor.
    """
    _refuse_other_ways(record)
    shown = {_key(one) for one in record.records("examples")}
    source = record.text("generated_checker", "")
    checker = adapt_checker(source) if source.strip() else None
    tests: list[Test] = []
    for case in record.records("official_tests"):
        given, wanted = case.text("input"), case.text("output")
        hidden = _key(case) not in shown
        if checker is None:
            tests.append(StdioTest(given, wanted, hidden=hidden))
        else:
            tests.append(CheckerTest(checker, stdin=given, answer=wanted, hidden=hidden))
    if not tests:
        raise ValidationError(
            "invalid official_tests: expected at least one test, got none",
            parameter="official_tests",
        )
    language = record.text("language", "")
    problem = record.label("id")
    return Task(
        id=f"{problem}/{language}" if language else problem,
        tests=tuple(tests),
        prompt=_prompt(record),
        language=language or "python",
        limits=limits_of(
            seconds_of("time_limit", record.any("time_limit")),
            memory_of("memory_limit", record.any("memory_limit"), MEBIBYTE),
        ),
        meta={name: record.any(name) for name in _META if name in record},
    )


def adapt_checker(source: str) -> str:
    """Return a checker in the manner of testlib, made of one of this data set.

    Those take the paths of the input, the answer and the output, and print 1 for accepted. One that
    fails, as over an output of another form, accepts nothing: so it is with that data set.

    Args:
        source: The checker, in Python.
    """
    return f"""\
import contextlib
import io
import sys

SOURCE = {source!r}

sys.argv = ["checker.py", sys.argv[1], sys.argv[3], sys.argv[2]]
printed = io.StringIO()
failed = False
try:
    with contextlib.redirect_stdout(printed):
        exec(compile(SOURCE, "checker.py", "exec"), {{"__name__": "__main__"}})
except SystemExit as end:
    failed = end.code not in (None, 0)
except MemoryError:
    sys.exit(3)
except BaseException:
    failed = True
try:
    accepted = float(printed.getvalue()) == 1
except ValueError:
    accepted = False
sys.exit(0 if accepted and not failed else 1)
"""


def _refuse_other_ways(record: Fields) -> None:
    mode = record.text("input_mode", "") or "stdio"
    if mode != "stdio":
        raise ValidationError(
            "invalid input_mode: expected stdio, got another: programs that write their answer to "
            "a file are not supported",
            parameter="input_mode",
        )
    if record.text("interaction_format", "").strip():
        raise ValidationError(
            "invalid interaction_format: expected none, got a text: the data set has no "
            "interactors for interactive problems",
            parameter="interaction_format",
        )


def _key(case: Fields) -> tuple[str, str]:
    return case.text("input", "").strip(), case.text("output", "").strip()


def _prompt(record: Fields) -> str:
    if "prompt" in record:
        return record.text("prompt")
    parts: list[Any] = [
        record.text(name, "")
        for name in ("title", "description", "input_format", "output_format", "note")
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip())
