"""Table of each language's results at the end of a run, which can be written into the
documentation.

``--write-languages FILE`` replaces the text between two marks, provided that no language was left
out or failed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

_PROPERTY = "language of the conformance suite"
_MARKS = {"passed": "yes", "failed": "FAILED", "skipped": "-"}
_WORST_LAST = ("yes", "no", "-", "FAILED")
_ABSENT = "absent: "
_BLOCK = re.compile(r"(<!-- languages:start -->\n).*?(<!-- languages:end -->)", re.DOTALL)
_SHORT = {"javascript": "js", "typescript": "ts"}


class Cell(NamedTuple):
    """Result of a language on a backend."""

    backend: str
    language: str
    behaviour: str


_results: dict[Cell, str] = {}
_reasons: dict[Cell, str] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-languages", metavar="FILE", help="put the table of languages there")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        cls = getattr(item, "cls", None)
        if getattr(cls, "samples_place", None) is not None:
            language = item.callspec.params["language"]
            item.user_properties.append((_PROPERTY, f"{cls.backend_name}/{language}"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    where = dict(report.user_properties).get(_PROPERTY)
    if where is None or (report.when != "call" and report.outcome == "passed"):
        return
    name = report.nodeid.rpartition("::")[2].partition("[")[0]
    cell = Cell(*where.split("/"), name.removeprefix("test_").replace("_", " "))
    mark, reason = _MARKS[report.outcome], ""
    if mark == "-" and isinstance(report.longrepr, (tuple, list)):
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        if reason.startswith(_ABSENT):
            mark, reason = "no", reason.removeprefix(_ABSENT)
    _results[cell] = max(_results.get(cell, "yes"), mark, key=_WORST_LAST.index)
    if reason:
        _reasons[cell] = reason


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for backend in sorted({cell.backend for cell in _results}):
        terminalreporter.section(f"language x behaviour, on {backend}")
        for line in _plain(_rows(backend)):
            terminalreporter.write_line(line)
        terminalreporter.write_line("")
        for line in _explained(backend):
            terminalreporter.write_line(line)
    target = config.getoption("write_languages")
    if target:
        terminalreporter.write_line(_write(Path(target)))


def _languages(backend: str) -> list[str]:
    return sorted({cell.language for cell in _results if cell.backend == backend})


def _rows(backend: str) -> list[list[str]]:
    languages = _languages(backend)
    # Several processes report in any order.
    behaviours = sorted({cell.behaviour for cell in _results if cell.backend == backend})
    cells = [
        [_results.get(Cell(backend, language, behaviour), "") for language in languages]
        for behaviour in behaviours
    ]
    heads = [["", *languages]]
    return heads + [[name, *row] for name, row in zip(behaviours, cells, strict=True)]


def _plain(rows: list[list[str]]) -> list[str]:
    rows = [[_SHORT.get(cell, cell) for cell in rows[0]], *rows[1:]]
    first = max(len(row[0]) for row in rows)
    return [
        "  ".join([f"{row[0]:<{first}}", *(f"{cell:<6}" for cell in row[1:])]).rstrip()
        for row in rows
    ]


def _explained(backend: str) -> list[str]:
    """Return a line for each reason, with the behaviours that it explains."""
    return _grouped(
        (f"{_results[cell]} {cell.language}: {reason}", cell.behaviour)
        for cell, reason in _reasons.items()
        if cell.backend == backend
    )


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[str]:
    found: dict[str, list[str]] = {}
    for reason, behaviour in pairs:
        found.setdefault(reason, []).append(behaviour)
    return [
        f"{reason} ({', '.join(sorted(names))})"
        if len(names) <= 4
        else f"{reason} ({len(names)} behaviours)"
        for reason, names in sorted(found.items())
    ]


def _write(path: Path) -> str:
    """Replace the table of the documentation; return a message."""
    failed = {cell.language for cell, mark in _results.items() if mark == "FAILED"}
    failed |= {cell.language for cell, why in _reasons.items() if why.startswith("not installed")}
    if failed or not _results:
        return f"{path}: left as it is: {', '.join(sorted(failed)) or 'nothing was tried'}"
    parts, notes = [], {}
    for backend in sorted({cell.backend for cell in _results}):
        if all(mark == "-" for cell, mark in _results.items() if cell.backend == backend):
            continue
        rows = _rows(backend)
        lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"On {backend}:\n\n{table}\n")
        notes |= dict.fromkeys(_explained(backend))
    # Most reasons are the same everywhere.
    parts.append("\n".join(f"- *{note.replace(' ', '* ', 1)}" for note in sorted(notes)) + "\n")
    before = path.read_text(encoding="utf-8")
    after, count = _BLOCK.subn(lambda match: match[1] + "\n".join(parts) + match[2], before)
    if count != 1:
        raise pytest.UsageError(f"{path} has no lines <!-- languages:start --> and ...:end -->")
    path.write_text(after, encoding="utf-8")
    return f"{path}: the table is that of this run"
