"""Data sets of contests: APPS, LiveCodeBench, Codeforces, IOI, CodeContests."""

from __future__ import annotations

import base64
import json
import pickle
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from llm_sandbox.evaluation.comparison import find_checker
from llm_sandbox.evaluation.datasets import (
    CaselessOutput,
    WrappedValue,
    load_dataset,
)
from llm_sandbox.evaluation.datasets.pairs import PRELUDE
from llm_sandbox.evaluation.kinds import CheckerTest
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.value_comparison import find_value_checker
from llm_sandbox.exceptions import ValidationError
from tests.evaluation.dataset_files import calls, load, one, programs

LONG = "7" * 20_000


def apps(cases: object, **others: Any) -> dict[str, Any]:
    return {
        "problem_id": 4000,
        "question": "Add the numbers.",
        "solutions": json.dumps(["print(3)", "print(4)"]),
        "input_output": cases if isinstance(cases, str) else json.dumps(cases),
        "difficulty": "interview",
        "url": "https://example.org/4000",
        "starter_code": "",
        **others,
    }


class TestApps:
    def test_programs_have_inputs_and_outputs(self, tmp_path: Path) -> None:
        cases = {"inputs": ["1 2\n", ["3", "4"]], "outputs": ["3\n", ["7", ""]]}
        dataset = load(tmp_path, apps(cases))
        assert "apps" == dataset.format
        task = dataset["4000"]
        first, second = programs(task)
        assert ("1 2\n", "3\n") == (first.stdin, first.expected)
        assert ("3\n4", "7\n") == (second.stdin, second.expected)
        assert find_checker(first.checker)(b"0.5", b"0.500001") is None
        assert find_checker(first.checker)(b"10000000000000001", b"10000000000000002") is not None
        assert "print(3)" == task.reference
        assert {"difficulty": "interview", "url": "https://example.org/4000"} == task.meta
        assert task.limits is None

    @pytest.mark.parametrize(
        ("starter", "fn"),
        [
            ("class Solution:\n    def add(self, a, b):\n", "Solution().add"),
            ("def add(a, b):\n\t", "add"),
            ("", "Solution().add"),
            ("def adder(a, b):", "Solution().add"),
        ],
    )
    def test_calls_are_of_a_method_unless_there_is_a_function(
        self, tmp_path: Path, starter: str, fn: str
    ) -> None:
        cases = {"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]}
        task = one(tmp_path, apps(cases, starter_code=starter))
        (test,) = calls(task)
        assert (fn, (1, 2), 3) == (test.fn, test.args, test.expected)
        assert fn == task.entry_point

    def test_an_output_may_be_a_list_of_it_alone(self, tmp_path: Path) -> None:
        cases = {"fn_name": "f", "inputs": [[1]], "outputs": [[[1, 2]]]}
        (test,) = calls(one(tmp_path, apps(cases)))
        assert isinstance(test.checker, WrappedValue)
        assert test.checker(test.expected, (1, 2)) is None
        assert test.checker(test.expected, [[1, 2]]) is None
        assert test.checker(test.expected, [1]) is not None

    def test_whole_numbers_that_were_keys_are_numbers_again(self, tmp_path: Path) -> None:
        cases = {
            "fn_name": "f",
            "inputs": [[{"1": "a"}, {"2": "b"}], [{"x": 1, "2": 3}]],
            "outputs": [[{"3": 4}], {"5": 6}],
        }
        first, second = calls(one(tmp_path, apps(cases)))
        assert ({1: "a"}, {"2": "b"}) == first.args
        assert [{3: 4}] == first.expected
        assert ({"x": 1, "2": 3},) == second.args
        assert {5: 6} == second.expected

    def test_integers_may_be_longer_than_python_reads(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="Exceeds the limit"):
            int(LONG)  # the control: the limit holds here
        text = f'{{"fn_name": "f", "inputs": [[{LONG}, -{LONG}]], "outputs": [{LONG}]}}'
        (test,) = calls(one(tmp_path, apps(text)))
        expected = 7 * (10**20_000 - 1) // 9
        assert (expected, -expected) == test.args
        assert expected == test.expected
        with pytest.raises(ValueError, match="Exceeds the limit"):
            int(LONG)

    @pytest.mark.parametrize(
        ("cases", "message"),
        [
            ("", "expected inputs and outputs, got none"),
            ("oops", "invalid input_output: expected JSON"),
            ("[]", "invalid input_output: expected an object, got a list"),
            ({"inputs": [], "outputs": []}, "expected at least one"),
            ({"inputs": ["1"], "outputs": []}, "got 1 and 0"),
            ({"inputs": [1], "outputs": ["1"]}, r"input_output.inputs\[0\]: expected text"),
            ({"inputs": ["1"], "outputs": [{}]}, r"input_output.outputs\[0\]: expected text"),
            (
                {"fn_name": "a.b", "inputs": [[1]], "outputs": [1]},
                "expected the name of a function",
            ),
            ({"fn_name": "f", "inputs": [1], "outputs": [1]}, "expected a list of arguments"),
        ],
    )
    def test_other_forms_are_refused(self, tmp_path: Path, cases: Any, message: str) -> None:
        with pytest.raises(ValidationError, match="line 1: .*" + message):
            one(tmp_path, apps(cases))

    def test_taco_has_limits_and_no_ids(self, tmp_path: Path) -> None:
        record = apps(
            {"inputs": ["1"], "outputs": ["1"]},
            time_limit="2.0 seconds",
            memory_limit="256.0 megabytes",
            source="codeforces",
        )
        del record["problem_id"]
        dataset = load(tmp_path, record, {**record, "time_limit": None, "memory_limit": None})
        assert ["0", "1"] == list(dataset)
        assert EvalLimits(cpu_time=2, memory=256 * 2**20) == dataset["0"].limits
        assert dataset["1"].limits is None

    @pytest.mark.parametrize(
        ("text", "seconds"), [("1 second", 1), ("500 ms", 0.5), ("0.5 - 1.5 seconds", 1.5)]
    )
    def test_spellings_of_times_are_understood(
        self, tmp_path: Path, text: str, seconds: float
    ) -> None:
        record = apps({"inputs": ["1"], "outputs": ["1"]}, time_limit=text)
        limits = one(tmp_path, record).limits
        assert limits is not None
        assert seconds == limits.cpu_time

    @pytest.mark.parametrize("text", ["soon", "2 fortnights", "..s", "-1 s", -1, True, []])
    def test_other_times_are_refused(self, tmp_path: Path, text: object) -> None:
        record = apps({"inputs": ["1"], "outputs": ["1"]}, time_limit=text)
        with pytest.raises(ValidationError, match="invalid time_limit: expected a number from 0"):
            one(tmp_path, record)

    def test_the_setup_has_the_names_that_solutions_use(self) -> None:
        code = PRELUDE + (
            "def f(a: List[int]) -> Optional[Deque[int]]: return deque(a)\n"
            "print(len(f([1])), pow(2, 3, 5), inf, datetime.datetime(2024, 1, 2).year, gcd(4, 6))\n"
            "print(open.__module__, Counter('aa')['a'], accumulate, sys.getrecursionlimit())\n"
        )
        result = subprocess.run(
            [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
        )
        assert result.stdout.startswith("1 3 inf 2024 2\n")
        assert result.stdout.endswith("50000\n")


def cases(*pairs: tuple[str, str], kind: str = "stdin") -> str:
    return json.dumps([{"input": a, "output": b, "testtype": kind} for a, b in pairs])


def packed(text: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(text))).decode()


def lcb(public: Any, private: Any, **others: Any) -> dict[str, Any]:
    return {
        "question_title": "A",
        "question_content": "Add.",
        "platform": "atcoder",
        "question_id": "abc300_a",
        "contest_id": "abc300",
        "contest_date": "2023-04-29T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": public,
        "private_test_cases": private,
        "metadata": "{}",
        **others,
    }


class TestLiveCodeBench:
    @pytest.mark.parametrize("pack", [str, packed], ids=["JSON", "packed"])
    def test_programs_have_public_and_private_tests(self, tmp_path: Path, pack: Any) -> None:
        private = pack(cases(("3 4\n", "7\n"), ("ü", "世界")))
        dataset = load(tmp_path, lcb(cases(("1 2\n", "3\n")), private))
        assert "livecodebench" == dataset.format
        task = dataset["abc300_a"]
        tests = programs(task)
        assert [("1 2\n", "3\n"), ("3 4\n", "7\n"), ("ü", "世界")] == [
            (test.stdin, test.expected) for test in tests
        ]
        assert [("public/0", "public", False), ("private/0", "private", True)] == [
            (test.name, test.group, test.hidden) for test in tests[:2]
        ]
        assert find_checker(tests[0].checker)(b"1.0 a", b"1 a") is None
        assert find_checker(tests[0].checker)(b"1.0", b"1.000001") is not None
        assert "atcoder" == task.meta["platform"]

    def test_functions_have_a_json_argument_in_each_line(self, tmp_path: Path) -> None:
        record = lcb(
            cases(('[1, 2]\n"a b"\nnull', "[[3, 1.5]]"), kind="functional"),
            packed(cases((LONG, "true"), ("", "1"), kind="functional")),
            starter_code="class Solution:\n    def solve(self, a, b, c):\n        ",
            metadata='{"func_name": "solve"}',
        )
        task = one(tmp_path, record)
        first, second, third = calls(task)
        assert ("Solution().solve", ([1, 2], "a b", None), [[3, 1.5]]) == (
            first.fn,
            first.args,
            first.expected,
        )
        assert (7 * (10**20_000 - 1) // 9,) == second.args
        assert second.expected is True
        assert () == third.args
        assert "from typing import *" in task.setup
        check = find_value_checker(first.checker)
        assert check([[3, 1.5]], [(3.0, 1.5)]) is None
        assert check([[3, 1.5]], [[3, 2]]) is not None

    def test_a_pickle_of_more_than_a_text_is_refused(self, tmp_path: Path) -> None:
        made = tmp_path / "made"

        class Hostile:
            def __reduce__(self) -> tuple[Any, ...]:
                return (Path.touch, (made,))

        record = lcb(cases(("1", "1")), packed(Hostile()))
        message = "line 1: invalid private_test_cases: expected a pickle of one string"
        with pytest.raises(ValidationError, match=message):
            one(tmp_path, record)
        assert not made.exists()
        pickle.loads(zlib.decompress(base64.b64decode(record["private_test_cases"])))
        assert made.exists()  # the control: unpickling runs it

    @pytest.mark.parametrize(
        ("public", "private", "message"),
        [
            (cases(), cases(), "expected at least one test"),
            (cases(("1", "1"), kind="magic"), "", "expected stdin, or functional"),
            (cases(("1", "1"), kind="functional"), "", "with a func_name in metadata"),
            ("[1]", "", r"public_test_cases\[0\]: expected an object"),
            ('{"a": 1}', "", "public_test_cases: expected a list, got an object"),
            ('[{"input": 1}]', "", r"public_test_cases\[0\].input: expected text"),
            ("[", "", "expected JSON"),
            (cases(("1", "1")), packed("no JSON"), "private_test_cases: expected JSON"),
            (cases(("1", "1")), "§", "private_test_cases: expected base64"),
        ],
    )
    def test_other_forms_are_refused(
        self, tmp_path: Path, public: str, private: str, message: str
    ) -> None:
        with pytest.raises(ValidationError, match="line 1: .*" + message):
            one(tmp_path, lcb(public, private))

    def test_an_argument_that_is_no_json_is_named(self, tmp_path: Path) -> None:
        public = cases(("1\nx", "1"), kind="functional")
        with pytest.raises(ValidationError, match=r"line 2 of public_test_cases\[0\].input"):
            one(tmp_path, lcb(public, "", metadata={"func_name": "f"}))


CHECKER = """\
import sys

def main():
    n = int(open(sys.argv[1]).read())
    answer = open(sys.argv[2]).read().split()
    output = open(sys.argv[3]).read().split()
    print(1 if len(answer) == len(output) and sum(map(int, output)) == n else 0)

if __name__ == "__main__":
    main()
"""


def codeforces(**others: Any) -> dict[str, Any]:
    return {
        "id": "1/A",
        "title": "Sum",
        "description": "Split the number.",
        "input_format": "A number.",
        "output_format": "Two numbers.",
        "interaction_format": None,
        "note": None,
        "examples": [{"input": "5", "output": "2 3"}],
        "official_tests": [
            {"input": "5\n", "output": "2 3\n"},
            {"input": "9\n", "output": "4 5\n"},
        ],
        "official_tests_complete": True,
        "input_mode": "stdio",
        "generated_checker": None,
        "time_limit": 1.5,
        "memory_limit": 256.0,
        **others,
    }


class TestCodeforces:
    def test_official_tests_have_limits_and_examples_are_not_hidden(self, tmp_path: Path) -> None:
        dataset = load(tmp_path, codeforces())
        assert "codeforces" == dataset.format
        task = dataset["1/A"]
        assert [("5\n", "2 3\n", False), ("9\n", "4 5\n", True)] == [
            (test.stdin, test.expected, test.hidden) for test in programs(task)
        ]
        assert EvalLimits(cpu_time=1.5, memory=2**28) == task.limits
        assert "Sum\n\nSplit the number.\n\nA number.\n\nTwo numbers." == task.prompt
        assert {"official_tests_complete": True} == task.meta

    def test_a_problem_for_each_language_has_its_own_id(self, tmp_path: Path) -> None:
        records = [codeforces(prompt="Do it.", language=name) for name in ("python", "cpp")]
        dataset = load(tmp_path, *records)
        assert [("1/A/python", "python"), ("1/A/cpp", "cpp")] == [
            (task.id, task.language) for task in dataset.values()
        ]

    @pytest.mark.parametrize(
        ("checker", "output", "code"),
        [
            (CHECKER, "2 3", 0),
            (CHECKER, "1 4", 0),
            (CHECKER, "1 5", 1),
            (CHECKER, "", 1),
            (CHECKER, "five", 1),  # the checker fails
            ("print(1)", "x", 0),
            ("print(1.0)", "x", 0),
            ("print(0.5)", "x", 1),
            ("print('ok')", "x", 1),
            ("print(1); raise SystemExit(0)", "x", 0),
            ("print(1); raise SystemExit(1)", "x", 1),
            ("print(1); raise ValueError", "x", 1),
            ("print(1", "x", 1),
            ("raise MemoryError", "x", 3),
        ],
    )
    def test_a_checker_gets_its_files_and_gives_exit_codes(
        self, tmp_path: Path, checker: str, output: str, code: int
    ) -> None:
        (test, _) = one(tmp_path, codeforces(generated_checker=checker)).tests
        assert isinstance(test, CheckerTest)
        assert ("5\n", "2 3\n", "python") == (test.stdin, test.answer, test.language)
        files = {"checker": test.checker, "input": test.stdin, "output": output}
        for name, content in {**files, "answer": test.answer}.items():
            (tmp_path / name).write_text(str(content))
        result = subprocess.run(
            [sys.executable, "-I", "checker", "input", "output", "answer"], cwd=tmp_path
        )
        assert code == result.returncode

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"input_mode": "file"}, "invalid input_mode: expected stdio"),
            ({"interaction_format": "Ask."}, "invalid interaction_format: expected none"),
            ({"official_tests": []}, "expected at least one test"),
            ({"official_tests": [{"input": "1"}]}, r"official_tests\[0\].output: expected text"),
            ({"time_limit": 1e9}, "invalid cpu_time"),
        ],
    )
    def test_what_cannot_be_honoured_is_refused(
        self, tmp_path: Path, change: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValidationError, match="line 1: .*" + message):
            one(tmp_path, codeforces(**change))


def ioi(subtask: str, score: float, *names: str, **others: Any) -> dict[str, Any]:
    return {
        "year": 2024,
        "id": "nile",
        "subtask": subtask,
        "score": score,
        "test_names": list(names),
        "test_cases": [[f"in {name}", f"out {name}"] for name in names],
        "time_limit": 2.0,
        "memory_limit": 2**28,
        "grader_files": [["grader.cpp", ""]],
        "problem": f"Nile, {subtask}",
        **others,
    }


class TestIoi:
    def test_subtasks_are_groups_of_one_task(self, tmp_path: Path) -> None:
        named = {"1-02": ["in 1-02", "out 1-02"], "1-01": ["in 1-01", "out 1-01"]}
        dataset = load(
            tmp_path,
            ioi("00-samples", 0, "0-01"),
            ioi("01-equal", 6, "1-01", "1-02", test_cases=named),
        )
        assert "ioi" == dataset.format
        task = dataset["2024/nile"]
        assert ("groups", "cpp") == (task.score, task.language)
        assert EvalLimits(cpu_time=2, memory=2**28) == task.limits
        assert [
            ("in 0-01", "00-samples", 0.0),
            ("in 1-01", "01-equal", 3.0),
            ("in 1-02", "01-equal", 3.0),
        ] == [(test.stdin, test.group, test.weight) for test in programs(task)]

    def test_a_subtask_comes_once(self, tmp_path: Path) -> None:
        with pytest.raises(ValidationError, match="line 2: invalid subtask"):
            load(tmp_path, ioi("01", 6, "1"), ioi("01", 6, "2"))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"grader_files": [["grader.cpp", "int main() {}"]]}, "invalid grader_files"),
            ({"test_cases": None}, "invalid test_cases: expected the tests of test_names"),
            ({"test_cases": []}, "expected one test for each of test_names"),
            ({"test_cases": {"2": ["a", "b"]}}, r"test_cases\[1\]: expected an input and"),
        ],
    )
    def test_what_cannot_be_honoured_is_refused(
        self, tmp_path: Path, change: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValidationError, match="line 1: .*" + message):
            load(tmp_path, ioi("01", 6, "1", **change))


def code_contests(**others: Any) -> dict[str, Any]:
    return {
        "name": "1549_A. Sum",
        "description": "Add.",
        "public_tests": {"input": ["1 2"], "output": ["3"]},
        "private_tests": {"input": ["3 4", "5 6"], "output": ["7", "11"]},
        "generated_tests": {"input": [], "output": []},
        "source": 2,
        "solutions": {"language": [2, 3, 3], "solution": ["int main", "print(3)", "print(4)"]},
        "time_limit": {"seconds": 2, "nanos": 500_000_000},
        "memory_limit_bytes": 256_000_000,
        "input_file": "",
        "output_file": "",
        **others,
    }


class TestCodeContests:
    def test_every_kind_of_test_is_a_group(self, tmp_path: Path) -> None:
        path = tmp_path / "data.parquet"
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist([code_contests()]), path)
        dataset = load_dataset(path)
        assert "code_contests" == dataset.format
        task = dataset["1549_A. Sum"]
        assert [
            ("1 2", "3", "public/0", False),
            ("3 4", "7", "private/0", True),
            ("5 6", "11", "private/1", True),
        ] == [(test.stdin, test.expected, test.name, test.hidden) for test in programs(task)]
        assert EvalLimits(cpu_time=2.5, memory=256_000_000) == task.limits
        assert "print(3)" == task.reference

    def test_the_spelling_of_protocol_buffers_is_the_same(self, tmp_path: Path) -> None:
        task = one(
            tmp_path,
            code_contests(
                public_tests=[{"input": "1 2", "output": "3"}],
                private_tests=None,
                generated_tests=[],
                solutions=[{"language": "PYTHON3", "solution": "print(3)"}],
                time_limit=None,
                memory_limit_bytes=0,
            ),
        )
        assert ("1 2", "print(3)", None) == (
            programs(task)[0].stdin,
            task.reference,
            task.limits,
        )

    def test_outputs_compare_in_any_case_and_within_a_tolerance(self, tmp_path: Path) -> None:
        checker = programs(one(tmp_path, code_contests()))[0].checker
        assert isinstance(checker, CaselessOutput)
        assert checker(b"YES 0.5\n", b"Yes 0.500001") is None
        assert checker(b"YES 0.5\n", b"No 0.5") is not None
        assert checker(b"YES 0.5\n", b"YES 0.51") is not None

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"input_file": "in.txt"}, "invalid input_file: expected none"),
            ({"public_tests": {"input": ["1"], "output": []}}, "got 1 and 0"),
            ({"public_tests": None, "private_tests": None}, "expected at least one test"),
        ],
    )
    def test_what_cannot_be_honoured_is_refused(
        self, tmp_path: Path, change: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValidationError, match="line 1: .*" + message):
            one(tmp_path, code_contests(**change))

    def test_names_that_agree_are_problems(self, tmp_path: Path) -> None:
        with pytest.raises(ValidationError, match="line 2: invalid id"):
            load(tmp_path, code_contests(), code_contests())
