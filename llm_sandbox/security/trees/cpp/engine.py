"""Engine for C++: values of expressions, and effects of calls."""

import re
from collections.abc import Callable

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.sensitive_text import is_outside
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.cpp.names import (
    Macro,
    Names,
    declared_name,
    expand,
    without_splices,
)
from llm_sandbox.security.trees.cpp.tables import NETWORK_HEADERS, NETWORK_NAMES, OPENERS
from llm_sandbox.security.trees.dataflow import added, operator_of, sum_of, with_words
from llm_sandbox.security.trees.syntax_tree import Node, read
from llm_sandbox.security.trees.text_operations import unescape
from llm_sandbox.security.trees.values import (
    Function,
    Items,
    Ref,
    Values,
    as_items,
    fold,
    members,
    numbers,
    plain,
    refs,
    texts,
    union,
)

__all__ = ["Cpp", "scan"]


_DEEPEST = 3
_MOST_EXPANDED = 200
_LOOPS = {"do_statement", "for_statement", "while_statement"}
_RUNS_MEMORY = {"mmap", "mprotect", "VirtualAlloc", "VirtualProtect"}
_STRINGS = {"string", "wstring", "string_view", "filesystem::path", "to_string"}
_WRITES = re.compile(r"[wa+]|O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)|ios(?:_base)?::(?:out|app)")


def scan(source: Source) -> ScanOutput:
    """Scan a program in C++."""
    return with_words(source, Cpp(source, {}, 0).run())


class Cpp(Names):
    """Evaluator of one program in C++."""

    def __init__(self, source: Source, macros: dict[str, Macro], depth: int) -> None:
        super().__init__(read(source, "cpp", *without_splices(source.text)))
        self.macros = dict(macros)
        self.spaces = {}
        self.opened_spaces = []
        self.types = {}
        self._depth = depth
        self._expanded: dict[str, ScanOutput] = {}
        self._headers: set[str] = set()

    def rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return the evaluation rules by kind of node."""
        return {
            "alias_declaration": self.alias,
            "assignment_expression": self._assignment,
            "binary_expression": self.binary,
            "call_expression": self._call,
            "cast_expression": self._cast,
            "char_literal": self.text,
            "compound_literal_expression": self._make,
            "concatenated_string": self.joined,
            "condition_clause": self.inside,
            "conditional_expression": self.choice,
            "declaration": self._declaration,
            "expression_statement": self._statement,
            "field_expression": self._field,
            "for_range_loop": self._loop,
            "gnu_asm_expression": self._assembly,
            "identifier": self.name,
            "init_declarator": self._declarator,
            "initializer_list": self.listed,
            "initializer_pair": lambda node: self.value(node.get("value")),
            "lambda_expression": lambda _: (),
            "namespace_alias_definition": self.name_space,
            "new_expression": self._make,
            "number_literal": self.number,
            "parenthesized_expression": self.inside,
            "pointer_expression": self.inside,
            "preproc_def": self._define,
            "preproc_function_def": self._define,
            "preproc_include": self._include,
            "qualified_identifier": self.qualified,
            "raw_string_literal": self.raw_text,
            "return_statement": self._return,
            "string_literal": self.text,
            "subscript_expression": self._item,
            "template_function": lambda node: self.value(node.get("name")),
            "type_definition": self.typedef,
            "type_identifier": self.type_of,
            "function_definition": self._function,
            "using_declaration": self.use,
        }

    # Before the program

    def _define(self, node: Node) -> None:
        name, value, listed = node.get("name"), node.get("value"), node.get("parameters")
        if name is None:
            return
        text = self.tree.words(value).strip() if value is not None else ""
        text = text.replace("\\\r\n", " ").replace("\\\n", " ")
        parameters = None
        if listed is not None:
            words = self.tree.words(listed).strip("()")
            parameters = [each.strip() for each in words.split(",") if each.strip()]
        self.macros[self.tree.words(name)] = Macro(parameters, text)

    def _include(self, node: Node) -> None:
        path = node.get("path")
        if path is None:
            return
        words = self.tree.words(path)
        macro = self.macros.get(words)
        if macro is not None:
            words = expand(macro, [], self.macros) or words
        if words[:1] not in {"<", '"'}:
            self.report(Capability.DYNAMIC_UNRESOLVED, node, words, "low", "is included")
            return
        name = words.strip('<>" \t')
        self._headers.add(name)
        self.use_module(name, node, () if macro is None else ("#define",))
        self.report_text(name, node)

    def _report_expanded(self, name: str, arguments: list[str], node: Node) -> bool:
        macro = self.macros.get(name)
        if macro is None or self._depth >= _DEEPEST:
            return False
        text = expand(macro, arguments, self.macros)
        if text is None or len(self._expanded) >= _MOST_EXPANDED:
            return True
        seen = self._expanded.get(text)
        if seen is None:
            code = text if "(" in text else f"{text}({', '.join(arguments)})"
            # In a function, whether it is an expression or statements.
            source = Source(f"void f(){{\n{code}\n;}}", "cpp")
            seen = self._expanded[text] = Cpp(source, {}, self._depth + 1).run()
        for each in seen.findings[:20]:
            self.report(
                each.capability,
                node,
                each.subject,
                each.confidence,
                each.detail,
                (f"#define {name}", *each.route),
            )
        return True

    def _statement(self, node: Node) -> None:
        only = node.children[0] if len(node.children) == 1 else None
        if only is not None and only.kind == "identifier":
            self._report_expanded(self.tree.words(only), [], node)

    # Names

    def _field(self, node: Node) -> Values:
        name = node.get("field")
        if name is None:
            return ()
        word = self.tree.words(name)
        found = tuple(
            Ref(f"{ref.name}.{word}", ref.route, ref.direct)
            for ref in refs(self.value(node.get("argument")))
            if len(ref.name) < 200
        )
        return found or self.field(word)

    def _item(self, node: Node) -> Values:
        found: Values = ()
        indices = node.get("indices")
        known = numbers(self.value(indices.children[0])) if indices and indices.children else []
        for value in self.value(node.get("argument")):
            if isinstance(value, Items):
                chosen = [value.items[i] for i in known[:1] if 0 <= i < len(value.items)]
                for each in chosen or value.items[:50]:
                    found = union(found, each)
        return found

    def _assignment(self, node: Node) -> Values:
        left, value = node.get("left"), self.value(node.get("right"))
        if left is None:
            return value
        if operator_of(self, node) == "+=":
            value = fold(added, plain(self.value(left)[:1]), plain(value))
            for text in texts(value):
                self.report_folded(text, node)
        self._give(left, value)
        return value

    def _give(self, left: Node, value: Values) -> None:
        if left.kind == "identifier":
            self.bind(self.tree.words(left), value, self.scope(left))
        elif left.kind == "field_expression":
            name = left.get("field")
            if name is not None:
                self.put_field(self.tree.words(name), value)
        elif left.kind == "subscript_expression":
            argument = left.get("argument")
            if argument is not None and argument.kind == "identifier":
                self._give(argument, (as_items((value,)),) if refs(value) else ())

    def _declaration(self, node: Node) -> None:
        kind = node.get("type")
        for each in node.all("declarator"):
            if each.kind == "function_declarator":
                # The syntax of a function declaration may be a variable with an initialiser.
                for ref in refs(self._of_type(kind)):
                    if "::" in ref.name:
                        self.report_call(ref, [], node)
            name = each if each.kind == "identifier" else None
            if name is not None:
                given = self.value(node.get("value")) or self._of_type(kind)
                if given:
                    self.declare(self.tree.words(name), self.scope(node))
                    self.bind(self.tree.words(name), given, self.scope(node))

    def _of_type(self, kind: Node | None) -> Values:
        if kind is None or kind.kind not in {"qualified_identifier", "type_identifier"}:
            return ()
        return self.value(kind)

    def _declarator(self, node: Node) -> None:
        name, given = declared_name(node.get("declarator")), node.get("value")
        kind = node.parent.get("type") if node.parent is not None else None
        value = self.value(given)
        for ref in refs(self._of_type(kind)):
            if given is not None and given.kind in {"argument_list", "initializer_list"}:
                value = union(self._call_library(ref, given.children, node), (ref,))
        if given is not None and given.kind == "argument_list":
            for each in given.children:
                self._report_handed(self.value(each), node)
        if name is not None:
            self.bind(self.tree.words(name), value, self.scope(node))

    def _loop(self, node: Node) -> None:
        name = declared_name(node.get("declarator"))
        found = members(self.value(node.get("right")))
        if name is not None:
            self.bind(self.tree.words(name), found, self.scope(node))

    # Functions and calls

    def _function(self, node: Node) -> None:
        function = self.opened.get(id(self.scope(node)))
        name = declared_name(node.get("declarator"))
        if function is not None and name is not None:
            self.bind(self.tree.words(name), (function,), self.scope(node.parent))

    def _return(self, node: Node) -> None:
        function = self.opened.get(id(self.scope(node)))
        if function is not None:
            self.add_result(function, self.inside(node))

    def _assembly(self, node: Node) -> None:
        self.report(Capability.NATIVE, node, "asm", detail="has machine instructions")

    def _cast(self, node: Node) -> Values:
        kind, value = node.get("type"), node.get("value")
        if kind is not None:
            self._report_cast(self.tree.words(kind), value, node)
        return self.value(value)

    def _report_cast(self, kind: str, value: Node | None, node: Node) -> None:
        pointer = re.search(r"\(\s*\*\s*(?:const\s*)?\)\s*\(", kind) is not None
        if not pointer and self.types.get(kind.strip(" *")) != "(*)":
            return
        given = self.value(value)
        if any(isinstance(each, Function | Ref) for each in given):
            return
        words = self.tree.words(value) if value is not None else ""
        if not re.fullmatch(r"\s*(?:0|NULL|nullptr|-?1)\s*", words):
            detail = "takes data for a function"
            self.report(Capability.NATIVE, node, "a cast to a function", "medium", detail)

    def _make(self, node: Node) -> Values:
        listed = node.get("arguments") or node.get("value")
        found: Values = ()
        for ref in refs(self.value(node.get("type"))):
            self._call_library(ref, listed.children if listed is not None else [], node)
            found = union(found, (ref,))
        return found

    def _call(self, node: Node) -> Values:
        callee, listed = node.get("function"), node.get("arguments")
        if callee is None:
            return ()
        given = [each for each in listed.children if each.kind != "comment"] if listed else []
        words = self.tree.words(callee)
        if callee.kind == "identifier" and words in self.macros:
            arguments = [self.tree.words(each) for each in given[:50]]
            if self._report_expanded(words, arguments, node):
                return ()
        if words.startswith(("reinterpret_cast<", "static_cast<")) and given:
            self._report_cast(words.partition("<")[2].rstrip("> "), given[0], node)
            return self.value(given[0])
        if words in {"__asm__", "asm", "__asm"}:
            self._assembly(node)
        values = self.value(callee)
        found: Values = ()
        for value in values:
            if isinstance(value, Ref):
                found = union(found, self._call_library(value, given, node))
            elif isinstance(value, Function):
                for parameter, each in zip(value.parameters, given, strict=False):
                    self._give(parameter, self.value(each))
                found = union(found, self.returned(value))
                self._report_overload(words, given, node)
        if not refs(values):
            for each in given:
                self._report_handed(self.value(each), node)
        return found

    def _report_overload(self, words: str, given: list[Node], node: Node) -> None:
        # The program may have a function of this name for other arguments.
        ref = self.library(words)
        if ref is None or not given or not texts(self.value(given[0])):
            return
        if self.sinks.of_call(ref.name) is Capability.PROCESS_RUN:
            self.report_call(
                Ref(ref.name, ("overload",)), [self.value(each) for each in given], node
            )

    def _report_handed(self, values: Values, node: Node) -> None:
        for ref in refs(values):
            does = self.sinks.of_call(ref.name)
            if does is not None and "." not in ref.name:
                detail = "handed on to be called"
                self.report(does, node, ref.name, "medium", detail, ref.route)

    def _call_library(self, ref: Ref, given: list[Node], node: Node) -> Values:
        arguments = [self.value(each) for each in given]
        name = ref.name
        if name in _STRINGS:
            return arguments[0] if arguments else ("",)
        if name in {"remove", "boost::asio::connect"} and len(arguments) != 1:
            return ()
        if name in OPENERS or name == "fstream.open":
            self._report_open(ref, arguments, given, node)
            return (ref,)
        if name in NETWORK_NAMES:
            if self._headers & NETWORK_HEADERS:
                self.report(Capability.NETWORK_SOCKET, node, name, self.sure(ref), "", ref.route)
            return ()
        if name in _RUNS_MEMORY:
            words = " ".join(self.tree.words(each) for each in given[2:])
            if re.search(r"PROT_EXEC|PAGE_EXECUTE|^\s*7\b|,?\s[57]\b", words):
                self.report(Capability.NATIVE, node, name, self.sure(ref), "of memory that can run")
            return ()
        self.report_call(ref, arguments, node)
        if name in {"fork", "vfork", "_Fork", "clone"} and _in_loop(node):
            self.report(Capability.RESOURCE, node, name, "medium", "again and again", ref.route)
        if name in {"thread", "jthread"}:
            self._report_handed(arguments[0] if arguments else (), node)
        if name in {"dlsym", "GetProcAddress"} and len(arguments) > 1:
            return tuple(Ref(each, ("dlsym",)) for each in texts(arguments[1]))
        return (ref,) if "::" in name else ()

    def _report_open(
        self, ref: Ref, arguments: list[Values], given: list[Node], node: Node
    ) -> None:
        at = OPENERS.get(ref.name, 1)
        mode = " ".join(self.tree.words(each) for each in given[at : at + 1])
        paths = texts(arguments[at - 1]) if len(arguments) >= at else []
        if paths and _WRITES.search(mode) and is_outside(paths[0]):
            detail = f"the file {paths[0][:80]!r}"
            self.report(Capability.FILE_WRITE, node, ref.name, self.sure(ref), detail, ref.route)

    def text(self, node: Node) -> Values:
        """Return the value of a string literal."""
        words = self.tree.words(node)
        start = words.find(words[-1:]) + 1
        text = unescape(words[start:-1])
        self.report_text(text, node)
        return (text,)

    def raw_text(self, node: Node) -> Values:
        """Return the value of a raw string literal."""
        words = self.tree.words(node)
        start, end = words.find("(") + 1, words.rfind(")")
        self.report_text(words[start:end], node)
        return (words[start:end],)

    def joined(self, node: Node) -> Values:
        """Return the value of adjacent literals."""
        parts = [self.value(each) for each in node.children]
        if not all(parts):
            return ()
        found = fold(lambda *each: "".join(map(str, each)), *map(plain, parts[:200]))
        for text in texts(found)[:1]:
            self.report_folded(text, node)
        return found

    def number(self, node: Node) -> Values:
        """Return the value of a number literal."""
        words = self.tree.words(node).replace("'", "").rstrip("uUlL")
        try:
            return (int(words, 8 if re.fullmatch(r"0[0-7]+", words) else 0),)
        except ValueError:
            return ()

    def listed(self, node: Node) -> Values:
        """Return the list of the values of the parts."""
        listed = tuple(self.value(each) for each in node.children[:5000] if each.kind != "comment")
        letters = [texts(each)[0] if texts(each) else "" for each in listed]
        whole = (
            ("".join(letters),)
            if len(letters) > 2 and all(len(each) == 1 for each in letters[:-1])
            else ()
        )
        for text in whole:
            self.report_text(text, node)
        return (*whole, as_items(listed))

    def binary(self, node: Node) -> Values:
        """Return the value of a binary operator."""
        return sum_of(self, node) if operator_of(self, node) == "+" else ()

    def inside(self, node: Node) -> Values:
        """Return the value of the last part."""
        return self.value(node.children[-1]) if node.children else ()

    def choice(self, node: Node) -> Values:
        """Return the union of the values of both branches."""
        return union(self.value(node.get("consequence")), self.value(node.get("alternative")))


def _in_loop(node: Node) -> bool:
    above = node.parent
    for _ in range(12):
        if above is None or above.kind == "function_definition":
            return False
        if above.kind in _LOOPS:
            return True
        above = above.parent
    return False
