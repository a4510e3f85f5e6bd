"""Limits that records of contests have."""

import re
from typing import Any

from llm_sandbox.evaluation.datasets.json_text import spelled
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.exceptions import ValidationError

__all__ = ["MEBIBYTE", "limits_of", "memory_of", "seconds_of"]

MEBIBYTE = 2**20

_MOST = 1e15
_QUANTITY = re.compile(r"((?:[0-9.]+\s*(?:-|to)\s*)?[0-9.]+)\s*([a-z]+)", re.ASCII)
_SECONDS = {"ms": 1e-3, "millisecond": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0}
_BYTES = {
    unit: float(2**power)
    for power, units in {
        0: ("b", "byte"),
        10: ("k", "kb", "kib", "kilobyte"),
        20: ("m", "mb", "mib", "megabyte"),
        30: ("g", "gb", "gib", "gigabyte"),
    }.items()
    for unit in units
}


def limits_of(seconds: float | None, memory: int | None) -> EvalLimits | None:
    """Return limits of CPU time, in seconds, and memory, in bytes; None where a record has neither.

    Raises:
        ValidationError: A limit is out of range.
    """
    values: dict[str, Any] = {}
    if seconds is not None:
        values["cpu_time"] = seconds
    if memory is not None:
        values["memory"] = memory
    return EvalLimits(**values) if values else None


def seconds_of(name: str, value: object) -> float | None:
    """Return a time in seconds; None for null, zero and empty texts.

    Args:
        name: The field, for errors.
        value: Seconds, or a text such as ``2.0 seconds``; of a range, the end counts.

    Raises:
        ValidationError: It is something else.
    """
    return _quantity(name, value, 1.0, _SECONDS)


def memory_of(name: str, value: object, unit: int) -> int | None:
    """Return a size in bytes; None for null, zero and empty texts.

    Args:
        name: The field, for errors.
        value: A number, or a text such as ``256.0 megabytes``, where a megabyte is 2^20 bytes.
        unit: Bytes of 1, for numbers.

    Raises:
        ValidationError: It is something else.
    """
    found = _quantity(name, value, unit, _BYTES)
    return None if found is None else int(found)


def _quantity(name: str, value: object, unit: float, units: dict[str, float]) -> float | None:
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        if 0 <= value <= _MOST:
            return value * unit or None
    elif isinstance(value, str):
        match = _QUANTITY.fullmatch(value.strip().lower())
        if match is not None:
            factor = units.get(match[2]) or units.get(match[2].removesuffix("s"))
            try:
                number = max(float(one) for one in re.findall(r"[0-9.]+", match[1]))
            except ValueError:
                factor = None
            if factor is not None:
                return number * factor or None
    raise ValidationError(
        f"invalid {name}: expected a number from 0, or one with a unit such as "
        f"{next(iter(units))}, got {spelled(value)}",
        parameter=name,
    )
