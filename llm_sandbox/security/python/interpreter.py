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
    """Tells where nodes are. The parser counts columns in bytes of UTF-8.

    Args:
        source: The program.
        first_line: Line of the text that the parser's line 1 is.
        shift: Characters before the parser's first column, on that line.
    """

    def __init__(self, source: Source, first_line: int = 1, shift: int = 0) -> None:
        self.source = source
        self.first_line = first_line
        self.shift = shift
        self.is_ascii = source.text.isascii()
        self._bytes: dict[int, bytes] = {}

    def span(self, node: Any) -> Span:
        """Return the span of a node, or of a span within the text that the parser saw."""
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
"""How a statement ends the block that it is in."""

_WORK = 6_000
_SHARE = 2_000
_WORK_PER_CHARACTER = 0.1
_LONG = 50_000
"""Characters of a program above which one thing that is worked out gets no more work."""
_DEEPEST_TEXT = 6
_VISITS = 300_000
_VISITS_PER_CHARACTER = 30
_LIGHT = 1_000
_SIZE_PER_WORK = 500
_WEIGHT_PER_WORK = 2_000


class ExhaustedError(Exception):
    """The program makes reading it take much more than its length deserves."""


class Interpreter:
    """Reads one program.

    Args:
        source: The program.
        output: Result that findings and modules are added to.
        expressions: Kind of node to what works out its value.
        statements: Kind of node to what follows it.
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
        """Whether conditions and loops are followed as they would run."""
        self.uncertainty = 0
        """How many of the things that led here are uncertain."""
        self.changes = 0
        """How often a module's name was bound to what must not be lost from sight."""
        self.function: Function | None = None
        self.returned: list[Value | None] = []
        self.functions: list[Function] = []
        self.lookups: list[tuple[Ref, ast.AST]] = []
        """What was looked up but may never be called under a name that is known."""
        self.defined: set[str] = set()
        """Names of functions and classes of the program."""
        self.fields: dict[str, Value | None] = {}
        """Attributes that were set on objects that are not known."""
        self.files: dict[str, str | None] = {}
        """Name of a file that the program writes to its text."""
        self.commands: dict[str, list[RawFinding]] = {}
        """Shell command to what was seen in it."""
        self.raised: Value | None = None
        """What the exceptions that the program raises carry."""
        self.depth = 0
        self.loops = 0
        self.work = int(_WORK + _WORK_PER_CHARACTER * len(source.text))
        self.share = int(_SHARE + _WORK_PER_CHARACTER * min(len(source.text), _LONG))
        """How much of it a single value may take."""
        self.visits = _VISITS + _VISITS_PER_CHARACTER * len(source.text)
        """How many expressions may still be worked out."""
        self.outer: tuple[Span, tuple[str, ...]] | None = None
        """Place and route of the evaluation whose text is being read."""
        self.text_depth = 0
        self.turn_work: dict[int, int] = {}
        """Loop to the work that one turn of it takes."""
        self.magics: dict[int, Magic] = {}
        """Line to the magic that a statement of that line stands for."""

    def value(self, node: ast.AST) -> Value | None:
        """Return what is known of an expression's value.

        Raises:
            ExhaustedError: That was done more often than a program of that length deserves.
        """
        self.visits -= 1
        if self.visits < 0:
            raise ExhaustedError
        return self.expressions[type(node)](self, node)

    def plain(self, value: Value | None) -> Any:
        """Return the Python object that a value is; `UNKNOWN` for none, or without work left."""
        if isinstance(value, (Items, Table)):
            size = weigh(value)
            if size > _LIGHT and not self.spend(size // _WEIGHT_PER_WORK):
                return UNKNOWN
        return plain(value)

    def affords(self, size: int) -> bool:
        """Take the work of going through so many characters; False when there is none left.

        A few are free: they take no longer than reading the program that tells of them.
        """
        return size <= _LIGHT or self.spend(size // _SIZE_PER_WORK)

    def run(self, body: list[ast.stmt]) -> int:
        """Follow statements; 0 when their end is reached, else how they ended."""
        statements, exact = self.statements, self.exact
        if exact:
            self.work -= len(body)
        for statement in body:
            ended = statements[type(statement)](self, statement)
            if ended and exact:
                return ended
        return 0

    def force(self, value: Value | None) -> Value | None:
        """Work out a value whose working out was put off."""
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
                # What is put off within it may lead back to itself.
                value = choose(one for one in value.of if not isinstance(one, Deferred))
        return value

    def spend(self, amount: int = 1) -> bool:
        """Take from the work that may still be done; False when there is none left."""
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
        """Record something that the program does."""
        if self.uncertainty and confidence == "high":
            confidence = "medium"
        span = self.positions.span(node)
        subject = subject.removeprefix("builtins.")
        raw = RawFinding(capability, span, subject, confidence, detail, route)
        self.output.findings.append(self._placed(raw))

    def add(self, raw: RawFinding, node: ast.AST | Span, route: tuple[str, ...]) -> None:
        """Record what another engine saw in text that a node evaluates."""
        span = self.positions.span(node)
        inner = raw.inner or raw.span
        moved = replace(raw, span=span, inner=inner, route=(*route, *raw.route))
        self.output.findings.append(self._placed(moved))

    def report_unresolved(
        self, capability: Capability, node: ast.AST | Span, subject: str, detail: str = ""
    ) -> None:
        """Record what cannot be known here; in a function, unless its calls make it known."""
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
        """Record that the program has a module."""
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
        """Return which text is being read; see `restore`."""
        return self.positions, self.outer, self.text_depth, self.magics

    def restore(self, context: tuple[Any, ...]) -> None:
        """Go on in a text that was left, or enter it again."""
        self.positions, self.outer, self.text_depth, self.magics = context

    def note_lookup(self, ref: Ref, node: ast.AST) -> None:
        """Remember that a function of interest was looked up."""
        self.lookups.append((ref, node))

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Follow what may or may not happen."""
        before = self.block
        self.blocks += 1
        self.block = self.blocks
        try:
            yield
        finally:
            self.block = before

    @contextmanager
    def unsure(self) -> Iterator[None]:
        """Follow what is only one possibility."""
        self.uncertainty += 1
        try:
            yield
        finally:
            self.uncertainty -= 1

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Look names up in another scope."""
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
        """Read text that a node evaluates; gives False when it lies too deep."""
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
