"""Calls of JavaScript: results and effects."""

from dataclasses import replace
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.dataflow import Scope
from llm_sandbox.security.trees.javascript.bindings import Bindings
from llm_sandbox.security.trees.javascript.folding import FUNCTIONS, METHODS
from llm_sandbox.security.trees.javascript.tables import ALIASES, GLOBALS, SINKS
from llm_sandbox.security.trees.syntax_tree import Node, read
from llm_sandbox.security.trees.values import (
    Function,
    Items,
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

if TYPE_CHECKING:
    from llm_sandbox.security.raw_findings import ScanOutput

__all__ = ["Calls", "any_item", "items_of"]

_DEEPEST = 3
_MOST_SPREAD = 32
_MOST_INNER = 200_000
_HANDS_ITEMS = frozenset(
    {"every", "filter", "find", "findIndex", "flatMap", "forEach", "map", "some"}
)
_MAKES_CODE = frozenset({"eval", "Function", "setTimeout", "setInterval", "setImmediate"})
_RUNS_TEXT = frozenset(
    {
        "safe-eval",
        "vm.Script",
        "vm.SourceTextModule",
        "vm.compileFunction",
        "vm.runInContext",
        "vm.runInNewContext",
        "vm.runInThisContext",
        "vm2.VM().run",
        "vm2.NodeVM().run",
    }
)
_SAME = frozenset({"util.promisify", "Object.freeze", "Object.create", "structuredClone", "Object"})


class Calls(Bindings):
    """Evaluator of calls."""

    sinks = SINKS

    def __init__(self, source: Source, outer: Scope | None = None, depth: int = 0) -> None:
        super().__init__(read(source, "javascript"), outer)
        self._depth = depth
        self._inner: dict[str, ScanOutput] = {}
        self._inner_length = 0

    def listed(self, node: Node) -> tuple[Values, ...]:
        """Return the values of a list of expressions, at most 5,000."""
        found: list[Values] = []
        for each in node.children[:5000]:
            values = self.value(each)
            if each.kind == "spread_element":
                found.extend(items_of(values)[:_MOST_SPREAD])
            elif each.kind != "comment":
                found.append(values)
        return tuple(found)

    def member_unknown(self, node: Node, bases: Values) -> Values:
        """Return the values of a member with an unknown name."""
        called = node.field in {"function", "constructor"}
        for base in refs(bases):
            watched = base.name in self.sinks.watched
            if watched or (called and base.name in {"globalThis", "import.meta", "fs"}):
                subject = f"{base.name}[...]"
                self.report(Capability.DYNAMIC_UNRESOLVED, node, subject, "low", "", base.route)
        found: Values = ()
        for value in bases:
            if isinstance(value, Items):
                found = union(found, any_item((value,)))
            elif isinstance(value, Record):
                for held in list(value.fields.values())[:8]:
                    found = union(found, held)
        return found

    def of_any(self, names: list[str | int]) -> Values:
        """Return the values of the fields with these names, of any object."""
        found: Values = ()
        for name in names:
            found = union(found, self.field(str(name)))
        return found

    def module(self, text: str, node: Node, route: tuple[str, ...]) -> Ref:
        """Return a module, and report its use."""
        name = text.removeprefix("node:")
        self.use_module(name, node, route)
        return Ref(ALIASES.get(name, name) if "/" in name else name, route)

    def call(self, node: Node) -> Values:
        """Return the result of a call, and report its effects."""
        callee = node.get("function") or node.get("constructor")
        listed = node.get("arguments")
        if callee is None:
            return ()
        if listed is None or listed.kind == "template_string":
            arguments: tuple[Values, ...] = (self.value(listed),) if listed is not None else ()
        else:
            arguments = self.listed(listed)
        found = self._method(callee, arguments)
        escapes = not found
        for value in self.value(callee)[:8]:
            if isinstance(value, Function):
                escapes = False
                for parameter, given in zip(value.parameters, arguments, strict=False):
                    self.give(parameter, given)
                found = union(found, self.returned(value))
            elif isinstance(value, Ref):
                got, known = self._call_library(value, arguments, node)
                escapes = escapes and not known
                found = union(found, got)
        if escapes:
            for given in arguments:
                self.report_escape(given, listed or node)
        for text in texts(found)[:1]:
            if not texts(self.value(callee)):
                self.report_folded(text, node)
        return found

    def _method(self, callee: Node, arguments: tuple[Values, ...]) -> Values:
        """Return the result of a method of a constant, a list or a promise."""
        key = callee.get("property") or callee.get("index")
        owner = callee.get("object")
        if key is None or owner is None:
            return ()
        bases = self.value(owner)
        found: Values = ()
        for name in self.keys(key)[:2]:
            method = METHODS.get(str(name))
            if method is not None and all(arguments):
                found = union(found, fold(method, plain(bases), *map(plain, arguments)))
            if name in _HANDS_ITEMS:
                found = union(found, self._hand(any_item(bases), arguments))
            elif name in {"then", "finally"}:
                found = union(found, self._hand(bases, arguments))
            elif name in {"push", "unshift"} and owner.kind == "identifier":
                self._push(owner, bases, arguments)
        return found

    def _hand(self, given: Values, arguments: tuple[Values, ...]) -> Values:
        found: Values = ()
        for value in arguments[0] if arguments else ():
            if isinstance(value, Function) and value.parameters:
                self.give(value.parameters[0], given)
                found = union(found, self.returned(value))
        return found

    def _push(self, owner: Node, bases: Values, arguments: tuple[Values, ...]) -> None:
        first = bases[0] if bases else None
        if isinstance(first, Items) and len(first.items) < 100:
            self.give(owner, (as_items((*first.items, *arguments)),))

    def _call_library(
        self, ref: Ref, arguments: tuple[Values, ...], node: Node
    ) -> tuple[Values, bool]:
        """Return the result of a library function, and whether the function is modelled."""
        name, dot, last = ref.name.rpartition(".")
        if dot and last in {"call", "apply", "bind"}:
            return self._call_indirect(Ref(name, ref.route, ref.direct), last, arguments, node)
        first = arguments[0] if arguments else ()
        if ref.name in {"require", "import"}:
            return self._require(ref, first, node), True
        if ref.name in _MAKES_CODE or ref.name in _RUNS_TEXT:
            return self._code(ref, arguments, node), True
        if ref.name in {"module.createRequire", "module.createRequireFromPath"}:
            return (Ref("require", (*ref.route, "createRequire")),), True
        if ref.name in {"worker_threads.Worker", "Worker", "SharedWorker"}:
            return self._worker(ref, arguments, node), True
        if ref.name.startswith(("Reflect.", "Object.", "util.", "Proxy")) or ref.name in _SAME:
            found = self._call_reflection(ref, arguments, node)
            if found is not None:
                return found, True
        function = FUNCTIONS.get(ref.name)
        if function is not None:
            return (fold(function, *map(plain, arguments)) if all(arguments) else ()), True
        return self._call_known(ref, arguments, node)

    def _call_reflection(
        self, ref: Ref, arguments: tuple[Values, ...], node: Node
    ) -> Values | None:
        """Return the result of a function that calls or returns its argument; None for others."""
        first = arguments[0] if arguments else ()
        if ref.name in {"Reflect.apply", "Reflect.construct"}:
            listed = tuple(items_of(arguments[-1])) if len(arguments) > 1 else ()
            return self._call_each(first, listed, node)
        if ref.name == "Reflect.get" and len(arguments) > 1:
            names: list[str | int] = [*texts(arguments[1])]
            if not names:
                return self.member_unknown(node, first)
            return _by(self.members(first, names), "Reflect.get")
        if ref.name in _SAME or ref.name in {"Proxy", "Object.assign"}:
            found: Values = ()
            for given in arguments:
                found = union(found, given)
            return _by(found, ref.name)
        if ref.name in {"Object.values", "Object.entries", "Object.keys"}:
            return self._spread_out(ref, first, node)
        if ref.name in {"Object.getPrototypeOf", "Object.setPrototypeOf"}:
            return (*(v for v in first if isinstance(v, Function)),)
        return None

    def _call_known(
        self, ref: Ref, arguments: tuple[Values, ...], node: Node
    ) -> tuple[Values, bool]:
        known = self.report_call(ref, list(arguments), node)
        made = f"{ref.name}()" if len(ref.name) < 100 else ref.name
        if ref.name.endswith(("express", "()()")):
            made = ref.name.removesuffix("()")
        return (Ref(made, ref.route, ref.direct),), known

    def _call_each(self, values: Values, arguments: tuple[Values, ...], node: Node) -> Values:
        found: Values = ()
        for value in values:
            if isinstance(value, Ref):
                found = union(found, self._call_library(_through(value), arguments, node)[0])
            elif isinstance(value, Function):
                for parameter, given in zip(value.parameters, arguments, strict=False):
                    self.give(parameter, given)
                found = union(found, self.returned(value))
        return found

    def _call_indirect(
        self, ref: Ref, way: str, arguments: tuple[Values, ...], node: Node
    ) -> tuple[Values, bool]:
        if len(ref.name) > 100 or ref.name.endswith((".call", ".apply", ".bind")):
            return (), False
        if way == "bind":
            return (_through(ref),), True
        rest = arguments[1:]
        if way == "apply":
            rest = tuple(items_of(rest[0])) if rest else ()
        return self._call_library(_through(ref), rest, node)

    def _spread_out(self, ref: Ref, values: Values, node: Node) -> Values:
        found: list[Values] = []
        for value in values:
            if isinstance(value, Record) and ref.name != "Object.entries":
                keys = ref.name == "Object.keys"
                found.extend((key,) if keys else held for key, held in value.fields.items())
            elif isinstance(value, Ref) and value.name in self.sinks.watched - {"process"}:
                subject = f"{ref.name}({value.name})"
                self.report(Capability.DYNAMIC_UNRESOLVED, node, subject, "low", "", value.route)
        return (as_items(found[:500]),) if found else ()

    def _require(self, ref: Ref, argument: Values, node: Node) -> Values:
        names = texts(argument)
        route = (*ref.route, *(("folded",) if not _is_literal(node) else ()))
        if names:
            found: Values = ()
            for text in names:
                if text.startswith("data:"):
                    self.report(
                        Capability.DYNAMIC_CODE, node, "import", "high", "from a data: address"
                    )
                else:
                    found = union(found, (self.module(text, node, route),))
            return found
        if not _is_relative(self.tree.words(node)):
            self.report(Capability.DYNAMIC_UNRESOLVED, node, ref.name, "low", "", ref.route)
        return ()

    def _code(self, ref: Ref, arguments: tuple[Values, ...], node: Node) -> Values:
        timed = ref.name.startswith("set")
        given = arguments[-1 if ref.name == "Function" else 0] if arguments else ()
        codes = texts(given)
        if timed and not codes:
            self.report_escape(given, node)
            return ()
        if not arguments and ref.name == "eval":
            return ()
        confidence: Confidence = "high" if codes or self.sure(ref) == "high" else "medium"
        self.report(Capability.DYNAMIC_CODE, node, ref.name, confidence, "", ref.route)
        found: Values = ()
        for text in codes:
            found = union(found, self._run_inner(text, ref, node))
        return found

    def _run_inner(self, text: str, ref: Ref, node: Node) -> Values:
        inner = self._inner.get(text)
        if inner is None:
            self._inner_length += len(text)
            if self._depth >= _DEEPEST or self._inner_length > _MOST_INNER:
                return ()
            source = Source(text, "javascript")
            inner = self._inner[text] = type(self)(source, self.scope(node), self._depth + 1).run()
        span = self.tree.span(node)
        for seen in inner.findings:
            if len(self.output.findings) < 2_000:
                route = (ref.name, *seen.route)
                self.output.findings.append(
                    replace(seen, span=span, inner=seen.inner or seen.span, route=route)
                )
        for use in inner.modules[:100]:
            self.use_module(use.name, node, (ref.name, *use.route))
        return self._result(text, ref, node)

    def _result(self, text: str, ref: Ref, node: Node) -> Values:
        # What the commonest texts give: `eval("require")`, `Function("return this")()`.
        word = text.strip().rstrip(";").removeprefix("return ").strip("() ")
        name = "globalThis" if word in {"this", "global"} else word
        if name not in GLOBALS:
            return ()
        found: Values = (Ref(name, (ref.name,)),)
        if ref.name != "Function":
            return found
        function = self.function(node, [])
        self.add_result(function, found)
        return (function,)

    def _worker(self, ref: Ref, arguments: tuple[Values, ...], node: Node) -> Values:
        options = arguments[1] if len(arguments) > 1 else ()
        evaluated = any(isinstance(each, Record) and "eval" in each.fields for each in options)
        codes = texts(arguments[0]) if arguments else []
        if evaluated or any(text.startswith(("data:", "blob:")) for text in codes):
            self.report(Capability.DYNAMIC_CODE, node, ref.name, "high", "", ref.route)
            for text in codes:
                self._run_inner(text, ref, node)
        return ()


def _by(values: Values, step: str) -> Values:
    return tuple(
        Ref(v.name, (*v.route, step), v.direct) if isinstance(v, Ref) else v for v in values
    )


def _through(ref: Ref) -> Ref:
    return Ref(ref.name, ref.route, False)


def items_of(values: Values) -> list[Values]:
    """Return the items of the first list or text."""
    for value in values:
        if isinstance(value, Items):
            return list(value.items)
        if isinstance(value, str):
            return [(letter,) for letter in value[:500]]
    return []


def any_item(values: Values) -> Values:
    """Return the union of the items of lists."""
    found: Values = ()
    for value in values:
        if isinstance(value, Items):
            for each in value.items[:50]:
                found = union(found, each)
    return found


def _is_literal(node: Node) -> bool:
    listed = node.get("arguments")
    return listed is not None and bool(listed.children) and listed.children[0].kind == "string"


def _is_relative(call: str) -> bool:
    inside = call.partition("(")[2].lstrip()
    return inside.startswith(("'./", '"./', "`./", "'../", '"../', "`../", "path.", "__dirname"))
