"""Engine for Java: values of expressions, and effects of calls."""

from collections.abc import Callable

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.dataflow import Dataflow, added, operator_of, sum_of, with_words
from llm_sandbox.security.trees.java.folding import FUNCTIONS, METHODS, without_escapes
from llm_sandbox.security.trees.java.tables import CLASSES, PACKAGES, RETURNS, SINKS
from llm_sandbox.security.trees.syntax_tree import Node, read
from llm_sandbox.security.trees.text_operations import unescape
from llm_sandbox.security.trees.values import (
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

__all__ = ["Java", "scan"]


_LOOKS_UP = frozenset(
    {"getConstructor", "getDeclaredConstructor", "getDeclaredField", "getDeclaredMethod"}
    | {"getField", "getMethod"}
)
_FINDS = frozenset({"bind", "findConstructor", "findSpecial", "findStatic", "findVirtual"})
_INVOKES = frozenset(
    {"accept", "apply", "call", "invoke", "invokeExact", "invokeWithArguments", "newInstance"}
)
_LOADS = frozenset(
    {"java.lang.Class.forName", "java.lang.ClassLoader.loadClass", "findClass", "loadClass"}
)
_TYPES = frozenset({"generic_type", "scoped_type_identifier", "type_identifier"})


def scan(source: Source) -> ScanOutput:
    """Scan a program in Java; classes, or statements as for JShell."""
    return with_words(source, Java(source).run())


class Java(Dataflow):
    """Evaluator of one program in Java. An object is known by the name of its class."""

    sinks = SINKS
    scoping = frozenset(
        {
            "class_declaration",
            "constructor_declaration",
            "enum_declaration",
            "interface_declaration",
            "lambda_expression",
            "method_declaration",
            "record_declaration",
        }
    )

    def __init__(self, source: Source) -> None:
        super().__init__(read(source, "java", *without_escapes(source.text)))
        self._imported: dict[str, str] = {}
        self._everything_of: list[str] = []
        """Classes whose methods are called without a qualifier: static imports and superclasses."""
        self._own: set[str] = set()

    def declarations(self) -> dict[str, Callable[[Node], object]]:
        """Return the declaration rules by kind of node."""
        return {
            "catch_formal_parameter": self._declare_name,
            "class_declaration": self._declare_class,
            "enhanced_for_statement": self._declare_name,
            "enum_declaration": self._declare_class,
            "formal_parameter": self._declare_name,
            "inferred_parameters": self._declare_all,
            "interface_declaration": self._declare_class,
            "lambda_expression": self._declare_lambda,
            "record_declaration": self._declare_class,
            "resource": self._declare_name,
            "variable_declarator": self._declare_name,
        }

    def _declare_name(self, node: Node) -> None:
        name = node.get("name")
        if name is not None:
            self.declare(self.tree.words(name), self.scope(node))

    def _declare_all(self, node: Node) -> None:
        for each in node.children:
            self.declare(self.tree.words(each), self.scope(node))

    def _declare_lambda(self, node: Node) -> None:
        parameter = node.get("parameters")
        if parameter is not None and parameter.kind == "identifier":
            self.declare(self.tree.words(parameter), self.scope(node))

    def _declare_class(self, node: Node) -> None:
        name = node.get("name")
        if name is not None:
            self._own.add(self.tree.words(name))

    def rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return the evaluation rules by kind of node."""
        return {
            "array_access": self.item,
            "array_creation_expression": lambda node: self.value(node.get("value")),
            "array_initializer": self.listed,
            "assignment_expression": self._assignment,
            "binary_expression": self.binary,
            "cast_expression": self.cast,
            "character_literal": self.text,
            "class_literal": self._class_literal,
            "decimal_integer_literal": self.number,
            "enhanced_for_statement": self._loop,
            "field_access": self._field,
            "formal_parameter": self._typed,
            "hex_integer_literal": self.number,
            "identifier": self._name,
            "import_declaration": self._import,
            "method_declaration": self._method,
            "method_invocation": self._call,
            "method_reference": self._reference,
            "object_creation_expression": self._make,
            "parenthesized_expression": self.inside,
            "resource": self._typed,
            "return_statement": self._return,
            "scoped_type_identifier": self._type_name,
            "string_literal": self.text,
            "superclass": self._superclass,
            "ternary_expression": self.choice,
            "type_identifier": self._type_name,
            "generic_type": lambda node: self.value(node.children[0]) if node.children else (),
            "variable_declarator": self._declarator,
        }

    # Names

    def _import(self, node: Node) -> None:
        path = node.first("scoped_identifier", "identifier")
        if path is None:
            return
        full = self.tree.words(path)
        full = "".join(full.split())
        last = full.rpartition(".")[2]
        if node.first("asterisk") is not None:
            if last[:1].isupper() and full not in self._everything_of:
                self._everything_of.append(full)
        elif full.rpartition(".")[0].rpartition(".")[2][:1].isupper() and last[:1].islower():
            self.bind(last, (Ref(full),), self.top)
        else:
            self._imported[last] = full
        self.use_module(full, node)

    def _class_of(self, name: str) -> Ref | None:
        if name in self._imported:
            return Ref(self._imported[name])
        if name in self._own:
            return None
        full = CLASSES.get(name)
        return Ref(full) if full is not None else None

    def _name(self, node: Node) -> Values:
        parent = node.parent
        if node.field == "name" and parent is not None and parent.kind == "method_invocation":
            return ()
        name = self.tree.words(node)
        known = self.look_up(name, self.scope(node))
        if known is not None:
            return known
        found = self._class_of(name)
        if found is not None:
            return (found,)
        return (Ref(name),) if name in PACKAGES else self.field(name)

    def _type_name(self, node: Node) -> Values:
        name = "".join(self.tree.words(node).split())
        if "." in name:
            first, _, rest = name.partition(".")
            base = self._class_of(first)
            return (Ref(f"{base.name}.{rest}" if base is not None else name),)
        found = self._class_of(name)
        return (found,) if found is not None else ()

    def _class_literal(self, node: Node) -> Values:
        return self.value(node.children[0]) if node.children else ()

    def _superclass(self, node: Node) -> None:
        for each in node.children:
            for ref in refs(self.value(each)):
                if ref.name not in self._everything_of:
                    self._everything_of.append(ref.name)

    def _field(self, node: Node) -> Values:
        name = node.get("field")
        owner = node.get("object")
        if name is None:
            return ()
        word = self.tree.words(name)
        found = tuple(
            Ref(f"{ref.name}.{word}", ref.route, ref.direct)
            for ref in refs(self.value(owner))
            if len(ref.name) < 200
        )
        if owner is not None and owner.kind == "this":
            return self.look_up(word, self.scope(node)) or ()
        return found or self.field(word)

    def _assignment(self, node: Node) -> Values:
        left, value = node.get("left"), self.value(node.get("right"))
        if left is None:
            return value
        if operator_of(self, node) == "+=":
            value = fold(added, plain(self.value(left)[:1]), plain(value))
            for text in texts(value):
                self.report_folded(text, node)
        if left.kind == "identifier":
            self.bind(self.tree.words(left), value, self.scope(left))
        elif left.kind == "field_access":
            name = left.get("field")
            if name is not None:
                self.bind(self.tree.words(name), value, self.scope(left))
        return value

    def _declarator(self, node: Node) -> None:
        parent, name = node.parent, node.get("name")
        if parent is None or name is None:
            return
        value = self.value(node.get("value"))
        kind = parent.get("type")
        if kind is not None and kind.kind in _TYPES and not value:
            value = tuple(r for r in refs(self.value(kind)) if r.name != "java.lang.String")
        self.bind(self.tree.words(name), value, self.scope(node))

    def _typed(self, node: Node) -> None:
        name, kind = node.get("name"), node.get("type")
        if name is not None:
            value = self.value(node.get("value")) or self.value(kind)
            self.bind(self.tree.words(name), value, self.scope(node))

    def _loop(self, node: Node) -> None:
        name = node.get("name")
        found = union(self.value(node.get("type")), members(self.value(node.get("value"))))
        if name is not None:
            self.bind(self.tree.words(name), found, self.scope(node))

    # Methods and calls

    def _method(self, node: Node) -> None:
        modifiers, name = node.first("modifiers"), node.get("name")
        if name is None:
            return
        word = self.tree.words(name)
        if modifiers is not None and "native" in self.tree.words(modifiers).split():
            self.report(Capability.NATIVE, node, word, detail="is implemented in native code")
        kind = self.value(node.get("type"))
        if kind:
            self.bind(f"{word}()", kind, self.top)
        elif self.top.names.get(f"{word}()") is None:
            self.declare(f"{word}()", self.top)

    def _return(self, node: Node) -> None:
        method = node.parent
        for _ in range(20):
            if method is None or method.kind in {"method_declaration", "lambda_expression"}:
                break
            method = method.parent
        name = method.get("name") if method is not None else None
        if name is not None:
            self.bind(f"{self.tree.words(name)}()", self.inside(node), self.top)

    def _arguments(self, node: Node) -> list[Values]:
        listed = node.get("arguments")
        if listed is None:
            return []
        return [self.value(each) for each in listed.children if "comment" not in each.kind]

    def _make(self, node: Node) -> Values:
        found: Values = ()
        for ref in refs(self.value(node.get("type"))):
            found = union(found, self._call_library(ref, self._arguments(node), node, made=True))
        return found

    def _call(self, node: Node) -> Values:
        name = node.get("name")
        if name is None:
            return ()
        word, owner, arguments = self.tree.words(name), node.get("object"), self._arguments(node)
        if owner is None or owner.kind in {"super", "this"}:
            return self._call_unqualified(word, arguments, node)
        bases = self.value(owner)
        found: Values = ()
        method = METHODS.get(word)
        if method is not None and all(arguments):
            mutates = word in {"append", "insert", "reverse"}
            known: Values = tuple(texts(bases)[:1]) if mutates else bases
            found = fold(method, plain(known), *map(plain, arguments))
            if mutates and owner.kind == "identifier":
                self.bind(self.tree.words(owner), found, self.scope(owner))
        for ref in refs(bases):
            found = union(found, self._call_on(ref, word, arguments, node))
        for text in texts(found)[:1]:
            self.report_folded(text, node)
        return found

    def _call_unqualified(self, word: str, arguments: list[Values], node: Node) -> Values:
        found: Values = ()
        for ref in refs(self.look_up(word, self.scope(node)) or ()):
            found = union(found, self._call_library(ref, arguments, node))
        own = self.look_up(f"{word}()", self.scope(node))
        if own is not None:
            return union(found, own)
        for owner in self._everything_of[:20]:
            full = f"{owner}.{word}"
            if full in RETURNS or full in FUNCTIONS or self.sinks.of_call(full) is not None:
                found = union(found, self._call_library(Ref(full), arguments, node))
        if word in _LOADS:
            found = union(found, self._load(Ref("java.lang.ClassLoader"), arguments, node))
        return found

    def _call_on(self, ref: Ref, word: str, arguments: list[Values], node: Node) -> Values:
        """Return the result of a method of a library's class or object."""
        full = f"{ref.name}.{word}"
        if full in _LOADS or word == "loadClass":
            return self._load(ref, arguments, node)
        if word in _LOOKS_UP:
            return self._look_up_member(ref, arguments[:1], node)
        if word in _FINDS and len(arguments) > 1:
            found: Values = ()
            for owner in refs(arguments[0]):
                found = union(found, self._look_up_member(owner, arguments[1:2], node))
            return found
        if word in _INVOKES and ref.route[-1:] == ("reflection",):
            given = arguments[1:] if word == "invoke" else arguments
            return self._call_library(ref, given, node, made=word == "newInstance")
        if word == "setAccessible" or word == "trySetAccessible":
            self.report(Capability.INTROSPECTION, node, full, self.sure(ref), "", ref.route)
            return ()
        if word in {"getClass", "asSubclass"}:
            return (ref,)
        return self._call_library(Ref(full, ref.route, ref.direct), arguments, node)

    def _load(self, ref: Ref, arguments: list[Values], node: Node) -> Values:
        names = texts(arguments[0]) if arguments else []
        if not names:
            if arguments:
                self.report(
                    Capability.DYNAMIC_UNRESOLVED, node, "Class.forName", "low", "", ref.route
                )
            return ()
        for name in names:
            self.use_module(name, node, ("Class.forName",))
        return tuple(Ref(name.replace("$", "."), (*ref.route, "Class.forName")) for name in names)

    def _look_up_member(self, ref: Ref, name: list[Values], node: Node) -> Values:
        route = (*ref.route, "reflection")
        if not name or refs(name[0]):
            return (Ref(ref.name, route, ref.direct),)
        names = texts(name[0])
        if not names and ref.name.partition(".")[0] in PACKAGES:
            subject = f"{ref.name}.?"
            self.report(Capability.DYNAMIC_UNRESOLVED, node, subject, "low", "", route)
        return tuple(Ref(f"{ref.name}.{each}", route, ref.direct) for each in names)

    def _call_library(
        self, ref: Ref, arguments: list[Values], node: Node, *, made: bool = False
    ) -> Values:
        self.report_call(ref, arguments, node)
        function = FUNCTIONS.get(ref.name)
        folded: Values = ()
        if function is not None and all(arguments):
            folded = fold(function, *map(plain, arguments))
            for text in texts(folded)[:1]:
                self.report_folded(text, node)
        if made:
            return union(folded, (ref,)) if not ref.name.startswith("java.lang.St") else folded
        owner = ref.name.rpartition(".")[0]
        # Most methods of what can be configured give the object itself.
        given = RETURNS.get(ref.name) or owner
        if given.startswith(("java.lang.System", "java.nio.file.Files", "java.lang.String")):
            return folded
        return union(folded, (Ref(given, ref.route, ref.direct),))

    def _reference(self, node: Node) -> Values:
        words = self.tree.words(node).rpartition("::")[2].strip()
        found: Values = ()
        for ref in refs(self.value(node.children[0])) if node.children else ():
            full = ref.name if words == "new" else f"{ref.name}.{words}"
            does = self.sinks.of_call(full)
            if does is not None:
                detail = "handed on to be called"
                self.report(does, node, full, "medium", detail, ref.route)
            found = union(found, (Ref(full, ref.route, False),))
        return found

    def text(self, node: Node) -> Values:
        """Return the value of a string literal."""
        words = self.tree.words(node)
        quotes = 3 if words.startswith('"""') else 1
        text = unescape(words[quotes:-quotes])
        self.report_text(text, node)
        return (text,)

    def number(self, node: Node) -> Values:
        """Return the value of a number literal."""
        try:
            return (int(self.tree.words(node).replace("_", "").rstrip("lL"), 0),)
        except ValueError:
            return ()

    def listed(self, node: Node) -> Values:
        """Return the list of the values of the parts."""
        listed = [self.value(each) for each in node.children[:5000] if "comment" not in each.kind]
        return (as_items(listed),)

    def item(self, node: Node) -> Values:
        """Return the values of an array's item."""
        found: Values = ()
        for value in self.value(node.get("array")):
            if isinstance(value, Items):
                known = numbers(self.value(node.get("index")))[:1]
                chosen = [value.items[i] for i in known if 0 <= i < len(value.items)]
                for each in chosen or value.items[:50]:
                    found = union(found, each)
        return found

    def binary(self, node: Node) -> Values:
        """Return the value of a binary operator."""
        return sum_of(self, node) if operator_of(self, node) == "+" else ()

    def cast(self, node: Node) -> Values:
        """Return the value of a cast."""
        value, kind = self.value(node.get("value")), node.get("type")
        if kind is None:
            return value
        if self.tree.words(kind) == "char":
            return tuple(chr(v & 0xFFFF) if isinstance(v, int) else v for v in value)
        return union(value, self.value(kind)) if not texts(value) else value

    def inside(self, node: Node) -> Values:
        """Return the value of the last part."""
        return self.value(node.children[-1]) if node.children else ()

    def choice(self, node: Node) -> Values:
        """Return the union of the values of both branches."""
        return union(self.value(node.get("consequence")), self.value(node.get("alternative")))
