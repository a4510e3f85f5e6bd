"""Bounds of a pool: sizes, waiting claims, lifetimes of ready sessions."""

import math
import threading
from dataclasses import dataclass

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import validate_timeout

__all__ = ["PoolBounds", "check_count", "check_wait"]


@dataclass(frozen=True, kw_only=True)
class PoolBounds:
    """Bounds of a pool, checked once.

    Raises:
        ValidationError: A value is invalid, or two contradict each other; `parameter` names one.
    """

    size: int
    """Sessions to keep ready."""
    min_size: int
    """Sessions to keep ready after `idle` seconds without a claim."""
    max_sessions: int
    """Sessions at once: ready, being created, claimed or being ended."""
    max_waiting: int | None
    """Claims that may wait for a claimed session to end; None for any number."""
    claim_timeout: float | None
    """Seconds that a claim waits; None for no limit."""
    idle: float | None
    """Seconds without a claim after which ready sessions beyond `min_size` end; None for never."""
    max_age: float | None
    """Seconds after which a ready session is replaced; None for never."""
    check_interval: float
    """Seconds between checks for ready sessions whose sandbox has ended."""
    overflow: bool = False
    """Whether claims may exceed `max_sessions`."""
    hint: str = "close a session, or raise max_sessions"
    """Hint of errors about too few sessions."""

    def __post_init__(self) -> None:
        check_count("size", self.size, 0)
        check_count("min_size", self.min_size, 0)
        check_count("max_sessions", self.max_sessions, 1)
        if self.max_waiting is not None:
            check_count("max_waiting", self.max_waiting, 0)
        if self.min_size > self.size:
            raise ValidationError(
                f"invalid min_size: expected at most the size, {self.size}, got {self.min_size}",
                parameter="min_size",
            )
        if self.size > self.max_sessions:
            raise ValidationError(
                f"invalid max_sessions: expected at least the size, {self.size}, "
                f"got {self.max_sessions}",
                parameter="max_sessions",
                hint="the bound counts ready and claimed sessions together",
            )
        object.__setattr__(self, "claim_timeout", check_wait(self.claim_timeout, "claim_timeout"))
        for name in ("idle", "max_age"):
            object.__setattr__(self, name, validate_timeout(getattr(self, name), name))
        if validate_timeout(self.check_interval, "check_interval") is None:
            raise ValidationError(
                f"invalid check_interval: expected seconds, got {self.check_interval!r}",
                parameter="check_interval",
            )


def check_wait(value: object, name: str) -> float | None:
    """Return the seconds of a wait, or None for no limit; 0 is no wait.

    Raises:
        ValidationError: `value` is negative, no number, or more than the system can wait for.
    """
    if value is None or value == math.inf:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= threading.TIMEOUT_MAX
    ):
        raise ValidationError(
            f"invalid {name}: expected seconds, 0 or more, or None, got {value!r}", parameter=name
        )
    return float(value)


def check_count(name: str, value: object, least: int) -> None:
    """Refuse what is no number of at least `least`.

    Raises:
        ValidationError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValidationError(
            f"invalid {name}: expected a number of at least {least}, got {value!r}", parameter=name
        )
