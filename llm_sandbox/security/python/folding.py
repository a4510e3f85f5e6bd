"""Constant folding of Python: operators and methods without effects, within bounds of size.

Sizes are counted with repetitions: a list that holds one list twice has the members of two. A range
is never iterated over to count it.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.full_names import names
from llm_sandbox.security.python.values import Const, Items, Table, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "LONGEST",
    "MOST_BITS",
    "MOST_WEIGHT",
    "UNKNOWN",
    "are_short",
    "attempt",
    "bytes_method",
    "fold_call",
    "fold_method",
    "fold_operator",
    "is_hashed_quickly",
    "is_printable",
    "is_small_modulus",
    "length_of_range",
    "plain",
    "put_in",
    "size_after",
    "text_of",
    "weigh",
    "weight",
    "wrapped",
    "written_size",
]

LONGEST = 1_000_000
"""Maximum length of a folded text in characters or bytes."""
MOST_WEIGHT = 2_000_000
"""Maximum weight of the operands and the result of one operation, such as 200,000 numbers; see
`weight`."""
MOST_BITS = 40_000
"""Maximum bits of a number in operations other than addition."""
_MEMBER = 10
_MOST_SHIFT = 4_096
_MOST_MODULUS = 256
_MOST_WRITTEN = 250_000
_MOST_DIGITS = 4
_MOST_COMPARED = 5_000_000
_SHORT = 64
_MOST_HASHED = 2_000
_NUMBER = re.compile(r"\d+")
_NESTED = re.compile(r"\{[^{}]*\{|\*")
_QUOTED = re.compile(r"![ra]|%[^%a-zA-Z]*[ra]|\([^)]*\)[^%a-zA-Z]*[ra]")
_QUOTING = 10


def length_of_range(found: range) -> int:
    """Return the length of a range, also of one that `len` refuses."""
    if not found:
        return 0
    return abs(found[-1] - found.start) // abs(found.step) + 1


def weight(value: Any, most: int = MOST_WEIGHT, *, lazy: bool = False) -> int:
    """Return the weight of a Python object: its characters, and 10 for each member.

    Args:
        value: The object: a constant, or lists, sets and dictionaries of constants.
        most: Weight at which counting stops.
        lazy: Whether ranges weigh nothing, for functions that read the first members only.
    """
    total = 0
    waiting = [value]
    while waiting and total <= most:
        one = waiting.pop()
        if isinstance(one, (str, bytes)):
            total += len(one)
        elif isinstance(one, (list, tuple, set, frozenset)):
            total += _MEMBER * len(one)
            if total <= most:
                waiting.extend(one)
        elif isinstance(one, dict):
            total += 2 * _MEMBER * len(one)
            if total <= most:
                waiting.extend(one)
                waiting.extend(one.values())
        elif isinstance(one, range) and not lazy:
            total += _MEMBER * length_of_range(one)
        elif isinstance(one, int):
            total += one.bit_length() // 64
    return total


def size_after(kind: type[ast.operator], left: Any, right: Any) -> int | None:
    """Return the size of the result of a binary operator; None when it is too large."""
    if isinstance(left, (int, float, complex)) and isinstance(right, (int, float, complex)):
        return _bits_after(kind, left, right)
    if kind is ast.Mult:
        times, base = (left, right) if isinstance(left, int) else (right, left)
        if not isinstance(times, int):
            return 0
        return _within(weight(base) * max(times, 0))
    if kind is ast.Mod and isinstance(left, (str, bytes)):
        return written_size(left, put_in(left, right), once=isinstance(right, tuple))
    return _within(weight(left) + weight(right), MOST_WEIGHT)


def _within(size: int, most: int = LONGEST) -> int | None:
    return size if size <= most else None


def _bits_after(kind: type[ast.operator], left: Any, right: Any) -> int | None:
    bits = [one.bit_length() for one in (left, right) if isinstance(one, int)]
    if kind in {ast.Pow, ast.LShift}:
        base = 64 if kind is ast.Pow else _MOST_SHIFT
        if (isinstance(left, int) and left.bit_length() > base) or abs(right) > _MOST_SHIFT:
            return None
        return 0
    if kind in {ast.Mult, ast.Mod, ast.FloorDiv, ast.Div} and sum(bits) > MOST_BITS:
        return None
    return sum(bits) // 64


def is_small_modulus(*numbers: Any) -> bool:
    """Return whether a power by a modulus is computed quickly."""
    return all(not isinstance(n, int) or n.bit_length() <= _MOST_MODULUS for n in numbers)


def written_size(template: str | bytes, values: list[Any], *, once: bool = False) -> int | None:
    """Return the maximum length of a formatted template; None when it is too long.

    Args:
        template: Template for ``%`` or `str.format`.
        values: Values to insert.
        once: Whether each value is inserted at most once, and not once for each field.
    """
    text = template if isinstance(template, str) else template.decode("latin-1")
    if len(text) > LONGEST // 8:
        return None
    digits = max((len(found) for found in _NUMBER.findall(text)), default=0)
    if digits > _MOST_DIGITS:
        return None
    width = 10**digits
    if _NESTED.search(text):
        # Widths that are values themselves.
        width += max((abs(one) for one in values if isinstance(one, int)), default=0)
    lengths = [_written_length(one) for one in values]
    if any(not isinstance(one, (str, bytes, int)) for one in values) or _QUOTED.search(text):
        lengths = [_QUOTING * length for length in lengths]
    fields = text.count("%") + text.count("{")
    written = sum(lengths) if once else fields * max(lengths, default=0)
    return _within(len(text) + fields * width + written)


def put_in(template: str | bytes, right: Any) -> list[Any]:
    """Return the values that ``%`` inserts: members of a tuple, or entries of a dictionary."""
    if isinstance(right, tuple):
        return list(right)
    if not isinstance(right, dict):
        return [right]
    text = template if isinstance(template, str) else template.decode("latin-1")
    every = text.count("%") == text.count("%(")
    return [*right.values()] if every else [*right.values(), right]


def _written_length(value: Any) -> int:
    return value.bit_length() + 8 if isinstance(value, int) else weight(value) + 400


def is_printable(*values: Any) -> bool:
    """Return whether the printed form of values is short."""
    return weight(list(values), _MOST_WRITTEN, lazy=True) <= _MOST_WRITTEN


def are_short(text: Any, *others: Any) -> bool:
    """Return whether searching a text for others is quick, even by comparing each pair."""
    longest = max((len(one) for one in others if isinstance(one, (str, bytes))), default=0)
    return longest <= _SHORT or len(text) * longest <= _MOST_COMPARED


def is_hashed_quickly(members: Any) -> bool:
    """Return whether a set or dictionary of members is built in linear time.

    Large numbers can be chosen so that all hashes collide.
    """
    if isinstance(members, (str, bytes, range)) or len(members) <= _MOST_HASHED:
        return True
    return not any(
        isinstance(one, (complex, tuple)) or (isinstance(one, int) and one.bit_length() >= 60)
        for one in members
    )


_DEEPEST = 12
_WIDEST = 100_000

UNKNOWN = object()
"""Marker for a value that is not constant."""

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


def weigh(value: Value | None, most: int = MOST_WEIGHT) -> int:
    """Return the weight of the Python object that a value stands for; see `weight`.

    Args:
        value: The value.
        most: Weight at which counting stops.
    """
    total = 0
    waiting = [value]
    while waiting and total <= most:
        one = waiting.pop()
        if isinstance(one, Const):
            if isinstance(one.value, (str, bytes)):
                total += len(one.value)
        elif isinstance(one, Items):
            total += _MEMBER * len(one.items)
            if total <= most:
                waiting.extend(one.items)
        elif isinstance(one, Table):
            total += 2 * _MEMBER * len(one.entries)
            if total <= most:
                waiting.extend(one.entries.values())
    return total


def plain(value: Value | None) -> Any:
    """Return the Python object that a value stands for, or `UNKNOWN`."""
    if isinstance(value, Const):
        return value.value
    if not isinstance(value, (Items, Table)) or weigh(value) > MOST_WEIGHT:
        return UNKNOWN
    return _plain(value, 0)


def _plain(value: Value | None, depth: int) -> Any:
    if isinstance(value, Const):
        return value.value
    if depth > _DEEPEST:
        return UNKNOWN
    if isinstance(value, Items):
        parts: list[Any] = []
        for item in value.items:
            part = _plain(item, depth + 1)
            if part is UNKNOWN:
                return UNKNOWN
            parts.append(part)
        if value.kind == "list":
            return parts
        try:
            if value.kind == "tuple":
                return tuple(parts)
            return set(parts) if is_hashed_quickly(parts) else UNKNOWN
        except TypeError:
            return UNKNOWN
    if isinstance(value, Table):
        entries = {key: _plain(item, depth + 1) for key, item in value.entries.items()}
        return UNKNOWN if any(item is UNKNOWN for item in entries.values()) else entries
    return UNKNOWN


def wrapped(found: object, depth: int = 0) -> Value | None:
    """Return a Python object as a value; None for an unsupported type."""
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
    """Return constant text, or constant bytes as text; None otherwise."""
    if not isinstance(value, Const):
        return None
    found = value.value
    if isinstance(found, str):
        return found
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else None


def fold_operator(kind: type[ast.operator], left: Any, right: Any) -> Any:
    """Return the result of a binary operator on two Python objects, or `UNKNOWN`."""
    work = _OPERATORS.get(kind)
    if work is None or size_after(kind, left, right) is None:
        return UNKNOWN
    return attempt(work, (left, right), {})


def fold_method(base: Any, name: str, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Return the result of a method of a Python object, or `UNKNOWN`."""
    allowed = _METHODS.get(type(base))
    if allowed is None or name not in allowed:
        return UNKNOWN
    given = [*args, *keywords.values()]
    if weight([base if not isinstance(base, range) else 0, given]) > MOST_WEIGHT:
        return UNKNOWN
    if name in {"__mul__", "__rmul__"}:
        return fold_operator(ast.Mult, base, args[0]) if len(args) == 1 else UNKNOWN
    if name == "__mod__":
        return fold_operator(ast.Mod, base, args[0]) if len(args) == 1 else UNKNOWN
    check = _CHECKS.get(name)
    if check is not None and not check(base, given):
        return UNKNOWN
    if name in {"decode", "encode"}:
        from llm_sandbox.security.python.pure import decode, encode

        return attempt(decode if name == "decode" else encode, (base, *args), keywords)
    if name == "__iter__":
        return base
    return attempt(getattr(base, name), args, keywords)


def bytes_method(owner: str, name: str, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Return the result of a method called on a type, as ``bytes.fromhex(..)``, or `UNKNOWN`."""
    work = _OF_TYPES.get((owner, name))
    if work is not None:
        if (owner, name) == ("dict", "fromkeys") and not _is_row(args[:1]):
            return UNKNOWN
        return fold_call(work, args, keywords)
    if args and type(args[0]).__name__ == owner:
        return fold_method(args[0], name, args[1:], keywords)
    return UNKNOWN


def _maketrans(*given: Any) -> dict[Any, Any]:
    if weight(given) > _WIDEST:
        raise ValueError("too large")
    return str.maketrans(*given)


_OF_TYPES: dict[tuple[str, str], Callable[..., Any]] = {
    ("bytes", "fromhex"): bytes.fromhex,
    ("bytearray", "fromhex"): bytes.fromhex,
    ("int", "from_bytes"): int.from_bytes,
    ("str", "maketrans"): _maketrans,
    ("bytes", "maketrans"): bytes.maketrans,
    ("dict", "fromkeys"): dict.fromkeys,
}


def fold_call(
    work: Callable[..., Any],
    args: Sequence[Any],
    keywords: dict[str, Any],
    *,
    lazy: bool = False,
) -> Any:
    """Return the result of a function of constants, or `UNKNOWN`.

    Args:
        work: The function, which bounds its own work where it does more than iterate over its
            arguments.
        args: Positional arguments.
        keywords: Keyword arguments.
        lazy: Whether only the first members of a range are read.
    """
    if weight([args, keywords], lazy=lazy) > MOST_WEIGHT:
        return UNKNOWN
    return attempt(work, args, keywords)


def attempt(work: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Return the result of a pure function; `UNKNOWN` when it raises or is too large.

    Raises:
        MemoryError: There is no memory left, so that the scan cannot go on.
    """
    try:
        result = work(*args, **keywords)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - whatever it raises, it gives no constant
        return UNKNOWN
    if isinstance(result, (str, bytes)):
        return UNKNOWN if len(result) > LONGEST else result
    return UNKNOWN if weight(result, lazy=True) > MOST_WEIGHT else result


def _is_row(given: Sequence[Any]) -> bool:
    """Return whether dictionary keys are built from an argument in linear time."""
    return not given or not hasattr(given[0], "__len__") or is_hashed_quickly(given[0])


def _has_width(base: Any, given: Sequence[Any]) -> bool:
    widths = [one for one in given if isinstance(one, int)]
    return all(abs(one) <= _WIDEST for one in widths)


def _has_tabs(base: Any, given: Sequence[Any]) -> bool:
    widths = [one for one in given if isinstance(one, int)] or [8]
    tabs = base.count("\t" if isinstance(base, str) else b"\t")
    return bool(len(base) + tabs * max(widths) <= LONGEST)


def _is_simple_format(base: Any, given: Sequence[Any]) -> bool:
    # Attributes in fields (`{0.__class__}`) are lookups, and wide fields are large.
    if not isinstance(base, str) or "._" in base:
        return False
    values = [part for one in given for part in (one.values() if isinstance(one, dict) else [one])]
    return written_size(base, [*given, *values]) is not None


def _is_simple_spec(base: Any, given: Sequence[Any]) -> bool:
    spec = given[0] if given and isinstance(given[0], str) else ""
    return written_size(spec + "{}", [base]) is not None


def _is_short_join(base: Any, given: Sequence[Any]) -> bool:
    if len(given) != 1 or not hasattr(given[0], "__len__"):
        return False
    return len(base) * len(given[0]) + weight(given[0]) <= LONGEST + _MEMBER * len(given[0])


def _is_short_replacement(base: Any, given: Sequence[Any]) -> bool:
    if not _is_found_quickly(base, given):
        return False
    longest = max((len(a) for a in given if isinstance(a, (str, bytes))), default=0)
    return (len(base) + 1) * (longest + 1) <= LONGEST or longest <= 1


def _is_found_quickly(base: Any, given: Sequence[Any]) -> bool:
    if isinstance(base, range):
        # What is no whole number is compared to each member.
        return all(type(one) is int for one in given)
    return not isinstance(base, (str, bytes)) or are_short(base, *given)


def _is_short_table(base: Any, given: Sequence[Any]) -> bool:
    table = given[0] if given else None
    if not isinstance(table, dict):
        return True
    longest = max((len(one) for one in table.values() if isinstance(one, str)), default=1)
    return len(base) * longest <= LONGEST


_CHECKS: dict[str, Callable[[Any, Sequence[Any]], bool]] = {
    **dict.fromkeys(("center", "ljust", "rjust", "zfill", "to_bytes"), _has_width),
    **dict.fromkeys(("format", "format_map"), _is_simple_format),
    **dict.fromkeys(
        names(
            """
            split rsplit partition rpartition find rfind index rindex count strip lstrip rstrip
            startswith endswith removeprefix removesuffix __contains__
            """
        ),
        _is_found_quickly,
    ),
    "__format__": _is_simple_spec,
    "__repr__": lambda base, given: is_printable(base),
    "expandtabs": _has_tabs,
    "join": _is_short_join,
    "maketrans": lambda base, given: weight(given) <= _WIDEST,
    "replace": _is_short_replacement,
    "translate": _is_short_table,
}
"""Method to the check that its work and its result are small."""
