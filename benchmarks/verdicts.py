"""Verdicts of the corpus: ``python -m benchmarks.verdicts [--step N]``.

Evaluates all programs of `tests.evaluation.corpus` with one at a time, one for each CPU and four
for each CPU, beside a process that takes a CPU. The exit code is 1 when a verdict is not true.
"""

import argparse
import os
import sys
import time

from rich.console import Console
from rich.table import Table

from benchmarks.table import machine
from llm_sandbox.evaluation import Evaluator, SampleResult
from tests.evaluation.corpus import LIMITS, busy_cpu, corpus

__all__ = ["main"]


def main() -> int:
    """Evaluate, and print a line for each number of workers; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--step", type=int, default=1, help="distance of the tasks that are taken")
    samples, expected = corpus(parser.parse_args().step)
    console = Console(width=None if sys.stdout.isatty() else 120)
    columns = ("at a time", "samples", "false verdicts", "tests run again", "samples/s")
    table = Table(*columns, title="beside a process that takes a CPU")
    false: list[SampleResult] = []
    cpus = os.cpu_count() or 1
    for workers in sorted({1, cpus, 4 * cpus}):
        with (
            console.status(f"{workers} at a time"),
            busy_cpu(),
            Evaluator(limits=LIMITS, workers=workers, backend="bubblewrap") as evaluator,
        ):
            started = time.perf_counter()
            results = list(evaluator.map(samples))
            rate = len(results) / (time.perf_counter() - started)
        wrong = [one for one in results if one.verdict not in expected[one.id]]
        again = sum(test.attempts > 1 for one in results for test in one.tests)
        words = (workers, len(results), len(wrong), again, f"{rate:.0f}")
        table.add_row(*map(str, words))
        false += wrong
    console.print(table)
    for one in false:
        error = one.error or one.tests[0].error
        console.print(f"{one.id}: {one.verdict} {error}", style="red", markup=False)
    console.print(machine())
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
