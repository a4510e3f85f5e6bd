"""What a loop goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_sandbox.security.python.bounds import length_of_range
from llm_sandbox.security.python.folding import wrapped
from llm_sandbox.security.python.values import (
    Alternatives,
    Const,
    Items,
    Namespace,
    Ref,
    Table,
    Tainted,
    Value,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["combinations", "members"]

_MOST = 20_000
_MOST_NUMBERS = 2_000
_MOST_WAYS = 64
_MEMBER = 10


def members(m: Interpreter, value: Value | None) -> list[Value | None] | None:
    """Return the members of a value one by one; None when they are not known."""
    if isinstance(value, Items):
        return value.items if len(value.items) <= _MOST else None
    if isinstance(value, Const):
        found = value.value
        # Each becomes an object here, which takes as long as many characters.
        if isinstance(found, (str, bytes)) and len(found) <= _MOST:
            return [Const(one) for one in found] if m.affords(_MEMBER * len(found)) else None
        if isinstance(found, range) and length_of_range(found) <= _MOST_NUMBERS:
            return [Const(one) for one in found] if m.affords(_MEMBER * len(found)) else None
        return None
    if isinstance(value, Table):
        if not m.affords(_MEMBER * len(value.entries)):
            return None
        return [wrapped(key) for key in value.entries]
    if isinstance(value, Tainted):
        return [value]
    if isinstance(value, Namespace):
        return [Tainted((value.of,))] if isinstance(value.of, Ref) else None
    return None


def combinations(m: Interpreter, args: list[Value | None]) -> list[list[Value | None]] | None:
    """Return the arguments in each way that they may be, at most 64; None when there is one."""
    if not any(isinstance(arg, Alternatives) for arg in args):
        return None
    ways: list[list[Value | None]] = [[]]
    for arg in args:
        found = [m.force(one) for one in arg.of] if isinstance(arg, Alternatives) else [arg]
        singles = [None if isinstance(one, Alternatives) else one for one in found]
        if len(ways) * len(singles) > _MOST_WAYS:
            singles = singles[:1]
        ways = [[*way, one] for way in ways for one in singles]
    return ways
