"""Assertions, test cases, commands and interactors."""

import pytest

from llm_sandbox.evaluation import AssertTest, CommandTest, InteractiveTest, UnitTest
from llm_sandbox.exceptions import ValidationError

CHECK = AssertTest(
    "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n",
    entry_point="f",
)
CASES = UnitTest(
    {
        "test_f.py": "import unittest\n"
        "class Tests(unittest.TestCase):\n"
        "    def test_one(self): self.assertEqual(f(1), 2)\n"
        "    def test_two(self): self.assertEqual(f(2), 3)\n"
    }
)
FUNCTIONS = UnitTest(
    {
        "test_f.py": "from solution import f\n"
        "def test_1(): assert f(1) == 2\ndef test_2(): assert f(2) == 3"
    },
    framework="pytest",
    module="solution",
)


@pytest.mark.parametrize(
    ("code", "verdict", "integrity"),
    [
        ("def f(x): return sum(x)", "AC", "proxy"),
        ("def f(x): return len(x)", "WA", "proxy"),
        ("def f(x): return 1 / 0", "RTE", "isolated"),
        ("def f(x):\n    while True: pass", "TLE", "isolated"),
        ("def g(x): return 1", "RTE", "isolated"),
        ("def f(x:", "CE", "isolated"),
    ],
)
def test_assertions_by_proxy(grade, code, verdict, integrity):
    result = grade(code, CHECK)
    assert verdict == result.verdict
    if verdict in ("AC", "WA"):
        assert integrity == result.integrity


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("def f(x): x.sort()", "x = [3, 1]\nf(x)\nassert x == [1, 3]"),
        (
            "def f(x): raise ValueError('no')",
            "try:\n    f(1)\n    assert False\nexcept ValueError as e:\n    assert str(e) == 'no'",
        ),
        ("def f(n):\n    yield from range(n)", "assert list(f(3)) == [0, 1, 2]"),
        ("def f(n): return range(n)", "assert f(3) == range(3)"),
        ("def f(x): return x.upper()", "assert f('ab').lower() == 'ab'"),
        ("def f(*, key): return key", "assert f(key=(1, 2)) == (1, 2)"),
        (
            "class E(Exception): pass\ndef f(): raise E('x')",
            "try:\n    f()\nexcept Exception as e:\n    assert type(e).__name__ == 'E'",
        ),
    ],
)
def test_what_a_proxy_can_do(grade, code, source):
    result = grade(code, AssertTest(source))
    assert ("AC", "proxy") == (result.verdict, result.integrity), result


def test_classes_are_tested_inline_and_it_is_said(grade):
    test = AssertTest("assert S(3).half() == 1.5")
    result = grade(
        "class S:\n    def __init__(self, x): self.x = x\n    def half(self): return self.x / 2",
        test,
    )
    assert ("AC", "inline") == (result.verdict, result.integrity)
    result = grade("class S:\n    def __init__(self, x): pass\n    def half(self): return 2", test)
    assert ("WA", "inline") == (result.verdict, result.integrity)


def test_what_only_inline_can_do_is_refused_by_proxy(grade):
    with pytest.raises(ValidationError, match=r"mode='auto'"):
        grade("class S: pass", AssertTest("assert S().x == 1", mode="proxy"))


def test_the_line_and_the_value_are_said(grade):
    found = grade("def f(x): return len(x)", CHECK).tests[0].difference
    assert "line 2" == found.where
    assert "assert candidate([1, 2]) == 3" == found.expected
    assert "f(...) returned 2" == found.actual


def test_assertions_that_call_nothing_are_no_tests(grade):
    assert "NT" == grade("def f(): pass", AssertTest("x = 1")).verdict


@pytest.mark.parametrize("test", [CASES, FUNCTIONS], ids=["unittest", "pytest"])
def test_test_cases(grade, test):
    right = grade("def f(x): return x + 1", test)
    assert ("AC", "inline") == (right.verdict, right.integrity)
    wrong = grade("def f(x): return 2", test)
    assert "WA" == wrong.verdict
    assert 0.5 == wrong.tests[0].points
    assert "RTE" == grade("import os\ndef f(x): os._exit(0)", test).verdict
    assert "RTE" == grade("raise SystemExit(0)", test).verdict or test is FUNCTIONS


@pytest.mark.parametrize("framework", ["unittest", "pytest"])
def test_no_test_cases_are_no_success(grade, framework):
    assert "NT" == grade("x = 1", UnitTest({"test_f.py": "y = 1"}, framework=framework)).verdict


def test_skipped_test_cases_are_no_success(grade):
    source = (
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test_one(self): self.skipTest('not now')\n"
    )
    assert "NT" == grade("x = 1", UnitTest({"test_f.py": source})).verdict


def test_a_module_that_cannot_be_collected_is_no_success(grade):
    result = grade("x = 1", UnitTest({"test_f.py": "def ("}, framework="pytest"))
    assert "RTE" == result.verdict


def test_selected_cases_only(grade):
    test = UnitTest(CASES.files, select=["test_one"])
    assert "AC" == grade("def f(x): return 2", test).verdict


def test_commands(grade):
    test = CommandTest(["python3", "-c", "import main; assert main.x == 1"])
    assert ("AC", "inline") == (grade("x = 1", test).verdict, grade("x = 1", test).integrity)
    assert "WA" == grade("x = 2", test).verdict


def test_reports_of_commands(grade):
    def test(source):
        command = ["python3", "-m", "pytest", "--junit-xml=report.xml", "test_it.py"]
        return CommandTest(command, junit="report.xml", files={"test_it.py": source})

    right = test("import main\ndef test_x(): assert main.x == 1\n")
    assert "AC" == grade("x = 1", right).verdict
    assert "WA" == grade("x = 2", right).verdict
    assert (
        "NT" == grade("x = 1", test("import pytest\n@pytest.mark.skip\ndef test_x(): pass")).verdict
    )
    nothing = CommandTest(["true"], junit="report.xml")
    assert "NT" == grade("x = 1", nothing).verdict


INTERACTOR = """
import sys
secret = int(open(sys.argv[1]).read())
for _ in range(12):
    guess = int(input())
    if guess == secret:
        print("yes", flush=True)
        sys.exit(0)
    print("more" if guess < secret else "less", flush=True)
sys.exit(1)
"""
BISECTION = """
low, high = 0, 1000
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    answer = input()
    if answer == "yes":
        break
    low, high = (middle + 1, high) if answer == "more" else (low, middle - 1)
"""


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (BISECTION, "AC"),
        ("for i in range(20):\n    print(i, flush=True)\n    input()", "WA"),
        ("input()", "TLE"),
        ("while True: pass", "TLE"),
        ("1 / 0", "RTE"),
        ("print(500, flush=True)", "WA"),
        (BISECTION + "\n1 / 0", "RTE"),
    ],
)
def test_interactors(grade, code, verdict):
    assert verdict == grade(code, InteractiveTest(INTERACTOR, "700")).verdict


def test_an_interactor_that_fails_says_nothing_about_the_program(grade):
    result = grade(BISECTION, InteractiveTest("import sys; sys.exit(3)", "700"))
    assert ("IE", None) == (result.verdict, result.score)
