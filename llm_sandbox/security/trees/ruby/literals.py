"""Literals and variables of Ruby."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import ClassVar

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.trees.dataflow import Dataflow
from llm_sandbox.security.trees.ruby.texts import OPERATORS
from llm_sandbox.security.trees.syntax_tree import Node
from llm_sandbox.security.trees.text_operations import unescape
from llm_sandbox.security.trees.values import (
    LONGEST_TEXT,
    Atom,
    Items,
    Ref,
    Values,
    fold,
    plain,
    texts,
    union,
)

__all__ = ["Literals"]

_TEXT_PARTS = frozenset(("escape_sequence", "heredoc_content", "string_content"))
_BUDGET = 2_000_000
_QUIET = frozenset(("bare_string", "bare_symbol", "heredoc_body", "string"))


class Literals(Dataflow):
    """Evaluator of literals and variables."""

    scoping: ClassVar[frozenset[str]] = frozenset(
        ("block", "class", "do_block", "lambda", "method", "module", "singleton_method")
    )

    def literal_rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return the rules for literals, operators and names."""
        text = self._string
        return {
            "array": self._array,
            "assignment": self._assignment,
            "bare_string": text,
            "bare_symbol": text,
            "binary": self._binary,
            "block_body": self._last,
            "body_statement": self._last,
            "chained_string": self._chained,
            "character": self._character,
            "conditional": self._either,
            "constant": self._name,
            "delimited_symbol": text,
            "else": self._last,
            "global_variable": self._name,
            "hash": self._nothing,
            "hash_key_symbol": self._symbol,
            "heredoc_beginning": self._heredoc,
            "heredoc_body": self._nothing,
            "instance_variable": self._name,
            "class_variable": self._name,
            "integer": self._integer,
            "operator_assignment": self._operator_assignment,
            "parenthesized_statements": self._last,
            "range": self._range,
            "scope_resolution": self._scoped,
            "simple_symbol": self._symbol,
            "splat_argument": self._first_child,
            "string": text,
            "string_array": self._array,
            "symbol_array": self._array,
            "then": self._last,
            "unary": self._unary,
        }

    def declarations(self) -> dict[str, Callable[[Node], object]]:
        """Return the declaration rules: assignments, parameters, methods."""
        return {
            "assignment": self._declare_left,
            "operator_assignment": self._declare_left,
            "block_parameters": self._declare_parameters,
            "lambda_parameters": self._declare_parameters,
            "method_parameters": self._declare_parameters,
        }

    def folded(self, function: Callable[..., object], *arguments: Values) -> Values:
        """Return the results of a function for values, within the budget of the program.

        Repeated computations with long texts would take unbounded time otherwise.
        """
        if self._budget is None:
            self._budget = _BUDGET + 20 * len(self.tree.text)
        for values in arguments:
            self._budget -= sum(_size(value) for value in values)
        if self._budget < 0:
            return ()
        found = fold(function, *(plain(values) for values in arguments))
        self._budget -= sum(_size(value) for value in found)
        return found

    _budget: int | None = None

    def _declare_left(self, node: Node) -> None:
        scope = self.scope(node)
        for left in node.all("left"):
            for target in [left, *left.children] if left.kind == "left_assignment_list" else [left]:
                if target.kind in {"identifier", "constant"}:
                    name = self.tree.words(target)
                    if scope.owner(name) is None:
                        self.declare(name, scope)
                elif target.kind.endswith("_variable"):
                    self.declare(self.tree.words(target), self.top)

    def _declare_parameters(self, node: Node) -> None:
        for name in self.parameter_names(node):
            self.declare(name, self.scope(node))

    def parameter_names(self, node: Node) -> Iterator[str]:
        """Yield the names of parameters in order."""
        for parameter in node.children:
            name = parameter if parameter.kind == "identifier" else parameter.get("name")
            if name is not None:
                yield self.tree.words(name)

    # Texts

    def _string(self, node: Node) -> Values:
        value = self._joined(node.children)
        if node.kind not in _QUIET or node.parent is None or node.parent.kind != "binary":
            self._report(node, value)
        return value

    def _report(self, node: Node, value: Values) -> None:
        if value:
            for text in texts(value)[:2]:
                self.report_text(text, node)
            return
        for part in node.children:
            if part.kind in _TEXT_PARTS:
                self.report_text(self.tree.words(part), part)

    def _joined(self, parts: list[Node]) -> Values:
        pieces: list[Values] = []
        for part in parts:
            if part.kind == "escape_sequence":
                piece: Values = (unescape(self.tree.words(part)),)
            elif part.kind in _TEXT_PARTS:
                piece = (self.tree.words(part),)
            elif part.kind == "interpolation":
                piece = self.value(part.children[-1]) if part.children else ("",)
                piece = tuple(str(each) for each in piece if isinstance(each, str | int))
            elif part.kind == "heredoc_end":
                continue
            else:
                piece = self.value(part)
            pieces.append(piece)
        if all(len(piece) == 1 for piece in pieces):
            if sum(_size(piece[0]) for piece in pieces) > LONGEST_TEXT:
                return ()
            return ("".join(str(piece[0]) for piece in pieces),)
        value: Values = ("",)
        for piece in pieces:
            value = self.folded(OPERATORS["+"], value, piece)
        return value

    def _chained(self, node: Node) -> Values:
        value = self._joined(node.children)
        self._report(node, value)
        return value

    def _symbol(self, node: Node) -> Values:
        return (self.tree.words(node).strip(":"),)

    def _character(self, node: Node) -> Values:
        return (unescape(self.tree.words(node)[1:]),)

    def _heredoc(self, node: Node) -> Values:
        body = self.heredoc_body(node)
        if body is None:
            return ()
        # Bodies follow the line, so their parts have no values yet in the first round.
        value = self._joined(body.children)
        self._stale = self._stale or not value
        self._report(body, value)
        return value

    def heredoc_body(self, node: Node) -> Node | None:
        """Return the body of a heredoc by its start."""
        word = self.tree.words(node).lstrip("<~-").strip("\"'`")
        bodies = self._bodies.get(word, [])
        index = bisect_left(bodies, node.end, key=_start)
        return bodies[index] if index < len(bodies) else None

    @cached_property
    def _bodies(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for body in self.tree.order:
            if body.kind == "heredoc_body":
                end = body.first("heredoc_end")
                word = self.tree.words(end).strip() if end is not None else ""
                found.setdefault(word, []).append(body)
        return found

    # Numbers, lists, operators

    def _integer(self, node: Node) -> Values:
        words = self.tree.words(node).replace("_", "").lower()
        # A leading zero alone means base eight.
        base = 8 if words.isdigit() and words.startswith("0") else 0
        try:
            return (int(words, base),) if len(words) < 20 else ()
        except ValueError:
            return ()

    def _array(self, node: Node) -> Values:
        items: list[Values] = []
        for child in node.children[:5_000]:
            value = self.value(child)
            if child.kind == "splat_argument":
                for each in value:
                    items.extend(each.items if isinstance(each, Items) else ((each,),))
            else:
                items.append(value)
        return (Items(tuple(items)),)

    def _range(self, node: Node) -> Values:
        words = self.tree.words(node)
        begin, end = node.get("begin"), node.get("end")
        first: Values = self.value(begin) if begin is not None else (0,)
        last: Values = self.value(end) if end is not None else (-1,)
        mark = "..." if "..." in words else ".."
        return self.folded(OPERATORS[mark], first, last)

    def _unary(self, node: Node) -> Values:
        operand = self.value(node.get("operand"))
        if self.tree.words(node).startswith("-"):
            return tuple(-each for each in operand if isinstance(each, int))
        return ()

    def _binary(self, node: Node) -> Values:
        left, right, operator = node.get("left"), node.get("right"), node.get("operator")
        if operator is None:
            return ()
        mark = self.tree.words(operator)
        if mark in {"||", "or"}:
            return union(self.value(left), self.value(right))
        if mark in {"&&", "and"}:
            return self.value(right)
        if mark not in OPERATORS:
            return ()
        value = self.folded(OPERATORS[mark], self.value(left), self.value(right))
        if mark == "<<" and left is not None and left.kind == "identifier" and value:
            self._grow(left, value)
        if node.parent is None or node.parent.kind != "binary":
            for text in texts(value)[:2]:
                self.report_text(text, node)
            if not value:
                self._report_parts(node)
        return value

    def _grow(self, left: Node, value: Values) -> None:
        # An appended text replaces the earlier value for the lines that follow.
        owner = self.scope(left).owner(self.tree.words(left))
        if owner is not None:
            owner.names[self.tree.words(left)] = value

    def _report_parts(self, node: Node) -> None:
        waiting = [node]
        while waiting:
            for child in waiting.pop().children:
                if child.kind == "binary":
                    waiting.append(child)
                elif child.kind == "string":
                    self._report(child, self.value(child))

    # Names

    def _name(self, node: Node) -> Values:
        name = self.tree.words(node)
        known = self.look_up(name, self.scope(node))
        if known is not None:
            return known
        if node.kind != "constant" or (node.parent is not None and node.field == "name"):
            return ()
        ref = Ref(name)
        self.report_read(ref, node)
        return (ref,)

    def _scoped(self, node: Node) -> Values:
        name_node, scope = node.get("name"), node.get("scope")
        name = self.tree.words(name_node) if name_node is not None else ""
        found: Values = ()
        if scope is None:
            found = (Ref(name),)
        for base in self.value(scope):
            if isinstance(base, Ref):
                full = name if base.name == "Object" else f"{base.name}.{name}"
                found = union(found, (Ref(full, base.route, base.direct),))
        for ref in found:
            if isinstance(ref, Ref):
                self.report_read(ref, node)
        return found

    def _assignment(self, node: Node) -> Values:
        left, right = node.get("left"), node.get("right")
        value = self.value(right)
        if left is None:
            return value
        if left.kind == "left_assignment_list":
            lists = [each for each in value if isinstance(each, Items)]
            if right is not None and right.kind == "right_assignment_list":
                lists = [Items(tuple(self.value(child) for child in right.children))]
            for index, target in enumerate(left.children):
                for each in lists[:1]:
                    if index < len(each.items):
                        self._give(target, each.items[index])
            return value
        self._give(left, value)
        return value

    def _give(self, target: Node, value: Values) -> None:
        if target.kind in {"identifier", "constant"} or target.kind.endswith("_variable"):
            self.bind(self.tree.words(target), value, self.scope(target))
        elif target.kind == "element_reference":
            base = target.get("object")
            if base is not None and self.tree.words(base) == "ENV":
                self.report(Capability.ENVIRONMENT, target, "ENV")

    def _operator_assignment(self, node: Node) -> Values:
        left, right, operator = node.get("left"), node.get("right"), node.get("operator")
        if left is None or operator is None:
            return ()
        mark = self.tree.words(operator).removesuffix("=")
        name = self.tree.words(left)
        known = self.look_up(name, self.scope(left)) or ()
        if mark == "||":
            self._give(left, self.value(right))
            return union(known, self.value(right))
        if mark not in OPERATORS:
            return ()
        value = self.folded(OPERATORS[mark], known, self.value(right))
        if left.kind == "identifier" and value:
            self._grow(left, value)
        return value

    # Structure

    def _nothing(self, _node: Node) -> Values:
        return ()

    def _first_child(self, node: Node) -> Values:
        return self.value(node.children[0]) if node.children else ()

    def _last(self, node: Node) -> Values:
        return self.value(node.children[-1]) if node.children else ()

    def _either(self, node: Node) -> Values:
        return union(self.value(node.get("consequence")), self.value(node.get("alternative")))


def _size(value: Atom) -> int:
    if isinstance(value, str):
        return len(value)
    return len(value.items) if isinstance(value, Items) else 1


def _start(node: Node) -> int:
    return node.start
