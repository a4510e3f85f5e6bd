"""The command line: ``python -m benchmarks [--quick] [--only NAME] [--json FILE] [--write]``.

No time is asserted: the exit code is 1 only when something came out wrong, or something of ours was
left running.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from benchmarks import ours, processes
from benchmarks.cases import all_races
from benchmarks.race import CorrectnessError, Race
from benchmarks.runner import run_race
from benchmarks.table import Line, machine, markdown, print_table, write_page


def main() -> int:
    """Run the races of the command line; return the exit code."""
    races = all_races()
    arguments = _parse([race.name for race in races])
    wanted = [race for race in races if not arguments.only or race.name in arguments.only]
    console = Console(width=None if sys.stdout.isatty() else 180)
    order = random.Random(arguments.seed)
    started = time.monotonic()
    lines: list[Line] = []
    skipped: list[str] = []
    try:
        with console.status("loading the science stack") as status:
            ours.compile_package()
            ours.warm()
            for race in wanted:
                if (reason := race.missing()) is not None:
                    skipped.append(f"skipped: {race.name}: {reason}")
                    continue
                lines += _measure(race, order, quick=arguments.quick, say=status.update)
    except CorrectnessError as error:
        console.print(f"wrong: {error}", style="red", markup=False)
        return 1
    finally:
        ours.end_everything()
    print_table(lines, console)
    for words in skipped:
        console.print(words, markup=False)
    load = os.getloadavg()[0]
    console.print(
        f"{machine()}; load {load:.1f}; {time.monotonic() - started:.0f} s; seed {arguments.seed}"
    )
    if arguments.json:
        data = {"machine": machine(), "load": load, "rows": [line.to_dict() for line in lines]}
        arguments.json.write_text(json.dumps(data, indent=1) + "\n")
    if arguments.write:
        command = "make bench" if not arguments.quick else "python -m benchmarks --quick"
        write_page(markdown(lines, command))
    return _nothing_left(console)


def _parse(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="few rounds: about a minute")
    parser.add_argument("--only", action="append", choices=names, help="one race; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every sample")
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/benchmarks.md"
    )
    parser.add_argument(
        "--seed", type=int, default=random.randrange(10**6), help="order of the lanes"
    )
    return parser.parse_args()


def _measure(
    race: Race, order: random.Random, *, quick: bool, say: Callable[[str], None]
) -> list[Line]:
    samples = run_race(race, quick=quick, order=order, say=say)
    return [
        Line(row, samples[row.ours], None if row.other is None else samples[row.other])
        for row in race.rows
    ]


def _nothing_left(console: Console) -> int:
    limit = time.monotonic() + 5
    while (left := processes.children()) and time.monotonic() < limit:
        time.sleep(0.05)
    if left:
        console.print(f"left running: {left}", style="red", markup=False)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
