"""Verdicts beside those of other graders: ``python -m benchmarks.graders --evalplus PYTHON``.

The samples are the corpus of evaluation, and pairs of values and texts that are nearly equal. Each
is graded by our evaluation of a data set in the other product's format, and by that product's own
code. The others isolate nothing: the samples harm nobody, and the limits are wide.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from benchmarks.table import machine
from llm_sandbox.evaluation import EvalLimits, Evaluator, Sample, Verdict
from llm_sandbox.evaluation.datasets import DatasetFormat, load_dataset
from tests.evaluation.corpus import TASKS, variants

__all__ = ["main"]

_RIVAL = Path(__file__).with_name("rival_graders.py")
_READ = "\nimport json\nprint(json.dumps(f(*json.loads(input()))))\n"

_VALUES = {
    "tuple for a list": ("(1, 2)", [1, 2]),
    "tuple in a list": ("[(1, 2)]", [[1, 2]]),
    "float for an integer": ("2.0", 2),
    "integer for a float": ("2", 2.0),
    "True for 1": ("True", 1),
    "1 for True": ("1", True),
    "float, 1e-9 away": ("0.5 + 1e-9", 0.5),
    "float, 1e-7 away": ("0.5 + 1e-7", 0.5),
    "float, 1e-5 away": ("0.5 + 1e-5", 0.5),
    "floats, 1e-7 away": ("[0.5 + 1e-7, 1.0]", [0.5, 1.0]),
    "float in a dictionary, 1e-7 away": ("{'x': 0.5 + 1e-7}", {"x": 0.5}),
    "float in a list of lists, 1e-7 away": ("[[0.5 + 1e-7]]", [[0.5]]),
    "integer above 2**53, one away": ("10**16 + 1", 10**16),
    "array of numpy for a list": ("__import__('numpy').array([1, 2])", [1, 2]),
    "float of numpy for a float": ("__import__('numpy').float64(0.5)", 0.5),
    "subclass of int": ("type('N', (int,), {})(2)", 2),
    "set for a list": ("{1}", [1]),
    "dictionary in another order": ("{'b': 1, 'a': 2}", {"a": 2, "b": 1}),
    "other case": ("'Yes'", "yes"),
}
"""Expressions that a function returns, and expected values."""

_TEXTS = {
    "no line end": ("1", "1\n"),
    "spaces at the end of a line": ("1 \n2\n", "1\n2\n"),
    "spaces at the beginning of a line": ("  1\n2\n", "1\n2\n"),
    "empty line in between": ("1\n\n2\n", "1\n2\n"),
    "lines at the end": ("1\n\n\n", "1\n"),
    "one line for two": ("1 2\n", "1\n2\n"),
    "two spaces for one": ("a  b\n", "a b\n"),
    "two spaces for one, numbers": ("1  2\n", "1 2\n"),
    "1.0 for 1": ("1.0\n", "1\n"),
    "1e0 for 1": ("1e0\n", "1\n"),
    "01 for 1": ("01\n", "1\n"),
    "float, 1e-9 away": ("0.500000001\n", "0.5\n"),
    "integer above 2**53, one away": ("10000000000000001\n", "10000000000000000\n"),
    "other case": ("YES\n", "yes\n"),
}
"""Texts that a program prints, and expected outputs."""

_LIMITS = EvalLimits(cpu_time=2, wall_time=12, memory="4g")


@dataclass(frozen=True)
class _Case:
    """Sample, for all graders."""

    name: str
    kind: Literal["call", "stdio"]
    code: str
    cases: Sequence[tuple[Any, Any]]


@dataclass(frozen=True)
class _Rival:
    """Another grader.

    Args:
        name: Its name.
        command: Name for `rival_graders`.
        format: Name of its data sets' format.
        record: Makes a record of a data set of a case; None for a case that it cannot grade.
    """

    name: str
    command: str
    format: DatasetFormat
    record: Callable[[_Case], Mapping[str, Any] | None]


def _evalplus_record(case: _Case) -> Mapping[str, Any] | None:
    if case.kind != "call":
        return None
    known = [(list(args), value) for args, value in case.cases]
    return {
        "task_id": case.name,
        "prompt": "def f(*args):\n",
        "entry_point": "f",
        "canonical_solution": f"    return next(v for a, v in {known!r} if a == list(args))\n",
        "base_input": [args for args, _ in known],
        "plus_input": [],
        "atol": 0,
    }


def _livecodebench_record(case: _Case) -> Mapping[str, Any]:
    is_call = case.kind == "call"
    tests = [
        {
            "input": "\n".join(map(json.dumps, given)) if is_call else given,
            "output": json.dumps(wanted) if is_call else wanted,
            "testtype": "functional" if is_call else "stdin",
        }
        for given, wanted in case.cases
    ]
    return {
        "question_id": case.name,
        "question_content": "",
        "starter_code": "",
        "platform": "",
        "public_test_cases": json.dumps(tests),
        "private_test_cases": "[]",
        "metadata": json.dumps({"func_name": "f"} if is_call else {}),
    }


_EVALPLUS = _Rival("EvalPlus", "evalplus", "evalplus", _evalplus_record)
_LIVECODEBENCH = _Rival("LiveCodeBench", "livecodebench", "livecodebench", _livecodebench_record)


def _cases(step: int) -> list[_Case]:
    found = []
    for number, task in enumerate(TASKS[::step]):
        kind: Literal["call", "stdio"] = "stdio" if number % 2 else "call"
        for name, (code, _) in variants(task, kind).items():
            cases: list[tuple[Any, Any]] = list(task.cases)
            if kind == "stdio":
                cases = [(json.dumps(args), f"{json.dumps(value)}\n") for args, value in cases]
                code += _READ  # noqa: PLW2901 - a program of the function
            found.append(_Case(f"{task.name}: {name}", kind, code, cases))
    for name, (value, expected) in _VALUES.items():
        code = f"def f(x):\n    return {value}"
        found.append(_Case(f"value: {name}", "call", code, [([0], expected)]))
    for name, (text, expected) in _TEXTS.items():
        code = f"import sys\nsys.stdout.write({text!r})"
        found.append(_Case(f"text: {name}", "stdio", code, [("", expected)]))
    return found


def _ours(rival: _Rival, cases: Sequence[_Case]) -> dict[str, Verdict]:
    """Grade a data set in the other product's format."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.jsonl"
        path.write_text("".join(f"{json.dumps(rival.record(case))}\n" for case in cases))
        tasks = load_dataset(path, format=rival.format)
    samples = [Sample(case.name, case.code, task=case.name) for case in cases]
    with Evaluator(tasks=tasks, limits=_LIMITS, backend="bubblewrap") as evaluator:
        return {one.id: one.verdict for one in evaluator.map(samples)}


def _theirs(rival: _Rival, python: str, path: str | None, cases: Sequence[_Case]) -> list[bool]:
    """Grade with the other product's code, under an interpreter that has it."""
    sent = [{"kind": one.kind, "code": one.code, "cases": list(one.cases)} for one in cases]
    done = subprocess.run(
        [python, str(_RIVAL), rival.command],
        input=json.dumps(sent),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **({"PYTHONPATH": path} if path is not None else {})},
    )
    answers = [bool(json.loads(line)) for line in done.stdout.splitlines()[:-1]]
    if len(answers) != len(cases):
        what = f"{rival.name} graded {len(answers)} of {len(cases)}"
        sys.exit(f"error: {what}:\n{done.stderr[-2000:]}")
    return answers


def main() -> int:
    """Grade with each, and print the differences; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--evalplus", metavar="PYTHON", help="interpreter that has evalplus")
    parser.add_argument("--livecodebench", metavar="FOLDER", help="checkout of LiveCodeBench")
    parser.add_argument("--step", type=int, default=1, help="distance of the tasks that are taken")
    options = parser.parse_args()
    if not options.evalplus and not options.livecodebench:
        parser.error("give --evalplus, --livecodebench or both")
    if options.evalplus and shutil.which(options.evalplus) is None:
        parser.error(f"invalid --evalplus: expected an interpreter, got {options.evalplus}")
    cases, console = _cases(options.step), Console(width=None if sys.stdout.isatty() else 120)
    if options.evalplus:
        console.print(_compare(_EVALPLUS, options.evalplus, None, cases))
    if options.livecodebench:
        console.print(_compare(_LIVECODEBENCH, sys.executable, options.livecodebench, cases))
    console.print(machine())
    return 0


def _compare(rival: _Rival, python: str, path: str | None, cases: Sequence[_Case]) -> Table:
    cases = [case for case in cases if rival.record(case) is not None]
    ours, theirs = _ours(rival, cases), _theirs(rival, python, path, cases)
    table = Table("sample", "ours", rival.name, title_justify="left")
    for case, passed in zip(cases, theirs, strict=True):
        if passed != (ours[case.name] is Verdict.ACCEPTED):
            table.add_row(case.name, str(ours[case.name]), "passes" if passed else "fails")
    same = len(cases) - table.row_count
    table.title = f"{rival.name}: the same verdict on {same} of {len(cases)} samples"
    return table


if __name__ == "__main__":
    sys.exit(main())
