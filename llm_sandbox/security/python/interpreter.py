"""State of the abstract interpretation of one program: scopes, findings, budget of work."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Span
from llm_sandbox.security.python.folding import UNKNOWN, plain, weigh
from llm_sandbox.security.python.values import (
    Alternatives,
    Deferred,
    Function,
    Items,
    Ref,
    Scope,
    Table,
    Value,
    choose,
)
from llm_sandbox.security.raw_findings import ModuleUse, RawFinding, ScanOutput

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator

    from llm_sandbox.results.findings import Capability, Confidence
    from llm_sandbox.security.python.notebook import Magic
    from llm_sandbox.security.source import Source

__all__ = ["BREAK", "CONTINUE", "RETURN", "ExhaustedError", "Interpreter", "Positions"]


class Positions:
    """Positions of syntax nodes in the text. The parser counts columns in bytes of UTF-8.

    Args:
        source: The program.
        first_line: Line of the text at which the parsed text begins.
        shift: Characters before the parser's first column, on that line.
    """

    def __init__(self, source: Source, first_line: int = 1, shift: int = 0) -> None:
        self.source = source
        self.first_line = first_line
        self.shift = shift
        self.is_ascii = source.text.isascii()
        self._bytes: dict[int, bytes] = {}

    def span(self, node: Any) -> Span:
        """Return the span of a node, or of a span within the parsed text."""
        more = self.first_line - 1
        if isinstance(node, Span):
            return Span(node.line + more, node.column, node.end_line + more, node.end_column)
        line, end_line = node.lineno, node.end_lineno
        column, end_column = node.col_offset, node.end_col_offset
        if not self.is_ascii:
            column, end_column = self._column(line, column), self._column(end_line, end_column)
        if self.shift:
            column += self.shift if line == 1 else 0
            end_column += self.shift if end_line == 1 else 0
        return Span(line + more, column + 1, end_line + more, end_column + 1)

    def _column(self, line: int, column: int) -> int:
        data = self._bytes.get(line)
        if data is None:
            text = self.source.line(line + self.first_line - 1)
            if self.shift and line == 1:
                text = text[self.shift :]
            data = self._bytes[line] = text.encode("utf-8", "replace")
        return len(data[:column].decode("utf-8", "ignore"))


BREAK, CONTINUE, RETURN = 1, 2, 3
"""Ways in which a statement ends its block."""

_WORK = 6_000
_SHARE = 2_000
_WORK_PER_CHARACTER = 0.1
_LONG = 50_000
"""Length of a program in characters above which the budget of one value does not grow."""
_DEEPEST_TEXT = 6
_VISITS = 300_000
_VISITS_PER_CHARACTER = 30
_LIGHT = 1_000
_SIZE_PER_WORK = 500
_WEIGHT_PER_WORK = 2_000


class ExhaustedError(Exception):
    """Excessive work for a program of this length."""


class Interpreter:
    """Abstract interpreter of one program.

    Args:
        source: The program.
        output: Result that findings and modules are added to.
        expressions: Kind of node to the function that evaluates it.
        statements: Kind of node to the function that interprets it.
    """

    def __init__(
        self,
        source: Source,
        output: ScanOutput,
        expressions: dict[type[ast.AST], Callable[[Interpreter, Any], Value | None]],
        statements: dict[type[ast.AST], Callable[[Interpreter, Any], int]],
    ) -> None:
        self.expressions = expressions
        self.statements = statements
        self.output = output
        self.positions = Positions(source)
        self.scope = Scope("module")
        self.block = 0
        self.blocks = 0
        """Number of the latest branch; see `Scope.bind`."""
        self.exact = False
        """Whether conditions and loops are interpreted as they would run."""
        self.uncertainty = 0
        """Number of uncertain assumptions on the current path."""
        self.changes = 0
        """Number of bindings of module names to values that matter."""
        self.function: Function | None = None
        self.returned: list[Value | None] = []
        self.functions: list[Function] = []
        self.lookups: list[tuple[Ref, ast.AST]] = []
        """Lookups of functions that may never be called under a known name."""
        self.defined: set[str] = set()
        """Names of functions and classes that the program defines."""
        self.fields: dict[str, Value | None] = {}
        """Attributes that were set on unknown objects."""
        self.files: dict[str, str | None] = {}
        """Path of each file that the program writes, and its text."""
        self.commands: dict[str, list[RawFinding]] = {}
        """Raw findings of each shell command."""
        self.raised: Value | None = None
        """Values that the exceptions of the program carry."""
        self.depth = 0
        self.loops = 0
        self.work = int(_WORK + _WORK_PER_CHARACTER * len(source.text))
        self.share = int(_SHARE + _WORK_PER_CHARACTER * min(len(source.text), _LONG))
        """Maximum work for a single value."""
        self.visits = _VISITS + _VISITS_PER_CHARACTER * len(source.text)
        """Number of expressions that may still be evaluated."""
        self.outer: tuple[Span, tuple[str, ...]] | None = None
        """Span and route of the evaluation whose text is interpreted."""
        self.text_depth = 0
        self.turn_work: dict[int, int] = {}
        """Work of one iteration of each loop."""
        self.magics: dict[int, Magic] = {}
        """Magic that the statement of each line stands for."""

    def value(self, node: ast.AST) -> Value | None:
        """Evaluate an expression; None when its value is not known.

        Raises:
            ExhaustedError: Too many expressions were evaluated for a program of this length.
        """
        self.visits -= 1
        if self.visits < 0:
            raise ExhaustedError
        return self.expressions[type(node)](self, node)

    def plain(self, value: Value | None) -> Any:
        """Return the Python object of a value; `UNKNOWN` without one, or without work left."""
        if isinstance(value, (Items, Table)):
            size = weigh(value)
            if size > _LIGHT and not self.spend(size // _WEIGHT_PER_WORK):
                return UNKNOWN
        return plain(value)

    def affords(self, size: int) -> bool:
        """Spend the work for a number of characters; False when there is not enough left.

        Few characters are free: they take no longer than reading the program.
        """
        return size <= _LIGHT or self.spend(size // _SIZE_PER_WORK)

    def run(self, body: list[ast.stmt]) -> int:
        """Interpret statements; return 0, or the way in which one ended the block."""
        statements, exact = self.statements, self.exact
        if exact:
            self.work -= len(body)
        for statement in body:
            ended = statements[type(statement)](self, statement)
            if ended and exact:
                return ended
        return 0

    def force(self, value: Value | None) -> Value | None:
        """Evaluate a deferred value."""
        while isinstance(value, Deferred):
            if value.running or self.depth > 40:
                return None
            value.running = True
            before, left = self.exact, self.work
            self.exact = True
            if not before:
                self.work = min(left, self.share)
            start = self.work
            try:
                found = value.work()
            finally:
                value.running = False
                self.exact = before
                self.work = left - (start - self.work)
            value.work = lambda found=found: found  # type: ignore[misc]
            value = found
            if isinstance(value, Alternatives):
                # A deferred alternative may refer back to this value.
                value = choose(one for one in value.of if not isinstance(one, Deferred))
        return value

    def spend(self, amount: int = 1) -> bool:
        """Spend work; False when there is none left."""
        self.work -= amount
        return self.work > 0

    def report(
        self,
        capability: Capability,
        node: ast.AST | Span,
        subject: str,
        *,
        confidence: Confidence = "high",
        detail: str = "",
        route: tuple[str, ...] = (),
    ) -> None:
        """Report an effect of the program."""
        if self.uncertainty and confidence == "high":
            confidence = "medium"
        span = self.positions.span(node)
        subject = subject.removeprefix("builtins.")
        raw = RawFinding(capability, span, subject, confidence, detail, route)
        self.output.findings.append(self._placed(raw))

    def add(self, raw: RawFinding, node: ast.AST | Span, route: tuple[str, ...]) -> None:
        """Report a finding of another engine in text that a node evaluates."""
        span = self.positions.span(node)
        inner = raw.inner or raw.span
        moved = replace(raw, span=span, inner=inner, route=(*route, *raw.route))
        self.output.findings.append(self._placed(moved))

    def report_unresolved(
        self, capability: Capability, node: ast.AST | Span, subject: str, detail: str = ""
    ) -> None:
        """Report an unresolved name; in a function only if no call resolves it."""
        outer, function = self.outer, self.function
        span = self.positions.span(node)
        raw = self._placed(RawFinding(capability, span, subject, "low", detail))
        if function is not None and function.running and not self.exact and outer is None:
            function.unresolved.append(lambda: self.output.findings.append(raw))
        else:
            self.output.findings.append(raw)

    def report_module(
        self, name: str, node: ast.AST | Span, route: tuple[str, ...] = (), sure: bool = True
    ) -> None:
        """Report a module that the program uses."""
        span = self.positions.span(node)
        if self.outer is not None:
            span, route = self.outer[0], (*self.outer[1], *route)
        confidence: Confidence = "high" if sure else "medium"
        self.output.modules.append(ModuleUse(name, span, confidence, route))

    def _placed(self, raw: RawFinding) -> RawFinding:
        if self.outer is None:
            return raw
        span, route = self.outer
        inner = raw.inner or raw.span
        return replace(raw, span=span, route=(*route, *raw.route), inner=inner)

    def context(self) -> tuple[Any, ...]:
        """Return the text that is interpreted; see `restore`."""
        return self.positions, self.outer, self.text_depth, self.magics

    def restore(self, context: tuple[Any, ...]) -> None:
        """Restore a context that `context` returned."""
        self.positions, self.outer, self.text_depth, self.magics = context

    def note_lookup(self, ref: Ref, node: ast.AST) -> None:
        """Record the lookup of a tracked function."""
        self.lookups.append((ref, node))

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Interpret code that may or may not run."""
        before = self.block
        self.blocks += 1
        self.block = self.blocks
        try:
            yield
        finally:
            self.block = before

    @contextmanager
    def unsure(self) -> Iterator[None]:
        """Interpret code that is only one possibility."""
        self.uncertainty += 1
        try:
            yield
        finally:
            self.uncertainty -= 1

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Resolve names in another scope."""
        before = self.scope
        self.scope = scope
        try:
            yield
        finally:
            self.scope = before

    @contextmanager
    def nested_text(
        self, source: Source, node: ast.AST | Span, route: tuple[str, ...]
    ) -> Iterator[bool]:
        """Interpret text that a node evaluates; yields False when it is nested too deeply."""
        if self.text_depth >= _DEEPEST_TEXT or not self.spend(20 + len(source.text) // 50):
            yield False
            return
        before, uncertainty = self.context(), self.uncertainty
        if self.outer is None:
            self.outer = (self.positions.span(node), route)
        else:
            self.outer = (self.outer[0], (*self.outer[1], *route))
        self.positions = Positions(source)
        self.magics = {}
        self.text_depth += 1
        try:
            yield True
        finally:
            self.restore(before)
            self.uncertainty = uncertainty
