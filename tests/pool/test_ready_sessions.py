"""Ready sessions: replaced when they end or grow old, fewer when nobody claims, created again after
failures.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.exceptions import (
    ContainerError,
    LibraryInstallationError,
    PoolCreationError,
    SandboxTimeoutError,
)
from llm_sandbox.pool import SandboxPool
from tests.pool.conftest import PATIENCE_S, Background, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from llm_sandbox.pool.member import Member

pytestmark = pytest.mark.slow

NEVER_S = 3600.0
MARGIN_S = 0.2


def ready(pool: SandboxPool) -> Member:
    """Return the only ready session."""
    pool.wait_until_ready(PATIENCE_S)
    (member,) = pool._stock._members
    return member


def test_a_session_whose_sandbox_ended_is_not_handed_out(place: str) -> None:
    with SandboxPool(1, max_sessions=1, check_interval=NEVER_S, backend=place) as pool:
        dead = ready(pool)
        dead.session.sandbox.terminate()
        wait_until(lambda: not dead.is_healthy)
        with pool.claim() as session:
            assert dead.container_id != session.sandbox.id
            assert session.run("1").success()
        assert 1 == pool.metrics.discarded


def test_a_session_whose_interpreter_ended_is_not_handed_out(place: str) -> None:
    """Its warm-up would be lost; the control is that the sandbox itself lives."""
    warm_up = "import os\nopen('pid', 'w').write(str(os.getpid()))\nx = 1"
    with SandboxPool(1, check_interval=NEVER_S, backend=place, warm_up=warm_up) as pool:
        dead = ready(pool)
        sandbox = dead.session.sandbox
        sandbox.check("sh", "-c", "kill -9 $(cat pid)")
        wait_until(lambda: not dead.is_healthy)
        assert sandbox.end_reason is None
        with pool.claim() as session:
            assert "1\n" == session.run("print(x)").stdout


def test_an_ended_session_is_replaced_without_a_claim() -> None:
    with SandboxPool(1, check_interval=0.1, backend="bubblewrap") as pool:
        dead = ready(pool)
        dead.session.sandbox.terminate()
        wait_until(lambda: pool.metrics.created == 2)
        assert dead is not ready(pool)


def test_an_old_session_is_replaced() -> None:
    with SandboxPool(1, max_age=1.0, check_interval=NEVER_S, backend="bubblewrap") as pool:
        old = ready(pool)
        wait_until(lambda: pool.metrics.discarded >= 1 and pool.metrics.created >= 2)
        assert old not in pool._stock._members or not old.session.is_open
        with pool.claim() as session:
            assert session.run("1").success()


def test_without_claims_fewer_are_ready() -> None:
    """As many as the minimum; the next claim has all of them created again."""
    with SandboxPool(2, min_size=1, idle=1.5, check_interval=NEVER_S, backend="bubblewrap") as pool:
        wait_until(lambda: pool.metrics.created == 2)
        wait_until(lambda: pool.metrics.discarded == 1)
        assert (1, 2) == (pool.metrics.ready, pool.metrics.created)
        with pool.claim():
            wait_until(lambda: pool.metrics.created == 4)
        assert 1 == pool.metrics.hits


def test_a_failed_creation_is_reported_and_tried_again(tmp_path: Path) -> None:
    flag = tmp_path / "flag.txt"
    flag.write_text("bad")
    with SandboxPool(
        1,
        backend="bubblewrap",
        files={"flag.txt": flag},
        warm_up="word = open('flag.txt').read()\nassert word == 'good', word",
    ) as pool:
        with pytest.raises(PoolCreationError, match="AssertionError: bad") as caught:
            pool.claim()
        assert isinstance(caught.value.__cause__, ContainerError)
        assert "warm-up" in str(pool.metrics)
        with pytest.raises(PoolCreationError):
            pool.wait_until_ready(PATIENCE_S)
        # Each claim has an attempt of its own, and one that gives up before that has the reason.
        with pytest.raises(PoolCreationError):
            pool.claim()
        with pytest.raises(PoolCreationError):
            pool.claim(timeout=0.01)
        flag.write_text("good")
        wait_until(lambda: pool.metrics.ready == 1)
        assert pool.metrics.last_error is None
        with pool.claim() as session:
            assert "good\n" == session.run("print(word)").stdout


def test_creating_is_not_tried_in_a_loop() -> None:
    """Claims that want a session wait for the next attempt, whose distances grow."""
    with SandboxPool(2, backend="bubblewrap", warm_up="1 / 0") as pool:
        claims = [Background(pool.claim) for _ in range(4)]
        for claim in claims:
            with pytest.raises(PoolCreationError, match="ZeroDivisionError"):
                claim.outcome()
        assert pool.metrics.failed >= 4
        stock = pool._stock

        def pauses() -> bool:
            return pool.metrics.creating == 0 and stock._retry_at > time.monotonic() + MARGIN_S

        wait_until(pauses)
        failed, until = pool.metrics.failed, stock._retry_at
        while time.monotonic() < until - MARGIN_S:
            assert (failed, 0) == (pool.metrics.failed, pool.metrics.creating)
            time.sleep(0.02)
        wait_until(lambda: pool.metrics.failed > failed)


def test_a_library_that_does_not_exist() -> None:
    name = "llm-sandbox-no-such-distribution"
    with SandboxPool(1, backend="bubblewrap", libraries=[name]) as pool:
        with pytest.raises(PoolCreationError, match=name) as caught:
            pool.claim()
        assert isinstance(caught.value.__cause__, LibraryInstallationError)


def test_waiting_for_a_pool_has_an_end() -> None:
    with SandboxPool(1, backend="bubblewrap", warm_up="import time\ntime.sleep(2)") as pool:
        with pytest.raises(SandboxTimeoutError):
            pool.wait_until_ready(0.05)
        pool.wait_until_ready(PATIENCE_S)
