"""Verdicts of the corpus: each is the true one, however many programs run at the same time."""

import contextlib
import multiprocessing
import os

import pytest

from llm_sandbox.evaluation import Evaluator
from tests.evaluation.corpus import LIMITS, TASKS, corpus


def _burn() -> None:
    while True:
        pass


@contextlib.contextmanager
def busy_cpu():
    """Another process that wants a whole CPU."""
    process = multiprocessing.get_context("spawn").Process(target=_burn, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def test_the_corpus_is_one():
    assert len(TASKS) >= 60
    assert len({task.name for task in TASKS}) == len(TASKS)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("workers", "step"), [(1, 6), (os.cpu_count() or 1, 6), (4 * (os.cpu_count() or 1), 2)]
)
def test_every_verdict_is_true(workers, step):
    """Beside a process that takes a CPU; what is slow for that reason is run again, alone."""
    samples, expected = corpus(step)
    with busy_cpu(), Evaluator(limits=LIMITS, workers=workers, backend="bubblewrap") as evaluator:
        results = list(evaluator.map(samples))
    false = {
        result.id: (result.verdict, result.error, result.tests)
        for result in results
        if result.verdict not in expected[result.id]
    }
    assert not false
    assert len(results) == len(samples)
