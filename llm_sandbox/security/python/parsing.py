"""Parsing of Python text, and recovery of statements and calls from text that does not parse."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import strings
from llm_sandbox.security.python.interpreter import Positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.security.python.interpreter import Interpreter
    from llm_sandbox.security.source import Source

__all__ = ["Parsed", "declared_text", "is_too_deep", "parse", "read_broken"]

# The parser is recursive; no program of a person repeats an operator this often.
_DEEP_SIGNS = re.compile(r"(?:[-+~][ \t\f\\\n]*){150}")
_DEEP_NAMES = re.compile(r"(?:\b(?:not|lambda|await)\b[ \t\f:\\\n]*){80}")
_PREFIXES = ("not", "lambda", "await")
_MOST_PREFIXES = 80
_DEEP_WORDS = re.compile(r"\b(?:else|if|elif)\b|\*\*")
_TEXT = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")
_MOST_ON_A_LINE = 400
_DECLARATION = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)
_PLAIN = frozenset(("utf-8", "utf8", "ascii", "us-ascii", "utf-8-sig", "latin-1", "iso-8859-1"))
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Parsed:
    """Result of parsing a program.

    Args:
        tree: Syntax tree; None when the program does not parse.
        problem: Syntax error.
        line: Line of the error, from 1; 0 when it is not known.
        column: Column of the error, from 1.
        shift: Characters before the parser's first column, on line 1.
    """

    tree: ast.Module | None
    problem: str = ""
    line: int = 0
    column: int = 1
    shift: int = 0


def parse(text: str) -> Parsed:
    """Parse a program; never raises.

    A byte order mark is removed, and lone surrogates are read as question marks.
    """
    shift = 0
    if text.startswith("\ufeff"):
        text, shift = text[1:], 1
    if "\x00" in text:
        at = text.index("\x00")
        line = text.count("\n", 0, at) + 1
        return Parsed(None, "contains null characters", line, at - text.rfind("\n", 0, at), shift)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    if is_too_deep(text):
        return Parsed(None, "nested too deeply", shift=shift)
    try:
        # Warnings about escapes would otherwise be printed, or be errors.
        with _LOCK, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Parsed(ast.parse(text), shift=shift)
    except SyntaxError as error:
        return Parsed(
            None, error.msg or "invalid syntax", error.lineno or 0, error.offset or 1, shift
        )
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return Parsed(None, str(error) or "nested too deeply", shift=shift)


def declared_text(source: Source) -> tuple[str, str] | None:
    """Return the encoding that a program declares, and the program decoded by it.

    None without a declaration, or when the encoding leaves the text as it is.
    """
    head = "\n".join(source.text[:400].splitlines()[:2])
    match = _DECLARATION.search(head)
    if match is None:
        return None
    codec = match[1].lower().replace("_", "-")
    if codec in _PLAIN or (source.text.isascii() and codec.startswith(("iso-", "cp125", "koi8"))):
        return None
    from llm_sandbox.security.python.pure import decode

    try:
        text = decode(source.text.encode("utf-8", "replace"), codec)
    except (ValueError, LookupError):
        return None
    if not isinstance(text, str) or text == source.text:
        return None
    return codec, text


def is_too_deep(text: str) -> bool:
    """Return whether parsing or interpreting the text may exhaust the stack."""
    if _DEEP_SIGNS.search(text) and _DEEP_SIGNS.search(_COMMENT.sub("#", text)):
        # Rulers of minus signs in docstrings are not nested operators.
        bare = _TEXT.sub("''", _COMMENT.sub("#", text))
        if _DEEP_SIGNS.search(bare):
            return True
    if any(text.count(word) >= _MOST_PREFIXES for word in _PREFIXES) and _DEEP_NAMES.search(text):
        return True
    if len(text) < _MOST_ON_A_LINE * 2:
        return False
    return any(
        len(line) > _MOST_ON_A_LINE * 2 and len(_DEEP_WORDS.findall(line)) > _MOST_ON_A_LINE
        for line in text.split("\n")
    )


_SAME_CHUNK = re.compile(r"[ \t\f)\]}#]|(?:else|elif|except|finally|case)\b|\r?\n?$")
_CALL = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)*+[ \t]*\(")
_QUOTED = re.compile(r"'(?:\\.|[^'\\\n]){5,}'|\"(?:\\.|[^\"\\\n]){5,}\"")
_STATEMENT = re.compile(r"(?:import|from)[ \t]+[^\n;]+")
_EXEC = re.compile(r"exec[ \t]+(?=[\"'\w])")
_HEADER = re.compile(r"(?:else|try|finally)[ \t]*:|(?:elif|except)\b")
_LONGEST_CALL = 4_000
_MOST_PIECES = 4_000


def read_broken(m: Interpreter, source: Source, text: str, first_line: int) -> None:
    """Interpret those parts of a text that parse, when the whole does not.

    Args:
        m: The interpreter.
        source: Original text, for positions.
        text: The same text, without magics.
        first_line: Line of `source` at which the text begins.
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
    """Return the line ranges of statements with the lines indented below them."""
    found: list[tuple[int, int]] = []
    start = 0
    for number, line in enumerate(lines):
        if number > start and not _SAME_CHUNK.match(line) and not _is_decorated(lines, number):
            found.append((start, number))
            start = number
    found.append((start, len(lines)))
    return found


def _joined(lines: list[str], start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield lines joined with their continuations, and the number of the first."""
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
    """Interpret the imports, calls and texts of a line one by one."""
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
    for text_match in _QUOTED.finditer(line):
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
