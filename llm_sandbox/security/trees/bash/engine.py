"""Engine for shell scripts: the programs that they start, and nested code."""

import re
from collections.abc import Callable

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source
from llm_sandbox.security.trees.bash.commands import Commands
from llm_sandbox.security.trees.syntax_tree import Node, SyntaxTree, read
from llm_sandbox.security.trees.values import Values, texts

__all__ = ["scan"]

# The grammar takes `{a,b}c` at the start of a command for a block.
_BRACES = re.compile(r"(?:(?<=[\n;&|(])|^)[ \t]*(\{[^\s{},;]*,[^\s{};]*\})")


def scan(source: Source, depth: int = 0) -> ScanOutput:
    """Scan a script. Running programs is no finding by itself; it depends on the program.

    Args:
        source: The script.
        depth: Nesting depth of the script; scanning ends at three.

    Raises:
        ImportError: The grammar is not installed.
    """
    text = source.text + "\n"
    readable = _BRACES.sub(lambda hit: hit[0].replace("{", "Z").replace("}", "Z"), text)
    # Nor does it know files that are opened for both.
    readable = readable.replace("<>", "> ")
    return _Script(read(source, "bash", readable), text, depth).run()


class _Script(Commands):
    """Evaluator of one script."""

    def __init__(self, tree: SyntaxTree, original: str, depth: int) -> None:
        super().__init__(tree, original)
        self.nesting = depth
        self.scan_text = scan

    def rules(self) -> dict[str, Callable[[Node], Values | None]]:
        return {
            **self.word_rules(),
            **self.command_rules(),
            "for_statement": self._for,
            "function_definition": self._function,
            "while_statement": self._while,
        }

    def declarations(self) -> dict[str, Callable[[Node], object]]:
        return {"for_statement": self._declare_for, "function_definition": self._declare_function}

    def _declare_for(self, node: Node) -> None:
        # Its values stand before its body, but are computed when the body is read.
        name = node.get("variable")
        values = [child for child in node.all("value") if child.kind == "word"]
        if name is not None and values:
            words = tuple(self.words(child) for child in values[:8])
            self.top.names.setdefault(self.words(name), words)

    def _for(self, node: Node) -> Values:
        name = node.get("variable")
        if name is not None:
            values = tuple(t for child in node.all("value") for t in texts(self.value(child)))
            self.bind(self.words(name), values[:8], self.top)
        return ()

    def _declare_function(self, node: Node) -> None:
        name, body = node.get("name"), node.get("body")
        if name is None or body is None:
            return
        word = self.words(name)
        self.functions.add(word)
        for child in body.children:
            first = child.get("name") if child.kind == "command" else None
            if first is not None and self.words(first).strip('"') in {"$@", "$*", "$1"}:
                self.wrappers.add(word)

    def _function(self, node: Node) -> Values:
        name, body = node.get("name"), node.get("body")
        if name is None or body is None:
            return ()
        word = self.words(name)
        own = [
            child
            for child in body.walk()
            if child.kind == "command_name" and self.words(child) == word
        ]
        if not own:
            return ()
        piped = any(command.above("pipeline") is not None for command in own)
        if (len(own) > 1 and piped) or any(self.in_background(command) for command in own):
            self.report(Capability.RESOURCE, node, word, "high", "calls itself again and again")
        return ()

    def _while(self, node: Node) -> Values:
        condition, body = node.get("condition"), node.get("body")
        if condition is None or body is None or self.words(condition).strip() not in _ENDLESS:
            return ()
        words = self.words(body)
        for child in body.children:
            if self.in_background(child) and not re.search(r"\b(?:wait|sleep|break|exit)\b", words):
                self.report(
                    Capability.RESOURCE, node, "while", "high", "starts programs without end"
                )
                break
        return ()


_ENDLESS = frozenset(("true", ":", "[ 1 ]", "[[ 1 ]]", "((1))", "/bin/true"))
