"""A notebook's code cells, scanned as the one program that they are."""

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from llm_sandbox.results.findings import Finding, Span
from llm_sandbox.security.languages import canonical
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.source import Source

__all__ = ["Cell", "Scan", "read_cells", "scan_cells"]

Scan: TypeAlias = Callable[[str, str | None], ScanReport]
"""Scans code; the second argument is its path."""


@dataclass(frozen=True)
class Cell:
    """A cell that holds code."""

    number: int
    """Its place among all cells, from 1."""
    text: str
    """The code."""


def read_cells(text: str) -> tuple[str, list[Cell]]:
    """Return the language of a notebook and its code cells.

    Args:
        text: The notebook's file, of format 3 or 4.

    Raises:
        ValueError: It is no notebook.
        LanguageNotSupportedError: Its language cannot be read.
    """
    try:
        data = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    cells = _all_cells(data)
    found = []
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            found.append(Cell(number, _joined(cell.get("source", cell.get("input", "")))))
    return canonical(_language(data)), found


def scan_cells(path: str, cells: Sequence[Cell], scan: Scan) -> list[ScanReport]:
    """Scan cells together, so that what one imports is known in the next; report each by itself.

    The path of a report names its cell: ``path#cell-3``. Cells that cannot be read, and cells for
    another program (``%%bash``), are scanned alone.

    Args:
        path: The notebook's.
        cells: Its code cells.
        scan: What scans.
    """
    alone = [cell for cell in cells if cell.text.lstrip().startswith("%%")]
    together = [cell for cell in cells if cell not in alone]
    reports = _scan_together(path, together, scan)
    if reports is None:
        # One broken cell would hide from the reader what the others are.
        unread = [cell for cell in together if not scan(cell.text, None).parsed]
        alone += unread
        together = [cell for cell in together if cell not in unread]
        reports = _scan_together(path, together, scan)
        if reports is None:
            alone, reports = list(cells), {}
    for cell in alone:
        reports[cell.number] = scan(cell.text, _cell_path(path, cell))
    return [reports[cell.number] for cell in cells]


def _scan_together(path: str, cells: Sequence[Cell], scan: Scan) -> dict[int, ScanReport] | None:
    """Reports by cell; None when the whole cannot be read."""
    if not cells:
        return {}
    firsts = _first_lines(cells)
    report = scan("".join(map(_ended, cells)), path)
    if not report.parsed:
        return None
    found: dict[int, list[Finding]] = {cell.number: [] for cell in cells}
    for finding in report.findings:
        index = max(0, bisect_right(firsts, finding.line) - 1)
        found[cells[index].number].append(_moved(finding, firsts[index] - 1))
    return {
        cell.number: replace(
            report, findings=tuple(found[cell.number]), path=_cell_path(path, cell)
        )
        for cell in cells
    }


def _first_lines(cells: Sequence[Cell]) -> list[int]:
    firsts, line = [], 1
    for cell in cells:
        firsts.append(line)
        line += Source(_ended(cell), "python").last_line - 1
    return firsts


def _ended(cell: Cell) -> str:
    return cell.text if cell.text.endswith("\n") else f"{cell.text}\n"


def _moved(finding: Finding, lines: int) -> Finding:
    span = finding.span
    place = Span(span.line - lines, span.column, span.end_line - lines, span.end_column)
    return replace(finding, span=place)


def _cell_path(path: str, cell: Cell) -> str:
    return f"{path}#cell-{cell.number}"


def _all_cells(data: object) -> list[Any]:
    if not isinstance(data, dict):
        raise ValueError("it is not an object")
    cells = data.get("cells")
    if cells is None and isinstance(data.get("worksheets"), list):
        sheets = [sheet for sheet in data["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in sheet.get("cells") or ()]
    if not isinstance(cells, list):
        raise ValueError("it has no cells")
    return cells


def _joined(source: object) -> str:
    if isinstance(source, list):
        return "".join(str(part) for part in source)
    return str(source)


def _language(data: dict[str, Any]) -> str:
    metadata = data.get("metadata")
    for holder, name in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(holder) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(name), str):
            return str(part[name])
    return "python"
