"""What calling a method of Ruby's libraries does."""

from collections.abc import Callable
from typing import ClassVar

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.lexical.nested import findings_within, modules_within
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.ruby.literals import Literals
from llm_sandbox.security.trees.ruby.names import EVALUATORS, LOOKUPS, PIPES, SENDERS, SINKS
from llm_sandbox.security.trees.ruby.texts import MODULE_FUNCTIONS
from llm_sandbox.security.trees.sinks import Sinks
from llm_sandbox.security.trees.syntax_tree import Node
from llm_sandbox.security.trees.values import Ref, Values, texts

__all__ = ["Effects"]

_DEEPEST = 3
_REQUIRERS = frozenset(("autoload", "load", "require", "require_relative"))


class Effects(Literals):
    """The part of reading Ruby that judges what methods of the libraries do."""

    sinks: ClassVar[Sinks] = SINKS
    nesting: int = 0
    scan_text: Callable[[Source, int], ScanOutput]

    def reflect(self, ref: Ref | None, name: str, arguments: list[Values], node: Node) -> Values:
        """Judge `send`, `method`, `const_get` and `instance_eval`."""
        raise NotImplementedError

    def rename(self, new: str, old: str) -> None:
        """Give a method another name."""
        raise NotImplementedError

    def evaluator(self, ref: Ref, arguments: list[Values], node: Node) -> Values:
        """Note what calling a method of the libraries does; return what it gives."""
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
        """Note text that is run as code, and what that does when it is known."""
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
