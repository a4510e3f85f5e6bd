"""Values of expressions in a static analysis."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from typing import NamedTuple, TypeAlias

from llm_sandbox.security.trees.syntax_tree import Node

__all__ = [
    "LONGEST_LIST",
    "LONGEST_TEXT",
    "MOST_VALUES",
    "Atom",
    "Function",
    "Items",
    "Record",
    "Ref",
    "Values",
    "as_items",
    "fold",
    "members",
    "numbers",
    "plain",
    "refs",
    "texts",
    "union",
]

_MOST_MEMBERS = 50
MOST_VALUES = 8
LONGEST_TEXT = 20_000
LONGEST_LIST = 1_000
_DEEPEST_LIST = 3


class Ref(NamedTuple):
    """Reference to an object of the language's own libraries."""

    name: str
    """Full name, such as ``child_process.exec``; ``name()`` is the result of a call."""
    route: tuple[str, ...] = ()
    """Indirections by which the object is reached, outermost first."""
    direct: bool = True
    """False for a value that came through a variable, an argument or a branch."""


class Items(NamedTuple):
    """List or array."""

    items: "tuple[Values, ...]"
    depth: int = 1
    """Nesting of lists; `as_items` keeps it small."""


class Record:
    """Object that the program creates, with the values of its fields."""

    __slots__ = ("fields",)

    def __init__(self) -> None:
        self.fields: dict[str, Values] = {}


class Function:
    """Function that the program defines."""

    __slots__ = ("node", "parameters", "returns")

    def __init__(self, node: Node, parameters: list[Node]) -> None:
        self.node = node
        self.parameters = parameters
        self.returns: Values = ()


Atom: TypeAlias = str | int | Ref | Items | Record | Function
Values: TypeAlias = tuple[Atom, ...]
"""Possible values, at most eight; empty when nothing is known."""


def as_items(parts: "Iterable[Values]") -> Items:
    """Return a list of values: the first 1,000, with at most three levels of nested lists.

    Programs that nest lists in themselves would double them repeatedly otherwise.
    """
    kept: list[Values] = []
    depth = 0
    for values in islice(parts, LONGEST_LIST):
        held = values
        for value in values:
            if isinstance(value, Items):
                if value.depth >= _DEEPEST_LIST:
                    held = tuple(v for v in held if v is not value)
                else:
                    depth = max(depth, value.depth)
        kept.append(held)
    return Items(tuple(kept), depth + 1)


def members(values: Values) -> Values:
    """Return the union of the members of the lists among values."""
    found: Values = ()
    for value in values:
        if isinstance(value, Items):
            for each in value.items[:_MOST_MEMBERS]:
                found = union(found, each)
    return found


def union(one: Values, other: Values) -> Values:
    """Return the union of values, at most eight."""
    if not other or one == other:
        return one
    if not one:
        return other
    added = tuple(value for value in other if value not in one)
    return (one + added)[:MOST_VALUES] if added else one


def texts(values: Values) -> list[str]:
    """Return the texts among values."""
    return [value for value in values if type(value) is str]


def numbers(values: Values) -> list[int]:
    """Return the integers among values."""
    return [value for value in values if type(value) is int]


def refs(values: Values) -> list[Ref]:
    """Return the library references among values."""
    return [value for value in values if type(value) is Ref]


def fold(function: Callable[..., object], *arguments: Iterable[object]) -> Values:
    """Return the results of a function for each combination of arguments.

    Args:
        function: Function of plain texts, numbers and lists, which may raise as operations on wrong
            types do. The result counts when it is a text, a number or a list of those.
        arguments: Possible values of each parameter.
    """
    found: Values = ()
    for count, choice in enumerate(product(*arguments)):
        if count >= MOST_VALUES:
            break
        try:
            result = _atom(function(*choice))
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
            continue
        if result is not None:
            found = union(found, (result,))
    return found


def _atom(result: object) -> Atom | None:
    if isinstance(result, str):
        return result if len(result) <= LONGEST_TEXT else None
    if isinstance(result, bool):
        return None
    if isinstance(result, int):
        return result if abs(result) < 1 << 64 else None
    if isinstance(result, list | tuple) and not isinstance(result, Items):
        parts = [_atom(part) for part in result[:LONGEST_LIST]]
        return as_items(() if part is None else (part,) for part in parts)
    return result if isinstance(result, Items) else None


def plain(values: Values) -> Iterator[object]:
    """Yield values as plain texts, numbers and lists; lists only when fully known."""
    for value in values:
        if isinstance(value, str | int):
            yield value
        elif isinstance(value, Items):
            parts = [each[0] for each in value.items if each]
            if len(parts) == len(value.items) and all(isinstance(p, str | int) for p in parts):
                yield parts
