"""pass@k, its interval, and McNemar's test, against their definitions."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from llm_sandbox.evaluation.statistics import mcnemar, pass_at_k, pass_at_k_of_tasks
from llm_sandbox.exceptions import ValidationError


@pytest.mark.parametrize("n", range(1, 8))
def test_pass_at_k_is_the_share_of_the_choices(n: int) -> None:
    """Of all ways to choose k of n samples, those with a correct one."""
    for c in range(n + 1):
        samples = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            choices = list(combinations(samples, k))
            share = sum(any(choice) for choice in choices) / len(choices)
            assert pass_at_k(n, c, k) == pytest.approx(share)


def test_many_samples_are_no_trouble() -> None:
    exact = 1 - math.comb(9_000, 100) / math.comb(10_000, 100)
    assert pass_at_k(10_000, 1_000, 100) == pytest.approx(exact)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 4), (3, 4, 1), (0, 0, 1), (3, -1, 1), (3, 1, 0)])
def test_impossible_numbers_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValidationError, match="invalid"):
        pass_at_k(n, c, k)


def test_the_interval_is_around_the_mean_and_repeatable() -> None:
    counts = {f"task {i}": (10, i % 11) for i in range(60)}
    found = pass_at_k_of_tasks(counts, 1)
    assert found == pass_at_k_of_tasks(dict(reversed(counts.items())), 1)
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(sum(c / n for n, c in counts.values()) / 60)
    assert 60 == found.tasks
    wide = pass_at_k_of_tasks(dict(list(counts.items())[:11]), 1)
    assert wide.high - wide.low > found.high - found.low


def test_tasks_with_too_few_samples_are_counted() -> None:
    found = pass_at_k_of_tasks({"a": (5, 5), "b": (2, 0)}, 3)
    assert (found.value, found.tasks, found.left_out) == (1.0, 1, 1)
    with pytest.raises(ValidationError, match="at most 5"):
        pass_at_k_of_tasks({"a": (5, 5), "b": (2, 0)}, 6)


def test_mcnemar_is_the_binomial_test() -> None:
    assert mcnemar(0, 0).p_value == 1.0
    assert mcnemar(5, 5).p_value == 1.0
    assert mcnemar(10, 0).p_value == pytest.approx(2 / 1024)
    assert mcnemar(1, 9).p_value == pytest.approx(2 * 11 / 1024)
