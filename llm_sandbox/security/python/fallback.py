"""A second look at text that is not Python: whatever of it can be read is read."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import strings
from llm_sandbox.security.python.parsing import parse
from llm_sandbox.security.python.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.security.python.interpreter import Interpreter
    from llm_sandbox.security.source import Source

__all__ = ["read_broken"]

_SAME_CHUNK = re.compile(r"[ \t\f)\]}#]|(?:else|elif|except|finally|case)\b|\r?\n?$")
_CALL = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)*+[ \t]*\(")
_TEXT = re.compile(r"'(?:\\.|[^'\\\n]){5,}'|\"(?:\\.|[^\"\\\n]){5,}\"")
_STATEMENT = re.compile(r"(?:import|from)[ \t]+[^\n;]+")
_EXEC = re.compile(r"exec[ \t]+(?=[\"'\w])")
_HEADER = re.compile(r"(?:else|try|finally)[ \t]*:|(?:elif|except)\b")
_LONGEST_CALL = 4_000
_MOST_PIECES = 4_000


def read_broken(m: Interpreter, source: Source, text: str, first_line: int) -> None:
    """Read what can be read of a text that cannot be parsed as a whole.

    Args:
        m: The reading.
        source: The text as it was given, for places.
        text: The same text, without what is no Python.
        first_line: Line of `source` that the text's first line is.
    """
    from llm_sandbox.security.python.engine import follow

    text = text.replace("\x00", " ").removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    before = m.positions
    pieces = 0
    try:
        for at, end in _chunks(lines):
            chunk = "\n".join(lines[at:end])
            parsed = parse(chunk) if pieces < _MOST_PIECES else None
            pieces += 1
            m.positions = Positions(source, first_line + at)
            if parsed is not None and parsed.tree is not None:
                with m.branch():
                    follow(m, parsed.tree.body)
                continue
            for number, line in _joined(lines, at, end):
                pieces += _read_line(m, source, line, first_line + number, pieces)
    finally:
        m.positions = before


def _chunks(lines: list[str]) -> list[tuple[int, int]]:
    """Ranges of lines, each of which is a statement with what is indented below it."""
    found: list[tuple[int, int]] = []
    start = 0
    for number, line in enumerate(lines):
        if number > start and not _SAME_CHUNK.match(line) and not _is_decorated(lines, number):
            found.append((start, number))
            start = number
    found.append((start, len(lines)))
    return found


def _joined(lines: list[str], start: int, end: int) -> Iterator[tuple[int, str]]:
    """Lines with those that they are continued on, and the number of the first."""
    number = start
    while number < end:
        first, line = number, lines[number]
        while line.endswith("\\") and number + 1 < end and len(line) < _LONGEST_CALL:
            number += 1
            line = f"{line[:-1]} {lines[number].lstrip()}"
        yield first, line
        number += 1


def _is_decorated(lines: list[str], number: int) -> bool:
    return lines[number - 1].startswith("@")


def _read_line(m: Interpreter, source: Source, line: str, number: int, pieces: int) -> int:
    body = line.strip()
    if not body or body.startswith("#"):
        return 0
    shift = len(line) - len(line.lstrip())
    if pieces < _MOST_PIECES and len(body) < _LONGEST_CALL:
        header = _HEADER.match(body)
        whole = body if header is None else ""
        for attempt in (whole, f"{whole} pass" if whole.endswith(":") else ""):
            if attempt and _follow_piece(m, source, attempt, number, shift):
                return 1
    _read_pieces(m, source, line, number)
    return 4


def _follow_piece(m: Interpreter, source: Source, text: str, line: int, shift: int) -> bool:
    from llm_sandbox.security.python.engine import follow

    parsed = parse(text)
    if parsed.tree is None:
        return False
    m.positions = Positions(source, line, shift)
    with m.unsure(), m.branch():
        follow(m, parsed.tree.body)
    return True


def _read_pieces(m: Interpreter, source: Source, line: str, number: int) -> None:
    """Read the imports, calls and texts of a line one by one."""
    for match in _STATEMENT.finditer(line):
        _follow_piece(m, source, match[0].strip(), number, match.start())
    statement = _EXEC.match(line.strip())
    if statement is not None:
        shift = len(line) - len(line.lstrip())
        rest = line.strip()[statement.end() :]
        if not _follow_piece(m, source, f"exec({rest})", number, shift):
            m.positions = Positions(source, number)
            m.report(Capability.DYNAMIC_CODE, _whole(source, number), "exec", confidence="medium")
    end = 0
    for call in _CALL.finditer(line):
        if call.start() < end:
            continue
        stop = _closing(line, call.end())
        text = line[call.start() : stop]
        if _follow_piece(m, source, text, number, call.start()):
            end = stop
        else:
            _follow_piece(m, source, f"{call[0]})", number, call.start())
    m.positions = Positions(source, number)
    for text_match in _TEXT.finditer(line):
        node = ast.Constant(text_match[0])
        node.lineno = node.end_lineno = 1
        node.col_offset = len(line[: text_match.start()].encode("utf-8", "replace"))
        node.end_col_offset = len(line[: text_match.end()].encode("utf-8", "replace"))
        strings.check_text(m, text_match[0][1:-1], node)


def _whole(source: Source, line: int) -> ast.AST:
    node = ast.Constant("")
    node.lineno = node.end_lineno = 1
    node.col_offset, node.end_col_offset = 0, len(source.line(line).encode("utf-8", "replace"))
    return node


def _closing(line: str, at: int) -> int:
    """Return the offset after the bracket that closes the one before `at`."""
    depth, quote = 1, ""
    for offset in range(at, min(len(line), at + _LONGEST_CALL)):
        letter = line[offset]
        if quote:
            quote = "" if letter == quote and line[offset - 1] != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if not depth:
                return offset + 1
    return min(len(line), at + _LONGEST_CALL)
