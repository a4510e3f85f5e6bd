"""Rates beside those of other graders: ``python -m benchmarks.grader_rates --evalplus PYTHON``.

The same samples are graded in turns by our evaluation, by EvalPlus's runner, which isolates
nothing, and by inspect_ai with a container for each sample. Two are graded at a time by the first
two; inspect_ai chooses for itself. Each has to give the true verdicts.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from benchmarks.containers import missing_engine
from benchmarks.table import machine
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.evaluation import Evaluator, Sample
from tests.evaluation.corpus import TASKS, tests_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]

_RIVAL = Path(__file__).with_name("rival_graders.py")
_WORKERS = 2


def _samples(count: int) -> tuple[list[Sample], list[dict[str, Any]], list[bool]]:
    """Return right and wrong solutions: for us, for the others, and whether each passes."""
    ours, theirs, verdicts = [], [], []
    for number in range(count):
        task, is_right = TASKS[number // 2 % len(TASKS)], number % 2 == 0
        code = task.right if is_right else task.wrong
        ours.append(Sample(str(number), code, tests=tests_of(task, "call")))
        theirs.append({"code": code, "cases": task.cases})
        verdicts.append(is_right)
    return ours, theirs, verdicts


def _rate_of_ours(count: int) -> float:
    samples, _, verdicts = _samples(count)
    with Evaluator(workers=_WORKERS, backend="bubblewrap") as evaluator:
        list(evaluator.map(samples[:_WORKERS]))
        started = time.perf_counter()
        passed = {one.id: one.passed for one in evaluator.map(samples)}
        seconds = time.perf_counter() - started
    _check("llm-sandbox", [passed[one.id] for one in samples], verdicts)
    return count / seconds


def _rate_of(name: str, python: str, count: int) -> float:
    _, samples, verdicts = _samples(count)
    done = subprocess.run(
        [python, str(_RIVAL), name, str(_WORKERS)],
        input=json.dumps(samples),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "INSPECT_IMAGE": image_name("python")},
    )
    if done.returncode:
        sys.exit(f"error: {name} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    *answers, seconds = (json.loads(line) for line in done.stdout.splitlines())
    _check(name, answers, verdicts)
    return count / float(seconds)


def _check(name: str, found: list[bool], wanted: list[bool]) -> None:
    wrong = sum(a != b for a, b in zip(found, wanted, strict=True))
    if wrong:
        sys.exit(f"error: {name} gives {wrong} of {len(wanted)} samples another verdict")


def main() -> int:
    """Grade with each in turns, and print the rates; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--evalplus", metavar="PYTHON", help="interpreter that has evalplus")
    parser.add_argument("--inspect", action="store_true", help="inspect_ai with Docker, too")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    lanes: dict[str, Callable[[], float]] = {"llm-sandbox": lambda: _rate_of_ours(240)}
    if options.evalplus:
        if shutil.which(options.evalplus) is None:
            parser.error(f"invalid --evalplus: expected an interpreter, got {options.evalplus}")
        lanes["EvalPlus"] = lambda: _rate_of("evalplus", options.evalplus, 120)
    if options.inspect:
        if missing := missing_engine("docker"):
            parser.error(f"invalid --inspect: {missing}")
        lanes["inspect_ai, Docker"] = lambda: _rate_of("inspect", sys.executable, 20)
    rates: dict[str, list[float]] = {name: [] for name in lanes}
    for _ in range(options.rounds):
        for name, lane in lanes.items():
            rates[name].append(lane())
    table = Table("grader", "samples/s", "ours to it", title_justify="left")
    table.title = f"Rate of graders, median of {options.rounds}"
    ours = statistics.median(rates["llm-sandbox"])
    for name, found in rates.items():
        rate = statistics.median(found)
        table.add_row(name, f"{rate:.1f}", f"{ours / rate:.2f}x")
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    console.print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
