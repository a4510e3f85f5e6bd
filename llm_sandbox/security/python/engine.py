"""Engine for Python programs and notebook cells."""

from __future__ import annotations

import ast
import gc
import textwrap
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Span
from llm_sandbox.security.python.expressions import EXPRESSIONS
from llm_sandbox.security.python.functions import analyse
from llm_sandbox.security.python.interpreter import ExhaustedError, Interpreter, Positions
from llm_sandbox.security.python.notebook import (
    Cell,
    follow_magic,
    has_syntax,
    read_cell,
    with_automagic,
)
from llm_sandbox.security.python.parsing import Parsed, declared_text, parse, read_broken
from llm_sandbox.security.python.sinks import CALLS, ONLY_CALLED
from llm_sandbox.security.python.statements import STATEMENTS
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.security.python.values import Value

__all__ = ["follow", "read_program", "scan"]

_LARGE = 50_000
"""Length in characters from which garbage collection is suspended."""


def scan(source: Source) -> ScanOutput:
    """Scan a Python program; never raises and never runs it.

    Args:
        source: The program, or a notebook's cell.
    """
    source, margin = _without_margin(source)
    output = ScanOutput("ast")
    interpreter = Interpreter(source, output, EXPRESSIONS, STATEMENTS)
    with _no_collections(source):
        try:
            _read(interpreter, source)
        except ExhaustedError:
            output.abandoned = True
            output.problem = "following it takes much more work than its length deserves"
            output.problem_span = None
    if margin:
        _shift(output, margin)
    return output


def _without_margin(source: Source) -> tuple[Source, int]:
    """Remove the common indentation of a cell, as IPython does, and return its width."""
    before = _indentation(source.text) if source.notebook else 0
    if not before:
        return source, 0
    text = textwrap.dedent(source.text)
    return replace(source, text=text), before - _indentation(text)


def _indentation(text: str) -> int:
    """Return the indentation of the first line that is not blank."""
    rest = text.lstrip()
    return len(text[: len(text) - len(rest)].rpartition("\n")[2])


def _shift(output: ScanOutput, columns: int) -> None:
    """Shift the positions of findings to those in the original text."""

    def moved(span: Span) -> Span:
        column, end_column = span.column + columns, span.end_column + columns
        return replace(span, column=column, end_column=end_column)

    output.findings[:] = [replace(one, span=moved(one.span)) for one in output.findings]
    output.modules[:] = [replace(one, span=moved(one.span)) for one in output.modules]
    if output.problem_span is not None:
        output.problem_span = moved(output.problem_span)


@contextmanager
def _no_collections(source: Source) -> Iterator[None]:
    """Suspend garbage collection while a large tree grows."""
    if len(source.text) < _LARGE or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _read(interpreter: Interpreter, source: Source) -> None:
    read_program(interpreter, source)
    declared = declared_text(source) if source.notebook is not True else None
    if declared is not None:
        codec, text = declared
        first = source.line_span(1)
        with interpreter.nested_text(Source(text, "python", False), first, (codec,)) as may:
            if may:
                read_program(interpreter, interpreter.positions.source)
    _interpret_uncalled(interpreter)


def read_program(m: Interpreter, source: Source, first_line: int = 1) -> Value | None:
    """Interpret a program, either the outermost one or one that it evaluates.

    Args:
        m: The interpreter.
        source: The program.
        first_line: Line of the reported text at which the program begins.

    Returns:
        The value of the last statement when that is an expression.
    """
    text = source.text
    cell: Cell | None = None
    if source.notebook and (has_syntax(text) or "\n" not in text.strip()):
        cell = _as_cell(source)
    parsed = parse(text if cell is None else cell.python)
    if parsed.tree is None and cell is None and source.notebook is not False:
        cell, retried = _parse_as_cell(source)
        parsed = retried if cell is not None else parsed
    m.positions = Positions(source, first_line, parsed.shift)
    m.magics = {magic.span.line: magic for magic in cell.magics} if cell is not None else {}
    result: Value | None = None
    if parsed.tree is None:
        _report_problem(m, parsed)
        read_broken(m, source, text if cell is None else cell.python, first_line)
    else:
        result = follow(m, parsed.tree.body)
    for magic in m.magics.values():
        follow_magic(m, magic)
    return result


def _as_cell(source: Source) -> Cell:
    cell = read_cell(source)
    if "\n" not in source.text.strip():
        return with_automagic(cell, source)
    return cell if parse(cell.python).tree is not None else with_automagic(cell, source)


def _parse_as_cell(source: Source) -> tuple[Cell | None, Parsed]:
    """Parse text that is not Python as a cell; without a cell when it is not one either."""
    cell = with_automagic(read_cell(source), source)
    parsed = parse(cell.python)
    if not cell.magics:
        return None, parsed
    return cell, parsed


def _report_problem(m: Interpreter, parsed: Parsed) -> None:
    output = m.output
    if m.outer is None and not output.problem:
        output.problem = parsed.problem
        source = m.positions.source
        if parsed.line:
            line = min(parsed.line, source.last_line)
            column = min(parsed.column, len(source.line(line)) + 1)
            output.problem_span = Span(line, column, line, len(source.line(line)) + 1)


def follow(m: Interpreter, body: list[ast.stmt]) -> Value | None:
    """Interpret the statements of a program."""
    result: Value | None = None
    for statement in body:
        before = m.scope, m.block, m.exact, m.function, m.depth, m.returned
        try:
            if isinstance(statement, ast.Expr):
                result = m.value(statement.value) if not _is_text(statement.value) else result
            else:
                STATEMENTS[type(statement)](m, statement)
        except (ExhaustedError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - code must never pass because reading it failed
            m.scope, m.block, m.exact, m.function, m.depth, m.returned = before
            deep = isinstance(error, RecursionError)
            _report_unread(m, "nested too deeply" if deep else "cannot be followed", statement)
    return result


def _report_unread(m: Interpreter, problem: str, node: ast.AST) -> None:
    if not m.output.problem:
        m.output.problem = problem
        m.output.problem_span = m.outer[0] if m.outer else m.positions.span(node)


def _is_text(node: ast.expr) -> bool:
    # A constant on its own is a docstring or a remark, unless it is the value of an evaluation.
    return isinstance(node, ast.Constant)


def _interpret_uncalled(m: Interpreter) -> None:
    """Interpret functions that were not called, and report lookups that were not called."""
    at = 0
    while at < len(m.functions):
        function = m.functions[at]
        at += 1
        before = m.scope, m.block, m.exact, m.function, m.depth, m.returned
        try:
            analyse(m, function)
        except (ExhaustedError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - code must never pass because reading it failed
            m.scope, m.block, m.exact, m.function, m.depth, m.returned = before
            deep = isinstance(error, RecursionError)
            _report_unread(m, "nested too deeply" if deep else "cannot be followed", function.node)
    for function in m.functions:
        if not function.called:
            for uncertainty in function.unresolved:
                uncertainty()
    for ref, node in m.lookups:
        if not ref.used and ref.name not in ONLY_CALLED:
            m.report(
                CALLS[ref.name],
                node,
                ref.name,
                confidence="medium",
                detail="by handing it on",
                route=ref.route,
            )
