"""Work out constants: operators, methods and functions that have no effect, within bounds."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.values import Const, Items, Table, Value
from llm_sandbox.security.python.words import names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "LONGEST",
    "UNKNOWN",
    "attempt",
    "bytes_method",
    "fold_call",
    "fold_method",
    "fold_operator",
    "plain",
    "text_of",
    "wrapped",
]

LONGEST = 1_000_000
"""Characters, bytes or members that a folded value may have."""
_MOST_BITS = 100_000
_DEEPEST = 12

UNKNOWN = object()
"""Stands for what has no constant value."""

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.BitXor: operator.xor,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Pow: operator.pow,
}
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        names(
            """
            join replace format lower upper strip lstrip rstrip split rsplit splitlines title
            swapcase casefold capitalize encode removeprefix removesuffix partition rpartition
            translate center ljust rjust zfill expandtabs index find rfind rindex count startswith
            endswith isdigit isalpha isalnum isupper islower isspace format_map __add__
            __getitem__ __mul__ __mod__ __format__ __str__ __contains__ __len__ __rmul__ __iter__
            maketrans __repr__ __eq__ isidentifier
            """
        )
    ),
    bytes: frozenset(
        names(
            """
            join replace decode hex lower upper strip lstrip rstrip split rsplit title swapcase
            partition rpartition translate removeprefix removesuffix find index count __add__
            __getitem__ __mul__ __mod__ fromhex maketrans startswith endswith splitlines zfill
            __bytes__ __iter__ tobytes __len__ center ljust rjust capitalize __rmul__
            """
        )
    ),
    int: frozenset(
        names(
            """
            to_bytes bit_length from_bytes __add__ __xor__ __sub__ __mul__ __format__
            """
        )
    ),
    float: frozenset(["hex", "is_integer"]),
    list: frozenset(["index", "count", "copy", "__getitem__", "__add__", "__len__", "__iter__"]),
    tuple: frozenset(["index", "count", "__getitem__", "__add__", "__len__", "__iter__"]),
    dict: frozenset(["get", "keys", "values", "items", "copy", "__getitem__"]),
    range: frozenset(["index", "count"]),
}
_WIDTH_METHODS = frozenset(
    names(
        """
    center ljust rjust zfill expandtabs to_bytes __mul__ __rmul__
    """
    )
)


def plain(value: Value | None, depth: int = 0) -> Any:
    """Return the Python object that a value is, or `UNKNOWN`."""
    if isinstance(value, Const):
        return value.value
    if depth > _DEEPEST:
        return UNKNOWN
    if isinstance(value, Items):
        parts = [plain(item, depth + 1) for item in value.items]
        if any(part is UNKNOWN for part in parts):
            return UNKNOWN
        if value.kind == "list":
            return parts
        try:
            return tuple(parts) if value.kind == "tuple" else set(parts)
        except TypeError:
            return UNKNOWN
    if isinstance(value, Table):
        entries = {key: plain(item, depth + 1) for key, item in value.entries.items()}
        return UNKNOWN if any(item is UNKNOWN for item in entries.values()) else entries
    return UNKNOWN


def wrapped(found: object, depth: int = 0) -> Value | None:
    """Return a Python object as a value; None when it is not one of the kinds that are known."""
    if found is None or isinstance(found, (str, bytes, int, float, complex, range, slice)):
        return Const(found)
    if isinstance(found, bytearray):
        return Const(bytes(found))
    if depth > _DEEPEST:
        return None
    if isinstance(found, (list, tuple)):
        kind = "list" if isinstance(found, list) else "tuple"
        return Items(kind, [wrapped(item, depth + 1) for item in found])  # type: ignore[arg-type]
    if isinstance(found, (set, frozenset)):
        return Items("set", [wrapped(item, depth + 1) for item in sorted(found, key=repr)])
    if isinstance(found, dict):
        return Table({key: wrapped(item, depth + 1) for key, item in found.items()})
    return Const(found) if found is Ellipsis else None


def text_of(value: Value | None) -> str | None:
    """Return a constant text, or constant bytes as text; None when it is neither."""
    if not isinstance(value, Const):
        return None
    found = value.value
    if isinstance(found, str):
        return found
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else None


def fold_operator(kind: type[ast.operator], left: Any, right: Any) -> Any:
    """Return the result of a binary operator on two Python objects, or `UNKNOWN`."""
    work = _OPERATORS.get(kind)
    if work is None or _is_too_large(kind, left, right):
        return UNKNOWN
    try:
        return work(left, right)
    except Exception:  # noqa: BLE001 - whatever the operator raises, it gives no constant
        return UNKNOWN


def _is_too_large(kind: type[ast.operator], left: Any, right: Any) -> bool:
    if kind is ast.Mult:
        sizes = (_size(left), _size(right))
        if isinstance(left, int) and isinstance(right, int):
            return sum(sizes) > _MOST_BITS
        times = left if isinstance(left, int) else right
        return isinstance(times, int) and max(sizes) * max(times, 0) > LONGEST
    if kind is ast.Add:
        return _size(left) + _size(right) > LONGEST
    if kind is ast.Pow:
        return not (_is_small(left, 1 << 64) and _is_small(right, 4096))
    if kind is ast.LShift:
        return not (_is_small(left, 1 << 4096) and _is_small(right, 4096))
    if kind is ast.Mod and isinstance(left, (str, bytes)):
        return not _has_small_widths(left)
    return False


def _size(value: Any) -> int:
    if isinstance(value, int):
        return value.bit_length()
    try:
        return len(value)
    except TypeError:
        return 0


def _is_small(value: Any, limit: int) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= limit


def _has_small_widths(template: str | bytes) -> bool:
    text = template if isinstance(template, str) else template.decode("latin-1")
    digits = 0
    for letter in text:
        digits = digits + 1 if letter.isdigit() or letter == "*" else 0
        if digits > 4:
            return False
    return len(text) < LONGEST // 8


def fold_method(base: Any, name: str, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Return what a method of a Python object returns, or `UNKNOWN`."""
    allowed = _METHODS.get(type(base))
    if allowed is None or name not in allowed:
        return UNKNOWN
    if name in _WIDTH_METHODS and any(
        not _is_small(a, 100_000) for a in args if isinstance(a, int)
    ):
        return UNKNOWN
    if name in {"format", "format_map", "__format__"} and not _is_simple_format(base, name, args):
        return UNKNOWN
    if name in {"__mul__", "__rmul__"}:
        return fold_operator(ast.Mult, base, args[0]) if len(args) == 1 else UNKNOWN
    if name == "join" and len(args) == 1 and len(base) * _size(args[0]) > LONGEST:
        return UNKNOWN
    if name == "replace" and not _is_short_replacement(base, args):
        return UNKNOWN
    if name in {"decode", "encode"}:
        from llm_sandbox.security.python.decoding import decode, encode

        return attempt(decode if name == "decode" else encode, (base, *args), keywords)
    if name == "__iter__":
        return base
    return attempt(getattr(base, name), args, keywords)


def bytes_method(owner: str, name: str, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Return what a method called on a type returns, as ``bytes.fromhex(..)``, or `UNKNOWN`."""
    if (owner, name) in {("bytes", "fromhex"), ("bytearray", "fromhex")}:
        return attempt(bytes.fromhex, args, keywords)
    if (owner, name) == ("int", "from_bytes"):
        return attempt(int.from_bytes, args, keywords)
    if (owner, name) in {("str", "maketrans"), ("bytes", "maketrans")}:
        return attempt(str.maketrans if owner == "str" else bytes.maketrans, args, keywords)
    if (owner, name) == ("dict", "fromkeys"):
        return attempt(dict.fromkeys, args, keywords)
    if args and type(args[0]).__name__ == owner:
        return fold_method(args[0], name, args[1:], keywords)
    return UNKNOWN


def fold_call(work: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Return what a function of constants returns, or `UNKNOWN`."""
    result = attempt(work, args, keywords)
    return UNKNOWN if isinstance(result, (str, bytes)) and len(result) > LONGEST else result


def _is_simple_format(base: Any, name: str, args: Sequence[Any]) -> bool:
    # Attributes in fields (`{0.__class__}`) are lookups, and wide fields are large.
    template = base if name != "__format__" else (args[0] if args else "")
    return isinstance(template, str) and "._" not in template and _has_small_widths(template)


def _is_short_replacement(base: Any, args: Sequence[Any]) -> bool:
    longest = max((len(a) for a in args if isinstance(a, (str, bytes))), default=0)
    return (len(base) + 1) * (longest + 1) <= LONGEST or longest <= 1


def attempt(work: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Return what a function without effects returns; `UNKNOWN` when it raises or is too large."""
    try:
        result = work(*args, **keywords)
    except Exception:  # noqa: BLE001 - whatever it raises, it gives no constant
        return UNKNOWN
    size = len(result) if isinstance(result, (str, bytes, list, tuple, dict)) else 0
    return UNKNOWN if size > LONGEST else result
