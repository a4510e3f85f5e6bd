r"""Tasks, tests and samples as JSON: the format of this library.

A line of a data set is a task, with the fields of `Task`; each test has its ``kind``, and the
fields of its class::

    {"id": "sum", "prompt": "Add two numbers.", "limits": {"cpu_time": 2, "memory": "256m"},
     "tests": [{"kind": "stdio", "stdin": "1 2\n", "expected": "3\n", "hidden": false},
               {"kind": "call", "fn": "add", "args": [1, 2], "expected": 3}]}

Fields that are left out have their defaults; an unknown one is refused. Values that JSON has not,
such as tuples and bytes, are written as `plain_values` says. A test of a call has ``expected``, or
``"expected_from": "reference"`` for what the task's ``reference`` returns. A ``checker`` is a text,
or an oracle: ``{"oracle": "same_items"}``. What is written is read back as an equal task.
"""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, get_args

from llm_sandbox.evaluation.datasets.field_codecs import (
    DATA,
    FILES,
    FLAG,
    ID,
    INTEGER,
    LIMITS,
    MEMBERS,
    OPTIONAL_TEXT,
    OUTPUT_CHECKER,
    PROGRAM,
    TEXT,
    TEXT_FILES,
    TEXTS,
    VALUE,
    VALUE_CHECKER,
    VALUE_MEMBERS,
    VALUES,
    WEIGHT,
    Codec,
    choice,
)
from llm_sandbox.evaluation.datasets.fields import Fields, mismatch
from llm_sandbox.evaluation.datasets.plain_values import value_to_json
from llm_sandbox.evaluation.datasets.references import EXPECTED_FROM_REFERENCE
from llm_sandbox.evaluation.kinds import (
    AssertTest,
    CallTest,
    CheckerTest,
    CommandTest,
    InteractiveTest,
    StdioTest,
    Test,
    UnitTest,
)
from llm_sandbox.evaluation.sample import Sample, ScorePolicy, Task
from llm_sandbox.exceptions import ValidationError

__all__ = [
    "sample_from_json",
    "sample_to_json",
    "task_from_json",
    "task_to_json",
    "test_from_json",
    "test_to_json",
]

_REFERENCE = "reference"


def test_to_json(test: Test) -> dict[str, Any]:
    """Return a test as a JSON object; see `test_from_json`.

    Raises:
        ValidationError: A checker is a function, or a value is not plain data.
    """
    codecs = _codecs(type(test))
    data: dict[str, Any] = {"kind": test.kind, **_write(test, codecs, skip=("expected",))}
    if isinstance(test, CallTest):
        if test.expected is EXPECTED_FROM_REFERENCE:
            data["expected_from"] = _REFERENCE
        else:
            data["expected"] = value_to_json(test.expected, "expected")
    elif isinstance(test, StdioTest):
        data["expected"] = value_to_json(test.expected, "expected")
    return data


test_to_json.__test__ = False  # type: ignore[attr-defined]  # pytest collects such names otherwise


def test_from_json(record: Mapping[str, Any]) -> Test:
    """Return the test of a JSON object.

    Raises:
        ValidationError: The kind or a field is unknown, a field is missing or of another type, or
            a checker does not exist.
    """
    return _read_test(record, "test")


test_from_json.__test__ = False  # type: ignore[attr-defined]


def task_to_json(task: Task) -> dict[str, Any]:
    """Return a task as a JSON object; see `task_from_json`.

    Raises:
        ValidationError: A test cannot be written.
    """
    return {"id": task.id, **_write(task, _TASK, skip=("id",))}


def task_from_json(record: Mapping[str, Any]) -> Task:
    """Return the task of a JSON object.

    Raises:
        ValidationError: A field is unknown, missing or of another type, or there is no test; see
            also `test_from_json`.
    """
    task = Task(**_read(Task, dict(_checked(record, "")), _TASK, ""))
    if not task.tests:
        raise ValidationError("invalid tests: expected at least one, got none", parameter="tests")
    if task.reference is None and any(
        isinstance(test, CallTest) and test.expected is EXPECTED_FROM_REFERENCE
        for test in task.tests
    ):
        raise ValidationError(
            "invalid reference: expected a solution, as a test has expected_from, got none",
            parameter="reference",
        )
    return task


def sample_to_json(sample: Sample) -> dict[str, Any]:
    """Return a sample as a JSON object; see `sample_from_json`.

    Raises:
        ValidationError: A test cannot be written.
    """
    return {"id": sample.id, **_write(sample, _SAMPLE, skip=("id",))}


def sample_from_json(record: Mapping[str, Any]) -> Sample:
    """Return the sample of a JSON object.

    Raises:
        ValidationError: A field is unknown, missing or of another type; there is neither code nor a
            completion, or both; or neither a task nor tests.
    """
    sample = Sample(**_read(Sample, dict(_checked(record, "")), _SAMPLE, ""))
    if (sample.code is None) is (sample.completion is None):
        got = "neither" if sample.code is None else "both"
        raise ValidationError(
            f"invalid sample: expected code or completion, got {got}", parameter="code"
        )
    if sample.task is None and sample.tests is None:
        raise ValidationError(
            "invalid sample: expected a task or tests, got neither", parameter="task"
        )
    return sample


def _checked(record: object, where: str) -> Mapping[str, Any]:
    Fields(record, where)
    return record  # type: ignore[return-value]


def _read_test(record: object, where: str) -> Test:
    values = dict(_checked(record, where))
    name = values.pop("kind", None)
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValidationError(
            f"invalid {where}.kind: expected one of {', '.join(_KINDS)}, got another",
            parameter=f"{where}.kind",
        )
    expected: dict[str, Any] = {}
    if kind is CallTest:
        if values.get("expected_from") == _REFERENCE and "expected" not in values:
            expected["expected"] = EXPECTED_FROM_REFERENCE
            del values["expected_from"]
        elif "expected" not in values:
            raise ValidationError(
                f'invalid {where}: expected the field expected, or expected_from: "{_REFERENCE}", '
                "got neither",
                parameter=f"{where}.expected",
            )
    return kind(**_read(kind, values, _codecs(kind), where), **expected)


def _write(thing: Any, codecs: dict[str, Codec], skip: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields that differ from their defaults, as JSON."""
    known = {field.name: field for field in fields(thing)}
    return {
        name: write(name, getattr(thing, name))
        for name, (_, write) in codecs.items()
        if name not in skip and not _is_default(known[name], getattr(thing, name))
    }


def _is_default(field: "Field[Any]", value: object) -> bool:
    if field.default_factory is not MISSING:
        return not value
    return type(value) is type(field.default) and value == field.default


def _read(
    kind: type, values: dict[str, Any], codecs: dict[str, Codec], where: str
) -> dict[str, Any]:
    prefix = f"{where}." if where else ""
    unknown = [name for name in values if name not in codecs]
    if unknown:
        raise ValidationError(
            f"invalid {where or 'record'}: expected the fields {', '.join(codecs)}, "
            f"got {unknown[0]!r:.80}",
            parameter=f"{prefix}{unknown[0]}"[:80],
        )
    for field in fields(kind):
        required = field.default is MISSING and field.default_factory is MISSING
        if required and values.get(field.name) is None:
            path = f"{prefix}{field.name}"
            raise ValidationError(f"invalid {path}: expected a value, got none", parameter=path)
    return {name: codecs[name][0](f"{prefix}{name}", value) for name, value in values.items()}


def _read_tests(name: str, value: Any) -> tuple[Test, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise mismatch(name, "a list of tests", value)
    return tuple(_read_test(one, f"{name}[{i}]") for i, one in enumerate(value))


def _write_tests(_name: str, value: Any) -> Any:
    return [test_to_json(test) for test in value]


_TESTS: Codec = (_read_tests, _write_tests)
_EVERY_TEST: dict[str, Codec] = {
    "name": TEXT,
    "weight": WEIGHT,
    "group": TEXT,
    "hidden": FLAG,
}
_OWN_FIELDS: dict[type[Test], dict[str, Codec]] = {
    StdioTest: {
        "stdin": DATA,
        "expected": DATA,
        "checker": OUTPUT_CHECKER,
        "args": TEXTS,
        "files": FILES,
    },
    CallTest: {
        "fn": TEXT,
        "args": VALUES,
        "kwargs": VALUE_MEMBERS,
        "expected": VALUE,
        "checker": VALUE_CHECKER,
    },
    AssertTest: {
        "source": TEXT,
        "entry_point": OPTIONAL_TEXT,
        "setup": TEXT,
        "mode": choice("auto", "proxy", "inline"),
    },
    UnitTest: {
        "files": TEXT_FILES,
        "select": TEXTS,
        "framework": choice("unittest", "pytest"),
        "module": OPTIONAL_TEXT,
    },
    CheckerTest: {
        "checker": PROGRAM,
        "stdin": DATA,
        "answer": DATA,
        "language": TEXT,
        "args": TEXTS,
        "files": FILES,
    },
    InteractiveTest: {"interactor": TEXT, "input": DATA, "language": TEXT},
    CommandTest: {
        "argv": TEXTS,
        "expect_exit": INTEGER,
        "junit": OPTIONAL_TEXT,
        "files": FILES,
    },
}
_KINDS: dict[str, type[Test]] = {kind.kind: kind for kind in _OWN_FIELDS}
_SHARED: dict[str, Codec] = {
    "id": ID,
    "tests": _TESTS,
    "setup": TEXT,
    "files": FILES,
    "limits": LIMITS,
    "meta": MEMBERS,
}
_TASK: dict[str, Codec] = {
    **_SHARED,
    "prompt": TEXT,
    "prefix": TEXT,
    "entry_point": OPTIONAL_TEXT,
    "language": TEXT,
    "score": choice(*get_args(ScorePolicy), optional=True),
    "reference": OPTIONAL_TEXT,
}
_SAMPLE: dict[str, Codec] = {
    **_SHARED,
    "code": OPTIONAL_TEXT,
    "completion": OPTIONAL_TEXT,
    "task": OPTIONAL_TEXT,
    "language": OPTIONAL_TEXT,
    "entry_point": OPTIONAL_TEXT,
    "weight": WEIGHT,
}


def _codecs(kind: type[Test]) -> dict[str, Codec]:
    own = _OWN_FIELDS.get(kind)
    if own is None:
        raise ValidationError(
            f"invalid kind of test: expected one of {', '.join(_KINDS)}, got {kind.__name__}",
            parameter="kind",
        )
    return {**own, **_EVERY_TEST}
