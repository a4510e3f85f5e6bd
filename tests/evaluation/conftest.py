"""Evaluators for the tests of evaluation."""

import pytest

from llm_sandbox.evaluation import EvalLimits, Evaluator, Sample


@pytest.fixture(scope="session")
def evaluator():
    """An evaluator with small limits, for all tests of a process."""
    limits = EvalLimits(cpu_time=1, wall_time=6, memory="128m", output="1m", files="8m")
    with Evaluator(limits=limits, workers=2, backend="bubblewrap") as evaluator:
        yield evaluator


@pytest.fixture
def grade(evaluator):
    """Evaluates code with some tests: its result."""

    def grade(code, *tests, **fields):
        result = evaluator.run(Sample("sample", code, tests=list(tests), **fields))
        if result.verdict == "IE":
            print(result.error, *(test.error for test in result.tests))
        return result

    return grade
