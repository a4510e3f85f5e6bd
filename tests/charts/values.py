"""Values of the corpus and of chart records, compared one by one."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["compare", "difference", "plain", "same", "scale_of", "short", "size_of"]


def short(value: object) -> str:
    """Return a representation of bounded length."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:80]} ... {text[-30:]}"


def plain(value: Any) -> Any:
    """Return data as JSON would hold it: arrays as lists, dates as ISO 8601, NaN as None."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "to_list") and not hasattr(value, "tolist"):
        value = value.to_list()
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):
        if type(value).__module__ == "numpy" and value.dtype.kind == "M":
            # Nanoseconds would become integers.
            value = value.astype("datetime64[us]")
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if type(value).__name__ in {"NaTType", "NAType"}:
        return None
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    return value


def compare(expected: Any, found: Any, tolerance: float, scale: float) -> tuple[int, int]:
    """Count the values that agree, and all of the longer side."""
    if isinstance(expected, list):
        others = found if isinstance(found, list) else []
        right = total = 0
        for index in range(max(len(expected), len(others))):
            if index >= len(expected):
                total += size_of(others[index])
            else:
                other = others[index] if index < len(others) else _NOTHING
                more, size = compare(expected[index], other, tolerance, scale)
                right, total = right + more, total + size
        return right, total
    return int(same(expected, found, tolerance, scale)), max(1, size_of(found))


_NOTHING = object()


def same(expected: Any, found: Any, tolerance: float, scale: float) -> bool:
    """Return whether two values agree; exactly, but for floats."""
    if isinstance(expected, list) or isinstance(found, list):
        right, total = compare(expected, found, tolerance, scale)
        return right == total
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, int) and isinstance(found, int):
        return expected == found
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)):
        # Bars that stand on others have their ends subtracted: zero comes back as a rounding error
        # of the largest.
        return math.isclose(expected, found, rel_tol=tolerance, abs_tol=tolerance * scale / 1000)
    if isinstance(expected, str) and isinstance(found, str):
        return _moment(expected) == _moment(found)
    return bool(expected == found)


def _moment(text: str) -> str:
    return text.removesuffix("T00:00:00").removesuffix(" 00:00:00")


def scale_of(values: Any) -> float:
    """Return the largest absolute number."""
    if isinstance(values, list):
        return max((scale_of(item) for item in values), default=0.0)
    return abs(values) if isinstance(values, (int, float)) else 0.0


def size_of(values: Any) -> int:
    """Return how many values there are, nested ones included."""
    if isinstance(values, Mapping):
        return sum(map(size_of, values.values()))
    return sum(map(size_of, values)) if isinstance(values, list) else 1


def difference(expected: Any, found: Any, tolerance: float) -> str:
    """Name the first value that differs."""
    if not isinstance(expected, list) or not isinstance(found, list):
        return f"{short(found)} instead of {short(expected)}"
    if len(expected) != len(found):
        return f"{len(found)} rows instead of {len(expected)}: {short(found)}, {short(expected)}"
    scale = scale_of(expected)
    for index, (item, other) in enumerate(zip(expected, found, strict=True)):
        if not same(item, other, tolerance, scale):
            return f"[{index}] is {short(other)} instead of {short(item)}"
    return "nothing"
