"""Constants of C++: what literals and their combinations stand for."""

import re

from llm_sandbox.security.trees.cpp.naming import Names
from llm_sandbox.security.trees.escapes import unescape
from llm_sandbox.security.trees.sums import operator_of, sum_of
from llm_sandbox.security.trees.syntax_tree import Node
from llm_sandbox.security.trees.values import (
    Values,
    as_items,
    fold,
    plain,
    texts,
    union,
)

__all__ = ["Constants"]


class Constants(Names):
    """The part of the engine that knows what literals stand for."""

    def text(self, node: Node) -> Values:
        """Return what a string literal stands for."""
        words = self.tree.words(node)
        start = words.find(words[-1:]) + 1
        text = unescape(words[start:-1])
        self.report_text(text, node)
        return (text,)

    def raw_text(self, node: Node) -> Values:
        """Return what a raw string literal stands for."""
        words = self.tree.words(node)
        start, end = words.find("(") + 1, words.rfind(")")
        self.report_text(words[start:end], node)
        return (words[start:end],)

    def joined(self, node: Node) -> Values:
        """Return what adjacent literals stand for."""
        parts = [self.value(each) for each in node.children]
        if not all(parts):
            return ()
        found = fold(lambda *each: "".join(map(str, each)), *map(plain, parts[:200]))
        for text in texts(found)[:1]:
            self.report_folded(text, node)
        return found

    def number(self, node: Node) -> Values:
        """Return what a number stands for."""
        words = self.tree.words(node).replace("'", "").rstrip("uUlL")
        try:
            return (int(words, 8 if re.fullmatch(r"0[0-7]+", words) else 0),)
        except ValueError:
            return ()

    def listed(self, node: Node) -> Values:
        """Return a list of what its parts stand for."""
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
        """Return what an operator gives."""
        return sum_of(self, node) if operator_of(self, node) == "+" else ()

    def inside(self, node: Node) -> Values:
        """Return what the last part stands for."""
        return self.value(node.children[-1]) if node.children else ()

    def choice(self, node: Node) -> Values:
        """Return what either branch gives."""
        return union(self.value(node.get("consequence")), self.value(node.get("alternative")))
