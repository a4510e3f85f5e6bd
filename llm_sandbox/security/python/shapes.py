"""What functions that only reorder or choose keep of what they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.folding import (
    UNKNOWN,
    attempt,
)
from llm_sandbox.security.python.iteration import members
from llm_sandbox.security.python.targets import tracked_parts
from llm_sandbox.security.python.values import (
    Args,
    Const,
    Items,
    Namespace,
    Table,
    Tainted,
    Value,
    choose,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["reshaped"]

_SHAPES = frozenset(["list", "tuple", "set", "sorted", "reversed", "iter", "frozenset"])


_MEMBER = 10
_MOST_CELLS = 100_000
_CHOOSES = frozenset(["next", "max", "min"])


def reshaped(m: Interpreter, name: str, args: Args, node: Any) -> Value | None:
    """What functions that only reorder keep of members that are not constants."""
    last = name.rpartition(".")[2]
    if not m.affords(_MEMBER * sum(len(one.items) for one in args if isinstance(one, Items))):
        return None
    if last == "zip":
        rows = [members(m, arg) for arg in args]
        shortest = min((len(row) for row in rows if row is not None), default=0)
        if all(row is not None for row in rows) and rows and len(rows) * shortest <= _MOST_CELLS:
            pairs = zip(*[row or [] for row in rows], strict=False)
            return Items("list", [Items("tuple", list(pair)) for pair in pairs])
    if last == "enumerate" and args:
        row = members(m, args[0])
        if row is not None:
            return Items("list", [Items("tuple", [Const(n), one]) for n, one in enumerate(row)])
    if last == "dict" and args:
        return _as_table(m, args[0])
    if last in _SHAPES and args:
        row = members(m, args[0])
        if row is not None:
            return Items("list", list(reversed(row)) if last == "reversed" else list(row))
    if last in _CHOOSES and args:
        return choose(members(m, args[0]) or args)
    held = [one for arg in args for one in tracked_parts(arg)]
    return Tainted(tuple(held[:20])) if held else None


def _as_table(m: Interpreter, value: Value | None) -> Value | None:
    if isinstance(value, (Table, Namespace)):
        return value
    entries: dict[object, Value | None] = {}
    for pair in members(m, value) or ():
        if not isinstance(pair, Items) or len(pair.items) != 2:
            return None
        key = m.plain(pair.items[0])
        attempt(
            entries.__setitem__, (key if key is not UNKNOWN else ("?", id(pair)), pair.items[1]), {}
        )
    return Table(entries)
