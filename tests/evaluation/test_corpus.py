"""Verdicts of the corpus: each is the true one, however many programs run at the same time."""

import os

import pytest

from llm_sandbox.evaluation import Evaluator
from tests.evaluation.corpus import LIMITS, TASKS, busy_cpu, corpus

pytestmark = pytest.mark.slow


def test_the_corpus_has_sixty_tasks():
    assert len(TASKS) >= 60
    assert len({task.name for task in TASKS}) == len(TASKS)


@pytest.mark.timeout(400)
def test_every_verdict_is_true():
    """Beside a process that takes a CPU, with four programs at a time on each CPU; what is slow for
    that reason is run again, alone. `benchmarks.verdicts` does it with all tasks.
    """
    workers = 4 * (os.cpu_count() or 1)
    samples, expected = corpus(step=6)
    with busy_cpu(), Evaluator(limits=LIMITS, workers=workers, backend="bubblewrap") as evaluator:
        results = list(evaluator.map(samples))
    false = {
        result.id: (result.verdict, result.error, result.tests)
        for result in results
        if result.verdict not in expected[result.id]
    }
    assert not false
    assert len(results) == len(samples)
