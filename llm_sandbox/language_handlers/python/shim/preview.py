"""Short texts for values, in bounded time and without running code of the user's classes."""

from __future__ import annotations

import itertools
import sys
from collections import deque
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePosixPath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from .naming import qualified_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MOST_ITEMS = 12
_DEEPEST = 4
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    deque: ("deque([", "])"),
}
_SMALL = frozenset(
    [
        *(type(None), bool, float, complex, range, slice, type(Ellipsis), type(NotImplemented)),
        *(date, datetime, time, timedelta, timezone, Fraction, UUID, PosixPath, PurePosixPath),
    ]
)
"""Types whose `repr` is short, or as long as the value, and runs no user code."""
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_LONGEST_INT = 2048


def preview(value: Any, limit: int = 200) -> str:
    """Describe a value on one line.

    Args:
        value: Anything; methods of unknown classes are never called.
        limit: Most characters of the text.

    Returns:
        The `repr` of small plain values, a shortened one for large values.
    """
    text = ""
    for piece in _pieces(value, limit, 0):
        text += piece
        if len(text) > limit:
            return text[: limit - 1] + "…"
    return text


def _pieces(value: Any, limit: int, depth: int) -> Iterator[str]:
    kind = type(value)
    if kind is str or kind is bytes or kind is bytearray:
        yield repr(value[: limit + 1])
    elif kind is int:
        bits = value.bit_length()
        yield repr(value) if bits <= _LONGEST_INT else f"<int of {bits} bits>"
    elif kind in _SMALL:
        yield repr(value)
    elif kind is Decimal:
        yield repr(value) if len(value.as_tuple().digits) <= limit else "<Decimal of many digits>"
    elif kind is dict:
        yield from _inside(_entries(value, limit, depth), len(value), "{", "}", depth)
    elif kind in _BRACKETS:
        yield from _sequence(value, limit, depth)
    else:
        yield _object(value, kind)


def _sequence(value: Any, limit: int, depth: int) -> Iterator[str]:
    opening, closing = _BRACKETS[type(value)]
    if not value and type(value) in (set, frozenset):
        opening, closing = ("set(", ")") if type(value) is set else ("frozenset(", ")")
    elif type(value) is tuple and len(value) == 1:
        closing = ",)"
    items = (_pieces(item, limit, depth + 1) for item in value)
    yield from _inside(items, len(value), opening, closing, depth)


def _entries(value: dict[Any, Any], limit: int, depth: int) -> Iterator[Iterable[str]]:
    for key, item in value.items():
        yield itertools.chain(
            _pieces(key, limit, depth + 1), (": ",), _pieces(item, limit, depth + 1)
        )


def _inside(
    items: Iterable[Iterable[str]], count: int, opening: str, closing: str, depth: int
) -> Iterator[str]:
    yield opening
    if depth >= _DEEPEST and count:
        yield "…"
    else:
        for number, item in enumerate(itertools.islice(items, _MOST_ITEMS)):
            if number:
                yield ", "
            yield from item
        if count > _MOST_ITEMS:
            yield ", …"
    yield closing


def _object(value: Any, kind: type) -> str:
    if issubclass(kind, ModuleType):
        name = vars(value).get("__name__")
        return f"<module {name}>" if type(name) is str else "<module>"
    if kind in _FUNCTIONS:
        return f"<function {getattr(value, '__qualname__', '?')}>"
    if issubclass(kind, type):
        return f"<class {qualified_name(value)}>"
    array = _array(value, kind)
    return f"<{qualified_name(kind)} object>" if array is None else array


def _array(value: Any, kind: type) -> str | None:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    try:
        if kind is numpy.ndarray:
            first = ", ".join(preview(item, 40) for item in value.flat[:6].tolist())
            more = ", …" if value.size > 6 else ""
            return f"array of {value.dtype}, shape {value.shape}: {first}{more}"
        if issubclass(kind, numpy.generic) and kind.__module__ == "numpy":
            return repr(value)
    except Exception:  # noqa: BLE001 - a library that was taken apart is not described
        return None
    return None
