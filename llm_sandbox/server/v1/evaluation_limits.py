"""Limits of evaluations: what a client may ask for, and what those have that ask for nothing."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.server.options import ServerOptions

__all__ = ["most_of", "narrowed"]

_COMPILER_FACTOR = 3
"""Time of a compiler by the clock for each second of CPU time."""


def most_of(options: ServerOptions) -> dict[str, float | None]:
    """Return the most that each of the `EvalLimits` may be; None for no limit."""
    longest_s, limits = options.longest_program_s, options.limits
    cpu_s = math.inf if limits.cpu_seconds is None else limits.cpu_seconds
    sizes = (
        limits.workdir_bytes,
        limits.tmp_bytes,
        limits.shm_bytes,
        limits.file_size_bytes,
    )
    return {
        "cpu_time": min(longest_s, cpu_s),
        "wall_time": longest_s,
        "compile_time": min(longest_s / _COMPILER_FACTOR, cpu_s),
        "memory": limits.memory_bytes,
        "output": limits.output_bytes,
        "files": min(sizes),
        "processes": limits.processes,
        "cpus": limits.cpus,
        "inodes": limits.inodes,
        "open_files": limits.open_files,
    }


def narrowed(options: ServerOptions, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a client's limits, those that it leaves out being at most the operator's.

    Args:
        options: What the operator allows.
        given: Some of the `EvalLimits` by name; None for none.

    Raises:
        UnsupportedError: One is more than the operator allows.
        ValidationError: A value or a name is invalid.
    """
    most, usual = most_of(options), asdict(EvalLimits())
    filled: dict[str, Any] = {
        name: value for name, value in most.items() if _is_over(usual[name], value)
    }
    filled |= given or {}
    if filled.get("cpus") is None and most["cpus"] is not None:
        filled["cpus"] = most["cpus"]
    try:
        limits = EvalLimits(**filled)
    except TypeError:
        raise ValidationError(
            f"invalid limits: expected {', '.join(most)}, got {', '.join(map(str, filled))[:80]}",
            parameter="limits",
        ) from None
    for name, allowed in most.items():
        value = getattr(limits, name)
        if _is_over(value, allowed):
            raise UnsupportedError(
                f"limits.{name} of {value:.12g}",
                reason=f"the operator of this server allows {allowed:.12g}",
                hint="GET /v1/limits has the most of each",
            )
    if limits.wall_seconds > options.longest_program_s:
        # It follows from the CPU time, and nobody asked for it.
        filled["wall_time"] = options.longest_program_s
    return filled or None


def _is_over(value: float | None, allowed: float | None) -> bool:
    return value is not None and allowed is not None and value > allowed
