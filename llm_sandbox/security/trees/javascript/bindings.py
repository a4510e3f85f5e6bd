"""Names and members of JavaScript: declarations and assignments."""

from collections.abc import Callable

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.trees.dataflow import Dataflow, Scope
from llm_sandbox.security.trees.javascript.tables import ALIASES, GLOBALS
from llm_sandbox.security.trees.syntax_tree import Node
from llm_sandbox.security.trees.text_operations import unescape
from llm_sandbox.security.trees.values import (
    Function,
    Items,
    Record,
    Ref,
    Values,
    numbers,
    refs,
    texts,
    union,
)

__all__ = ["FUNCTION_KINDS", "Bindings", "of_library"]

FUNCTION_KINDS = frozenset(
    {
        "arrow_function",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    }
)
_PATTERNS = {"object_pattern", "array_pattern", "rest_pattern", "pair_pattern"}


class Bindings(Dataflow):
    """Resolver of names and members."""

    scoping = FUNCTION_KINDS

    def declarations(self) -> dict[str, Callable[[Node], object]]:
        """Return the declaration rules by kind of node."""
        functions = dict.fromkeys(FUNCTION_KINDS, self._declare_function)
        return {
            **functions,
            "variable_declarator": lambda node: self._declare(node.get("name"), self.scope(node)),
            "class_declaration": lambda node: self._declare(node.get("name"), self.scope(node)),
            "formal_parameters": self._declare_all,
            "catch_clause": lambda node: self._declare(node.get("parameter"), self.scope(node)),
            "import_clause": self._declare_imports,
            "for_in_statement": self._declare_loop,
        }

    def _declare_all(self, node: Node) -> None:
        for each in node.children:
            self._declare(each, self.scope(node))

    def _declare_function(self, node: Node) -> None:
        name = node.get("name")
        if name is not None and name.kind == "identifier":
            self._declare(name, self.scope(node.parent))
        single = node.get("parameter")
        self._declare(single, self.scope(node))
        listed = node.get("parameters")
        parameters = [single] if single is not None else listed.children if listed else []
        function = self.function(node, parameters)
        self.opened.setdefault(id(self.scope(node)), function)

    def _declare_loop(self, node: Node) -> None:
        if node.get("kind") is not None:
            self._declare(node.get("left"), self.scope(node))

    def _declare_imports(self, node: Node) -> None:
        for each in node.walk():
            if each.kind == "identifier" and each.field != "name":
                self.declare(self.name_of(each), self.top)
            elif each.kind == "import_specifier" and each.get("alias") is None:
                name = each.get("name")
                if name is not None:
                    self.declare(self.name_of(name), self.top)

    def _declare(self, pattern: Node | None, scope: Scope) -> None:
        waiting = [pattern] if pattern is not None else []
        while waiting:
            node = waiting.pop()
            if node.kind in {"identifier", "shorthand_property_identifier_pattern"}:
                self.declare(self.name_of(node), scope)
            elif node.kind in {"assignment_pattern", "object_assignment_pattern"}:
                waiting.extend(node.all("left"))
            elif node.kind == "pair_pattern":
                waiting.extend(node.all("value"))
            elif node.kind in _PATTERNS:
                waiting.extend(node.children)

    def function_around(self, node: Node) -> Function | None:
        """Return the function around a node, or None at the top level."""
        return self.opened.get(id(self.scope(node)))

    def name_of(self, node: Node) -> str:
        """Return a name with its escapes decoded."""
        return unescape(self.tree.words(node))

    def name(self, node: Node) -> Values:
        """Return the values of a name."""
        name = self.name_of(node)
        known = self.look_up(name, self.scope(node))
        if known is not None:
            return known
        return (Ref(ALIASES.get(name, name)),) if name in GLOBALS else ()

    def give(self, pattern: Node, values: Values) -> None:
        """Assign values to a name, or to the names of a pattern."""
        waiting = [(pattern, values)]
        while waiting:
            node, given = waiting.pop()
            if node.kind in {"identifier", "shorthand_property_identifier_pattern"}:
                self.bind(self.name_of(node), given, self.scope(node))
            elif node.kind in {"assignment_pattern", "object_assignment_pattern"}:
                left = node.get("left")
                if left is not None:
                    if left.kind == "shorthand_property_identifier_pattern":
                        given = self.members(given, [self.name_of(left)])
                    waiting.append((left, union(given, self.value(node.get("right")))))
            elif node.kind == "object_pattern":
                waiting.extend(self._parts_of_object(node, given))
            elif node.kind == "array_pattern":
                for index, each in enumerate(node.children):
                    waiting.append((each, self.members(given, [index])))
            elif node.kind == "rest_pattern":
                waiting.extend((each, given) for each in node.children)
            elif node.kind in {"member_expression", "subscript_expression"}:
                self.put(node, given)

    def _parts_of_object(self, pattern: Node, given: Values) -> list[tuple[Node, Values]]:
        parts = []
        for each in pattern.children:
            if each.kind == "pair_pattern":
                key, value = each.get("key"), each.get("value")
                if key is not None and value is not None:
                    parts.append((value, self.members(given, self.keys(key))))
            elif each.kind == "shorthand_property_identifier_pattern":
                parts.append((each, self.members(given, [self.name_of(each)])))
            else:
                parts.append((each, given))
        for each, got in parts:
            for ref in refs(got):
                self.report_read(ref, each)
        return parts

    def keys(self, node: Node) -> list[str | int]:
        """Return the possible keys of a member or a field."""
        if node.kind in {"property_identifier", "private_property_identifier", "identifier"}:
            return [self.name_of(node)]
        if node.kind == "computed_property_name":
            node = node.children[0] if node.children else node
        values = self.value(node)
        return [*texts(values), *numbers(values)]

    def put(self, node: Node, values: Values) -> None:
        """Assign values to a member."""
        key = node.get("property") or node.get("index")
        bases = self.value(node.get("object"))
        for name in (
            self.keys(key)
            if key is not None and node.kind != "subscript_expression"
            else ([*texts(self.value(key)), *numbers(self.value(key))])
        ):
            for base in bases:
                if isinstance(base, Record):
                    base.fields[str(name)] = union(base.fields.get(str(name), ()), values)
                elif isinstance(base, Ref):
                    self._put_to_library(base, str(name), values, node)
            if not bases:
                self.put_field(str(name), values)

    def _put_to_library(self, base: Ref, name: str, values: Values, node: Node) -> None:
        if base.name == "globalThis":
            self.declare(name, self.top)
            self.bind(name, values, self.top)
        elif base.name in {"module", "exports", "module.exports"}:
            self.report_escape(values, node)

    def report_escape(self, values: Values, node: Node) -> None:
        """Report tracked values that are passed to code that is not modelled."""
        for value in values:
            if type(value) is not Ref:
                continue
            if value.name in self.sinks.watched:
                self.report(Capability.MODULE_ESCAPE, node, value.name, "medium", "", value.route)
            else:
                does = self.sinks.of_call(value.name)
                if does is not None:
                    detail = "handed on to be called"
                    self.report(does, node, value.name, "medium", detail, value.route)

    def members(self, values: Values, names: list[str | int]) -> Values:
        """Return the values of members."""
        found: Values = ()
        for value in values:
            for name in names:
                found = union(found, self._member(value, name))
        return found

    def _member(self, value: object, name: str | int) -> Values:
        if isinstance(value, Ref):
            return (of_library(value, str(name)),)
        if isinstance(value, Record):
            got = value.fields.get(str(name))
            return (Ref("Object"),) if got is None and name == "constructor" else got or ()
        if isinstance(value, Function):
            return (Ref("Function"),) if name in {"constructor", "__proto__"} else ()
        if name == "constructor":
            kinds = ((str, "String"), (int, "Number"), (Items, "Array"))
            return tuple(Ref(known) for kind, known in kinds if isinstance(value, kind))
        return _item(value, name)


def _item(value: object, name: str | int) -> Values:
    index = int(name) if isinstance(name, int) or (name.isdecimal() and len(name) < 7) else None
    if isinstance(value, Items):
        if name == "length":
            return (len(value.items),)
        return value.items[index] if index is not None and 0 <= index < len(value.items) else ()
    if isinstance(value, str):
        if name == "length":
            return (len(value),)
        return (value[index],) if index is not None and 0 <= index < len(value) else ()
    return ()


def of_library(base: Ref, name: str) -> Ref:
    """Return a member of a library's object by its canonical name."""
    if base.name == "globalThis":
        full = name if name in GLOBALS else f"globalThis.{name}"
        return Ref(ALIASES.get(full, full), base.route, base.direct)
    if name == "default":
        return base
    full = f"{base.name}.{name}"
    function = base.name.startswith("Function") or base.name.endswith(".constructor")
    if function and name in {"constructor", "__proto__"}:
        full = "Function"
    if len(full) > 200:
        full = base.name
    return Ref(ALIASES.get(full, full), base.route, base.direct)
