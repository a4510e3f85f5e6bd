"""Ordinary programs: examples, exercises and notebooks of others, ours, and installed modules."""

from __future__ import annotations

import ast
import gzip
import json
import sysconfig
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.scanner.corpus.fetching import fetch, origins

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Program", "expected", "fetched", "installed", "ours"]

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
EXPECTED = HERE / "expected.toml"


@dataclass(frozen=True)
class Program:
    """A program in one or more cells."""

    origin: str
    name: str
    """Its path below its origin."""
    cells: tuple[str, ...]
    notebook: bool = False

    @property
    def id(self) -> str:
        """Origin and name."""
        return f"{self.origin}/{self.name}"


@cache
def fetched() -> tuple[Program, ...]:
    """Return the programs of `sources.toml`.

    Raises:
        FetchError: They could not be had.
    """
    root = fetch()
    found: list[Program] = []
    for origin in origins():
        for path in sorted((root / origin.name).rglob("*")):
            name = path.relative_to(root / origin.name).as_posix()
            if path.suffix == ".gz":
                found += _exercises(origin.name, path)
            elif path.suffix == ".ipynb":
                cells = _cells(path)
                found += [Program(origin.name, name, cells, notebook=True)] if cells else []
            elif path.is_file() and _is_program(text := _text(path)):
                found.append(Program(origin.name, name, (text,)))
    # Some examples are in two places of one package.
    return tuple({program.cells: program for program in reversed(found)}.values())[::-1]


@cache
def ours() -> tuple[Program, ...]:
    """Return the chart programs that the tests of charts run, and the examples."""
    found = []
    for path in sorted((ROOT / "tests" / "charts" / "corpus").rglob("*.py")):
        text = _text(path).partition("# %% expected")[0]
        found.append(Program("charts", path.relative_to(ROOT).as_posix(), (text,)))
    found += [
        Program("examples", path.relative_to(ROOT).as_posix(), (_text(path),))
        for path in sorted((ROOT / "examples").rglob("*.py"))
    ]
    return tuple(found)


def installed() -> Iterator[Program]:
    """Yield every module of the standard library and of the installed packages."""
    folders = {"stdlib": "stdlib", "site-packages": "purelib"}
    for origin, kind in folders.items():
        root = Path(sysconfig.get_path(kind))
        for path in sorted(root.rglob("*.py")):
            name = path.relative_to(root)
            if origin == "site-packages" or "site-packages" not in name.parts:
                text = path.read_bytes().decode("utf-8", "surrogateescape")
                yield Program(origin, name.as_posix(), (text,))


@cache
def expected() -> dict[str, frozenset[str]]:
    """Return what `expected.toml` says: the capabilities that a program truly uses, by its id."""
    data = tomllib.loads(EXPECTED.read_text(encoding="utf-8"))
    return {name: frozenset(capabilities) for name, capabilities in data.get("uses", {}).items()}


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _is_program(text: str) -> bool:
    # Files that hold nothing but a docstring or imports of their package are no programs; nor is
    # what today's Python cannot read, which was written for Python 2.
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return False
    idle = (ast.Import, ast.ImportFrom)
    return any(not isinstance(node, idle) and not _is_text(node) for node in body)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _exercises(origin: str, path: Path) -> list[Program]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Program(origin, row["task_id"], (row["prompt"] + row["canonical_solution"],))
        for row in rows
    ]


def _cells(path: Path) -> tuple[str, ...]:
    data = json.loads(path.read_text(encoding="utf-8"))
    sources = [c["source"] for c in data.get("cells", ()) if c.get("cell_type") == "code"]
    texts = ["".join(source) if isinstance(source, list) else source for source in sources]
    return tuple(text for text in texts if text.strip())
