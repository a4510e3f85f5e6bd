"""Engine for Go: values of expressions, and effects of calls."""

import re
from collections.abc import Callable

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.sensitive_text import is_outside
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.dataflow import Dataflow, added, operator_of, sum_of, with_words
from llm_sandbox.security.trees.go.folding import FUNCTIONS, as_text
from llm_sandbox.security.trees.go.tables import SINKS
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

__all__ = ["Go", "scan"]


_DIRECTIVE = re.compile(r"//go:(linkname|generate|embed|cgo_\w+)\b[ \t]*(.*)")
_FUNCTIONS = ("func_literal", "function_declaration", "method_declaration")
_VERSION = re.compile(r"v\d+")
_WRITES = re.compile(r"O_(?:WRONLY|RDWR|CREATE|TRUNC|APPEND|CREAT)")


def scan(source: Source) -> ScanOutput:
    """Scan a program in Go."""
    return with_words(source, Go(source).run())


class Go(Dataflow):
    """Evaluator of one program in Go. A value is known by the name of its type or constructor."""

    sinks = SINKS
    scoping = frozenset(_FUNCTIONS)

    def __init__(self, source: Source) -> None:
        super().__init__(read(source, "go"))
        self._opened_packages: list[str] = []

    def declarations(self) -> dict[str, Callable[[Node], object]]:
        """Return the declaration rules by kind of node."""
        return {
            **dict.fromkeys(_FUNCTIONS, self._declare_function),
            "const_spec": self._declare_names,
            "import_spec": self._import,
            "range_clause": self._declare_left,
            "short_var_declaration": self._declare_left,
            "type_spec": self._declare_names,
            "var_spec": self._declare_names,
        }

    def _declare_function(self, node: Node) -> None:
        listed = node.get("parameters")
        parameters: list[Node] = []
        for each in listed.children if listed is not None else ():
            parameters.extend(each.all("name"))
        for name in parameters:
            self.declare(self.tree.words(name), self.scope(node))
        receiver = node.get("receiver")
        for each in receiver.children if receiver is not None else ():
            for name in each.all("name"):
                self.declare(self.tree.words(name), self.scope(node))
        self.opened.setdefault(id(self.scope(node)), self.function(node, parameters))
        own = node.get("name")
        if own is not None and node.kind == "function_declaration":
            self.declare(self.tree.words(own), self.scope(node.parent))

    def _declare_names(self, node: Node) -> None:
        for name in node.all("name"):
            self.declare(self.tree.words(name), self.scope(node))

    def _declare_left(self, node: Node) -> None:
        left = node.get("left")
        for each in left.children if left is not None else ():
            if each.kind == "identifier":
                self.declare(self.tree.words(each), self.scope(node))

    def rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return the evaluation rules by kind of node."""
        return {
            **dict.fromkeys(_FUNCTIONS, self._function),
            "assignment_statement": self._assignment,
            "binary_expression": self.summed,
            "call_expression": self._call,
            "comment": self._comment,
            "composite_literal": self.composite,
            "const_spec": self._spec,
            "expression_list": self.inside,
            "identifier": self._name,
            "import_spec": self._use,
            "index_expression": self.item,
            "int_literal": self.number,
            "interpreted_string_literal": self.text,
            "keyed_element": self.keyed,
            "literal_element": self.inside,
            "literal_value": self.listed,
            "package_identifier": self._name,
            "parameter_declaration": self._parameter,
            "parenthesized_expression": self.inside,
            "pointer_type": self.inside,
            "qualified_type": self._qualified,
            "range_clause": self._range,
            "raw_string_literal": self.raw_text,
            "return_statement": self._return,
            "rune_literal": self.rune,
            "selector_expression": self._selector,
            "short_var_declaration": self._assignment,
            "slice_expression": self.sliced,
            "type_conversion_expression": lambda node: self.value(node.get("operand")),
            "type_assertion_expression": lambda node: self.value(node.get("operand")),
            "type_identifier": self._type,
            "unary_expression": lambda node: self.value(node.get("operand")),
            "var_spec": self._spec,
        }

    # Names

    def _import(self, node: Node) -> None:
        path, name = node.get("path"), node.get("name")
        if path is None:
            return
        full = unescape(self.tree.words(path)[1:-1])
        if name is not None and name.kind == "dot":
            if full not in self._opened_packages:
                self._opened_packages.append(full)
        elif name is None or name.kind == "package_identifier":
            word = self.tree.words(name) if name is not None else _package(full)
            self.declare(word, self.top)
            self.bind(word, (Ref(full),), self.top)

    def _use(self, node: Node) -> None:
        for full in texts(self.value(node.get("path"))):
            self.use_module(full, node)
            if full == "C":
                self.report(Capability.NATIVE, node, "C", detail="is C code")

    def _name(self, node: Node) -> Values:
        words = self.tree.words(node)
        known = self.look_up(words, self.scope(node))
        if known is not None:
            return known
        for package in self._opened_packages[:20]:
            full = f"{package}.{words}"
            if self.sinks.of_call(full) is not None or full in self.sinks.writes:
                return (Ref(full),)
        return self.field(words) if node.parent and node.parent.kind == "keyed_element" else ()

    def _type(self, node: Node) -> Values:
        return tuple(refs(self._name(node)))

    def _qualified(self, node: Node) -> Values:
        name = node.get("name")
        words = self.tree.words(name) if name is not None else ""
        return tuple(Ref(f"{ref.name}.{words}") for ref in refs(self.value(node.get("package"))))

    def _selector(self, node: Node) -> Values:
        name = node.get("field")
        if name is None:
            return ()
        words = self.tree.words(name)
        bases = refs(self.value(node.get("operand")))
        found = tuple(
            Ref(f"{ref.name}.{words}", ref.route, ref.direct)
            for ref in bases
            if len(ref.name) < 200
        )
        return found or self.field(words)

    def _parameter(self, node: Node) -> None:
        kind = self.value(node.get("type"))
        for name in node.all("name") if kind else ():
            self.bind(self.tree.words(name), kind, self.scope(node))

    def _spec(self, node: Node) -> None:
        values, kind = node.get("value"), self.value(node.get("type"))
        given = [self.value(each) for each in values.children] if values is not None else []
        self._give(node.all("name"), given or [kind] * len(node.all("name")))

    def _assignment(self, node: Node) -> None:
        left, right = node.get("left"), node.get("right")
        if left is None or right is None:
            return
        given = [self.value(each) for each in right.children]
        if operator_of(self, node) == "+=" and left.children and given:
            given = [fold(added, plain(self.value(left.children[0])[:1]), plain(given[0]))]
            for text in texts(given[0]):
                self.report_folded(text, node)
        self._give(left.children, given)

    def _give(self, names: list[Node], values: list[Values]) -> None:
        for name, value in zip(names, values, strict=False):
            words = self.tree.words(name)
            if name.kind == "identifier":
                self.bind(words, value, self.scope(name))
            elif name.kind == "selector_expression":
                field = name.get("field")
                if field is not None:
                    self.put_field(self.tree.words(field), value)

    def _range(self, node: Node) -> None:
        left = node.get("left")
        found = members(self.value(node.get("right")))
        if left is not None and len(left.children) > 1:
            self._give(left.children[1:2], [found])

    # Functions and calls

    def _function(self, node: Node) -> Values:
        function = self.opened.get(id(self.scope(node))) or self.function(node, [])
        name = node.get("name")
        if name is not None and node.kind == "function_declaration":
            self.bind(self.tree.words(name), (function,), self.scope(node.parent))
        result = node.get("result")
        if result is not None and refs(self.value(result)):
            self.add_result(function, tuple(refs(self.value(result))))
        return (function,)

    def _return(self, node: Node) -> None:
        function = self.opened.get(id(self.scope(node)))
        listed = node.first("expression_list")
        if function is not None and listed is not None and listed.children:
            self.add_result(function, self.value(listed.children[0]))

    def _comment(self, node: Node) -> None:
        words = self.tree.words(node)
        found = _DIRECTIVE.match(words) if words.startswith("//go:") else None
        if found is None:
            return
        if found[1] == "generate":
            detail = f"with the command {found[2][:80]!r}"
            self.report(Capability.PROCESS_RUN, node, "go:generate", "medium", detail)
        elif found[1] == "embed":
            self.report_text(found[2], node)
        else:
            self.report(Capability.NATIVE, node, f"go:{found[1]}")

    def _arguments(self, node: Node) -> list[Values]:
        listed = node.get("arguments")
        children = listed.children if listed is not None else []
        return [self.value(each) for each in children if each.kind != "comment"]

    def _call(self, node: Node) -> Values:
        callee, arguments = node.get("function"), self._arguments(node)
        if callee is None:
            return ()
        words = self.tree.words(callee)
        if words in {"string", "rune", "byte"} and arguments:
            found = fold(as_text, plain(arguments[0])) if words == "string" else arguments[0]
            for text in texts(found)[:1]:
                self.report_folded(text, node)
            return found
        if words in {"append", "new"}:
            return self._grown(words, arguments)
        found = self._built(callee, arguments)
        for text in texts(found)[:1]:
            self.report_folded(text, node)
        values = self.value(callee)
        for value in values:
            if isinstance(value, Function):
                for parameter, given in zip(value.parameters, arguments, strict=False):
                    self.bind(self.tree.words(parameter), given, self.scope(parameter))
                found = union(found, self.returned(value))
            elif isinstance(value, Ref):
                found = union(found, self._call_library(value, arguments, node))
        if not values:
            self._report_handed(arguments, node)
        return found

    def _grown(self, word: str, arguments: list[Values]) -> Values:
        if word == "new" or not arguments:
            return arguments[0] if arguments else ()
        found = [value for value in arguments[0] if isinstance(value, Items)]
        items = found[0].items if found else ()
        return (as_items((*items[:100], *arguments[1:])),)

    def _built(self, callee: Node, arguments: list[Values]) -> Values:
        """Evaluate writes to a `strings.Builder` or a `bytes.Buffer`."""
        field, owner = callee.get("field"), callee.get("operand")
        if field is None or owner is None or owner.kind != "identifier":
            return ()
        word, values = self.tree.words(field), self.value(owner)
        if word == "String":
            return tuple(texts(values)[:1])
        if word in {"WriteString", "WriteByte", "WriteRune"} and arguments:
            known: Values = tuple(texts(values)[:1]) or ("",)
            grown = fold(lambda one, more: one + as_text(more), plain(known), plain(arguments[0]))
            self.bind(self.tree.words(owner), grown, self.scope(owner))
        return ()

    def _call_library(self, ref: Ref, arguments: list[Values], node: Node) -> Values:
        name = ref.name
        function = FUNCTIONS.get(name)
        if function is not None:
            given = arguments
            if len(given) == 1 and name == "fmt.Sprint" and not given[0]:
                return ()
            found = fold(function, *map(plain, given)) if all(given) else ()
            for text in texts(found)[:1]:
                self.report_folded(text, node)
            return found
        if name.startswith("reflect.ValueOf"):
            return self._reflected(ref, arguments, node)
        if name == "os.OpenFile":
            self._report_open(ref, arguments, node)
        if name.endswith((".Mmap", ".mmap")) and "PROT_EXEC" in self.tree.words(node):
            self.report(Capability.NATIVE, node, name, self.sure(ref), "of memory that can run")
        known = self.report_call(ref, arguments, node)
        if not known:
            self._report_handed(arguments, node)
        if name.startswith("reflect.") or name.endswith(".Call"):
            return ()
        return (Ref(f"{name}()" if len(name) < 200 else name, ref.route, ref.direct),)

    def _reflected(self, ref: Ref, arguments: list[Values], node: Node) -> Values:
        """Return the value of `reflect.ValueOf`, or of a method of such a value."""
        if ref.name == "reflect.ValueOf":
            given = refs(arguments[0]) if arguments else []
            if not given:
                return (Ref("reflect.ValueOf()", ref.route),)
            return tuple(Ref(f"reflect.ValueOf|{each.name}", ("reflect",)) for each in given)
        inner, _, last = ref.name.partition("|")[2].rpartition(".")
        if not inner:
            return ()
        target = Ref(inner, ref.route, False)
        if last in {"Call", "CallSlice"}:
            items = (
                [value for value in arguments[0] if isinstance(value, Items)] if arguments else []
            )
            return self._call_library(target, list(items[0].items) if items else [], node)
        if last in {"MethodByName", "FieldByName"}:
            names = texts(arguments[0]) if arguments else []
            if not names:
                self.report(Capability.DYNAMIC_UNRESOLVED, node, f"{inner}.?", "low", "", ref.route)
            return tuple(Ref(f"reflect.ValueOf|{inner}.{each}", ref.route) for each in names)
        return (
            (Ref(f"reflect.ValueOf|{inner}", ref.route),) if last in {"Elem", "Interface"} else ()
        )

    def _report_open(self, ref: Ref, arguments: list[Values], node: Node) -> None:
        paths = texts(arguments[0]) if arguments else []
        if paths and is_outside(paths[0]) and _WRITES.search(self.tree.words(node)):
            detail = f"the file {paths[0][:80]!r}"
            self.report(Capability.FILE_WRITE, node, ref.name, self.sure(ref), detail, ref.route)

    def _report_handed(self, arguments: list[Values], node: Node) -> None:
        for given in arguments:
            for ref in refs(given):
                does = self.sinks.of_call(ref.name)
                if does is not None and not ref.name.endswith(")"):
                    detail = "handed on to be called"
                    self.report(does, node, ref.name, "medium", detail, ref.route)

    def text(self, node: Node) -> Values:
        """Return the value of a string literal."""
        text = unescape(self.tree.words(node)[1:-1])
        self.report_text(text, node)
        return (text,)

    def raw_text(self, node: Node) -> Values:
        """Return the value of a raw string literal."""
        text = self.tree.words(node)[1:-1]
        self.report_text(text, node)
        return (text,)

    def rune(self, node: Node) -> Values:
        """Return the number of a rune literal."""
        text = unescape(self.tree.words(node)[1:-1])
        return (ord(text),) if len(text) == 1 else ()

    def number(self, node: Node) -> Values:
        """Return the value of a number literal."""
        words = self.tree.words(node).replace("_", "")
        try:
            return (int(words, 8 if re.fullmatch(r"0[0-7]+", words) else 0),)
        except ValueError:
            return ()

    def listed(self, node: Node) -> Values:
        """Return the list of the values of the parts."""
        listed = [self.value(each) for each in node.children[:5000] if each.kind != "comment"]
        return (as_items(listed),)

    def keyed(self, node: Node) -> Values:
        """Return the value of a keyed element."""
        key, value = node.get("key"), self.value(node.get("value"))
        if key is not None and refs(value):
            self.put_field(self.tree.words(key), value)
        return value

    def composite(self, node: Node) -> Values:
        """Return the value of a composite literal."""
        body, kind = self.value(node.get("body")), node.get("type")
        made = tuple(Ref(r.name, r.route, r.direct) for r in refs(self.value(kind)))
        return union(made, body)

    def summed(self, node: Node) -> Values:
        """Return the value of a sum."""
        return sum_of(self, node) if operator_of(self, node) == "+" else ()

    def inside(self, node: Node) -> Values:
        """Return the value of the last part."""
        return self.value(node.children[-1]) if node.children else ()

    def sliced(self, node: Node) -> Values:
        """Return the value of a slice of text."""
        ends = [numbers(self.value(node.get(name)))[:1] for name in ("start", "end")]
        start, end = (each[0] if each else None for each in ends)
        return fold(lambda text: as_text(text)[start:end], plain(self.value(node.get("operand"))))

    def item(self, node: Node) -> Values:
        """Return the values of a list's item."""
        found: Values = ()
        known = numbers(self.value(node.get("index")))[:1]
        for value in self.value(node.get("operand")):
            if isinstance(value, Items):
                chosen = [value.items[i] for i in known if 0 <= i < len(value.items)]
                for each in chosen or value.items[:50]:
                    found = union(found, each)
        return found


def _package(path: str) -> str:
    parts = [part for part in path.split("/") if not _VERSION.fullmatch(part)]
    last = parts[-1] if parts else path
    return re.sub(r"\.v\d+$|^go-|-go$", "", last)
