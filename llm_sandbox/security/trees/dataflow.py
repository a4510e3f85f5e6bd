"""Dataflow of values through a program, as far as all languages share it.

The tree is read children first, so that each expression finds the values of its parts, in at most
three rounds: names may be used above their assignment. The values of a name are
the union of all that it is assigned in its scope.
"""

from collections.abc import Callable, Iterable
from typing import ClassVar

from llm_sandbox.results.findings import Capability, Confidence, Span
from llm_sandbox.security.raw_findings import ModuleUse, RawFinding, ScanOutput
from llm_sandbox.security.sensitive_text import find_sensitive_text, installs_packages, is_outside
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.sinks import Sinks
from llm_sandbox.security.trees.syntax_tree import Node, SyntaxTree
from llm_sandbox.security.trees.values import (
    Function,
    Items,
    Record,
    Ref,
    Values,
    fold,
    plain,
    texts,
    union,
)

__all__ = ["Dataflow", "Scope", "added", "indirect", "operator_of", "sum_of", "with_words", "words"]

_ROUNDS = 3
_MOST_SEEN = 2_000
_LONG = 200
_MOST_LOOKED = 500_000
_TAIL = 300


class Scope:
    """Names of a part of a program."""

    __slots__ = ("depth", "names", "outer")

    def __init__(self, outer: "Scope | None" = None) -> None:
        self.outer = outer
        self.names: dict[str, Values] = {}
        self.depth: int = outer.depth + 1 if outer is not None else 0

    def owner(self, name: str) -> "Scope | None":
        """Return the innermost scope that declares a name, or None."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope
            scope = scope.outer
        return None


class Dataflow:
    """Dataflow analysis of one program; each language has a subclass with its rules."""

    sinks: ClassVar[Sinks]
    scoping: ClassVar[frozenset[str]] = frozenset()
    """Kinds of nodes that open a scope."""
    deepest: ClassVar[int] = 60
    """Maximum nesting of scopes; deeper ones count as one, which keeps name lookups quick."""

    def __init__(self, tree: SyntaxTree, outer: Scope | None = None) -> None:
        self.tree = tree
        self.output = ScanOutput(
            "tree-sitter", problem=tree.problem, problem_span=tree.problem_span
        )
        self.top = Scope(outer)
        self.fields: dict[str, Values] = {}
        """Values of each field name, over all objects."""
        self.opened: dict[int, Function] = {}
        """Function that opens a scope, by the identity of the scope."""
        self._made: dict[tuple[int, int, str], Record | Function] = {}
        self._used: set[tuple[int, str]] = set()
        self._stale = False
        self._looked = 0
        self._sensitive: dict[str, list[tuple[int, int, Capability, str]]] = {}

    # What a language says

    def rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return the evaluation rules by kind of node; children are evaluated first."""
        raise NotImplementedError

    def declarations(self) -> dict[str, Callable[[Node], object]]:
        """Return the declaration rules by kind of node; parents are visited first."""
        return {}

    # The rounds

    def run(self) -> ScanOutput:
        """Analyse the program."""
        self._give_scopes()
        rules = self.rules()
        work = [(node, rules[node.kind]) for node in self.tree.order if node.kind in rules]
        for _ in range(_ROUNDS):
            self._stale, self._looked = False, 0
            self._used.clear()
            self.output.findings.clear()
            self.output.modules.clear()
            for node, rule in work:
                value = node.value = rule(node) or ()
                if value and type(value[0]) is str and len(value[0]) > _LONG:
                    # Its parts are no longer needed, and nests of them would fill the memory.
                    for child in node.children:
                        child.value = ()
            if not self._stale:
                break
        return self.output

    def _give_scopes(self) -> None:
        declarations, scoping = self.declarations(), self.scoping
        for node in reversed(self.tree.order):
            scope = self.top if node.parent is None else self.scope(node.parent)
            if node.kind in scoping and scope.depth < self.deepest:
                scope = Scope(scope)
            node.scope = scope
            declare = declarations.get(node.kind)
            if declare is not None:
                declare(node)

    # Names

    def scope(self, node: Node | None) -> Scope:
        """Return the scope within a node; the global scope for None."""
        return node.scope if node is not None and isinstance(node.scope, Scope) else self.top

    def declare(self, name: str, scope: Scope) -> None:
        """Make a name local to a scope."""
        scope.names.setdefault(name, ())

    def bind(self, name: str, values: Values, scope: Scope) -> None:
        """Add values to a name, in the scope that declares it."""
        owner = scope.owner(name) or self.top
        known = owner.names.get(name, ())
        # The newest first: what is added to a text is added to the last that it was.
        owner.names[name] = together = union(values, known)
        if len(together) != len(known) or any(value not in known for value in values):
            self._stale = self._stale or (id(owner), name) in self._used

    def look_up(self, name: str, scope: Scope) -> Values | None:
        """Return the values of a name, or None when the program does not declare it."""
        owner = scope.owner(name)
        if owner is None:
            self._used.add((id(self.top), name))
            return None
        self._used.add((id(owner), name))
        known = owner.names[name]
        return indirect(known) if len(known) > 1 else known

    def put_field(self, name: str, values: Values) -> None:
        """Add values to a field, of any object, when they may be harmful."""
        kept = tuple(value for value in values if isinstance(value, Ref | Function))
        if kept:
            self._stale = self._stale or (0, name) in self._used
            self.fields[name] = union(self.fields.get(name, ()), kept)

    def field(self, name: str) -> Values:
        """Return the values of a field, of any object."""
        self._used.add((0, name))
        return indirect(self.fields.get(name, ()))

    def record(self, node: Node) -> Record:
        """Return the object that a node creates, the same in each round."""
        made = self._made.setdefault((node.start, node.end, node.kind), Record())
        assert isinstance(made, Record)  # noqa: S101 - the kind is part of the key
        return made

    def function(self, node: Node, parameters: list[Node]) -> Function:
        """Return the function that a node defines, the same in each round."""
        made = self._made.setdefault((node.start, node.end, node.kind), Function(node, parameters))
        assert isinstance(made, Function)  # noqa: S101 - the kind is part of the key
        return made

    def value(self, node: Node | None) -> Values:
        """Return the values of a node."""
        found = node.value if node is not None else None
        return found if isinstance(found, tuple) else ()

    def returned(self, function: Function) -> Values:
        """Return the result of a function of the program."""
        self._used.add((id(function), ""))
        return indirect(function.returns)

    def add_result(self, function: Function, values: Values) -> None:
        """Add values to the result of a function of the program."""
        together = union(function.returns, values)
        if together != function.returns:
            self._stale = self._stale or (id(function), "") in self._used
            function.returns = together

    # What is seen

    def report(
        self,
        capability: Capability,
        where: Node | Span,
        subject: str,
        confidence: Confidence = "high",
        detail: str = "",
        route: tuple[str, ...] = (),
    ) -> None:
        """Report an effect of the program."""
        if len(self.output.findings) < _MOST_SEEN:
            span = where if isinstance(where, Span) else self.tree.span(where)
            self.output.findings.append(
                RawFinding(capability, span, subject[:200], confidence, detail, route)
            )

    def use_module(self, name: str, where: Node, route: tuple[str, ...] = ()) -> None:
        """Report a module that the program uses."""
        if len(self.output.modules) < _MOST_SEEN:
            confidence: Confidence = "medium" if route else "high"
            span = self.tree.span(where)
            self.output.modules.append(ModuleUse(name[:200], span, confidence, route))

    def report_folded(self, text: str, node: Node) -> None:
        """Report sensitive names in a text that was put together."""
        # A text that grows with each line would be searched again for each line.
        self._looked += len(text)
        self.report_text(text if self._looked < _MOST_LOOKED else text[-_TAIL:], node)

    def report_text(self, text: str, node: Node) -> None:
        """Report sensitive names in a text, once for each kind."""
        named = set()
        if text not in self._sensitive:
            self._sensitive[text] = find_sensitive_text(text)
        for start, end, capability, what in self._sensitive[text]:
            if capability not in named:
                named.add(capability)
                self.report(capability, node, text[start:end], detail=f"names {what}")

    def report_call(self, ref: Ref, arguments: list[Values], node: Node) -> bool:
        """Report the effects of a library call; return whether there are any."""
        name = ref.name
        capability = self.sinks.of_call(name)
        path = self.sinks.writes.get(name)
        if path is not None and path < len(arguments):
            self._report_write(ref, arguments[path], node)
        detail = self._report_command(ref, arguments, node)
        if capability is None:
            return path is not None
        self.report(capability, node, name, self.sure(ref), detail, ref.route)
        return True

    def _report_command(self, ref: Ref, arguments: list[Values], node: Node) -> str:
        """Report package installations, and return a description of the command argument."""
        first = self.sinks.commands.get(ref.name)
        command = " ".join(words(arguments[first:])) if first is not None else ""
        if installs_packages(command):
            capability = Capability.PACKAGE_INSTALL
            self.report(capability, node, command, self.sure(ref), "", ref.route)
        return f"with the command {command[:80]!r}" if command else ""

    def _report_write(self, ref: Ref, path: Values, node: Node) -> None:
        for text in texts(path):
            if is_outside(text):
                detail = f"the file {text[:80]!r}"
                self.report(
                    Capability.FILE_WRITE, node, ref.name, self.sure(ref), detail, ref.route
                )
                return

    def report_read(self, ref: Ref, node: Node) -> None:
        """Report the effect of reading a library's name."""
        capability = self.sinks.of_read(ref.name)
        if capability is not None:
            self.report(capability, node, ref.name, self.sure(ref), "", ref.route)

    def sure(self, ref: Ref) -> Confidence:
        """Return the confidence in a reference."""
        return "high" if ref.direct and not ref.route else "medium"


def indirect(values: Values) -> Values:
    """Return values as read from a variable."""
    for value in values:
        if type(value) is Ref and value.direct:
            return tuple(
                Ref(each.name, each.route, False) if type(each) is Ref else each for each in values
            )
    return values


def words(arguments: Iterable[Values]) -> list[str]:
    """Return the texts among arguments, including those in lists."""
    found: list[str] = []
    for values in arguments:
        for value in values[:1]:
            if isinstance(value, str):
                found.append(value)
            elif isinstance(value, Items):
                found.extend(text for each in value.items for text in texts(each)[:1])
    return found


_LONGEST = 4_000


def operator_of(dataflow: Dataflow, node: Node | None) -> str:
    """Return the operator of an expression, such as ``+``; empty without one."""
    sign = node.get("operator") if node is not None else None
    return dataflow.tree.words(sign) if sign is not None else ""


def sum_of(dataflow: Dataflow, node: Node) -> Values:
    """Return the value of a ``binary_expression`` with ``+``; empty within a longer chain."""
    parent = node.parent
    if (
        node.field == "left"
        and parent is not None
        and parent.kind == "binary_expression"
        and operator_of(dataflow, parent) == "+"
    ):
        return ()
    parts: list[Values] = []
    current: Node | None = node
    while current is not None:
        parts.append(dataflow.value(current.get("right")))
        left = current.get("left")
        if left is None or left.kind != "binary_expression" or operator_of(dataflow, left) != "+":
            parts.append(dataflow.value(left))
            break
        current = left
    if not all(parts):
        return ()
    if all(len(part) == 1 and isinstance(part[0], str) for part in parts):
        found = fold(lambda: "".join(str(part[0]) for part in reversed(parts)))
    else:
        found = parts.pop()
        while parts and found:
            found = fold(added, plain(found), plain(parts.pop()))
    for text in texts(found):
        dataflow.report_folded(text, node)
    return found


def added(one: object, other: object) -> object:
    """Return the sum of two numbers, or the concatenation of two texts.

    Raises:
        TypeError: One operand is a list.
        ValueError: The text is longer than 4,000 characters: programs that append to a text
            repeatedly would take quadratic time.
    """
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    if isinstance(one, list) or isinstance(other, list):
        raise TypeError
    text = f"{one}{other}"
    if len(text) > _LONGEST:
        raise ValueError
    return text


def with_words(source: Source, seen: ScanOutput) -> ScanOutput:
    """Add the findings of the lexical engine where the syntax tree has gaps.

    Args:
        source: The program.
        seen: Output for the syntax tree; changed when the program does not parse as a whole.
    """
    if not seen.problem:
        return seen
    from llm_sandbox.security.lexical.engine import scan

    known = {(each.capability, each.span.line) for each in seen.findings}
    words = scan(source)
    seen.findings += [
        each for each in words.findings if (each.capability, each.span.line) not in known
    ]
    names = {each.name for each in seen.modules}
    seen.modules += [each for each in words.modules if each.name not in names]
    return seen
