"""Accuracy of the figures' data: ``python -m benchmarks.accuracy [--library L] [--endings]``.

Runs the chart corpus (`tests/charts/corpus`) in sessions of the embedded default, and compares the
charts of the results with what the programs' data say. The exit code is 1 when a target is missed.
"""

import argparse
import datetime
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import ours
from benchmarks.endings import ENDINGS, MARK, end_badly
from benchmarks.table import machine
from llm_sandbox import ExecutionResult
from llm_sandbox.artifacts import ArtifactType
from llm_sandbox.exceptions import SandboxTimeoutError
from tests.charts.cases import CORPUS, Case, find_cases, load_case
from tests.charts.scoring import Score, score_charts

__all__ = ["main"]

TARGET = 95.0
"""Percentage of exact values, for each library with a target."""

_TARGETED = frozenset({"matplotlib", "seaborn", "plotly", "altair"})
_PAGE = Path(__file__).resolve().parent.parent / "docs" / "chart-accuracy.md"
_BLOCK = re.compile(r"(<!-- accuracy:start -->\n).*?(<!-- accuracy:end -->)", re.DOTALL)
_LONGEST_S = 120.0
_HEADINGS = [
    "library",
    "programs",
    "figures",
    "each once",
    "series",
    "values exact",
    "kinds",
    "titles and labels",
    "scales",
]


@dataclass
class Endings:
    """Figures that were there after programs ended in one way."""

    programs: int = 0
    figures: int = 0
    once: int = 0
    wrong: list[str] = field(default_factory=list)


def main() -> int:
    """Run the measurements of the command line; return the exit code."""
    arguments = _parse()
    console = Console(width=None if sys.stdout.isatty() else 160)
    cases = [load_case(path) for path in find_cases(arguments.corpus)]
    if arguments.library:
        cases = [case for case in cases if case.library in arguments.library]
    started = time.monotonic()
    scores: dict[str, Score] = {}
    endings = {name: Endings() for name in ENDINGS} if arguments.endings else {}
    try:
        with console.status("") as status:
            for case in cases:
                status.update(case.name)
                _measure(case, scores, endings, console)
    finally:
        ours.end_everything()
    _print(scores, endings, console)
    console.print(f"{machine()}; {time.monotonic() - started:.0f} s")
    if arguments.write:
        _write_page(_markdown(scores, endings))
    return 0 if _meets(scores, endings) else 1


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--library", action="append", help="one library; may be repeated")
    parser.add_argument(
        "--endings", action="store_true", help="also with an exception, a timeout and a kill after"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the tables into docs/chart-accuracy.md"
    )
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="another folder of cases")
    arguments = parser.parse_args()
    if arguments.write and arguments.library:
        parser.error("--write needs the whole corpus")
    return arguments


def _measure(
    case: Case, scores: dict[str, Score], endings: Mapping[str, Endings], console: Console
) -> None:
    result = _run(case.program, _LONGEST_S)
    score = score_charts(case.expected, _records(result), case.tolerance)
    scores.setdefault(case.library, Score()).add(score)
    for text in score.mismatches[:5]:
        console.print(f"{case.name}: {text}", style="yellow", markup=False, highlight=False)
    if result.exit_code != 0:
        return  # It ends badly by itself.
    allowed = 1.5 * result.usage.wall_s + 1.5
    for name, counts in endings.items():
        ended = _run(end_badly(case.program, name), allowed)
        while MARK not in ended.stdout and ended.timed_out and allowed < _LONGEST_S:
            allowed *= 2
            ended = _run(end_badly(case.program, name), allowed)
        expected, found = len(case.expected), len(_records(ended))
        counts.programs += 1
        counts.figures += expected
        counts.once += max(0, expected - abs(found - expected))
        if found != expected or MARK not in ended.stdout:
            text = f"{case.name} with {name}: {found} of {expected} figures, {ended.status.value}"
            counts.wrong.append(text)
            console.print(text, style="red", markup=False, highlight=False)


def _run(program: str, timeout_s: float) -> ExecutionResult:
    with ours.new_session() as session:
        try:
            return session.run(program, timeout=timeout_s)
        except SandboxTimeoutError as error:
            if not isinstance(error.result, ExecutionResult):
                raise
            return error.result


def _records(result: ExecutionResult) -> list[dict[str, Any]]:
    """Return the chart of each figure in the order shown; empty where its data is not known.

    A figure that was shown twice is one artifact in two places, and counts twice.
    """
    shown = [
        (place, item.chart.to_dict() if item.chart is not None else {})
        for item in result.artifacts
        if item.outputs and (item.type is ArtifactType.FIGURE or item.chart is not None)
        for place in item.outputs
    ]
    return [record for _, record in sorted(shown, key=lambda pair: pair[0])]


def _rows(scores: Mapping[str, Score]) -> list[list[str]]:
    everything = Score()
    for score in scores.values():
        everything.add(score)
    rows = []
    for name, score in [*scores.items(), ("all", everything)]:
        texts = ("titles", "labels")
        right, total = (sum(part[m] for m in texts) for part in (score.right, score.total))
        found = f"{score.right['figures']} of {score.total['figures']}"
        rows.append([name, str(score.scripts), found, f"{score.once} of {score.scripts}"])
        rows[-1] += [f"{score.right['series']:,} of {score.total['series']:,}"]
        rows[-1] += [f"{_percent(score.right['values'], score.total['values'])}"]
        rows[-1] += [_percent(score.right["kinds"], score.total["kinds"]), _percent(right, total)]
        rows[-1] += [_percent(score.right["scales"], score.total["scales"])]
    return rows


def _percent(right: int, total: int) -> str:
    """Return a percentage, rounded down: 100 % means all."""
    return f"{right * 10_000 // total / 100:.2f} %" if total else "-"


def _ending_rows(endings: Mapping[str, Endings]) -> list[list[str]]:
    return [
        [name, str(counts.programs), f"{counts.once} of {counts.figures}"]
        for name, counts in endings.items()
    ]


_ENDING_HEADINGS = ["ended by", "programs", "figures present exactly once"]


def _print(scores: Mapping[str, Score], endings: Mapping[str, Endings], console: Console) -> None:
    tables = [(_HEADINGS, _rows(scores))]
    if endings:
        tables.append((_ENDING_HEADINGS, _ending_rows(endings)))
    for headings, rows in tables:
        table = Table()
        for heading in headings:
            table.add_column(heading, justify="left" if heading == headings[0] else "right")
        for row in rows:
            table.add_row(*row)
        console.print(table)


def _meets(scores: Mapping[str, Score], endings: Mapping[str, Endings]) -> bool:
    exact = all(
        score.share("values") >= TARGET for name, score in scores.items() if name in _TARGETED
    )
    once = all(score.once == score.scripts for score in scores.values())
    return exact and once and not any(counts.wrong for counts in endings.values())


def _markdown(scores: Mapping[str, Score], endings: Mapping[str, Endings]) -> str:
    """Return the tables as Markdown, with their conditions."""
    blocks = [_lay_out(_HEADINGS, _rows(scores))]
    command = "python -m benchmarks.accuracy"
    if endings:
        blocks.append(_lay_out(_ENDING_HEADINGS, _ending_rows(endings)))
        command += " --endings"
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    blocks.append(f"Counted by `{command}` on {today}, over the programs in `tests/charts/corpus`.")
    return "\n\n".join(blocks) + "\n"


def _lay_out(headings: list[str], rows: list[list[str]]) -> str:
    marks = ["---", *["---:"] * (len(headings) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [headings, marks, *rows])


def _write_page(text: str, path: Path = _PAGE) -> None:
    before = path.read_text()
    after, count = _BLOCK.subn(lambda match: match[1] + text + match[2], before)
    if count != 1:
        raise ValueError(f"{path} has no lines <!-- accuracy:start --> and <!-- accuracy:end -->")
    path.write_text(after)


if __name__ == "__main__":
    sys.exit(main())
