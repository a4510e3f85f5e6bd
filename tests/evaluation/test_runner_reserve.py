"""The reserve of runners: made ahead, never used twice, ended with their evaluator."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.evaluation import EvalLimits, Evaluator, Sample, StdioTest
from llm_sandbox.evaluation.runner_reserve import RunnerReserve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.evaluation.runner import Runner

LIMITS = EvalLimits(memory="128m")


@pytest.fixture
def reserve() -> Iterator[RunnerReserve]:
    reserve = RunnerReserve(get_backend("bubblewrap"), 2)
    yield reserve
    reserve.close()


def until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def waiting(reserve: RunnerReserve) -> list[Runner]:
    """Return the runners that wait, when all of them are made."""
    futures = [one for found in reserve._waiting.values() for one in found]
    return [future.result(20) for future in futures]


def test_one_sample_makes_no_other_runner(reserve: RunnerReserve) -> None:
    reserve.take("python", LIMITS, ()).close()
    assert waiting(reserve) == []


def test_the_next_runner_is_made_ahead_and_is_nobodys(reserve: RunnerReserve) -> None:
    taken = [reserve.take("python", LIMITS, ()) for _ in range(2)]
    (ahead,) = waiting(reserve)
    taken.append(reserve.take("python", LIMITS, ()))
    assert taken[2] is ahead
    assert len({id(runner) for runner in taken + waiting(reserve)}) == 4
    for runner in taken:
        runner.close()


def test_a_runner_that_was_lost_while_it_waited_is_replaced(reserve: RunnerReserve) -> None:
    for _ in range(2):
        reserve.take("python", LIMITS, ()).close()
    (lost,) = waiting(reserve)
    lost._machine.destroy()
    assert not lost.is_alive
    found = reserve.take("python", LIMITS, ())
    assert found is not lost
    found.setup({}, {})
    assert found.program(["true"]).exit_code == 0
    found.close()


def test_runners_of_other_limits_make_room(reserve: RunnerReserve) -> None:
    for limits in (LIMITS, LIMITS.scaled(2), LIMITS.scaled(3)):
        for _ in range(3):
            reserve.take("python", limits, ()).close()
    assert len(waiting(reserve)) <= 2


def test_nobody_gets_the_runner_of_another(reserve: RunnerReserve) -> None:
    def take(_: int) -> Runner:
        return reserve.take("python", LIMITS, ())

    with ThreadPoolExecutor(4) as threads:
        taken = list(threads.map(take, range(12)))
    assert len({id(runner) for runner in taken}) == 12
    for runner in taken:
        runner.close()


def test_all_end_with_the_reserve(reserve: RunnerReserve) -> None:
    for _ in range(2):
        reserve.take("python", LIMITS, ()).close()
    (ahead,) = waiting(reserve)
    reserve.close()
    assert until(lambda: not ahead.is_alive)
    reserve.take("python", LIMITS, ()).close()  # who is at it may go on
    assert waiting(reserve) == []


def test_samples_find_nothing_of_each_other() -> None:
    """Each machine has one sample, also those that were made ahead."""
    code = (
        "import os\n"
        "found = os.listdir('/tmp') + [n for n in os.listdir('.') if n != 'main.py']\n"
        "open('/tmp/left', 'w').close(); open('left', 'w').close()\n"
        "print(found)"
    )
    samples = [Sample(str(n), f"{code}  # {n}", tests=[StdioTest("", "[]")]) for n in range(12)]
    with Evaluator(workers=2, backend="bubblewrap") as evaluator:
        assert [one.verdict.value for one in evaluator.map(samples)] == ["AC"] * 12
