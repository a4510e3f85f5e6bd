"""What an expression may evaluate to, as far as that can be told without running it."""

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
    """Something of the language's own libraries."""

    name: str
    """Its full name, such as ``child_process.exec``; ``name()`` is what calling it gives."""
    route: tuple[str, ...] = ()
    """How it was come by when not by its name, outermost first."""
    direct: bool = True
    """False when it came through a variable, an argument or a choice."""


class Items(NamedTuple):
    """A list or an array."""

    items: "tuple[Values, ...]"
    depth: int = 1
    """How many lists are within each other; make it by `as_items`, which keeps that small."""


class Record:
    """An object that the program makes, with what its fields may hold."""

    __slots__ = ("fields",)

    def __init__(self) -> None:
        self.fields: dict[str, Values] = {}


class Function:
    """A function that the program defines."""

    __slots__ = ("node", "parameters", "returns")

    def __init__(self, node: Node, parameters: list[Node]) -> None:
        self.node = node
        self.parameters = parameters
        self.returns: Values = ()


Atom: TypeAlias = str | int | Ref | Items | Record | Function
Values: TypeAlias = tuple[Atom, ...]
"""All that it may be; empty when nothing is known. Never more than eight."""


def as_items(parts: "Iterable[Values]") -> Items:
    """Return a list of what may be in it: the first 1,000, and lists within three deep only.

    Programs that put lists into themselves would double them again and again otherwise.
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
    """Return what any member of the lists among the values may be."""
    found: Values = ()
    for value in values:
        if isinstance(value, Items):
            for each in value.items[:_MOST_MEMBERS]:
                found = union(found, each)
    return found


def union(one: Values, other: Values) -> Values:
    """Return what is in either, the first eight."""
    if not other or one == other:
        return one
    if not one:
        return other
    added = tuple(value for value in other if value not in one)
    return (one + added)[:MOST_VALUES] if added else one


def texts(values: Values) -> list[str]:
    """Return those that are texts."""
    return [value for value in values if type(value) is str]


def numbers(values: Values) -> list[int]:
    """Return those that are whole numbers."""
    return [value for value in values if type(value) is int]


def refs(values: Values) -> list[Ref]:
    """Return those that are of the language's own libraries."""
    return [value for value in values if type(value) is Ref]


def fold(function: Callable[..., object], *arguments: Iterable[object]) -> Values:
    """Return what a function gives for each choice of arguments, as far as it can take them.

    Args:
        function: Computes with plain texts, numbers and lists; may raise what operations on the
            wrong kind of value raise. Its result counts when it is a text,
            a number or a list of those.
        arguments: For each parameter what it may be.
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
    """Yield what is known as plain texts, numbers and lists; of a list only when all of it is."""
    for value in values:
        if isinstance(value, str | int):
            yield value
        elif isinstance(value, Items):
            parts = [each[0] for each in value.items if each]
            if len(parts) == len(value.items) and all(isinstance(p, str | int) for p in parts):
                yield parts
