"""Short blocks of Ruby that compute with one value: ``{ |c| (c ^ 7).chr }``."""

from collections.abc import Callable

from llm_sandbox.security.trees.ruby.texts import METHODS, OPERATORS
from llm_sandbox.security.trees.syntax_tree import Node, SyntaxTree

__all__ = ["evaluated"]

_DEEPEST = 8


def evaluated(tree: SyntaxTree, block: Node) -> Callable[[object], object] | None:
    """Return what a block computes, as a function of its parameter.

    The function raises ValueError, TypeError or LookupError where it cannot follow. None when the
    block has not one parameter and one expression.
    """
    parameters, body = block.get("parameters"), block.get("body")
    if body is None or len(body.children) != 1:
        return None
    names = [tree.words(child) for child in parameters.children] if parameters else ["it"]
    if len(names) != 1:
        return None
    known = {names[0], "_1"} if parameters is None else {names[0]}

    def run(value: object) -> object:
        return _value(tree, body.children[0], known, value, 0)

    return run


def _value(tree: SyntaxTree, node: Node, names: set[str], value: object, depth: int) -> object:
    if depth > _DEEPEST:
        raise ValueError("too deep")
    words = tree.words(node)

    def of(child: Node | None) -> object:
        if child is None:
            raise ValueError("a part is missing")
        return _value(tree, child, names, value, depth + 1)

    if node.kind == "identifier" and words in names:
        return value
    if node.kind == "parenthesized_statements" and len(node.children) == 1:
        return of(node.children[0])
    if node.kind == "binary":
        operator = node.get("operator")
        mark = tree.words(operator) if operator is not None else ""
        return OPERATORS[mark](of(node.get("left")), of(node.get("right")))
    if node.kind == "call" and node.get("receiver") is not None:
        method, given = node.get("method"), node.get("arguments")
        name = tree.words(method) if method is not None else ""
        arguments = [of(child) for child in given.children] if given is not None else []
        return METHODS[name](of(node.get("receiver")), *arguments)
    if isinstance(node.value, tuple) and len(node.value) == 1:
        only = node.value[0]
        if isinstance(only, str | int):
            return only
    raise ValueError("not followed")
