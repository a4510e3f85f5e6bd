"""Engine for JavaScript: values of expressions, and effects of calls."""

from collections.abc import Callable

from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.dataflow import added, operator_of, sum_of, with_words
from llm_sandbox.security.trees.javascript.bindings import FUNCTION_KINDS
from llm_sandbox.security.trees.javascript.calls import Calls, any_item
from llm_sandbox.security.trees.syntax_tree import Node
from llm_sandbox.security.trees.text_operations import unescape
from llm_sandbox.security.trees.values import (
    Record,
    Ref,
    Values,
    as_items,
    fold,
    plain,
    refs,
    texts,
    union,
)

__all__ = ["JavaScript", "scan"]


def scan(source: Source) -> ScanOutput:
    """Scan a program in JavaScript, or in the part of TypeScript that is JavaScript."""
    return with_words(source, JavaScript(source).run())


class JavaScript(Calls):
    """Evaluator of one program in JavaScript."""

    def rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return the evaluation rules by kind of node."""
        return {
            **dict.fromkeys(FUNCTION_KINDS, self._function),
            "array": lambda node: (as_items(self.listed(node)),),
            "assignment_expression": self._assignment,
            "augmented_assignment_expression": self._addition_to,
            "await_expression": self._inside,
            "binary_expression": self._binary,
            "call_expression": self.call,
            "escape_sequence": lambda node: (unescape(self.tree.words(node)),),
            "export_statement": self._export,
            "expression_statement": self._inside,
            "field_definition": self._field,
            "for_in_statement": self._loop,
            "identifier": self._name,
            "import": lambda _: (Ref("import"),),
            "import_statement": self._import,
            "member_expression": self._member_of,
            "meta_property": lambda _: (Ref("import.meta"),),
            "new_expression": self.call,
            "number": self._number,
            "object": self._object,
            "parenthesized_expression": self._inside,
            "return_statement": self._return,
            "sequence_expression": self._inside,
            "shorthand_property_identifier": self.name,
            "spread_element": self._inside,
            "string": self._string,
            "string_fragment": lambda node: (self.tree.words(node),),
            "subscript_expression": self._member_of,
            "template_string": self._template,
            "template_substitution": self._inside,
            "ternary_expression": self._choice,
            "this": lambda _: (),
            "undefined": lambda _: (),
            "variable_declarator": self._declarator,
        }

    # Constants

    def _name(self, node: Node) -> Values:
        parent = node.parent
        if parent is not None and parent.kind in {"formal_parameters", "import_specifier"}:
            return ()
        return self.name(node)

    def _number(self, node: Node) -> Values:
        text = self.tree.words(node).replace("_", "").rstrip("n")
        try:
            return (int(text, 0 if text[:1] == "0" and len(text) > 1 else 10),)
        except ValueError:
            return ()

    def _string(self, node: Node) -> Values:
        text = unescape(self.tree.text[node.start + 1 : node.end - 1])
        self.report_text(text, node)
        return (text,)

    def _template(self, node: Node) -> Values:
        parts = [self.value(each) for each in node.children]
        if all(parts):
            found = (
                fold(lambda *each: "".join(map(str, each)), *map(plain, parts)) if parts else ("",)
            )
        else:
            found = ()
        for text in found[:1] or (self.tree.text[node.start + 1 : node.end - 1],):
            if isinstance(text, str):
                self.report_text(text, node)
        return found

    def _binary(self, node: Node) -> Values:
        sign = operator_of(self, node)
        if sign in {"||", "??", "&&"}:
            return union(self.value(node.get("left")), self.value(node.get("right")))
        return sum_of(self, node) if sign == "+" else ()

    # Names and members

    def _inside(self, node: Node) -> Values:
        return self.value(node.children[-1]) if node.children else ()

    def _choice(self, node: Node) -> Values:
        return union(self.value(node.get("consequence")), self.value(node.get("alternative")))

    def _declarator(self, node: Node) -> None:
        name, value = node.get("name"), self.value(node.get("value"))
        if name is not None:
            self.give(name, value)

    def _assignment(self, node: Node) -> Values:
        left, value = node.get("left"), self.value(node.get("right"))
        if left is not None:
            self.give(left, value)
        return value

    def _addition_to(self, node: Node) -> Values:
        left, right = node.get("left"), self.value(node.get("right"))
        sign = operator_of(self, node)
        if left is None:
            return ()
        known = self.value(left)
        if sign == "+=":
            value = fold(added, plain(known[:1]), plain(right))
            for text in texts(value):
                self.report_folded(text, node)
        else:
            value = right if sign in {"||=", "&&=", "??="} else ()
        self.give(left, value)
        return value

    def _field(self, node: Node) -> None:
        key = node.get("property")
        for name in self.keys(key) if key is not None else ():
            self.put_field(str(name), self.value(node.get("value")))

    def _loop(self, node: Node) -> None:
        left = node.get("left")
        if left is not None and operator_of(self, node) == "of":
            self.give(left, any_item(self.value(node.get("right"))))

    def _object(self, node: Node) -> Values:
        record = self.record(node)
        for each in node.children:
            if each.kind == "pair":
                key = each.get("key")
                for name in self.keys(key) if key is not None else ():
                    values = self.value(each.get("value"))
                    record.fields[str(name)] = union(record.fields.get(str(name), ()), values)
            elif each.kind == "shorthand_property_identifier":
                record.fields[self.name_of(each)] = self.value(each)
            elif each.kind == "method_definition":
                named = each.get("name")
                for name in self.keys(named) if named is not None else ():
                    record.fields[str(name)] = self.value(each)
            elif each.kind == "spread_element":
                for value in self.value(each):
                    if isinstance(value, Record) and value is not record:
                        record.fields.update(value.fields)
                    elif isinstance(value, Ref):
                        return (record, value)
        return (record,)

    def _member_of(self, node: Node) -> Values:
        base_node = node.get("object")
        key = node.get("property") or node.get("index")
        if base_node is None or key is None:
            return ()
        bases = self.value(base_node)
        names = (
            self.keys(key)
            if node.kind == "member_expression"
            else [each for each in self.value(key) if isinstance(each, str | int)]
        )
        if not names:
            return self.member_unknown(node, bases)
        if not bases:
            if names == ["constructor"]:
                return (Ref("?.constructor"),)
            return self.of_any(names)
        found = self.members(bases, names)
        if node.kind == "subscript_expression" and key.kind != "string":
            found = tuple(
                Ref(v.name, (*v.route, "[...]"), v.direct) if isinstance(v, Ref) else v
                for v in found
            )
        given = node.field == "left" and node.parent is not None
        for ref in refs(found):
            if not given or ref.name.startswith("process.env"):
                self.report_read(ref, node)
        return found or (self.of_any(names) if all(isinstance(b, Record) for b in bases) else ())

    # Modules

    def _import(self, node: Node) -> None:
        source = node.get("source")
        for text in texts(self.value(source)):
            module = self.module(text, node, ())
            for clause in node.children:
                if clause.kind == "import_clause":
                    self._import_names(clause, module)

    def _import_names(self, clause: Node, module: Ref) -> None:
        for each in clause.children:
            if each.kind == "identifier":
                self.bind(self.name_of(each), (module,), self.top)
            elif each.kind == "namespace_import":
                for whole in each.children:
                    self.bind(self.name_of(whole), (module,), self.top)
            elif each.kind == "named_imports":
                for one in each.children:
                    name, alias = one.get("name"), one.get("alias")
                    if name is not None:
                        values = self.members((module,), [_unquoted(self.name_of(name))])
                        self.bind(self.name_of(alias or name), values, self.top)
                        for ref in refs(values):
                            self.report_read(ref, one)

    def _export(self, node: Node) -> None:
        for text in texts(self.value(node.get("source"))):
            self.report_escape((self.module(text, node, ()),), node)

    # Functions

    def _function(self, node: Node) -> Values:
        function = self.opened.get(id(self.scope(node))) or self.function(node, [])
        body = node.get("body")
        if node.kind == "arrow_function" and body is not None and body.kind != "statement_block":
            self.add_result(function, self.value(body))
        name = node.get("name")
        if name is not None and node.kind.endswith("_declaration"):
            self.bind(self.name_of(name), (function,), self.scope(node.parent))
        elif name is not None and node.kind == "method_definition":
            for key in self.keys(name):
                self.put_field(str(key), (function,))
        return (function,)

    def _return(self, node: Node) -> None:
        function = self.function_around(node)
        if function is not None:
            self.add_result(function, self._inside(node))

    # Code


def _unquoted(name: str) -> str:
    return name.strip("'\"")
