"""Chains of ``+``, put together once for a whole chain."""

from llm_sandbox.security.trees.dataflow import Dataflow
from llm_sandbox.security.trees.syntax_tree import Node
from llm_sandbox.security.trees.values import Values, fold, plain, texts

__all__ = ["added", "operator_of", "sum_of"]

_LONGEST = 4_000


def operator_of(dataflow: Dataflow, node: Node | None) -> str:
    """Return the sign of an expression, such as ``+``; empty when it has none."""
    sign = node.get("operator") if node is not None else None
    return dataflow.tree.words(sign) if sign is not None else ""


def sum_of(dataflow: Dataflow, node: Node) -> Values:
    """Return what a ``binary_expression`` with ``+`` gives; nothing within a longer chain."""
    parent = node.parent
    if (
        node.field == "left"
        and parent is not None
        and parent.kind == "binary_expression"
        and operator_of(dataflow, parent) == "+"
    ):
        return ()
    parts: list[Values] = []
    current: Node | None = node
    while current is not None:
        parts.append(dataflow.value(current.get("right")))
        left = current.get("left")
        if left is None or left.kind != "binary_expression" or operator_of(dataflow, left) != "+":
            parts.append(dataflow.value(left))
            break
        current = left
    if not all(parts):
        return ()
    if all(len(part) == 1 and isinstance(part[0], str) for part in parts):
        found = fold(lambda: "".join(str(part[0]) for part in reversed(parts)))
    else:
        found = parts.pop()
        while parts and found:
            found = fold(added, plain(found), plain(parts.pop()))
    for text in texts(found):
        dataflow.report_folded(text, node)
    return found


def added(one: object, other: object) -> object:
    """Return the sum of two numbers, or two texts after each other.

    Raises:
        TypeError: one is a list.
        ValueError: the text is longer than 4,000 characters: programs that add to a text again and
            again would take quadratic time.
    """
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    if isinstance(one, list) or isinstance(other, list):
        raise TypeError
    text = f"{one}{other}"
    if len(text) > _LONGEST:
        raise ValueError
    return text
