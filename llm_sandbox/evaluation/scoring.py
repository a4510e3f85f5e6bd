"""Verdict and score of a sample, from the results of its tests."""

from collections.abc import Sequence

from llm_sandbox.evaluation.kinds import Test
from llm_sandbox.evaluation.results import Integrity, TestResult
from llm_sandbox.evaluation.sample import ScorePolicy
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["integrity_of", "score_of", "verdict_of"]

_WEAKEST: tuple[Integrity, ...] = ("inline", "proxy", "isolated")


def verdict_of(tests: Sequence[Test], results: Sequence[TestResult]) -> Verdict:
    """Return the verdict of a sample: that of its first test that is not accepted.

    A failure of the sandbox in any test outweighs all others, since nothing is known then. A sample
    without tests, or with fewer results than tests, is never accepted.
    """
    if any(result.verdict is Verdict.INFRA_ERROR for result in results):
        return Verdict.INFRA_ERROR
    for result in results:
        if result.verdict is not Verdict.ACCEPTED:
            return result.verdict
    return Verdict.ACCEPTED if tests and len(results) == len(tests) else Verdict.NO_TESTS


def score_of(
    tests: Sequence[Test], results: Sequence[TestResult], policy: ScorePolicy
) -> float | None:
    """Return the score of a sample, from 0 to 1; None if the sandbox failed."""
    verdict = verdict_of(tests, results)
    if verdict is Verdict.INFRA_ERROR:
        return None
    if policy == "all":
        return 1.0 if verdict is Verdict.ACCEPTED else 0.0
    points = [result.points for result in results] + [0.0] * (len(tests) - len(results))
    if not tests:
        return 0.0
    if policy == "fraction":
        return sum(points) / len(tests)
    if policy == "weighted":
        return _ratio(
            sum(test.weight * point for test, point in zip(tests, points, strict=True)),
            sum(test.weight for test in tests),
        )
    groups: dict[str, tuple[float, float]] = {}
    for test, point in zip(tests, points, strict=True):
        weight, worst = groups.get(test.group, (0.0, 1.0))
        groups[test.group] = (max(weight, test.weight), min(worst, point))
    return _ratio(
        sum(weight * worst for weight, worst in groups.values()),
        sum(weight for weight, _ in groups.values()),
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def integrity_of(results: Sequence[TestResult]) -> Integrity:
    """Return the weakest integrity of the results that have a verdict on a run."""
    found = {result.integrity for result in results if result.verdict is not Verdict.SKIPPED}
    return next((kind for kind in _WEAKEST if kind in found), "isolated")
