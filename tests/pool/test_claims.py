"""Claims: in their order, within bounds and time; the end of a pool while there are some."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from llm_sandbox import create_session
from llm_sandbox.exceptions import PoolClosedError, PoolExhaustedError, ValidationError
from llm_sandbox.pool import SandboxPool
from tests.pool.conftest import PATIENCE_S, Background, wait_until


def test_a_ready_session_is_a_hit(place: str) -> None:
    with SandboxPool(1, backend=place) as pool:
        pool.wait_until_ready(PATIENCE_S)
        assert (1, 0, 1) == (pool.metrics.ready, pool.metrics.claimed, pool.metrics.created)
        with pool.claim() as session:
            assert "at once\n" == session.run("print('at once')").stdout
            assert (1, 0, 1) == (pool.metrics.hits, pool.metrics.misses, pool.metrics.claimed)
        pool.wait_until_ready(PATIENCE_S)
        metrics = pool.metrics
        assert (1, 0, 2) == (metrics.ready, metrics.claimed, metrics.created)
        assert (1.0, 1) == (metrics.hit_rate, metrics.size)
        assert metrics.wait_mean_s <= metrics.wait_max_s
        assert "1 of 1 ready" in str(metrics)
    assert (0, True) == (pool.metrics.ready, pool.metrics.closed)
    assert "closed" in repr(pool)


def test_without_ready_ones_sessions_are_created_for_claims() -> None:
    with SandboxPool(0, backend="bubblewrap") as pool:
        with pool.claim() as session:
            assert session.run("1").success()
        assert (0, 1) == (pool.metrics.hits, pool.metrics.misses)
        assert 0.0 == pool.metrics.hit_rate
        assert pool.metrics.wait_max_s > 0


def test_claims_are_served_in_their_order() -> None:
    served: list[int] = []

    def work(number: int) -> None:
        with pool.claim():
            served.append(number)

    with SandboxPool(1, max_sessions=1, backend="bubblewrap") as pool:
        held = pool.claim()
        waiting = []
        for number in range(5):
            waiting.append(Background(partial(work, number)))
            wait_until(lambda: pool.metrics.waiting == len(waiting))
        held.close()
        for one in waiting:
            one.outcome()
    assert list(range(5)) == served


def test_time_is_up() -> None:
    with SandboxPool(1, max_sessions=1, claim_timeout=0.3, backend="bubblewrap") as pool:
        pool.wait_until_ready(PATIENCE_S)
        with pool.claim(timeout=0):
            for timeout, waited in ((None, 0.3), (0.2, 0.2), (0, 0.0)):
                with pytest.raises(PoolExhaustedError) as caught:
                    pool.claim(timeout)
                assert (1, waited, 1) == (
                    caught.value.pool_size,
                    caught.value.timeout,
                    caught.value.busy,
                )
            assert (0, 3) == (pool.metrics.waiting, pool.metrics.refused)
        # What was created for nobody is for the next.
        pool.wait_until_ready(PATIENCE_S)
        pool.claim(timeout=0).close()


def test_ctrl_c_ends_a_wait() -> None:
    """The claim leaves the queue, and the session it waited for is there for others."""
    with SandboxPool(1, max_sessions=1, backend="bubblewrap") as pool:
        held = pool.claim()

        def interrupt() -> None:
            wait_until(lambda: pool.metrics.waiting == 1)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        interrupting = Background(interrupt)
        with pytest.raises(KeyboardInterrupt):
            pool.claim()
        interrupting.outcome()
        assert 0 == pool.metrics.waiting
        held.close()
        with pool.claim() as session:
            assert session.run("1").success()


def test_waiting_claims_are_bounded() -> None:
    with SandboxPool(1, max_sessions=2, max_waiting=1, backend="bubblewrap") as pool:
        first, second = pool.claim(), pool.claim()
        third = Background(pool.claim)
        wait_until(lambda: pool.metrics.waiting == 1)
        with pytest.raises(PoolExhaustedError, match="1 claims wait") as caught:
            pool.claim()
        assert (2, 1, None) == (
            caught.value.pool_size,
            caught.value.waiting,
            caught.value.timeout,
        )
        first.close()
        claimed: Any = third.outcome()
        assert claimed.run("1").success()
        assert 2 == pool.metrics.claimed
        second.close()
        claimed.close()


def test_there_are_never_more_than_the_bound(place: str) -> None:
    most: list[int] = []

    def work(number: int) -> int:
        with pool.claim() as session:
            metrics = pool.metrics
            most.append(metrics.ready + metrics.creating + metrics.claimed)
            return int(session.run(f"print({number} * 2)").stdout)

    with SandboxPool(1, max_sessions=2, backend=place) as pool:
        with ThreadPoolExecutor(max_workers=4) as executor:
            assert [n * 2 for n in range(6)] == list(executor.map(work, range(6)))
        assert max(most) <= 2
        assert 6 == pool.metrics.hits + pool.metrics.misses


def test_a_claimed_session_may_finish() -> None:
    pool = SandboxPool(1, max_sessions=1, backend="bubblewrap")

    def work() -> str:
        with pool.claim() as session:
            return session.run("import time\ntime.sleep(1)\nprint('finished')").stdout

    working = Background(work)
    wait_until(lambda: pool.metrics.claimed == 1)
    waiting = Background(pool.claim)
    wait_until(lambda: pool.metrics.waiting == 1)
    pool.close(timeout=PATIENCE_S)
    assert "finished\n" == working.outcome()
    with pytest.raises(PoolClosedError):
        waiting.outcome()
    with pytest.raises(PoolClosedError):
        pool.claim()
    with pytest.raises(PoolClosedError):
        pool.wait_until_ready()
    metrics = pool.metrics
    assert (0, 0, 0) == (metrics.ready, metrics.creating, metrics.claimed)
    pool.close()


def test_a_claimed_session_is_ended_in_the_end() -> None:
    pool = SandboxPool(1, max_sessions=1, backend="bubblewrap")
    session = pool.claim()
    begun: list[str] = []
    running = Background(
        lambda: session.run("print('begun', flush=True)\nwhile True: pass", on_stdout=begun.append)
    )
    wait_until(lambda: begun != [])
    pool.close(timeout=0.2)
    result: Any = running.outcome()
    assert "killed" == result.status
    assert not session.is_open
    assert 0 == pool.metrics.claimed


def test_what_is_no_pool_is_refused() -> None:
    with pytest.raises(ValidationError, match="invalid pool: expected a SandboxPool, got int"):
        create_session(pool=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"size": -1}, "size"),
        ({"size": True}, "size"),
        ({"size": 1.5}, "size"),
        ({"size": 3, "min_size": 4}, "min_size"),
        ({"size": 3, "max_sessions": 2}, "max_sessions"),
        ({"max_sessions": 0, "size": 0}, "max_sessions"),
        ({"max_waiting": -1}, "max_waiting"),
        ({"claim_timeout": -1}, "claim_timeout"),
        ({"idle": 0}, "idle"),
        ({"max_age": -3}, "max_age"),
        ({"check_interval": None}, "check_interval"),
        ({"files": ["a"]}, "files"),
        ({"files": {"a": 3}}, "files"),
        ({"files": {"": b""}}, "files"),
        ({"files": {"a": "/missing/file"}}, "files"),
        ({"warm_up": b"1"}, "warm_up"),
    ],
    ids=str,
)
def test_impossible_settings(given: dict[str, Any], name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        SandboxPool(backend="bubblewrap", **given)
    assert name == caught.value.parameter
