"""Snippets with labels: what each one does, by which technique, and on which line.

In ``attacks.txt`` a line ``### capability technique @line`` begins a snippet; the line is 1 where
it is not given. In ``benign.txt`` that line is ``### name``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["Labelled", "attacks", "ordinary"]

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"^### (.+)\n", re.MULTILINE)


class Labelled(NamedTuple):
    """One snippet."""

    capability: str
    """What it does; empty for an ordinary program."""
    name: str
    """Its technique."""
    line: int
    """Where it does that."""
    code: str


def attacks(lang: str) -> list[Labelled]:
    """Return the snippets of a language that do something of note."""
    found = []
    for label, code in _snippets(ROOT / lang / "attacks.txt"):
        capability, name, *line = label.split()
        found.append(Labelled(capability, name, int(line[0][1:]) if line else 1, code))
    return found


def ordinary(lang: str) -> list[Labelled]:
    """Return the ordinary snippets of a language."""
    return [Labelled("", label, 1, code) for label, code in _snippets(ROOT / lang / "benign.txt")]


def _snippets(path: Path) -> list[tuple[str, str]]:
    parts = MARK.split(path.read_text(encoding="utf-8"))[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))
