"""Checkers of outputs and values: what is equal, what is not, and where the difference is."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from llm_sandbox.evaluation.comparison import find_checker
from llm_sandbox.evaluation.value_comparison import find_value_checker
from llm_sandbox.exceptions import ValidationError

OUTPUTS = [
    ("exact", "1\n", "1\n", True),
    ("exact", "1\n", "1", False),
    ("lines", "1 \n2\n", "1\n2\n\n\n", True),
    ("lines", "1\r\n2\r\n", "1\n2", True),
    ("lines", "1\n2\n", "1\n", False),  # a shorter output never passes
    ("lines", "1\n", "1\n2\n", False),
    ("lines", "1  2\n", "1 2\n", False),
    ("lines", "\n1", "1", False),
    ("tokens", "1 2\n3", "1\n2 3\n", True),
    ("tokens", "1 2 3", "1 2", False),
    ("tokens", "1 2", "1 2 3", False),
    ("tokens", "", "  \n", True),
    ("tokens", "Yes", "yes", False),
    ("tokens_float", "1.0 2", "1.0000001 2", True),
    ("tokens_float", "1.0", "1.1", False),
    ("tokens_float", "0.5", "nan", False),
    ("tokens_float", "nan", "nan", True),
    ("tokens_float", "inf", "Infinity", True),
    ("tokens_float", "inf", "1e300", False),
    ("tokens_float", "10000000000000001", "10000000000000002", False),  # equal as floats
    ("tokens_float", "007", "7", True),
    ("tokens_float", "-0", "0", True),
    ("tokens_float", "1", "1.0", True),
    ("tokens_float", "0.12345678901234567890", "0.12345678901234567891", True),
    ("tokens_float(rel=0,abs=1e-21)", "0.12345678901234567890", "0.12345678901234567899", False),
    ("tokens_float", "1_0", "10", False),
    ("tokens_float", "abc", "abd", False),
    ("tokens_float", "1e9999999", "1e9999998", False),
    ("tokens_float(abs=0.5, rel=0)", "1.0", "1.4", True),
    ("case_insensitive", "YES no", "yes NO", True),
    ("case_insensitive", "YES", "YE S", False),
    ("unordered_lines", "a\nb\nb\n", "b\na\nb", True),
    ("unordered_lines", "a\nb\nb\n", "b\na\na", False),
    ("unordered_tokens", "1 2 2", "2 1 2", True),
    ("unordered_tokens", "1 2", "1 2 2", False),
    ("json", '{"a": 1, "b": [1, 2.0]}', '{"b": [1, 2], "a": 1.0}', True),
    ("json", '{"a": 1}', '{"a": true}', False),
    ("json", "[1, 2]", "[2, 1]", False),
    ("json", "[1]", "[1", False),
    ("json", "[1]", "[" * 100_000, False),
]


@pytest.mark.parametrize(("name", "expected", "actual", "same"), OUTPUTS)
def test_outputs(name: str, expected: str, actual: str, same: bool) -> None:
    difference = find_checker(name)(expected.encode(), actual.encode())
    assert same is (difference is None)


@pytest.mark.parametrize(
    ("name", "expected", "actual", "where"),
    [
        ("tokens", "1 2 3", "1 5 3", "token 2"),
        ("tokens", "1 2 3", "1", "token 2, expected 3 tokens, got 1"),
        ("lines", "a\nb\n", "a\nc\n", "line 2"),
        ("exact", "abc", "abd", "byte 3"),
        ("json", '{"a": [1, {"b": 2}]}', '{"a": [1, {"b": 3}]}', "$.a[1].b"),
    ],
)
def test_the_first_difference_is_told(name: str, expected: str, actual: str, where: str) -> None:
    difference = find_checker(name)(expected.encode(), actual.encode())
    assert difference is not None
    assert where == difference.where


def test_white_space_alone_is_told_apart() -> None:
    for name in ("exact", "lines"):
        check = find_checker(name)
        folded = check(b"1 2\n", b"1\n2\n")
        other = check(b"1 2\n", b"1 3\n")
        assert folded is not None
        assert other is not None
        assert (folded.presentation, other.presentation) == (True, False)


def test_long_sides_are_cut_in_the_middle() -> None:
    difference = find_checker("tokens")(b"a" * 10_000, b"b" * 10_000 + b"\xff")
    assert difference is not None
    assert len(difference.expected) <= 300
    assert difference.actual.endswith("\\xff")
    assert "..." in difference.actual


def test_huge_numbers_take_no_time() -> None:
    """Digits beyond what Python turns into an integer, and exponents beyond any float."""
    many = b"1" * 200_000
    assert find_checker("tokens_float")(many, many) is None
    assert find_checker("tokens_float")(many, many + b"0") is not None
    assert find_checker("tokens_float")(b"1e999999999999", b"2e999999999999") is not None


VALUES: list[tuple[str, Any, Any, bool]] = [
    ("equal", 1, 1, True),
    ("equal", 1, True, False),
    ("equal", 1, 1.0, False),
    ("equal(numbers=True)", 1, 1.0, True),
    ("equal(numbers=True)", 1, True, True),
    ("equal", 1.0, 1.0 + 1e-9, True),
    ("equal", 1.0, 1.1, False),
    ("equal(abs=0.2)", 1.0, 1.1, True),
    ("equal", [1, [2, "a"]], [1, [2, "a"]], True),
    ("equal", [1], (1,), False),
    ("equal(sequences=True)", [1, (2,)], (1, [2]), True),
    ("equal", [1, 2], [1], False),
    ("equal", {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ("equal", {1: "x"}, {True: "x"}, False),
    ("equal", {"a": 1}, {"a": 1, "b": 2}, False),
    ("equal", float("nan"), float("nan"), False),
    ("equal(nan=True)", [float("nan")], [float("nan")], True),
    ("equal", float("inf"), float("inf"), True),
    ("equal", float("inf"), 1e308, False),
    ("equal", 1.0, 10**400, False),
    ("equal(numbers=True)", 1.0, 10**400, False),
    ("equal", {1, 2}, {2, 1}, True),
    ("equal", {1}, frozenset({1}), False),
    ("equal", b"a", "a", False),
    ("equal", None, 0, False),
    ("equal", Decimal("1.0"), Decimal("1.00"), True),
    ("equal", 1 + 2j, 1 + 2.0000000001j, True),
    ("equal", np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-9]), True),
    ("equal", np.array([1, 2]), np.array([1.0, 2.0]), False),
    ("equal(numbers=True)", np.array([1, 2]), np.array([1.0, 2.0]), True),
    ("equal", np.array([1, 2]), np.array([[1, 2]]), False),
    ("equal", np.array([1, 2]), [1, 2], False),
    ("equal", pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]}), True),
    ("equal", pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 3]}), False),
    ("equal", pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}), False),
]


@pytest.mark.parametrize(("name", "expected", "actual", "same"), VALUES)
def test_values(name: str, expected: Any, actual: Any, same: bool) -> None:
    difference = find_value_checker(name)(expected, actual)
    assert same is (difference is None)


def test_the_path_of_a_value_is_told() -> None:
    difference = find_value_checker("equal")({"a": [1, {"b": (1, 2)}]}, {"a": [1, {"b": (1, 3)}]})
    assert difference is not None
    assert "value['a'][1]['b'][1]" == difference.where
    assert ("2", "3") == (difference.expected, difference.actual)


def test_deep_and_huge_values_are_compared() -> None:
    deep: Any = []
    other: Any = [1]
    for _ in range(50_000):
        deep, other = [deep], [other]
    assert find_value_checker("equal")(deep, other) is not None
    number = find_value_checker("equal")(10**5000, 10**5000 + 1)
    assert number is not None


@pytest.mark.parametrize(
    "spec",
    ["no", "tokens(", "tokens(x=1)", "tokens_float(rel='a')", "tokens_float(rel=-1)", "f(1)"],
)
def test_a_wrong_checker_is_refused(spec: str) -> None:
    with pytest.raises(ValidationError, match="invalid"):
        find_checker(spec)
    with pytest.raises(ValidationError, match="invalid"):
        find_value_checker(spec)
