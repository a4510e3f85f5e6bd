"""Records of every format with one value that is wrong."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.evaluation.datasets import sample_from_json, task_to_json
from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.datasets.formats import FORMATS
from llm_sandbox.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

ODD: list[Any] = [
    None, True, 0, -1, 10**400, 1.5, float("nan"), float("inf"), "", "x", "[]", "{}", "[1]",
    "\ud800",
    "\x00", [], [None], ["x"], [[]], [{}], {}, {"a": 1}, {"$tuple": [1]}, {"x": {"y": []}},
]  # fmt: skip
PAIRS = {"inputs": [[1, {"2": 3}]], "outputs": [[4]], "fn_name": "f"}
FUNCTION = {
    "task_id": "Mbpp/124",
    "prompt": "def f(a):\n",
    "entry_point": "f",
    "canonical_solution": "    return a\n",
}
RECORDS: dict[str, dict[str, Any]] = {
    "own": {
        "id": "a",
        "tests": [
            {"kind": "stdio", "stdin": "1", "checker": "tokens", "args": ["a"]},
            {"kind": "stdio", "expected": {"$bytes": "AA=="}, "files": {"f": "x"}},
            {"kind": "call", "fn": "f", "args": [1], "kwargs": {"a": 1}, "expected": {"$set": [1]},
             "checker": {"oracle": "other_values", "values": {"$tuple": [1]}}},
            {"kind": "call", "fn": "f", "expected": 1, "checker":
             {"oracle": "polynomial_root", "coefficients": {"$tuple": [1]}, "tolerance": 1}},
            {"kind": "unit", "files": {"t.py": ""}, "select": ["A"], "framework": "pytest"},
            {"kind": "command", "argv": ["a"], "expect_exit": 0, "junit": "r"},
            {"kind": "assert", "source": "", "mode": "auto", "weight": 1, "hidden": True},
        ],
        "limits": {"cpu_time": 1, "memory": "1g", "processes": 3, "wall_time": 3},
        "files": {"a": "b"},
        "score": "all",
        "meta": {"a": 1},
    },
    "evalplus": {**FUNCTION, "base_input": [["1", "1j"]], "plus_input": [["2", "2"]], "atol": 0},
    "evalplus root": {
        **FUNCTION,
        "task_id": "HumanEval/32",
        "entry_point": "find_zero",
        "base_input": [[[1, 2]]],
        "plus_input": [],
        "atol": 0.1,
    },
    "evalplus tables": {**FUNCTION, "task_id": "Mbpp/722", "base_input": [[{"a": [1]}, 2]],
                        "plus_input": [], "atol": 0},
    "evalplus sets": {**FUNCTION, "task_id": "Mbpp/115", "base_input": [[[[1]]]],
                      "plus_input": [], "atol": 0},
    "evalplus others": {**FUNCTION, "entry_point": "surface_Area", "task_id": "Mbpp/581",
                        "base_input": [[1, 2]], "plus_input": [], "atol": 0},
    "evalplus matches": {**FUNCTION, "entry_point": "check_str", "task_id": "Mbpp/454",
                         "base_input": [["a"]], "plus_input": [], "atol": 0},
    "bigcodebench": {**FUNCTION, "complete_prompt": "a", "instruct_prompt": "b",
                     "code_prompt": "c", "test": "d", "libs": "['numpy']"},
    "humaneval": {**FUNCTION, "test": "def check(c): pass"},
    "mbpp": {"task_id": 1, "text": "a", "code": "def f(): pass", "test_list": ["assert f()"],
             "test_setup_code": "", "challenge_test_list": ["assert f()"], "test_imports": ["a"],
             "test": "x"},
    "livecodebench": {
        "question_id": "q",
        "question_content": "a",
        "starter_code": "",
        "public_test_cases": [
            {"input": "1\n2", "output": "1", "testtype": "functional"},
            {"input": "1", "output": "1", "testtype": "stdin"},
        ],
        "private_test_cases": "",
        "metadata": {"func_name": "f"},
    },
    "ioi": {"year": 2024, "id": "a", "subtask": "1", "score": 3, "test_names": ["x"],
            "test_cases": {"x": ["1", "2"]}, "grader_files": [["a", ""]], "time_limit": 1,
            "memory_limit": 2**28, "problem": "p"},
    "codeforces": {"id": "1/A", "official_tests": [{"input": "1", "output": "2"}],
                   "examples": [{"input": "1", "output": "2"}], "generated_checker": "x",
                   "input_mode": "stdio", "time_limit": 1, "memory_limit": 64, "title": "t",
                   "rating": 1, "tags": ["a"]},
    "code_contests": {"name": "n", "public_tests": {"input": ["1"], "output": ["2"]},
                      "private_tests": [{"input": "1", "output": "2"}],
                      "generated_tests": {"input": [], "output": []},
                      "solutions": {"language": [3], "solution": ["x"]},
                      "time_limit": {"seconds": 1, "nanos": 0}, "memory_limit_bytes": 2**28},
    "open_r1": {"problem_id": "p", "problem": "q", "gold_standard_solution": "x",
                "verification_info": {"language": "python", "test_cases": [
                    {"fn_name": "f", "input": "[1]", "output": "1", "type": "function_call"},
                    {"fn_name": None, "input": "1", "output": "1", "type": "stdin_stdout"}]},
                "metadata": {"time_limit": "1 s", "memory_limit": "1 mb",
                             "memory_limit_bytes": 2**28}},
    "apps": {"problem_id": 1, "question": "q", "solutions": ["x"], "starter_code": "",
             "input_output": PAIRS, "time_limit": "1 s", "memory_limit": "64 MB", "url": "u"},
    "verl": {"prompt": [{"role": "user", "content": "a"}],
             "reward_model": {"ground_truth": PAIRS}, "extra_info": {"index": 1}},
    "verl assertions": {"assert_case": ["assert f()"]},
}  # fmt: skip
SAMPLE = {"id": "a", "task": "t", "code": "x", "limits": {"memory": "1g"}, "meta": {"a": 1},
          "weight": 1, "files": {"a": "b"}, "tests": [{"kind": "stdio"}]}  # fmt: skip


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(item, (*path, key))


def mutations(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in paths(record):
        for odd in ODD:
            changed = copy.deepcopy(record)
            inner: Any = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = odd
            yield changed


@pytest.mark.parametrize("name", RECORDS)
def test_a_wrong_value_is_refused_or_a_whole_task(name: str) -> None:
    read = FORMATS[name.partition(" ")[0]].read
    read(Fields(RECORDS[name]), 1)
    messages = []
    for record in mutations(RECORDS[name]):
        try:
            task = read(Fields(record), 1)
        except ValidationError as error:
            messages.append(error.message)
        else:
            assert task.id
            assert task.tests
            json.dumps(task_to_json(task))
    assert len(messages) > 5
    assert [] == [one for one in messages if ": expected" not in one and " must be " not in one]
    assert max(map(len, messages)) < 1500


def test_a_wrong_value_of_a_sample_is_refused_or_a_whole_sample() -> None:
    refused = 0
    for record in mutations(SAMPLE):
        try:
            sample = sample_from_json(record)
        except ValidationError:
            refused += 1
        else:
            assert sample.id
    assert refused > 5
