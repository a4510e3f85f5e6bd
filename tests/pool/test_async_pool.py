"""Pools in event loops: claims that wait block nothing, and a cancelled one loses no session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from llm_sandbox import aio
from llm_sandbox.exceptions import PoolExhaustedError
from llm_sandbox.pool import SandboxPool
from tests.pool.conftest import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.parametrize("loop", ["asyncio", "trio"])

MANY = 70
"""Claims beyond the threads for long calls."""


def run(loop: str, main: Callable[[], Awaitable[None]]) -> None:
    """Run a coroutine in an event loop, for two minutes at most."""

    async def bounded() -> None:
        with anyio.fail_after(2 * PATIENCE_S):
            await main()

    anyio.run(bounded, backend=loop)


async def waiting(pool: SandboxPool, count: int) -> None:
    """Wait until so many claims wait."""
    with anyio.fail_after(PATIENCE_S):
        while pool.metrics.waiting != count:  # noqa: ASYNC110 - metrics notify nobody
            await anyio.sleep(0.02)


def test_sessions_of_a_pool(loop: str) -> None:
    plain = SandboxPool(1, backend="bubblewrap", warm_up="x = 20")

    async def main() -> None:
        async with aio.AsyncSandboxPool(plain) as pool:
            await pool.wait_until_ready(PATIENCE_S)
            async with await pool.claim(execution_timeout=30) as session:
                assert "21\n" == (await session.run("print(x + 1)")).stdout
                assert (1, 1) == (pool.metrics.hits, pool.metrics.claimed)
                with pytest.raises(PoolExhaustedError):
                    await pool.claim(timeout=0)
        assert pool.metrics.closed

    run(loop, main)


def test_waiting_claims_block_no_run(loop: str) -> None:
    """However many tasks wait for a session, code runs in those that are claimed."""
    plain = SandboxPool(1, max_sessions=1, backend="bubblewrap")

    async def main() -> None:
        async with aio.AsyncSandboxPool(plain) as pool:
            async with await pool.claim() as session, anyio.create_task_group() as group:
                for _ in range(MANY):
                    group.start_soon(pool.claim)
                await waiting(plain, MANY)
                assert "42\n" == (await session.run("print(42)")).stdout
                group.cancel_scope.cancel()
            await waiting(plain, 0)
            async with await pool.claim() as session:
                assert (await session.run("1")).success()

    run(loop, main)


def test_a_cancelled_claim_leaves_the_queue(loop: str) -> None:
    """Claims that are cancelled while sessions are handed over lose none of them."""
    plain = SandboxPool(1, max_sessions=2, backend="bubblewrap")

    async def main() -> None:
        async with aio.AsyncSandboxPool(plain) as pool:
            for delay in (0.0, 0.01, 0.05, 0.2, 0.4):
                with anyio.move_on_after(delay):
                    async with await pool.claim() as session:
                        await session.run("1")
                with anyio.move_on_after(delay):
                    async with aio.create_session(pool=plain) as session:
                        await session.run("1")
            with anyio.fail_after(PATIENCE_S):
                while plain.metrics.claimed:  # noqa: ASYNC110 - metrics notify nobody
                    await anyio.sleep(0.02)
            assert 0 == pool.metrics.waiting
            first, second = await pool.claim(), await pool.claim()
            assert 2 == pool.metrics.claimed
            await first.close()
            await second.close()

    run(loop, main)
    wait_until(lambda: plain.metrics.ready == 0)
