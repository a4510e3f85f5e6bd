"""Extraction of code from the answer of a model."""

import ast
import re
import warnings
from dataclasses import dataclass
from typing import Literal

from llm_sandbox.const import language_name
from llm_sandbox.exceptions import LanguageNotSupportedError

__all__ = ["Extraction", "ExtractionKind", "extract_code"]

ExtractionKind = Literal["fenced", "incomplete_fenced", "heuristic", "empty"]

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)$", re.MULTILINE)
_THINK_END = "</think>"
_MOST_CHARS = 50_000
_MOST_PARSED = 500_000
_ALIASES = {"py": "python", "python3": "python", "c++": "cpp", "js": "javascript", "sh": "bash"}


@dataclass(frozen=True)
class Extraction:
    """Code found in a text."""

    code: str
    """Source text; empty if there is none."""
    kind: ExtractionKind
    """``fenced``: a whole fenced block. ``incomplete_fenced``: a block without an end, as of an
    answer that was cut off. ``heuristic``: the longest end of the text that parses, or the text."""
    language: str | None
    """Language named at the fence, in small letters; None without one."""


def extract_code(text: str, language: str | None = None, *, after_think: bool = True) -> Extraction:
    """Return the code of a model's answer.

    The last fenced block of the wanted language wins, then the last fenced block, then a block
    without an end, then the longest end of the text that parses as Python.

    Args:
        text: Answer of the model.
        language: Wanted language; None for any.
        after_think: Whether text up to the last ``</think>`` is ignored.
    """
    if after_think and _THINK_END in text:
        text = text.rpartition(_THINK_END)[2]
    wanted = None if language is None else _canonical(language)
    blocks = _blocks(text)
    whole = [block for block in blocks if block.kind == "fenced"]
    named = [block for block in whole if wanted is not None and _matches(block, wanted)]
    for candidates in (named, whole, blocks):
        if candidates:
            return candidates[-1]
    if not text.strip():
        return Extraction("", "empty", None)
    if wanted not in (None, "python"):
        return Extraction(text.strip("\n") + "\n", "heuristic", None)
    return Extraction(_parsable_tail(text), "heuristic", None)


def _blocks(text: str) -> list[Extraction]:
    """Return the fenced blocks of a Markdown text, in order."""
    found = []
    position = 0
    while (opening := _FENCE.search(text, position)) is not None:
        fence, info = opening[1], opening[2].strip()
        body = opening.end() + 1
        closing = re.compile(
            rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE
        ).search(text, body)
        named = info.split()[0].lower().strip("{}.") if info.split() else None
        end = closing.start() if closing is not None else len(text)
        kind: ExtractionKind = "fenced" if closing is not None else "incomplete_fenced"
        code = text[body:end]
        if code.strip():
            found.append(Extraction(code if code.endswith("\n") else code + "\n", kind, named))
        position = closing.end() if closing is not None else len(text)
    return found


def _matches(block: Extraction, wanted: str) -> bool:
    return block.language is not None and _canonical(block.language) == wanted


def _canonical(name: str) -> str:
    lowered = name.strip().lower()
    lowered = _ALIASES.get(lowered, lowered)
    try:
        return str(language_name(lowered))
    except LanguageNotSupportedError:
        return lowered


def _parsable_tail(text: str) -> str:
    """Return the longest part of a text that ends a paragraph and is a Python program.

    The text itself is returned if no such part is found within a bounded amount of parsing.
    """
    lines = text[-_MOST_CHARS:].strip("\n").split("\n")
    starts = [i for i, line in enumerate(lines) if line[:1] not in ("", " ", "\t", "#")]
    ends = [len(lines)] + [i for i in range(len(lines) - 1, 0, -1) if not lines[i].strip()]
    parsed = 0
    for end in ends:
        for start in starts:
            if start >= end:
                break
            part = "\n".join(lines[start:end])
            parsed += len(part)
            if parsed > _MOST_PARSED:
                return "\n".join(lines) + "\n"
            if _is_program(part):
                return part.rstrip("\n") + "\n"
    return "\n".join(lines) + "\n"


def _is_program(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # trust: a parser of the standard library reads the text of a model; nothing is run.
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(node, ast.Expr) for node in tree.body) or any(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in tree.body
    )
