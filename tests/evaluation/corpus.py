"""Corpus of evaluation: 60 tasks, each with programs whose verdicts are known."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from llm_sandbox.evaluation import AssertTest, CallTest, EvalLimits, Sample, StdioTest

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = EvalLimits(cpu_time=0.5, wall_time=12, memory="96m", output="1m", files="8m")


@dataclass(frozen=True)
class CorpusTask:
    """Task, a right and a wrong solution, and calls with the values that they have to return."""

    name: str
    right: str
    wrong: str
    cases: tuple[tuple[list[Any], Any], ...]


def _task(
    name: str, params: str, right: str, wrong: str, *cases: tuple[list[Any], Any]
) -> CorpusTask:
    return CorpusTask(
        name,
        f"def f({params}):\n    return {right}",
        f"def f({params}):\n    return {wrong}",
        cases,
    )


TASKS = (
    _task("add", "a, b", "a + b", "a - b", ([1, 2], 3), ([0, -5], -5)),
    _task("double", "x", "2 * x", "x ** 2", ([2], 4), ([3], 6)),
    _task("half", "x", "x / 2", "x // 2", ([4], 2.0), ([3], 1.5)),
    _task("negate", "x", "-x", "abs(x)", ([-3], 3), ([3], -3)),
    _task("absolute", "x", "abs(x)", "x", ([3], 3), ([-3], 3)),
    _task("power", "a, b", "a ** b", "a * b", ([2, 2], 4), ([2, 10], 1024)),
    _task("big_power", "n", "2 ** n", "int(2.0 ** n) + 1", ([1], 2), ([80], 2**80)),
    _task("remainder", "a, b", "a % b", "a // b", ([7, 4], 3), ([-7, 4], 1)),
    _task("largest", "xs", "max(xs)", "xs[-1]", ([[1, 2]], 2), ([[5, 1]], 5)),
    _task("smallest", "xs", "min(xs)", "xs[0]", ([[1, 2]], 1), ([[5, 1]], 1)),
    _task("sum", "xs", "sum(xs)", "sum(xs[1:])", ([[0, 1]], 1), ([[1, 2, 3]], 6)),
    _task("mean", "xs", "sum(xs) / len(xs)", "xs[0]", ([[2, 2]], 2.0), ([[1, 2]], 1.5)),
    _task("length", "xs", "len(xs)", "len(set(xs))", ([[1, 2]], 2), ([[1, 1]], 2)),
    _task("distinct", "xs", "len(set(xs))", "len(xs)", ([[1, 2]], 2), ([[1, 1]], 1)),
    _task("sort", "xs", "sorted(xs)", "xs", ([[1, 2]], [1, 2]), ([[2, 1]], [1, 2])),
    _task(
        "sort_down",
        "xs",
        "sorted(xs, reverse=True)",
        "xs[::-1]",
        ([[1, 2]], [2, 1]),
        ([[2, 1, 3]], [3, 2, 1]),
    ),
    _task("reverse", "xs", "xs[::-1]", "sorted(xs)", ([[2, 1]], [1, 2]), ([[1, 2]], [2, 1])),
    _task("first", "xs", "xs[0]", "min(xs)", ([[1, 2]], 1), ([[2, 1]], 2)),
    _task("last", "xs", "xs[-1]", "max(xs)", ([[1, 2]], 2), ([[2, 1]], 1)),
    _task("middle", "xs", "xs[1:-1]", "xs[1:]", ([[]], []), ([[1, 2, 3]], [2])),
    _task("evens", "xs", "[x for x in xs if x % 2 == 0]", "xs", ([[2]], [2]), ([[1, 2]], [2])),
    _task("odds", "xs", "[x for x in xs if x % 2]", "xs", ([[1]], [1]), ([[1, 2]], [1])),
    _task("squares", "n", "[i * i for i in range(n)]", "[]", ([0], []), ([3], [0, 1, 4])),
    _task("count_down", "n", "list(range(n, 0, -1))", "[n]", ([1], [1]), ([3], [3, 2, 1])),
    _task("zip", "a, b", "[list(p) for p in zip(a, b)]", "[a, b]", ([[1], [2]], [[1, 2]])),
    _task("flatten", "xs", "[y for x in xs for y in x]", "xs", ([[]], []), ([[[1], [2]]], [1, 2])),
    _task("turn", "m", "[list(c) for c in zip(*m)]", "m", ([[]], []), ([[[1], [2]]], [[1, 2]])),
    _task("trace", "m", "sum(r[i] for i, r in enumerate(m))", "m[0][0]", ([[[1, 2], [3, 4]]], 5)),
    _task("running", "xs", "[sum(xs[: i + 1]) for i in range(len(xs))]", "xs", ([[1, 2]], [1, 3])),
    _task("rotate", "xs", "xs[1:] + xs[:1]", "xs", ([[1]], [1]), ([[1, 2]], [2, 1])),
    _task("upper", "s", "s.upper()", "s.title()", (["a"], "A"), (["ab"], "AB")),
    _task("lower", "s", "s.lower()", "s.swapcase()", (["A"], "a"), (["aB"], "ab")),
    _task("mirror", "s", "s[::-1]", "s", (["aa"], "aa"), (["ab"], "ba")),
    _task("palindrome", "s", "s == s[::-1]", "True", (["aba"], True), (["ab"], False)),
    _task("words", "s", "s.split()", "s.split(' ')", (["a b"], ["a", "b"]), (["a  b"], ["a", "b"])),
    _task("join", "xs", "'-'.join(xs)", "''.join(xs)", ([["a"]], "a"), ([["a", "b"]], "a-b")),
    _task("vowels", "s", "sum(c in 'aeiou' for c in s)", "len(s)", (["a"], 1), (["ab"], 1)),
    _task("strip", "s", "s.strip()", "s", (["a"], "a"), ([" a "], "a")),
    _task("repeat", "s, n", "s * n", "s", (["a", 1], "a"), (["a", 3], "aaa")),
    _task("starts", "s, t", "s.startswith(t)", "t in s", (["ab", "a"], True), (["ab", "b"], False)),
    _task("digits", "n", "sum(map(int, str(n)))", "n", ([5], 5), ([123], 6)),
    _task("binary", "n", "bin(n)[2:]", "str(n)", ([1], "1"), ([5], "101")),
    _task("hex", "n", "format(n, 'x')", "str(n)", ([9], "9"), ([255], "ff")),
    _task("parse", "s", "int(s, 2)", "int(s)", (["1"], 1), (["101"], 5)),
    _task("unicode", "s", "len(s)", "len(s.encode())", (["a"], 1), (["äö"], 2)),
    _task("caesar", "s", "''.join(chr((ord(c) - 96) % 26 + 97) for c in s)", "s", (["az"], "ba")),
    _task("counts", "s", "{c: s.count(c) for c in s}", "{}", ([""], {}), (["aa"], {"a": 2})),
    _task("invert", "d", "{v: k for k, v in d.items()}", "d", ([{"a": "b"}], {"b": "a"})),
    _task("merge", "a, b", "a | b", "b | a", ([{"x": 1}, {"x": 2}], {"x": 2})),
    _task("keys", "d", "sorted(d)", "list(d)", ([{}], []), ([{"b": 1, "a": 2}], ["a", "b"])),
    _task("none", "x", "None if x < 0 else x", "x", ([1], 1), ([-1], None)),
    _task("both", "a, b", "a and b", "a or b", ([True, True], True), ([True, False], False)),
    _task("between", "x", "0 <= x < 10", "x < 10", ([5], True), ([-1], False)),
    _task("sign", "x", "(x > 0) - (x < 0)", "1", ([3], 1), ([0], 0)),
    _task("clamp", "x", "max(0, min(9, x))", "min(9, x)", ([10], 9), ([-1], 0)),
    _task("gcd", "a, b", "a if b == 0 else f(b, a % b)", "min(a, b)", ([4, 2], 2), ([12, 18], 6)),
    _task("factorial", "n", "1 if n < 2 else n * f(n - 1)", "n", ([2], 2), ([15], 1307674368000)),
    _task("fibonacci", "n", "n if n < 2 else f(n - 1) + f(n - 2)", "n", ([1], 1), ([15], 610)),
    _task("prime", "n", "all(n % i for i in range(2, n))", "n % 2 == 1", ([3], True), ([9], False)),
    _task("fraction", "a, b", "round(a / b, 6)", "a // b", ([1, 1], 1.0), ([1, 3], 0.333333)),
)  # fmt: skip

ATTACKS = {
    "equal to everything": "class E(int):\n    def __eq__(self, other): return True\n"
    "    __hash__ = int.__hash__\n    def __repr__(self): return ''\ndef f(*_): return E(-87)",
    "verdict in words": "def f(*_):\n    print('PASSED 1 passed in 0.01s')\n    return 'PASSED'",
    "values of the caller": "import sys\ndef f(*_):\n    frame, seen = sys._getframe(), []\n"
    "    while frame: seen.append(dict(frame.f_locals)); frame = frame.f_back\n"
    "    return next((s['expected'] for s in seen if 'expected' in s), 'nothing')",
    "changed comparison": "import builtins, unittest\nbuiltins.AssertionError = ValueError\n"
    "builtins.isinstance = lambda *_: True\ndef f(*_): return 'anything'",
}
"""Attacks on a grader; `test_integrity` has more, and the careless graders that they fool."""


def _with_statement(task: CorpusTask, statement: str) -> str:
    """Return the right solution with a statement at the beginning of the function."""
    head, _, body = task.right.partition("\n")
    return f"{head}\n    {statement}\n{body}"


def variants(task: CorpusTask, kind: str) -> dict[str, tuple[str, set[str]]]:
    """Return programs for a task, by what they are: code, and the verdicts that are true of it."""
    # A program that ends without an output gave a wrong answer; a function did not return.
    ended = {"WA"} if kind == "stdio" else {"RTE"}
    found = {
        "right": (task.right, {"AC"}),
        "wrong": (task.wrong, {"WA"}),
        "slow": (_with_statement(task, "while True: pass"), {"TLE"}),
        "memory": (_with_statement(task, "x = [bytes(10**6) for _ in range(1000)]"), {"MLE"}),
        "crash": (_with_statement(task, "raise ValueError('no')"), {"RTE"}),
        "signal": (_with_statement(task, "import os; os.abort()"), {"RTE"}),
        "exit": (_with_statement(task, "import os; os._exit(0)"), ended),
        "system exit": (_with_statement(task, "raise SystemExit(0)"), ended),
        "compile error": (task.right.replace("return", "retrun", 1) + " !", {"CE"}),
    }
    attacks = {name: (code, {"WA", "RTE"}) for name, code in ATTACKS.items()}
    return found | attacks


def tests_of(task: CorpusTask, kind: str) -> list[Any]:
    """Return the tests of a task, as one of the kinds."""
    if kind == "call":
        return [CallTest("f", args, expected=value) for args, value in task.cases]
    if kind == "assert":
        calls = [f"assert f(*{args!r}) == {value!r}" for args, value in task.cases]
        return [AssertTest("\n".join(calls))]
    return [
        StdioTest(json.dumps(args), f"{value!r}\n", checker="exact") for args, value in task.cases
    ]


def corpus(step: int = 1) -> tuple[list[Sample], dict[str, set[str]]]:
    """Return samples, and the verdicts that are true of each.

    Args:
        step: Distance of the tasks that are taken.
    """
    samples, expected = [], {}
    for number, task in enumerate(TASKS[::step]):
        kind = ("call", "stdio", "assert")[number % 3]
        tests = tests_of(task, kind)
        for name, (code, verdicts) in variants(task, kind).items():
            if kind == "stdio":
                program = f"{code}\nimport json\nprint(repr(f(*json.loads(input()))))\n"
            else:
                program = code
            sample = f"{task.name}: {name}"
            samples.append(Sample(sample, program, tests=tests))
            expected[sample] = verdicts
    return samples, expected


def _burn() -> None:
    while True:
        pass


@contextlib.contextmanager
def busy_cpu() -> Iterator[None]:
    """Keep another process running that takes a CPU."""
    process = multiprocessing.get_context("spawn").Process(target=_burn, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()
