"""Races between ways to do the same thing, and the rows of the table that they give."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["CorrectnessError", "Lane", "Race", "Row", "Samples", "Target"]

Lane = Callable[[], Mapping[str, float]]
"""Function that does something once and returns its measures; raises `CorrectnessError` for wrong
output.
"""


class CorrectnessError(AssertionError):
    """Wrong output of a contender."""


@dataclass(frozen=True)
class Target:
    """Target of a row.

    ``times``: the other takes at least `value` times ours. ``share``: ours takes at most `value`
    times the other's. ``below``: ours is at most `value`, whatever the other does.
    """

    kind: Literal["times", "share", "below"]
    value: float


@dataclass(frozen=True)
class Row:
    """Row of the table."""

    title: str
    ours: str
    """``lane.measure`` of this library."""
    other: str | None
    """``lane.measure`` of the alternative."""
    target: Target | None = None
    unit: Literal["ms", "MB"] = "ms"
    compared_with: str = "stock kernel"


@dataclass(frozen=True)
class Race:
    """Lanes that are run in turn, in random order, and the rows of their results."""

    name: str
    lanes: Mapping[str, Lane]
    rows: tuple[Row, ...]
    rounds: int
    quick_rounds: int
    warm_up: bool = True
    """Discard of a first round."""
    prepare: Callable[[], object] = lambda: None
    """Callback before every lane, not timed."""
    finish: Callable[[], object] = lambda: None
    """Callback after the race."""
    missing: Callable[[], str | None] = lambda: None
    """Callback that returns why the race cannot be run on this machine, or None."""


@dataclass
class Samples:
    """Values of a measure over the rounds."""

    values: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """Least and greatest value."""
        return min(self.values), max(self.values)
