"""Statistics of evaluations: pass@k with intervals, and the comparison of two runs."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llm_sandbox.exceptions import ValidationError

__all__ = ["Interval", "McNemar", "mcnemar", "pass_at_k", "pass_at_k_of_tasks"]

_RESAMPLES = 2000
_SEED = 20240229


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of pass@k for one task.

    Args:
        n: Number of scored samples.
        c: Number of those that are correct.
        k: Number of samples that a user may try.

    Returns:
        ``1 - C(n - c, k) / C(n, k)``, computed as a product (Chen et al. 2021, arXiv:2107.03374).

    Raises:
        ValidationError: A number is negative, `c` exceeds `n`, or `k` is 0 or exceeds `n`.
    """
    if n < 0 or not 0 <= c <= n:
        raise ValidationError(f"invalid counts: expected 0 <= c <= n, got c={c}, n={n}")
    if not 1 <= k <= n:
        raise ValidationError(
            f"invalid k: expected 1 to the number of scored samples, {n}, got {k}",
            parameter="k",
            hint="take a smaller k, or more samples per task",
        )
    if n - c < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(n - c + 1, n + 1))


@dataclass(frozen=True)
class Interval:
    """An estimate with a confidence interval."""

    value: float
    """Mean over the tasks."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    tasks: int
    """Number of tasks in the mean."""
    left_out: int = 0
    """Number of tasks without enough scored samples."""

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def pass_at_k_of_tasks(
    counts: Mapping[str, tuple[int, int]], k: int, *, confidence: float = 0.95
) -> Interval:
    """Return pass@k of a set of tasks, with a bootstrap interval over the tasks.

    Args:
        counts: For each task the number of scored samples and the number of correct ones.
        k: Number of samples that a user may try.
        confidence: Share of the interval.

    Returns:
        The mean over the tasks that have at least `k` scored samples. The resampling is seeded: the
        same counts give the same interval.

    Raises:
        ValidationError: `k` or `confidence` is invalid, or no task has `k` scored samples.
    """
    if not 0 < confidence < 1:
        raise ValidationError(f"invalid confidence: expected 0 to 1, got {confidence}")
    if k < 1:
        raise ValidationError(f"invalid k: expected a number from 1, got {k}", parameter="k")
    values = [pass_at_k(n, c, k) for _, (n, c) in sorted(counts.items()) if n >= k]
    if not values:
        most = max((n for n, _ in counts.values()), default=0)
        raise ValidationError(
            f"invalid k: no task has {k} scored samples, at most {most}", parameter="k"
        )
    mean = math.fsum(values) / len(values)
    low, high = _bootstrap(values, confidence)
    return Interval(mean, low, high, len(values), len(counts) - len(values))


def _bootstrap(values: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the percentile interval of the mean."""
    found = Counter(values)
    if len(found) == 1:
        return values[0], values[0]
    import numpy as np

    # How often each value is drawn, which is the same as drawing one by one: there are few values,
    # and may be many thousand tasks.
    distinct = sorted(found)
    shares = [found[value] / len(values) for value in distinct]
    chance = np.random.default_rng(_SEED)
    means = sorted(
        float(chance.multinomial(len(values), shares) @ distinct) / len(values)
        for _ in range(_RESAMPLES)
    )
    tail = (1 - confidence) / 2
    return means[int(tail * _RESAMPLES)], means[min(_RESAMPLES - 1, int((1 - tail) * _RESAMPLES))]


@dataclass(frozen=True)
class McNemar:
    """McNemar's exact test of two paired sets of outcomes."""

    gained: int
    """Pairs that failed in the first set and passed in the second."""
    lost: int
    """Pairs that passed in the first set and failed in the second."""
    p_value: float
    """Probability of a difference at least as large, if both sets are equally good."""


def mcnemar(gained: int, lost: int) -> McNemar:
    """Return McNemar's exact two-sided test for the numbers of discordant pairs."""
    total = gained + lost
    if total == 0:
        return McNemar(0, 0, 1.0)
    tail = sum(math.comb(total, i) for i in range(min(gained, lost) + 1))
    return McNemar(gained, lost, min(1.0, 2 * tail / 2**total))
