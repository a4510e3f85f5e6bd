"""What is measured: races between ways to do the same thing, and rows read off them."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["CorrectnessError", "Lane", "Race", "Row", "Samples", "Target"]

Lane = Callable[[], Mapping[str, float]]
"""Does something once and returns what it measured; raises `CorrectnessError` for wrong output."""


class CorrectnessError(AssertionError):
    """A contender was quick at something other than what was asked."""


@dataclass(frozen=True)
class Target:
    """What a row is held against.

    ``times``: the other takes at least `value` times ours. ``share``: ours takes at most `value`
    times the other's. ``below``: ours is at most `value`, whatever the other does.
    """

    kind: Literal["times", "share", "below"]
    value: float


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    title: str
    ours: str
    """``lane.measure`` of ours."""
    other: str | None
    """``lane.measure`` of what it is compared with."""
    target: Target | None = None
    unit: Literal["ms", "MB"] = "ms"
    compared_with: str = "stock kernel"


@dataclass(frozen=True)
class Race:
    """Lanes that are run in turn, in random order, and the rows that come of it."""

    name: str
    lanes: Mapping[str, Lane]
    rows: tuple[Row, ...]
    rounds: int
    quick_rounds: int
    warm_up: bool = True
    """Whether a first round is run and thrown away."""
    prepare: Callable[[], object] = lambda: None
    """Called before every lane, outside of what is timed."""
    finish: Callable[[], object] = lambda: None
    """Called after the race."""
    missing: Callable[[], str | None] = lambda: None
    """Says why it cannot be run on this machine, if so."""


@dataclass
class Samples:
    """What a measure came to over the rounds."""

    values: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """The least and the greatest value."""
        return min(self.values), max(self.values)
