"""LiveCodeBench: recent questions of contests, with public and private tests.

Fields: ``question_id``, ``question_content``, ``starter_code``, ``platform``, ``public_test_cases``
and ``private_test_cases`` (JSON texts of ``[{"input", "output", "testtype"}]``; the private ones
may be base64 of zlib of a pickle of that text), ``metadata`` (a JSON text with ``func_name``).

The groups of tests are ``public`` and ``private``. Outputs of programs compare by tokens, numbers
by value; what functions return compares as in Python, but tuples equal lists.
"""

from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.datasets.json_text import parse_json
from llm_sandbox.evaluation.datasets.pairs import PRELUDE, arguments_of_lines, callable_name
from llm_sandbox.evaluation.datasets.pickled_text import unpack_text
from llm_sandbox.evaluation.kinds import CallTest, StdioTest, Test
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["read_livecodebench"]

_OUTPUT_CHECKER = "tokens_float(rel=0, abs=0)"
_VALUE_CHECKER = "equal(sequences=True, numbers=True)"


def read_livecodebench(record: Fields, _line: int) -> Task:
    """Return the task of a record.

    Raises:
        ValidationError: A field is missing or of another type, the private tests are damaged or
            hold more than a text, or there is no test.
    """
    starter = record.text("starter_code", "")
    name = record.fields("metadata").text("func_name", "") if "metadata" in record else ""
    fn = callable_name(name, starter, "method", "metadata.func_name") if name else None
    tests: list[Test] = []
    for group in ("public", "private"):
        field = f"{group}_test_cases"
        cases = _cases(record, field)
        tests += [
            _test(Fields(case, f"{field}[{index}]"), fn, f"{group}/{index}", group)
            for index, case in enumerate(cases)
        ]
    if not tests:
        raise ValidationError("invalid public_test_cases: expected at least one test, got none")
    meta = {key: record.any(key) for key in ("platform", "difficulty", "contest_date")}
    return Task(
        id=record.label("question_id"),
        tests=tuple(tests),
        prompt=record.text("question_content", ""),
        setup=PRELUDE,
        entry_point=fn,
        meta={key: str(value) for key, value in meta.items() if value is not None},
    )


def _cases(record: Fields, field: str) -> list[Any]:
    value = record.any(field)
    if isinstance(value, str) and value and not value.lstrip().startswith(("[", "{")):
        # trust: the file may come from anywhere; nothing in it is unpickled.
        value = unpack_text(value, name=field)
    if isinstance(value, str):
        value = parse_json(value, field) if value else []
    return Fields({field: value}).items(field)


def _test(case: Fields, fn: str | None, name: str, group: str) -> Test:
    given, wanted = case.text("input"), case.text("output")
    hidden = group == "private"
    kind = case.text("testtype")
    if kind == "stdin":
        return StdioTest(
            given, wanted, checker=_OUTPUT_CHECKER, name=name, group=group, hidden=hidden
        )
    if kind != "functional" or fn is None:
        raise ValidationError(
            f"invalid {case.path('testtype')}: expected stdin, or functional with a func_name in "
            "metadata, got another",
            parameter=case.path("testtype"),
        )
    return CallTest(
        fn,
        args=arguments_of_lines(case.path("input"), given),
        expected=parse_json(wanted, case.path("output")),
        checker=_VALUE_CHECKER,
        name=name,
        group=group,
        hidden=hidden,
    )
