"""Programs in whose text the findings are marked, read from `positions.txt`.

``=== title [option ...]`` starts a program, ``⟦capability:text⟧`` marks what a finding must span.
Options: ``notebook``; ``crlf``, ``cr`` and ``mixed`` line ends; ``bom``; ``bare`` for no last line
end. ``«ff»`` and the like stand for characters that a text file would not keep.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llm_sandbox.results.findings import Span

__all__ = ["Annotated", "annotated"]

HERE = Path(__file__).parent
HEAD = re.compile(r"^=== ([^\n\[]+?)(?: \[([^\n]*)\])?\n", re.MULTILINE)
MARK = re.compile(r"⟦([a-z.]+):|⟧")
RARE = {"ff": "\f", "vt": "\v", "ls": "\u2028", "nel": "\x85", "fs": "\x1c"}


@dataclass(frozen=True)
class Annotated:
    """A program and where its findings are."""

    title: str
    code: str
    marks: tuple[tuple[str, Span], ...]
    """Capability and place of each."""
    notebook: bool


@cache
def annotated() -> tuple[Annotated, ...]:
    """Return all of them."""
    parts = HEAD.split((HERE / "positions.txt").read_text(encoding="utf-8"))
    rows = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return tuple(_read(title, set((options or "").split()), text) for title, options, text in rows)


def _read(title: str, options: set[str], text: str) -> Annotated:
    text = re.sub("«([a-z]+)»", lambda match: RARE[match[1]], text)
    if "bare" in options:
        text = text.rstrip("\n")
    ends = {"crlf": ["\r\n"], "cr": ["\r"], "mixed": ["\r\n", "\n", "\r"]}
    for option, kinds in ends.items():
        if option in options:
            lines = text.split("\n")
            text = "".join(line + kinds[n % len(kinds)] for n, line in enumerate(lines[:-1]))
    if "bom" in options:
        text = "\ufeff" + text
    code, marks, opened = "", [], []
    end = 0
    for match in MARK.finditer(text):
        code += text[end : match.start()]
        end = match.end()
        if match[1]:
            opened.append((match[1], _place(code)))
        else:
            capability, start = opened.pop()
            marks.append((capability, Span(*start, *_place(code))))
    assert not opened, f"a mark is left open in {title!r}"
    return Annotated(title, code + text[end:], tuple(marks), "notebook" in options)


def _place(before: str) -> tuple[int, int]:
    lines = re.split("\r\n|\r|\n", before)
    return len(lines), len(lines[-1]) + 1
