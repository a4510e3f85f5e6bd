"""Engine for Ruby: resolution of method calls, and their effects."""

from collections.abc import Callable
from typing import ClassVar

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.languages import findings_within, modules_within
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.ruby.literals import Literals
from llm_sandbox.security.trees.ruby.tables import (
    EVALUATORS,
    KERNEL,
    LOOKUPS,
    PIPES,
    SENDERS,
    SINKS,
)
from llm_sandbox.security.trees.ruby.texts import METHODS, MODULE_FUNCTIONS, evaluated
from llm_sandbox.security.trees.sinks import Sinks
from llm_sandbox.security.trees.syntax_tree import Node, read
from llm_sandbox.security.trees.values import Function, Items, Ref, Values, texts

__all__ = ["scan"]

_DEEPEST = 3
_REQUIRERS = frozenset(("autoload", "load", "require", "require_relative"))


_PRIVATE = frozenset(("`", "eval", "exec", "fork", "open", "spawn", "syscall", "system"))
_SAME = frozenset(("class", "freeze", "itself"))
_REFLECTING = SENDERS | LOOKUPS | EVALUATORS | {"const_get"}
_CALLERS = frozenset(("()", "===", "[]", "bind_call", "call", "curry", "yield"))
_KEEPERS = frozenset(("bind", "curry", "to_proc", "unbind"))
_CHANGERS = frozenset(("<<", "concat", "gsub!", "prepend", "push", "reverse!", "tr!"))
_EVENTFUL = frozenset(("at_exit", "binding", "fork"))


def _is_parameter(node: Node) -> bool:
    return node.parent is not None and node.parent.kind.endswith(("parameters", "parameter"))


def scan(source: Source, depth: int = 0) -> ScanOutput:
    """Scan a program in Ruby.

    Args:
        source: The program.
        depth: Nesting depth of the program; scanning ends at three.

    Raises:
        ImportError: The grammar is not installed.
    """
    return _Program(source, depth).run()


class _Program(Literals):
    """Evaluator of calls in one program."""

    sinks: ClassVar[Sinks] = SINKS
    nesting: int = 0
    scan_text: Callable[[Source, int], ScanOutput]

    def __init__(self, source: Source, depth: int) -> None:
        # A heredoc that ends with the text is complete, which the grammar does not know.
        super().__init__(read(source, "ruby", source.text + "\n"))
        self.nesting = depth
        self.scan_text = scan

    def rules(self) -> dict[str, Callable[[Node], Values | None]]:
        return {**self.literal_rules(), **self.call_rules()}

    def call_rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return the rules for calls and for names of methods."""
        return {
            "alias": self._alias,
            "block_argument": self._block_argument,
            "call": self._call,
            "element_reference": self._element,
            "identifier": self._identifier,
            "method": self._method,
            "return": self._returned,
            "singleton_method": self._method,
            "subshell": self._subshell,
        }

    # Methods of the program

    def _method(self, node: Node) -> Values:
        name, parameters = node.get("name"), node.get("parameters")
        made = self.function(node, parameters.children if parameters is not None else [])
        if name is not None and self.tree.words(name) not in _PRIVATE:
            self.top.names.setdefault(self.tree.words(name), ())
            self.bind(self.tree.words(name), (made,), self.top)
        self.add_result(made, self.value(node.get("body")))
        return ()

    def _returned(self, node: Node) -> Values:
        method = node.above("method", "singleton_method", "lambda")
        arguments = node.first("argument_list")
        value = self.value(arguments.children[0]) if arguments and arguments.children else ()
        if method is not None and method.kind != "lambda":
            parameters = method.get("parameters")
            made = self.function(method, parameters.children if parameters is not None else [])
            self.add_result(made, value)
        return value

    def _alias(self, node: Node) -> Values:
        new, old = node.get("name"), node.get("alias")
        if new is not None and old is not None:
            self.rename(self.tree.words(new).strip(":"), self.tree.words(old).strip(":"))
        return ()

    def rename(self, new: str, old: str) -> None:
        """Bind another name to a method."""
        known = self.look_up(old, self.top)
        self.declare(new, self.top)
        self.bind(new, known or (Ref(old, ("alias",)),), self.top)

    def _identifier(self, node: Node) -> Values:
        name = self.tree.words(node)
        known = self.look_up(name, self.scope(node))
        if known is not None:
            made = [each for each in known if isinstance(each, Function)]
            return self.returned(made[0]) if made else known
        if name in _EVENTFUL and node.field != "name" and not _is_parameter(node):
            if name == "fork" and node.field != "method":
                self.report_call(Ref("fork"), [], node)
            return (Ref(name),)
        return ()

    # Calls

    def _call(self, node: Node) -> Values:
        receiver, method = node.get("receiver"), node.get("method")
        arguments = self._arguments(node)
        name = self.tree.words(method) if method is not None else "call"
        if receiver is None:
            return self._function(name, arguments, node)
        value = self.value(receiver)
        refs = [each for each in value if isinstance(each, Ref)]
        if receiver.kind == "self":
            refs = [Ref("self")]
        for ref in refs:
            result = self._of_ref(ref, name, arguments, node)
            if result is not None:
                return result
        return self._of_value(value, name, arguments, node)

    def _arguments(self, node: Node) -> list[Values]:
        given = node.get("arguments")
        found: list[Values] = []
        for child in given.children if given is not None else ():
            value = self.value(child)
            if child.kind == "splat_argument":
                for each in value:
                    found.extend(each.items if isinstance(each, Items) else ((each,),))
            elif child.kind not in {"block_argument", "pair"}:
                found.append(value)
        return found

    def _function(self, name: str, arguments: list[Values], node: Node) -> Values:
        known = self.look_up(name, self.scope(node))
        if known is not None:
            for each in known:
                if isinstance(each, Function):
                    return self._own(each, arguments)
                if isinstance(each, Ref):
                    self.evaluator(each, arguments, node)
            if known:
                return ()
        return self.evaluator(Ref(name), arguments, node)

    def _own(self, function: Function, arguments: list[Values]) -> Values:
        inside = self.scope(function.node.get("parameters"))
        for parameter, value in zip(function.parameters, arguments, strict=False):
            name = parameter if parameter.kind == "identifier" else parameter.get("name")
            if name is not None and value:
                self.bind(self.tree.words(name), value, inside)
        return self.returned(function)

    def _of_ref(self, ref: Ref, name: str, arguments: list[Values], node: Node) -> Values | None:
        """Call a library's method; None when it is a method of a plain value."""
        if name in _SAME:
            return (ref,)
        if name in _REFLECTING:
            return self.reflect(ref, name, arguments, node)
        if ref.name in KERNEL and f"{ref.name}.{name}" not in SINKS.commands:
            full = f"{ref.name}.{name}"
            known = SINKS.of_call(full)
            return self.evaluator(
                Ref(full if known else name, ref.route, ref.direct), arguments, node
            )
        if ref.route and (name in _CALLERS) and "." not in name:
            return self.evaluator(ref, arguments, node)
        if ref.route and name in _KEEPERS:
            return (ref,)
        full = f"{ref.name}.{name}"
        return self.evaluator(Ref(full, ref.route, ref.direct), arguments, node)

    def reflect(self, ref: Ref | None, name: str, arguments: list[Values], node: Node) -> Values:
        """Evaluate `send`, `method`, `const_get` and `instance_eval`."""
        prefix = "" if ref is None or ref.name in KERNEL else f"{ref.name}."
        route = (*(ref.route if ref is not None else ()), name)
        if name in EVALUATORS:
            self.evaluates(name, arguments, node, route[:-1])
            return ()
        chosen = texts(arguments[0]) if arguments else []
        if not chosen:
            if arguments and ref is not None and not arguments[0]:
                self.report(Capability.DYNAMIC_UNRESOLVED, node, name, "low", "", route)
            return ()
        if name == "const_get":
            return tuple(Ref(f"{prefix}{each.replace('::', '.')}", route) for each in chosen)
        if name in LOOKUPS:
            return tuple(Ref(f"{prefix}{each}", route) for each in chosen)
        found: Values = ()
        for each in chosen:
            full = f"{ref.name}.{each}" if ref is not None else each
            named = full if SINKS.of_call(full) is not None else f"{prefix}{each}"
            found = self.evaluator(Ref(named, route), arguments[1:], node)
        return found

    def _of_value(self, value: Values, name: str, arguments: list[Values], node: Node) -> Values:
        """Call a method of a plain value."""
        if name == "to_proc":
            return tuple(Ref(each, ("to_proc",)) for each in texts(value) if each in _PRIVATE)
        if name in SENDERS:
            for each in texts(arguments[0]) if arguments else ():
                if each in _PRIVATE - {"open"}:
                    return self.evaluator(Ref(each, (name,)), arguments[1:], node)
            return ()
        if name in LOOKUPS and arguments:
            private = [each for each in texts(arguments[0]) if each in _PRIVATE]
            return tuple(Ref(each, (name,)) for each in private)
        if name in EVALUATORS - {"eval"}:
            self.evaluates(name, arguments, node, ())
            return ()
        if name in {
            "map",
            "collect",
            "flat_map",
            "each_with_index",
            "then",
            "sum",
            "inject",
            "reduce",
        }:
            return self._mapped(value, name, node)
        if name in _CHANGERS:
            return self._changed(value, name, arguments, node)
        method = METHODS.get(name)
        if method is None:
            return ()
        result = self.folded(method, value, *arguments)
        if texts(result) and result != value:
            for text in texts(result)[:2]:
                self.report_text(text, node)
        return result

    def _changed(self, value: Values, name: str, arguments: list[Values], node: Node) -> Values:
        result = self.folded(METHODS[name.rstrip("!")], value, *arguments)
        receiver = node.get("receiver")
        if receiver is not None and receiver.kind == "identifier" and result:
            self._grow(receiver, result)
        return result

    def _mapped(self, value: Values, name: str, node: Node) -> Values:
        block = node.get("block")
        given = node.get("arguments")
        passed = given.first("block_argument") if given is not None else None
        if name in {"inject", "reduce", "sum"}:
            return self.folded(METHODS["join"], value)
        if passed is not None:
            method = METHODS.get(self.tree.words(passed).lstrip("&:"))
            if method is None:
                return ()
            return self.folded(lambda parts: [method(part) for part in parts], value)
        if block is None:
            return ()
        run = evaluated(self.tree, block)
        if run is None:
            return ()
        if name == "then":
            return self.folded(run, value)
        return self.folded(lambda parts: [run(part) for part in parts], value)

    def _element(self, node: Node) -> Values:
        base = node.get("object")
        value = self.value(base)
        arguments = [self.value(child) for child in node.children if child is not base]
        for ref in value:
            if isinstance(ref, Ref) and ref.route and ref.name != "ENV":
                self.evaluator(ref, arguments, node)
        result = self.folded(METHODS["[]"], value, *arguments)
        for each in value:
            # Of a list with unknown parts one part may be known.
            if not result and isinstance(each, Items) and len(arguments) == 1:
                for index in arguments[0]:
                    if isinstance(index, int) and -len(each.items) <= index < len(each.items):
                        result = each.items[index]
        return result

    def _block_argument(self, node: Node) -> Values:
        value = self._first_child(node)
        for ref in value:
            if isinstance(ref, Ref) and ref.route:
                self.evaluator(ref, [], node)
        return value

    def _subshell(self, node: Node) -> Values:
        command = self._joined(node.children)
        self._report(node, command)
        self.report_call(Ref("`"), [command], node)
        return ()

    def evaluator(self, ref: Ref, arguments: list[Values], node: Node) -> Values:
        """Report the effects of a library's method, and return its result."""
        name = ref.name.rpartition(".")[2]
        if ref.name in _REQUIRERS:
            self._requires(ref, arguments, node)
            return ()
        if ref.name in SENDERS or ref.name in LOOKUPS or ref.name == "const_get":
            return self.reflect(Ref("self", ref.route), ref.name, arguments, node)
        if ref.name in EVALUATORS or ref.name in {"binding.eval", "TOPLEVEL_BINDING.eval"}:
            self.evaluates(ref.name, arguments, node, ref.route)
            return ()
        if ref.name == "binding":
            return (Ref("binding", ref.route),)
        if ref.name in {"alias_method", "define_method"} and len(arguments) > 1:
            self._defines(arguments)
            return ()
        if ref.name.startswith("RubyVM.InstructionSequence.") and name in {"compile", "new"}:
            self.evaluates(ref.name, arguments, node, ref.route)
            return ()
        if ref.name == "ERB.new":
            self._template(arguments, node)
            return ()
        self._opens(ref, arguments, node)
        if ref.name in MODULE_FUNCTIONS:
            result = self.folded(MODULE_FUNCTIONS[ref.name], *arguments)
            for text in texts(result)[:2]:
                self.report_text(text, node)
            return result
        if not self._is_harmless(ref, node):
            self.report_call(ref, arguments, node)
        return ()

    def _is_harmless(self, ref: Ref, node: Node) -> bool:
        if ref.name in {"YAML.load", "Psych.load", "Oj.load"}:
            return "permitted_classes" in self.tree.words(node) or ":strict" in (
                self.tree.words(node)
            )
        if ref.name == "ENV.fetch":
            # Reading the constant is noted already.
            return True
        return ref.name.startswith("ENV.")

    def _defines(self, arguments: list[Values]) -> None:
        for new in texts(arguments[0]):
            for old in arguments[1]:
                if isinstance(old, str):
                    self.rename(new, old)
                elif isinstance(old, Ref):
                    self.declare(new, self.top)
                    self.bind(new, (old,), self.top)

    def _requires(self, ref: Ref, arguments: list[Values], node: Node) -> None:
        chosen = texts(arguments[-1]) if arguments else []
        for each in chosen:
            self.use_module(each, node, ref.route)
            if ref.name == "load" and each.startswith("/"):
                self.report(Capability.DYNAMIC_CODE, node, each, "medium", "from a file")
        if not chosen and arguments:
            self.report(Capability.DYNAMIC_UNRESOLVED, node, ref.name, "low", "", ref.route)

    def _opens(self, ref: Ref, arguments: list[Values], node: Node) -> None:
        if ref.name in PIPES:
            beginning = self._beginning(node)
            for text in [*(texts(arguments[0]) if arguments else ()), beginning]:
                if text.startswith("|"):
                    self.report(
                        Capability.PROCESS_RUN,
                        node,
                        ref.name,
                        self.sure(ref),
                        f"with the command {text[1:80]!r}",
                        ref.route,
                    )
                    return
                if ref.name == "open" and text.startswith(("http://", "https://", "ftp://")):
                    self.report(Capability.NETWORK_WEB, node, ref.name, self.sure(ref))
                    return
        if ref.name in {"open", "File.open", "File.new", "IO.sysopen"} and len(arguments) > 1:
            modes = texts(arguments[1])
            if any(set(mode) & set("wa+") for mode in modes):
                self._report_write(ref, arguments[0], node)

    def _beginning(self, node: Node) -> str:
        given = node.get("arguments")
        first = given.children[0] if given is not None and given.children else None
        while first is not None and first.kind in {"binary", "string", "chained_string"}:
            if not first.children:
                return ""
            first = first.children[0]
        return self.tree.words(first) if first is not None else ""

    def evaluates(
        self, name: str, arguments: list[Values], node: Node, route: tuple[str, ...]
    ) -> None:
        """Report text that is run as code, and the findings in it when it is known."""
        if not arguments:
            return
        inner = texts(arguments[0])
        confidence: Confidence = "medium" if route else "high"
        detail = f"with {inner[0][:80]!r}" if inner else ""
        self.report(Capability.DYNAMIC_CODE, node, name, confidence, detail, route)
        for text in inner[:2]:
            self._within(text, name, node)

    def _within(self, text: str, name: str, node: Node) -> None:
        if self.nesting >= _DEEPEST or not text.strip():
            return
        inner = self.scan_text(Source(text, "ruby"), self.nesting + 1)
        span = self.tree.span(node)
        self.output.findings.extend(findings_within(inner, span, name))
        self.output.modules.extend(modules_within(inner, span, name))

    def _template(self, arguments: list[Values], node: Node) -> None:
        for text in texts(arguments[0])[:1] if arguments else ():
            pieces = [part.partition("%>")[0].lstrip("=-#") for part in text.split("<%")[1:]]
            self._within("\n".join(pieces), "ERB", node)
