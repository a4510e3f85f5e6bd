"""Data sets of functions: HumanEval, MBPP, EvalPlus, BigCodeBench."""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.evaluation.datasets import (
    EXPECTED_FROM_REFERENCE,
    AnyValue,
    OtherValues,
    PolynomialRoot,
    SameItems,
    fill_expected,
    reference_calls,
    reference_key,
)
from llm_sandbox.evaluation.kinds import AssertTest, CallTest, UnitTest
from llm_sandbox.evaluation.value_comparison import find_value_checker
from llm_sandbox.exceptions import ValidationError
from tests.evaluation.dataset_files import load, one

if TYPE_CHECKING:
    from pathlib import Path


PROMPT = 'def twice(x):\n    """Return x times two."""\n'
HUMANEVAL = {
    "task_id": "HumanEval/900",
    "prompt": PROMPT,
    "entry_point": "twice",
    "canonical_solution": "    return 2 * x\n",
    "test": "METADATA = {}\n\ndef check(candidate):\n    assert candidate(2) == 4\n",
}
PLUS = {
    **{name: value for name, value in HUMANEVAL.items() if name != "test"},
    "contract": "    assert type(x) == int\n",
    "base_input": [[1], [2]],
    "plus_input": [[-(10**30)]],
    "atol": 0,
}
MBPP = {
    "task_id": 901,
    "text": "Write a function to add.",
    "code": "def add(a, b):\r\n  return a + b",
    "test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
    "test_setup_code": "",
    "challenge_test_list": ["assert add(-1, 1) == 0"],
}


def mbpp_plus(name: str, number: int, *inputs: list[Any], atol: float = 0) -> dict[str, Any]:
    return {
        "task_id": f"Mbpp/{number}",
        "prompt": '"""\nA task.\n"""\n',
        "entry_point": name,
        "canonical_solution": f"\ndef {name}(*args):\n    return None\n",
        "base_input": list(inputs),
        "plus_input": {},
        "atol": atol,
    }


def test_humaneval_is_a_check_with_the_prompt_as_prefix(tmp_path: Path) -> None:
    dataset = load(tmp_path, HUMANEVAL)
    task = dataset["HumanEval/900"]
    assert "humaneval" == dataset.format
    assert (AssertTest(HUMANEVAL["test"], entry_point="twice", name="check"),) == task.tests
    assert PROMPT == task.prefix == task.prompt
    assert "twice" == task.entry_point
    assert PROMPT + "    return 2 * x\n" == task.reference
    names: dict[str, Any] = {}
    exec(f"{task.reference}\n{HUMANEVAL['test']}\ncheck(twice)", names)


def test_humaneval_may_lack_a_solution(tmp_path: Path) -> None:
    record = {name: value for name, value in HUMANEVAL.items() if name != "canonical_solution"}
    assert one(tmp_path, record).reference is None


def test_mbpp_is_one_test_for_each_assertion(tmp_path: Path) -> None:
    dataset = load(tmp_path, MBPP)
    assert "mbpp" == dataset.format
    task = dataset["901"]
    first, second, challenge = task.tests
    assert AssertTest("assert add(1, 2) == 3", name="base/0", group="base", hidden=False) == first
    assert ("base/1", False) == (second.name, second.hidden)
    assert ("challenge/0", "challenge", True) == (challenge.name, challenge.group, challenge.hidden)
    assert "Write a function to add." == task.prompt
    assert "add" == task.entry_point
    assert MBPP["code"] == task.reference
    assert 2 == len(dataset.with_groups("base")["901"].tests)


def test_setup_of_mbpp_runs_with_the_candidate(tmp_path: Path) -> None:
    record = {
        **MBPP,
        "code": "class Node:\n    pass\ndef depth(n):\n    return 1",
        "test_setup_code": "root = Node()",
        "test_list": ["assert depth(root) == 1"],
        "challenge_test_list": [],
    }
    (test,) = one(tmp_path, record).tests
    assert isinstance(test, AssertTest)
    assert "root = Node()\nassert depth(root) == 1" == test.source


def test_the_sanitized_spelling_of_mbpp_has_imports(tmp_path: Path) -> None:
    record = {
        "source_file": "Benchmark Questions Verification V2.ipynb",
        "task_id": 902,
        "prompt": "Write a function for the root.",
        "code": "import math\ndef root(x):\n  return math.sqrt(x)",
        "test_imports": ["import math", "import re"],
        "test_list": ["assert math.isclose(root(4), 2)"],
    }
    task = one(tmp_path, record)
    (test,) = task.tests
    assert isinstance(test, AssertTest)
    assert ("import math\nimport re", "root") == (test.setup, task.entry_point)
    assert "Write a function for the root." == task.prompt


def test_mbpp_in_the_edition_of_evalplus_has_its_program_as_a_test(tmp_path: Path) -> None:
    program = "for x, y in [(1, 1)]:\n    assert add(x, 0) == y\n"
    task = one(tmp_path, {**MBPP, "test": program})
    assert ("plus/0", "plus", program) == (
        task.tests[-1].name,
        task.tests[-1].group,
        task.tests[-1].source,  # type: ignore[attr-defined]
    )


@pytest.mark.parametrize("code", ["", "def f(:", "x = 1", "def f(): pass\ndef g(): pass"])
def test_an_entry_point_that_is_not_clear_is_none(tmp_path: Path, code: str) -> None:
    record = {**MBPP, "code": code, "test_list": ["assert f() == g()"], "challenge_test_list": []}
    assert one(tmp_path, record).entry_point is None


def test_mbpp_without_tests_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="expected at least one test"):
        one(tmp_path, {**MBPP, "test_list": [], "challenge_test_list": None})


def test_evalplus_has_a_call_for_each_input_without_values(tmp_path: Path) -> None:
    dataset = load(tmp_path, PLUS)
    task = dataset["HumanEval/900"]
    assert "evalplus" == dataset.format
    assert [("base/0", "base"), ("base/1", "base"), ("plus/0", "plus")] == [
        (test.name, test.group) for test in task.tests
    ]
    first = task.tests[0]
    assert isinstance(first, CallTest)
    assert ("twice", (1,)) == (first.fn, first.args)
    assert first.expected is EXPECTED_FROM_REFERENCE
    assert list(task.tests) == reference_calls(task)
    assert PROMPT + "    return 2 * x\n" == task.reference


def test_values_of_the_reference_are_filled_in(tmp_path: Path) -> None:
    task = one(tmp_path, PLUS)
    names: dict[str, Any] = {}
    exec(task.reference or "", names)
    values = [names[test.fn](*test.args) for test in reference_calls(task)]
    filled = fill_expected(task, values)
    assert [2, 4, -2 * 10**30] == [test.expected for test in filled.tests]  # type: ignore[attr-defined]
    assert [] == reference_calls(filled)
    with pytest.raises(ValidationError, match="expected 3 for task HumanEval/900, got 1"):
        fill_expected(task, [1])


def test_the_key_of_reference_values_depends_on_what_they_depend_on(tmp_path: Path) -> None:
    key = reference_key(one(tmp_path, PLUS))
    assert key == reference_key(one(tmp_path, {**PLUS, "atol": 1, "contract": ""}))
    for change in ({"base_input": [[1], [3]]}, {"canonical_solution": "    return x + x\n"}):
        assert key != reference_key(one(tmp_path, {**PLUS, **change}))


def test_the_mark_of_missing_values_survives_a_pickle(tmp_path: Path) -> None:
    task = one(tmp_path, PLUS)
    copy = pickle.loads(pickle.dumps(task))
    assert task == copy
    assert copy.tests[0].expected is EXPECTED_FROM_REFERENCE
    assert "EXPECTED_FROM_REFERENCE" == repr(EXPECTED_FROM_REFERENCE)


@pytest.mark.parametrize(
    ("atol", "expected", "actual", "accepted"),
    [
        (0, 1.0, 1.0 + 5e-7, True),
        (0, 1.0, 1.0 + 5e-6, False),
        (1e-4, 1.0, 1.0 + 5e-5, True),
        (0, 1, 1.0, True),
        (0, True, 1, True),
        (0, [1], (1,), False),
        (0, [1.0, [2.0]], [1.0, [2.0 + 1e-7]], True),
    ],
)
def test_values_compare_within_the_tolerance_of_the_task(
    tmp_path: Path, atol: float, expected: object, actual: object, accepted: bool
) -> None:
    (test, *_) = one(tmp_path, {**PLUS, "atol": atol}).tests
    assert isinstance(test, CallTest)
    assert accepted is (find_value_checker(test.checker)(expected, actual) is None)


def test_any_root_of_a_polynomial_is_accepted(tmp_path: Path) -> None:
    record = {**PLUS, "entry_point": "find_zero", "base_input": [[[-4, 0, 1]]], "plus_input": []}
    task = one(tmp_path, {**record, "atol": 1e-4})
    (test,) = task.tests
    assert isinstance(test, CallTest)
    assert PolynomialRoot((-4, 0, 1), 1e-4) == test.checker
    check = find_value_checker(test.checker)
    assert check(None, 2.0) is None
    assert check(None, -2) is None
    assert check(None, 2.1) is not None
    assert [] == reference_calls(task)
    with pytest.raises(ValidationError, match="expected one list of numbers"):
        one(tmp_path, {**record, "base_input": [["x"]]})


def test_functions_of_the_same_name_in_mbpp_have_no_oracle_of_humaneval(tmp_path: Path) -> None:
    (test,) = one(tmp_path, mbpp_plus("find_zero", 903, [1])).tests
    assert isinstance(test, CallTest)
    assert isinstance(test.checker, str)


def test_mbpp_plus_has_its_oracles(tmp_path: Path) -> None:
    def checker(name: str, *arguments: Any) -> Any:
        (test,) = one(tmp_path, mbpp_plus(name, 904, list(arguments))).tests
        assert isinstance(test, CallTest)
        return test.checker

    assert SameItems() == checker("Diff", [1, 2], [2])
    assert AnyValue() == checker("are_equivalent", 36, 57)
    assert (0,) == checker("sum_div", 8).values
    # 3 * 3 of the base, and four sides of half of 3 times the slant height of 2.5
    assert (24,) == checker("surface_Area", 3, 2).values
    assert (6,) == checker("digit_distance_nums", 1, 205).values
    # EvalPlus has no other answer for a sign, either
    assert isinstance(checker("digit_distance_nums", -1, 2), str)
    assert isinstance(checker("anything_else", 1), str)
    assert isinstance(checker("sum_div", 8), OtherValues)


@pytest.mark.parametrize(
    ("number", "given", "expected"),
    [
        (2, [[3, 4], [5]], ((3, 4), (5,))),
        (63, [[[1, 2], [3, 4]]], ([(1, 2), (3, 4)],)),
        (75, [[[6, 24]], 6], ([(6, 24)], 6)),
        (106, [[5, 6], [9, 10]], ([5, 6], (9, 10))),
        (115, [[[1], [], 2]], ([{1}, {}, {}],)),
        (124, ["0", "1j"], (0.0, 1j)),
        (250, [[10, 8], 10], ((10, 8), 10)),
        (252, ["1+2j"], (1 + 2j,)),
        (259, [[[1, 3], [4, 5]]], (((1, 3), (4, 5)),)),
        (278, [[1, [2], "x"]], ((1, (2,), "x"),)),
        (307, [["H", 5], 2, 50], (("H", 5), 2, 50)),
        (580, [[4, [7, [6]]]], ((4, (7, (6,))),)),
        (722, [{"a": [6.2, 70]}, 6.0], ({"a": (6.2, 70)}, 6.0)),
        (905, [[1, [2]]], ([1, [2]],)),
    ],
)
def test_inputs_of_mbpp_plus_get_their_types_back(
    tmp_path: Path, number: int, given: list[Any], expected: tuple[Any, ...]
) -> None:
    (test,) = one(tmp_path, mbpp_plus("f", number, given)).tests
    assert isinstance(test, CallTest)
    assert expected == test.args
    assert repr(expected) == repr(test.args)


def test_inputs_of_another_form_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="invalid input of Mbpp/252"):
        one(tmp_path, mbpp_plus("f", 252, ["no number"]))
    with pytest.raises(ValidationError, match="expected a list of arguments"):
        one(tmp_path, {**PLUS, "base_input": [1]})
    with pytest.raises(ValidationError, match="expected Mbpp/ and a number"):
        one(tmp_path, {**mbpp_plus("f", 1, [1]), "task_id": "Mbpp/x"})
    with pytest.raises(ValidationError, match="expected at least one input"):
        one(tmp_path, mbpp_plus("f", 1))


def test_functions_that_return_matches_are_asserted_beside_their_reference(
    tmp_path: Path,
) -> None:
    record = mbpp_plus("text_match_three", 906, ["ab\n'\"b"], ["abbb"])
    record["canonical_solution"] = (
        "import re\ndef text_match_three(text):\n    return re.search('ab{3}', text)\n"
    )
    task = one(tmp_path, record)
    assert [] == reference_calls(task)
    candidates: list[tuple[Any, bool]] = [
        (lambda text: re.search("abbb", text), True),
        (lambda text: "abbb" in text, True),
        (lambda text: "found" if "abbb" in text else None, True),
        (lambda text: "abb" not in text, False),
        (lambda text: None, False),
    ]
    for candidate, accepted in candidates:
        outcomes = []
        for test in task.tests:
            assert isinstance(test, AssertTest)
            assert "text_match_three" == test.entry_point
            names: dict[str, Any] = {}
            exec(test.source, names)
            try:
                names["check"](candidate)
            except AssertionError:
                outcomes.append(False)
            else:
                outcomes.append(True)
        assert accepted is all(outcomes)


@pytest.mark.parametrize("libs", ["['numpy', 'json']", ["numpy", "json"]])
def test_bigcodebench_is_a_module_of_unittest(tmp_path: Path, libs: object) -> None:
    head = "import json\ndef task_func(x):\n"
    record = {
        "task_id": "BigCodeBench/900",
        "complete_prompt": head + '    """Return JSON."""\n',
        "instruct_prompt": "Write a function that returns JSON.",
        "canonical_solution": "    return json.dumps(x)",
        "code_prompt": head,
        "test": "import unittest\nclass TestCases(unittest.TestCase):\n    pass\n",
        "entry_point": "task_func",
        "doc_struct": "{}",
        "libs": libs,
    }
    dataset = load(tmp_path, record)
    task = dataset["BigCodeBench/900"]
    assert "bigcodebench" == dataset.format
    (test,) = task.tests
    assert UnitTest({"test_candidate.py": record["test"]}, name="unittest") == test  # type: ignore[dict-item]
    assert {"libs": ["numpy", "json"]} == task.meta
    assert "Write a function that returns JSON." == task.prompt
    assert record["complete_prompt"] == task.prefix
    names: dict[str, Any] = {}
    exec(task.setup, names)
    assert names["task_func"](1) is None
    exec(task.reference or "", names)
    assert "[1]" == names["task_func"]([1])


@pytest.mark.parametrize("missing", ["prompt", "entry_point", "canonical_solution"])
def test_a_missing_field_is_named(tmp_path: Path, missing: str) -> None:
    record = {**PLUS, missing: None}
    with pytest.raises(ValidationError, match=f"line 1: invalid {missing}: expected text, got nu"):
        one(tmp_path, record)
