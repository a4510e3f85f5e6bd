"""Constants of Go: what literals and their combinations stand for."""

import re

from llm_sandbox.security.trees.dataflow import Dataflow
from llm_sandbox.security.trees.escapes import unescape
from llm_sandbox.security.trees.go.folding import as_text
from llm_sandbox.security.trees.sums import operator_of, sum_of
from llm_sandbox.security.trees.syntax_tree import Node
from llm_sandbox.security.trees.values import (
    Items,
    Ref,
    Values,
    as_items,
    fold,
    numbers,
    plain,
    refs,
    union,
)

__all__ = ["Constants"]


class Constants(Dataflow):
    """The part of the engine that knows what literals stand for."""

    def text(self, node: Node) -> Values:
        """Return what a string literal stands for."""
        text = unescape(self.tree.words(node)[1:-1])
        self.report_text(text, node)
        return (text,)

    def raw_text(self, node: Node) -> Values:
        """Return what a raw string literal stands for."""
        text = self.tree.words(node)[1:-1]
        self.report_text(text, node)
        return (text,)

    def rune(self, node: Node) -> Values:
        """Return the number of a character."""
        text = unescape(self.tree.words(node)[1:-1])
        return (ord(text),) if len(text) == 1 else ()

    def number(self, node: Node) -> Values:
        """Return what a number stands for."""
        words = self.tree.words(node).replace("_", "")
        try:
            return (int(words, 8 if re.fullmatch(r"0[0-7]+", words) else 0),)
        except ValueError:
            return ()

    def listed(self, node: Node) -> Values:
        """Return a list of what its parts stand for."""
        listed = [self.value(each) for each in node.children[:5000] if each.kind != "comment"]
        return (as_items(listed),)

    def keyed(self, node: Node) -> Values:
        """Return the value of a part that has a key."""
        key, value = node.get("key"), self.value(node.get("value"))
        if key is not None and refs(value):
            self.put_field(self.tree.words(key), value)
        return value

    def composite(self, node: Node) -> Values:
        """Return what a literal of a type stands for."""
        body, kind = self.value(node.get("body")), node.get("type")
        made = tuple(Ref(r.name, r.route, r.direct) for r in refs(self.value(kind)))
        return union(made, body)

    def summed(self, node: Node) -> Values:
        """Return what a sum gives."""
        return sum_of(self, node) if operator_of(self, node) == "+" else ()

    def inside(self, node: Node) -> Values:
        """Return what the last part stands for."""
        return self.value(node.children[-1]) if node.children else ()

    def sliced(self, node: Node) -> Values:
        """Return a part of a text."""
        ends = [numbers(self.value(node.get(name)))[:1] for name in ("start", "end")]
        start, end = (each[0] if each else None for each in ends)
        return fold(lambda text: as_text(text)[start:end], plain(self.value(node.get("operand"))))

    def item(self, node: Node) -> Values:
        """Return what an item of a list may be."""
        found: Values = ()
        known = numbers(self.value(node.get("index")))[:1]
        for value in self.value(node.get("operand")):
            if isinstance(value, Items):
                chosen = [value.items[i] for i in known if 0 <= i < len(value.items)]
                for each in chosen or value.items[:50]:
                    found = union(found, each)
        return found
