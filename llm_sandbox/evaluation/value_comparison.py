"""Checker of values: comparison of what a function returned with what is expected.

Both sides are plain data, arrays and tables that the host made itself from bytes: no object of the
candidate, and so no method of it, takes part.
"""

import math
import reprlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

from llm_sandbox.evaluation.comparison import Difference, checked_options, parse_call, shorten
from llm_sandbox.exceptions import ValidationError

__all__ = ["ValueChecker", "equal", "find_value_checker"]

ValueChecker: TypeAlias = Callable[[object, object], Difference | None]
"""Compares an expected value with an actual one; returns None if they are equal."""


def equal(
    expected: object,
    actual: object,
    *,
    rel: float = 1e-7,
    abs: float = 1e-6,
    sequences: bool = False,
    numbers: bool = False,
    nan: bool = False,
) -> Difference | None:
    """Compare values and their types.

    Where the expected value is a float, the actual one may differ by at most the larger of `abs`
    and `rel` times the expected one. The order of dictionaries is of no account.

    Args:
        expected: Expected value.
        actual: Actual value.
        rel: Relative tolerance of floats.
        abs: Absolute tolerance of floats.
        sequences: Whether a list equals a tuple with the same items.
        numbers: Whether an integer equals a float of the same value, and a boolean an integer.
        nan: Whether NaN equals NaN.
    """
    return _Comparison(rel, abs, sequences, numbers, nan).run(expected, actual)


def find_value_checker(spec: str | ValueChecker) -> ValueChecker:
    """Return a checker of values.

    Args:
        spec: A checker, ``equal``, or ``equal`` with options: ``equal(sequences=True)``.

    Raises:
        ValidationError: There is no such checker, or it has no such option.
    """
    if not isinstance(spec, str):
        return spec
    name, options = parse_call(spec, "checker")
    if name != "equal":
        raise ValidationError(
            f"invalid checker of values: expected equal or a function, got {name!r}",
            parameter="checker",
        )
    return partial(equal, **checked_options(equal, options)) if options else equal


class _Comparison:
    """One comparison of two values, without recursion."""

    def __init__(self, rel: float, abs_: float, sequences: bool, numbers: bool, nan: bool) -> None:
        self._rel, self._abs = rel, abs_
        self._sequences, self._numbers, self._nan = sequences, numbers, nan
        self._pending: list[tuple[str, Any, Any]] = []

    def run(self, expected: object, actual: object) -> Difference | None:
        self._pending = [("value", expected, actual)]
        while self._pending:
            found = self._compare(*self._pending.pop())
            if found is not None:
                return found
        return None

    def _compare(self, path: str, a: Any, b: Any) -> Difference | None:
        kind = self._kind(a)
        if kind != self._kind(b):
            return _differs(f"{path}, type", a, b)
        if kind in ("list", "tuple"):
            if len(a) != len(b):
                return _differs(f"{path}, expected {len(a)} items, got {len(b)}", a, b)
            self._push((f"{path}[{i}]", x, y) for i, (x, y) in enumerate(zip(a, b, strict=True)))
            return None
        if kind == "dict":
            return self._compare_mappings(path, a, b)
        if kind == "array":
            return self._compare_arrays(path, a, b)
        if kind == "table":
            return self._compare_tables(path, a, b)
        same = self._are_close(a, b) if kind in ("float", "complex", "number") else a == b
        return None if same else _differs(path, a, b)

    def _push(self, pairs: Iterable[tuple[str, Any, Any]]) -> None:
        self._pending += reversed(list(pairs))

    def _compare_mappings(
        self, path: str, a: Mapping[Any, Any], b: Mapping[Any, Any]
    ) -> Difference | None:
        # A key that equals another may still be of another type: 1, 1.0 and True.
        keys = {key: key for key in b}
        for key in a:
            if key not in keys or self._kind(key) != self._kind(keys[key]):
                return _differs(f"{path}, key {key!r:.80}", a, b)
        if len(a) != len(b):
            return _differs(f"{path}, expected {len(a)} keys, got {len(b)}", a, b)
        self._push((f"{path}[{key!r:.80}]", a[key], b[key]) for key in a)
        return None

    def _compare_arrays(self, path: str, a: Any, b: Any) -> Difference | None:
        if a.shape != b.shape:
            return _differs(f"{path}, shape", a.shape, b.shape)
        if a.dtype.kind != b.dtype.kind and not (
            self._numbers and {a.dtype.kind, b.dtype.kind} <= set("iufb")
        ):
            return _differs(f"{path}, dtype", str(a.dtype), str(b.dtype))
        self._push(
            (f"{path}[{i}]", x, y)
            for i, (x, y) in enumerate(zip(a.ravel().tolist(), b.ravel().tolist(), strict=True))
        )
        return None

    def _compare_tables(self, path: str, a: Any, b: Any) -> Difference | None:
        left, right = _columns(a), _columns(b)
        if list(left) != list(right):
            return _differs(f"{path}, columns", list(left), list(right))
        self._push((f"{path}[{name!r:.80}]", left[name], right[name]) for name in left)
        return None

    def _kind(self, value: object) -> str:
        """Return the kind of a value: values of different kinds differ."""
        name = type(value).__name__
        if name == "ndarray":
            return "array"
        if hasattr(value, "columns") and hasattr(value, "shape"):
            return "table"
        if self._numbers and isinstance(value, bool | int | float):
            return "number"
        if self._sequences and name in ("list", "tuple"):
            return "list"
        return name

    def _are_close(self, a: Any, b: Any) -> bool:
        if isinstance(a, complex) or isinstance(b, complex):
            return self._are_close(a.real, b.real) and self._are_close(a.imag, b.imag)
        if (isinstance(a, float) and math.isnan(a)) or (isinstance(b, float) and math.isnan(b)):
            return self._nan and a != a and b != b
        if not isinstance(a, float) and not isinstance(b, float):
            return bool(a == b)
        try:
            if math.isinf(a) or math.isinf(b):
                return bool(a == b)
            return bool(abs(a - b) <= max(self._abs, self._rel * abs(a)))
        except OverflowError:
            return False  # an integer beyond the range of floats


def _columns(table: Any) -> dict[Any, list[Any]]:
    """Return the columns of a table of pandas, polars or pyarrow."""
    if hasattr(table, "column_names"):
        return {name: table[name].to_pylist() for name in table.column_names}
    convert = "tolist" if hasattr(table, "index") else "to_list"
    return {name: getattr(table[name], convert)() for name in table.columns}


def _differs(where: str, expected: object, actual: object) -> Difference:
    return Difference(where, _shown(expected), _shown(actual))


_REPR = reprlib.Repr()
_REPR.maxlist = _REPR.maxtuple = _REPR.maxset = _REPR.maxfrozenset = _REPR.maxdict = 20
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 300


def _shown(value: object) -> str:
    try:
        return shorten(_REPR.repr(value))
    except (ValueError, RecursionError, MemoryError):
        return f"{type(value).__name__} that cannot be printed"  # an integer of too many digits
