"""Data sets of rewards: verl, open-r1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.parquet
import pytest

from llm_sandbox.evaluation.datasets import load_dataset
from llm_sandbox.evaluation.kinds import AssertTest
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.value_comparison import find_value_checker
from llm_sandbox.exceptions import ValidationError
from tests.evaluation.dataset_files import calls, load, one, programs

if TYPE_CHECKING:
    from pathlib import Path


class TestVerl:
    def test_the_ground_truth_of_a_row_is_read(self, tmp_path: Path) -> None:
        truth = {"inputs": ["1 2\n"], "outputs": ["3\n"], "fn_name": None}
        row = {
            "data_source": "codecontests",
            "prompt": [
                {"role": "system", "content": "Think."},
                {"role": "user", "content": "Add."},
            ],
            "ability": "code",
            "reward_model": {"style": "rule", "ground_truth": json.dumps(truth)},
            "extra_info": {"index": 17, "split": "train"},
        }
        path = tmp_path / "train.parquet"
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), path)
        dataset = load_dataset(path)
        assert "verl" == dataset.format
        task = dataset["17"]
        assert [("1 2\n", "3\n")] == [(test.stdin, test.expected) for test in programs(task)]
        assert "Think.\n\nAdd." == task.prompt
        assert "" == task.setup

    @pytest.mark.parametrize("given", ['[1, 2]\n"a"', [[1, 2], "a"]])
    def test_calls_have_lines_of_json_or_lists(self, tmp_path: Path, given: object) -> None:
        record = {"inputs": [given], "outputs": ["[3]" if isinstance(given, str) else [3]]}
        dataset = load(tmp_path, {**record, "fn_name": "f"})
        assert "verl" == dataset.format
        (test,) = calls(dataset["0"])
        assert ("f", ([1, 2], "a"), [3]) == (test.fn, test.args, test.expected)
        assert "import *" in dataset["0"].setup

    def test_the_question_tells_whether_a_method_is_called(self, tmp_path: Path) -> None:
        record = {
            "prompt": "Complete:\nclass Solution:\n    def f(self, a): ...",
            "inputs": ["1"],
            "outputs": ["1"],
            "fn_name": "f",
        }
        (test,) = calls(one(tmp_path, record))
        assert "Solution().f" == test.fn

    def test_assertions_stand_in_for_inputs(self, tmp_path: Path) -> None:
        truth = json.dumps({"assert_case": ["assert f(1) == 2", "assert f(2) == 3"]})
        task = one(tmp_path, {"id": "x", "ground_truth": truth})
        assert ("x", (AssertTest("assert f(1) == 2"), AssertTest("assert f(2) == 3"))) == (
            task.id,
            task.tests,
        )
        with pytest.raises(ValidationError, match="expected at least one, got none"):
            one(tmp_path, {"assert_case": []})


class TestOpenR1:
    def info(self, *test_cases: dict[str, Any], language: str = "python") -> dict[str, Any]:
        return {"language": language, "test_cases": list(test_cases)}

    @pytest.mark.parametrize("as_text", [False, True])
    def test_programs_have_input_and_output(self, tmp_path: Path, as_text: bool) -> None:
        case = {"fn_name": None, "input": "1 2\n", "output": "3\n", "type": "stdin_stdout"}
        info: Any = self.info(case)
        record = {
            "problem_id": "vcp_1",
            "problem": "Add.",
            "gold_standard_solution": "```python\nprint(3)\n```",
            "metadata": {"time_limit": "2 seconds", "memory_limit_bytes": 2**28},
            "verification_info": json.dumps(info) if as_text else info,
        }
        dataset = load(tmp_path, record)
        assert "open_r1" == dataset.format
        task = dataset["vcp_1"]
        assert [("1 2\n", "3\n")] == [(test.stdin, test.expected) for test in programs(task)]
        assert ("print(3)\n", "Add.", "") == (task.reference, task.prompt, task.setup)
        assert EvalLimits(cpu_time=2, memory=2**28) == task.limits

    @pytest.mark.parametrize(
        ("given", "output"),
        [([1, [2]], [3]), ("[1, [2]]", "[3]"), ("(1, [2])", "[3]"), ("1\n[2]", "3")],
    )
    def test_calls_have_lists_or_texts_of_lists(
        self, tmp_path: Path, given: object, output: object
    ) -> None:
        case = {"fn_name": "f", "input": given, "output": output, "type": "function_call"}
        (test,) = calls(one(tmp_path, {"verification_info": self.info(case)}))
        assert ("f", (1, [2])) == (test.fn, test.args)
        assert find_value_checker(test.checker)(test.expected, 3) is None
        assert find_value_checker(test.checker)(test.expected, 4) is not None

    def test_another_language_has_no_setup_of_python(self, tmp_path: Path) -> None:
        case = {"fn_name": "f", "input": "[1]", "output": "1", "type": "function_call"}
        task = one(tmp_path, {"verification_info": self.info(case, language="javascript")})
        assert ("javascript", "") == (task.language, task.setup)

    @pytest.mark.parametrize(
        ("test_cases", "message"),
        [
            ([], "verification_info.test_cases: expected at least one"),
            ([{"type": "magic"}], "expected stdin_stdout or function_call"),
            ([{"input": "1"}], r"test_cases\[0\].output: expected text, got null"),
            ([7], r"test_cases\[0\]: expected an object"),
        ],
    )
    def test_other_forms_are_refused(
        self, tmp_path: Path, test_cases: list[Any], message: str
    ) -> None:
        with pytest.raises(ValidationError, match=message):
            one(tmp_path, {"verification_info": self.info(*test_cases)})
