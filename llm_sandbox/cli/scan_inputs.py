"""Inputs of `llm-sandbox scan`: files, directories, standard input, and cells of notebooks."""

import codecs
import io
import json
import os
import re
import stat
import sys
import tokenize
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, TypeAlias

from llm_sandbox.cli.exit_codes import usage_error
from llm_sandbox.cli.source import LANGUAGES, language_of
from llm_sandbox.results.findings import Finding, Span
from llm_sandbox.security.languages import canonical
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.source import Source

__all__ = ["NOTEBOOK", "STDIN", "Cell", "Input", "Scan", "find_inputs", "read_cells", "scan_cells"]

STDIN = "<stdin>"
"""Path of standard input in reports."""
NOTEBOOK = ".ipynb"
"""File name extension of notebooks."""
_LARGEST = 50 << 20
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", ".mypy_cache", ".ruff_cache"}
)
# Of Python's encodings those in which a byte of ASCII is that character, wherever it stands.
_ENCODINGS = re.compile(r"utf-8(-sig)?|ascii|iso8859-\d+|cp125\d|koi8-[ru]|euc_(jp|kr)|gb2312")
Scan: TypeAlias = Callable[[str, str | None], ScanReport]
"""Scanner of code; the second argument is its path."""


@dataclass(frozen=True)
class Input:
    """One piece of code, or the reason why it cannot be read."""

    path: str
    """Path as given, or below a given directory."""
    lang: str
    """Language of the code."""
    text: str = ""
    """The code, or the whole file of a notebook."""
    problem: str = ""
    """Reason why the code cannot be read; empty if it can."""


def find_inputs(paths: Sequence[str], lang: str | None, exclude: Sequence[str]) -> Iterator[Input]:
    """Read files and directories, the latter in the order of file names.

    Args:
        paths: Files and directories; ``-`` is standard input.
        lang: Language of the files and of standard input; None to recognise it by their names.
        exclude: Patterns of files and directories to leave out.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _named(path, lang, exclude):
            if found.path not in seen:
                seen.add(found.path)
                yield found


def _named(path: str, lang: str | None, exclude: Sequence[str]) -> Iterator[Input]:
    if path == "-":
        yield _decoded(STDIN, lang or "python", sys.stdin.buffer.read(_LARGEST + 1))
        return
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        usage_error(f"there is no file or directory {path}", "llm-sandbox scan PATH...")
    except (OSError, ValueError) as error:
        usage_error(f"cannot read {path}: {_reason(error)}")
    if stat.S_ISDIR(mode):
        yield from _below(path, exclude)
        return
    known = lang or language_of(Path(path))
    if known is None:
        usage_error(f"unknown language of {path}", f"llm-sandbox scan --lang NAME {path}")
    yield _read(str(Path(path)), known)


def _below(root: str, exclude: Sequence[str]) -> Iterator[Input]:
    inside = os.path.realpath(root)
    unlisted: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=unlisted.append):
        near = Path(folder).relative_to(root)
        folders[:] = sorted(
            name for name in folders if name not in _LEFT_OUT and not _matches(near / name, exclude)
        )
        for name in sorted(files):
            if not _matches(near / name, exclude):
                yield from _member(Path(folder, name), inside)
    for error in unlisted:
        yield Input(str(Path(str(error.filename))), "", problem=_reason(error))


def _member(path: Path, inside: str) -> Iterator[Input]:
    """Yield a file of a directory, if it is code."""
    shown, by_name = str(path), LANGUAGES.get(path.suffix.lower())
    try:
        # trust: who wrote the directory may have a link point to any file of this machine.
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
            if by_name is not None:
                yield Input(shown, by_name, problem="a link to outside of the directory")
            return
        lang = language_of(path) if path.is_file() else None
    except OSError as error:
        yield Input(shown, by_name or "", problem=_reason(error))
        return
    if lang is not None:
        yield _read(shown, lang)


def _matches(path: Path, exclude: Sequence[str]) -> bool:
    globs = [pattern.rstrip("/") for pattern in exclude]
    return any(fnmatch(str(path), glob) or fnmatch(path.name, glob) for glob in globs)


def _read(path: str, lang: str) -> Input:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        return Input(path, lang, problem=_reason(error))
    return _decoded(path, lang, data)


def _decoded(path: str, lang: str, data: bytes) -> Input:
    if len(data) > _LARGEST:
        return Input(path, lang, problem=f"larger than {_LARGEST >> 20} MiB")
    try:
        encoding = _encoding(data) if lang == "python" and not _is_notebook(path) else "utf-8-sig"
        return Input(path, lang, data.decode(encoding))
    except SyntaxError:
        problem = "is not text in UTF-8, and declares no other encoding that is known"
        return Input(path, lang, problem=problem)
    except LookupError as error:
        return Input(path, lang, problem=str(error))
    except UnicodeDecodeError as error:
        problem = f"is not text in {error.encoding.upper()} (byte {error.start + 1})"
        return Input(path, lang, problem=problem)


def _encoding(data: bytes) -> str:
    """Return the encoding that a Python file declares.

    Raises:
        SyntaxError: The encoding is unknown.
        LookupError: The encoding decodes ASCII as other text, which hides code.
    """
    declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    name = codecs.lookup(declared).name
    if not _ENCODINGS.fullmatch(name):
        raise LookupError(f"declares the encoding {declared}, which is not read here")
    return declared


def _is_notebook(path: str) -> bool:
    return path.lower().endswith(NOTEBOOK)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@dataclass(frozen=True)
class Cell:
    """Code cell of a notebook."""

    number: int
    """Position among all cells, from 1."""
    text: str
    """The code."""


def read_cells(text: str) -> tuple[str, list[Cell]]:
    """Return the language of a notebook and its code cells.

    Args:
        text: Content of the notebook's file, of format 3 or 4.

    Raises:
        ValueError: The text is not a notebook.
        LanguageNotSupportedError: The language of the notebook is not supported.
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
    """Scan cells together, so that imports of one are known in the next; report each separately.

    The path of a report names its cell: ``path#cell-3``. Cells that cannot be read, and cells for
    another program (``%%bash``), are scanned alone.

    Args:
        path: Path of the notebook.
        cells: Code cells of the notebook.
        scan: Scanner of code.
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
    """Return the reports by cell; None when the cells cannot be parsed together."""
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
    moved = Span(span.line - lines, span.column, span.end_line - lines, span.end_column)
    return replace(finding, span=moved)


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
