"""Limits of evaluations: what a client may ask for, and what those have that ask for nothing."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.server.options import ServerOptions

__all__ = ["most_of", "narrowed"]

_COMPILER_FACTOR = 3
"""Time of a compiler by the clock for each second of CPU time."""


def most_of(options: ServerOptions) -> dict[str, float]:
    """Return the most that each of the `EvalLimits` may be."""
    longest_s, limits = options.longest_program_s, options.limits
    sizes = (
        limits.workdir_bytes,
        limits.tmp_bytes,
        limits.shm_bytes,
        limits.file_size_bytes,
    )
    return {
        "cpu_time": longest_s,
        "wall_time": longest_s,
        "compile_time": longest_s / _COMPILER_FACTOR,
        "memory": limits.memory_bytes,
        "output": limits.output_bytes,
        "files": min(sizes),
        "processes": limits.processes,
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
        name: value for name, value in most.items() if (usual[name] or 0) > value
    }
    filled |= given or {}
    try:
        limits = EvalLimits(**filled)
    except TypeError:
        raise ValidationError(
            f"invalid limits: expected {', '.join(most)}, got {', '.join(map(str, filled))[:80]}",
            parameter="limits",
        ) from None
    for name, allowed in most.items():
        value = getattr(limits, name)
        if value is not None and value > allowed:
            raise UnsupportedError(
                f"limits.{name} of {value:.12g}",
                reason=f"the operator of this server allows {allowed:.12g}",
                hint="GET /v1/limits has the most of each",
            )
    if limits.wall_seconds > most["wall_time"]:
        # It follows from the CPU time, and nobody asked for it.
        filled["wall_time"] = most["wall_time"]
    return filled or None
