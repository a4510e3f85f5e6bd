"""Constants of Java: what literals and their combinations stand for."""

from llm_sandbox.security.trees.dataflow import Dataflow
from llm_sandbox.security.trees.escapes import unescape
from llm_sandbox.security.trees.sums import operator_of, sum_of
from llm_sandbox.security.trees.syntax_tree import Node
from llm_sandbox.security.trees.values import (
    Items,
    Values,
    as_items,
    numbers,
    texts,
    union,
)

__all__ = ["Constants"]


class Constants(Dataflow):
    """The part of the engine that knows what literals stand for."""

    def text(self, node: Node) -> Values:
        """Return what a string literal stands for."""
        words = self.tree.words(node)
        quotes = 3 if words.startswith('"""') else 1
        text = unescape(words[quotes:-quotes])
        self.report_text(text, node)
        return (text,)

    def number(self, node: Node) -> Values:
        """Return what a number stands for."""
        try:
            return (int(self.tree.words(node).replace("_", "").rstrip("lL"), 0),)
        except ValueError:
            return ()

    def listed(self, node: Node) -> Values:
        """Return a list of what its parts stand for."""
        listed = [self.value(each) for each in node.children[:5000] if "comment" not in each.kind]
        return (as_items(listed),)

    def item(self, node: Node) -> Values:
        """Return what an item of a list may be."""
        found: Values = ()
        for value in self.value(node.get("array")):
            if isinstance(value, Items):
                known = numbers(self.value(node.get("index")))[:1]
                chosen = [value.items[i] for i in known if 0 <= i < len(value.items)]
                for each in chosen or value.items[:50]:
                    found = union(found, each)
        return found

    def binary(self, node: Node) -> Values:
        """Return what an operator gives."""
        return sum_of(self, node) if operator_of(self, node) == "+" else ()

    def cast(self, node: Node) -> Values:
        """Return what a cast gives."""
        value, kind = self.value(node.get("value")), node.get("type")
        if kind is None:
            return value
        if self.tree.words(kind) == "char":
            return tuple(chr(v & 0xFFFF) if isinstance(v, int) else v for v in value)
        return union(value, self.value(kind)) if not texts(value) else value

    def inside(self, node: Node) -> Values:
        """Return what the last part stands for."""
        return self.value(node.children[-1]) if node.children else ()

    def choice(self, node: Node) -> Values:
        """Return what either branch gives."""
        return union(self.value(node.get("consequence")), self.value(node.get("alternative")))
