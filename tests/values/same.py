"""Equality of two values, types, order and NaN included."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd


def same(first: Any, second: Any) -> bool:
    """Compare more strictly than ``==`` does."""
    if type(first) is not type(second):
        return False
    if isinstance(first, float) and math.isnan(first):
        return math.isnan(second)
    if isinstance(first, complex):
        return same(first.real, second.real) and same(first.imag, second.imag)
    if isinstance(first, float):
        return first == second and math.copysign(1, first) == math.copysign(1, second)
    if isinstance(first, Decimal):
        return str(first) == str(second)
    if isinstance(first, dict):
        return same(list(first.items()), list(second.items()))
    if isinstance(first, (set, frozenset)):
        return _text(first) == _text(second)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, np.ndarray):
        return _same_arrays(first, second)
    if first is pd.NA or first is pd.NaT:
        return second is first
    return bool(first == second)


def _same_arrays(first: Any, second: Any) -> bool:
    if (first.dtype, first.shape) != (second.dtype, second.shape):
        return False
    if first.dtype == object:
        return same(first.reshape(-1).tolist(), second.reshape(-1).tolist())
    return bool(first.tobytes() == second.tobytes())


def _text(value: Any) -> str:
    """Write a value that can be hashed, the members of sets in order."""
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({sorted(map(_text, value))})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return f"{type(value).__name__} {value!r}"
