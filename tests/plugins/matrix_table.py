"""Summary of the matrix's tests at the end of a run, which can be written into the documentation.

``--write-matrix FILE`` writes it, provided that every cell of every reference was proved in this
run.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.matrix.page import write
from tests.matrix.reference import REFERENCES, Cell, load

if TYPE_CHECKING:
    import pytest

_PROPERTY = "cell of the matrix"
_WORST_LAST = ("", "passed", "skipped", "failed")

_outcomes: dict[str, str] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-matrix", metavar="FILE", help="put the matrix of members there")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        cell = getattr(getattr(item, "callspec", None), "params", {}).get("cell")
        if isinstance(cell, Cell):
            item.user_properties.append((_PROPERTY, cell.key))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    key = dict(report.user_properties).get(_PROPERTY)
    if key is not None and (report.when == "call" or report.outcome != "passed"):
        _outcomes[key] = max(_outcomes.get(key, ""), report.outcome, key=_WORST_LAST.index)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    target = config.getoption("write_matrix")
    if not _outcomes and not target:
        return
    terminalreporter.section("matrix: cells proved")
    unproved = 0
    for key in REFERENCES:
        cells = list(load(key).cells())
        counts = Counter(
            ("refused" if cell.refusal else "works")
            if (outcome := _outcomes.get(cell.key, "not tried")) == "passed"
            else outcome
            for cell in cells
        )
        unproved += len(cells) - counts["works"] - counts["refused"]
        words = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        terminalreporter.write_line(f"{key}: {words}")
    if target and unproved:
        terminalreporter.write_line(f"{target}: left as it is: {unproved} cells were not proved")
    elif target:
        write(Path(target))
        terminalreporter.write_line(f"{target}: the matrix is that of this run")
