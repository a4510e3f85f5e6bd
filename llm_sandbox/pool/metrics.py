"""Metrics of a pool: what it holds now, and what it has counted."""

from dataclasses import dataclass

__all__ = ["PoolCounters", "PoolMetrics"]


@dataclass(frozen=True)
class PoolMetrics:
    """Metrics of a pool at one moment.

    ``str(metrics)`` is a line for people.
    """

    size: int
    """Sessions that the pool keeps ready."""
    max_sessions: int
    """Sessions that there may be at once."""
    ready: int
    """Sessions that are ready now."""
    creating: int
    """Sessions that are being created now."""
    claimed: int
    """Sessions that are claimed now."""
    waiting: int
    """Claims that wait now."""
    created: int
    """Sessions that were created and prepared so far."""
    failed: int
    """Creations that failed so far."""
    discarded: int
    """Sessions that ended without a claim: by themselves, by age, or for lack of claims."""
    hits: int
    """Claims that found a ready session."""
    misses: int
    """Claims that got a session after a wait."""
    refused: int
    """Claims that got none: too many waited already, the time was up, or creating failed."""
    wait_total_s: float
    """Seconds that the claims of `hits` and `misses` have waited, together."""
    wait_max_s: float
    """Seconds of the longest of these waits; 0.0 before the first."""
    last_error: str | None
    """Message of the last failed creation; None if the last one succeeded."""
    closed: bool
    """Whether the pool is closed."""

    @property
    def hit_rate(self) -> float:
        """Share of `hits` in the claims that got a session, 0.0 to 1.0; 1.0 before the first."""
        claims = self.hits + self.misses
        return self.hits / claims if claims else 1.0

    @property
    def wait_mean_s(self) -> float:
        """Mean wait of the claims that got a session, in seconds; 0.0 before the first."""
        claims = self.hits + self.misses
        return self.wait_total_s / claims if claims else 0.0

    def __str__(self) -> str:
        parts = [
            f"{self.ready} of {self.size} ready",
            f"{self.creating} being created",
            f"{self.claimed} claimed, at most {self.max_sessions} at once",
            f"{self.waiting} claims waiting",
            f"so far {self.created} created, {self.failed} failed, {self.discarded} discarded",
            f"{self.hits} hits, {self.misses} misses, {self.refused} refused",
            f"waits of {self.wait_mean_s:.3f} s on average, {self.wait_max_s:.3f} s at most",
        ]
        if self.last_error is not None:
            parts.append(f"the last creation failed: {self.last_error}")
        if self.closed:
            parts.append("closed")
        return "; ".join(parts)


@dataclass
class PoolCounters:
    """Counts of a pool since it was made, under its lock."""

    created: int = 0
    failed: int = 0
    discarded: int = 0
    hits: int = 0
    misses: int = 0
    refused: int = 0
    wait_total_s: float = 0.0
    wait_max_s: float = 0.0

    def add_claim(self, waited_s: float, *, hit: bool) -> None:
        """Count a claim that got a session."""
        if hit:
            self.hits += 1
        else:
            self.misses += 1
        self.wait_total_s += waited_s
        self.wait_max_s = max(self.wait_max_s, waited_s)
