"""Numbers of processes and CPUs, as users give them."""

import os

from llm_sandbox.exceptions import ValidationError

__all__ = ["check_count", "cpus_here"]


def check_count(name: str, value: object) -> None:
    """Check a number from 1.

    Args:
        name: Name of the parameter.
        value: What was given.

    Raises:
        ValidationError: It is no whole number, or less than 1.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValidationError(f"invalid {name}: expected at least 1, got {value!r}", parameter=name)


def cpus_here() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
