"""Our own format of tasks, tests and samples, and the oracles that it holds."""

from __future__ import annotations

import datetime
import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llm_sandbox.evaluation.datasets import (
    EXPECTED_FROM_REFERENCE,
    AnyValue,
    CaselessOutput,
    OtherValues,
    PolynomialRoot,
    SameItems,
    WrappedValue,
    load_dataset,
    sample_from_json,
    sample_to_json,
    task_from_json,
    task_to_json,
    test_from_json,
    test_to_json,
)
from llm_sandbox.evaluation.datasets.own_format import _OWN_FIELDS
from llm_sandbox.evaluation.datasets.plain_values import value_from_json, value_to_json
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
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.sample import Sample, Task
from llm_sandbox.exceptions import ValidationError

if TYPE_CHECKING:
    from pathlib import Path

HUGE = 10**30_000
TESTS: list[Test] = [
    StdioTest(),
    StdioTest(
        "1 ü\n",
        b"\xff\x00",
        checker="tokens_float(rel=1e-9)",
        args=("-v", "ü"),
        files={"a/b.txt": "x", "c.bin": b"\xfe"},
        name="n",
        weight=0.5,
        group="g",
        hidden=False,
    ),
    StdioTest("1", "1", checker=CaselessOutput("tokens_float(rel=0, abs=1e-05)")),
    CallTest("f"),
    CallTest(
        "Solution().f",
        args=(1, HUGE, (2, [3]), {4, 5}, b"\x00", None),
        expected=(1.5, 1j),
        kwargs={"a": math.inf, "$b": {1: "x"}},
        checker="equal(sequences=True)",
    ),
    CallTest("f", expected=EXPECTED_FROM_REFERENCE, checker=WrappedValue("equal(rel=0.1)")),
    CallTest("f", checker=OtherValues((0, (1, 2)), "equal(numbers=True)")),
    CallTest("f", checker=PolynomialRoot((1, -2.5), 1e-4)),
    CallTest("f", checker=AnyValue()),
    CallTest("f", checker=SameItems(), expected=[1]),
    AssertTest("assert f(1) == 2"),
    AssertTest("def check(c): ...", entry_point="f", setup="import math", mode="inline"),
    UnitTest({"test_a.py": "import unittest"}),
    UnitTest({"t.py": ""}, select=("A", "B"), framework="pytest", module="candidate"),
    CheckerTest("import sys"),
    CheckerTest(
        "int main(){}", stdin=b"1", answer="2", language="cpp", args=("x",), files={"f": "y"}
    ),
    InteractiveTest("print(1)"),
    InteractiveTest("int main(){}", input=b"\xff", language="cpp"),
    CommandTest(("pytest", "-q")),
    CommandTest(("make",), expect_exit=2, junit="report.xml", files={"t": "z"}),
]
VALUES: list[Any] = [
    None, True, 0, -1, HUGE, -HUGE, 1.5, 0.1, "", "ü\u2028\x00", "$int", [], (), [1, (2,)], {},
    {"a": 1}, {"$a": 1}, {1: 2, (3,): 4}, set(), {1, 2}, frozenset({"a"}), b"", b"\xff", 1 + 2j,
    complex(0, math.inf), math.inf, -math.inf, Decimal("0.10"), Decimal("NaN"), Fraction(1, 3),
    datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.UTC), datetime.date(2024, 5, 6),
    datetime.time(7, 8), {"$dict": [[1, 2]]}, [{"$tuple": [1]}],
]  # fmt: skip


def through_text(data: object) -> Any:
    return json.loads(json.dumps(data, allow_nan=False))


@pytest.mark.parametrize("test", TESTS, ids=range(len(TESTS)))
def test_every_test_survives(test: Test) -> None:
    data = through_text(test_to_json(test))
    assert test == test_from_json(data)
    assert data == test_to_json(test_from_json(data))
    assert test.kind == data["kind"]
    assert test == pickle.loads(pickle.dumps(test))


def test_every_kind_and_every_field_has_a_form() -> None:
    from dataclasses import fields

    assert set(Test.__subclasses__()) == set(_OWN_FIELDS)
    for kind, own in _OWN_FIELDS.items():
        assert {field.name for field in fields(kind)} == {
            *own, "name", "weight", "group", "hidden"
        }  # fmt: skip


def test_tasks_survive_a_file(tmp_path: Path) -> None:
    tasks = [
        Task(id="small", tests=(StdioTest("1", "1"),)),
        Task(
            id="ü/1",
            tests=tuple(TESTS),
            prompt="Do it.",
            prefix="def f():\n",
            setup="import math",
            entry_point="f",
            language="cpp",
            files={"data.csv": "a,b", "x": b"\xff"},
            limits=EvalLimits(cpu_time=1.5, wall_time=9, memory="1g", processes=2),
            score="groups",
            reference="def f(): pass",
            meta={"source": "me", "n": [1, None]},
        ),
    ]
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task_to_json(task)) + "\n" for task in tasks))
    assert tasks == list(load_dataset(path).values())
    assert {"id": "small", "tests": [{"kind": "stdio", "stdin": "1", "expected": "1"}]} == (
        task_to_json(tasks[0])
    )


def test_samples_survive() -> None:
    samples = [
        Sample("1", code="x = 1", task="a"),
        Sample("2", completion="```py\nx\n```", tests=(StdioTest("1", "1"),)),
        Sample(
            "3",
            code="",
            task="a",
            language="cpp",
            entry_point="f",
            setup="s",
            files={"f": b"\x00"},
            limits=EvalLimits(cpu_time=1),
            weight=2.5,
            meta={"model": "m"},
        ),
    ]
    for sample in samples:
        assert sample == sample_from_json(through_text(sample_to_json(sample)))


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_plain_values_survive(value: Any) -> None:
    found = value_from_json(through_text(value_to_json(value)))
    assert type(value) is type(found)
    assert value == found or (value != value and found != found)


def test_nan_survives() -> None:
    assert math.isnan(value_from_json(value_to_json(math.nan)))
    assert math.isnan(value_from_json(json.loads("NaN")))


LEAVES = (
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text()
)
KEYS = some.text() | some.integers() | some.binary()


@given(
    some.recursive(
        LEAVES | some.binary() | some.complex_numbers(allow_nan=False),
        lambda inner: (
            some.lists(inner, max_size=4)
            | some.lists(inner, max_size=4).map(tuple)
            | some.dictionaries(KEYS, inner, max_size=4)
            | some.sets(KEYS, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_any_plain_value_survives(value: Any) -> None:
    found = value_from_json(json.loads(json.dumps(value_to_json(value))))
    assert value == found
    assert type(value) is type(found)


class Text(str):
    pass


@pytest.mark.parametrize("value", [object(), len, Text("a"), [object()], {"a": {1: object()}}])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="invalid args: expected plain data, got "):
        test_to_json(CallTest("f", args=(value,)))


def test_nesting_has_a_limit_both_ways() -> None:
    nested: Any = []
    for _ in range(300):
        nested = [nested]
    with pytest.raises(ValidationError, match="expected at most 200 levels"):
        value_to_json(nested)
    with pytest.raises(ValidationError, match="expected at most 200 levels"):
        value_from_json(nested)


@pytest.mark.parametrize(
    "value",
    [
        {"$magic": 1},
        {"$int": 1},
        {"$int": "x"},
        {"$float": "x"},
        {"$tuple": "ab"},
        {"$set": [[]]},
        {"$dict": [1]},
        {"$dict": [[[], 1]]},
        {"$bytes": "§"},
        {"$bytes": 1},
        {"$complex": [1, 2, 3]},
        {"$complex": "x"},
        {"$decimal": "x"},
        {"$fraction": [1, 0]},
        {"$datetime": "x"},
        {"$date": 1},
    ],
    ids=repr,
)
def test_tags_with_other_content_are_refused(value: Any) -> None:
    with pytest.raises(ValidationError, match="invalid value: expected"):
        value_from_json(value)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (7, "invalid test: expected an object, got a number"),
        ({}, "invalid test.kind: expected one of stdio, call, "),
        ({"kind": ["stdio"]}, "invalid test.kind"),
        (
            {"kind": "stdio", "colour": 1},
            "invalid test: expected the fields stdin, .* got 'colour'",
        ),
        ({"kind": "stdio", "stdin": 1}, "invalid test.stdin: expected text, got a number"),
        ({"kind": "stdio", "checker": "magic"}, "invalid checker: expected one of exact"),
        ({"kind": "stdio", "checker": "tokens(a=1)"}, "invalid checker option"),
        ({"kind": "stdio", "checker": {"oracle": "same_items"}}, "expected one of caseless_output"),
        ({"kind": "stdio", "args": "abc"}, "invalid test.args: expected a list of texts"),
        ({"kind": "stdio", "args": [1]}, r"invalid test.args\[0\]: expected text"),
        ({"kind": "stdio", "files": []}, "invalid test.files: expected an object of files"),
        ({"kind": "stdio", "files": {"a": 1}}, "invalid test.files"),
        ({"kind": "stdio", "weight": -1}, "invalid test.weight: expected a finite number from 0"),
        ({"kind": "stdio", "weight": math.nan}, "invalid test.weight"),
        ({"kind": "stdio", "weight": True}, "invalid test.weight: expected a number"),
        ({"kind": "stdio", "hidden": "no"}, "invalid test.hidden: expected true or false"),
        ({"kind": "call", "expected": 1}, "invalid test.fn: expected a value, got none"),
        ({"kind": "call", "fn": "f"}, "expected the field expected, or expected_from"),
        ({"kind": "call", "fn": "f", "expected_from": "magic"}, "expected the field expected"),
        ({"kind": "call", "fn": "f", "expected": 1, "expected_from": "reference"}, "expected_from"),
        ({"kind": "call", "fn": "f", "expected": 1, "args": "ab"}, "expected a list of arguments"),
        ({"kind": "call", "fn": "f", "expected": 1, "kwargs": [1]}, "expected an object"),
        ({"kind": "call", "fn": "f", "expected": 1, "checker": "tokens"}, "expected equal"),
        ({"kind": "call", "fn": "f", "expected": 1, "checker": 7}, "test.checker: expected text"),
        ({"kind": "assert", "source": "", "mode": "magic"}, "invalid test.mode: expected one of"),
        ({"kind": "assert"}, "invalid test.source: expected a value"),
        ({"kind": "unit", "files": {"a": {"$bytes": "AA=="}}}, "invalid test.files"),
        ({"kind": "unit", "files": {}, "framework": "nose"}, "invalid test.framework"),
        ({"kind": "command", "argv": ["a"], "expect_exit": True}, "expected a whole number"),
        ({"kind": "checker"}, "invalid test.checker: expected a value"),
    ],
)
def test_malformed_tests_are_refused(record: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        test_from_json(record)


@pytest.mark.parametrize(
    "oracle",
    [
        {"oracle": "magic"},
        {"oracle": ["same_items"]},
        {},
        {"oracle": "same_items", "a": 1},
        {"oracle": "other_values"},
        {"oracle": "other_values", "values": [1]},
        {"oracle": "other_values", "values": {"$tuple": [1]}, "checker": 1},
        {"oracle": "other_values", "values": {"$tuple": [1]}, "checker": "tokens"},
        {"oracle": "polynomial_root", "coefficients": {"$tuple": ["a"]}, "tolerance": 1},
        {"oracle": "polynomial_root", "coefficients": {"$tuple": [1]}, "tolerance": "a"},
        {"oracle": "caseless_output"},
    ],
    ids=repr,
)
def test_malformed_oracles_are_refused(oracle: Any) -> None:
    record = {"kind": "call", "fn": "f", "expected": 1, "checker": oracle}
    with pytest.raises(ValidationError, match=r"invalid (oracle|checker)"):
        test_from_json(record)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limits": {"cpu_time": -1}}, "invalid cpu_time"),
        ({"limits": {"time": 1}}, "invalid limits: expected the fields cpu_time"),
        ({"limits": 7}, "invalid limits: expected an object"),
        ({"score": "best"}, "invalid score: expected one of all"),
        ({"meta": []}, "invalid meta: expected an object"),
        ({"tests": {}}, "invalid tests: expected a list of tests"),
        ({"id": 7}, "invalid id: expected text"),
        ({"language": None}, "invalid language: expected text"),
        (
            {"tests": [{"kind": "call", "fn": "f", "expected_from": "reference"}]},
            "invalid reference: expected a solution",
        ),
    ],
)
def test_malformed_tasks_are_refused(change: dict[str, Any], message: str) -> None:
    record = {"id": "a", "tests": [{"kind": "stdio"}]}
    with pytest.raises(ValidationError, match=message):
        task_from_json({**record, **change})


@pytest.mark.parametrize("name", ["limits", "score", "entry_point", "reference"])
def test_null_is_the_default_of_what_is_optional(name: str) -> None:
    task = task_from_json({"id": "a", "tests": [{"kind": "stdio"}], name: None})
    assert getattr(task, name) is None


def test_functions_as_checkers_cannot_be_written() -> None:
    for test in (StdioTest(checker=lambda a, b: None), CheckerTest(lambda a, b, c: True)):
        with pytest.raises(ValidationError, match="got a function, which a file cannot hold"):
            test_to_json(test)


def test_kinds_of_others_cannot_be_written() -> None:
    class OtherTest(Test):
        kind = "other"

    try:
        with pytest.raises(ValidationError, match=r"invalid kind of test: .* got OtherTest"):
            test_to_json(OtherTest())
    finally:
        del OtherTest


class TestOracles:
    @pytest.mark.parametrize(
        ("actual", "accepted"),
        [([2, 1], True), ((1, 2, 2), True), ({1, 2}, True), ([1], False), ([], False),
         (None, False), (7, False), ([[1], 2], False), ({1: 0, 2: 0}, True)],
    )  # fmt: skip
    def test_same_items(self, actual: object, accepted: bool) -> None:
        assert accepted is (SameItems()([1, 2], actual) is None)

    def test_same_items_of_what_sets_cannot_hold_are_compared_as_they_are(self) -> None:
        assert SameItems()([[1], [2]], [[1], [2]]) is None
        assert SameItems()([[1], [2]], [[2], [1]]) is not None
        assert SameItems()(5, [5]) is not None

    @pytest.mark.parametrize(
        ("actual", "accepted"),
        [(1.0, True), (1, True), (1.00001, True), (2, False), (math.nan, False),
         (math.inf, False), (True, False), ("1", False), (None, False), (10**400, False)],
    )  # fmt: skip
    def test_polynomial_root(self, actual: object, accepted: bool) -> None:
        assert accepted is (PolynomialRoot((-1, 0, 1), 1e-4)(None, actual) is None)

    def test_polynomial_with_huge_coefficients(self) -> None:
        assert PolynomialRoot((10**400, 1), 1e-4)(None, 1.0) is not None

    def test_other_values(self) -> None:
        oracle = OtherValues((0, "none"))
        assert oracle(7, 7) is None
        assert oracle(7, 0) is None
        assert oracle(7, "none") is None
        found = oracle(7, 8)
        assert found is not None
        assert ("7", "8") == (found.expected, found.actual)

    def test_wrapped_value(self) -> None:
        oracle = WrappedValue()
        assert oracle([5], 5) is None
        assert oracle([5], [5]) is None
        assert oracle(5, [5]) is not None
        assert oracle([5, 6], 5) is not None
        assert oracle([], None) is not None

    def test_any_value(self) -> None:
        assert AnyValue()(1, object()) is None

    def test_options_are_checked_when_an_oracle_is_made(self) -> None:
        for make in (WrappedValue, CaselessOutput, lambda text: OtherValues((), text)):
            with pytest.raises(ValidationError, match="invalid checker"):
                make("magic(1)")
