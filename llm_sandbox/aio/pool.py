"""Awaitable twin of a pool of warm sessions."""

from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from llm_sandbox.aio.session import AsyncSession
from llm_sandbox.aio.threads import in_thread, to_the_end

if TYPE_CHECKING:
    from llm_sandbox.pool.metrics import PoolMetrics
    from llm_sandbox.pool.sandbox_pool import ClaimOptions, SandboxPool

__all__ = ["AsyncSandboxPool"]


class AsyncSandboxPool:
    """Pool of warm sessions; see `SandboxPool`. A claim is awaited, and then entered.

    ::

        async with AsyncSandboxPool(SandboxPool(size=4)) as pool:
            async with await pool.claim() as session:
                await session.run("print('at once')")

    Args:
        pool: Synchronous twin. Threads and event loops may use one pool together.
    """

    def __init__(self, pool: "SandboxPool") -> None:
        self._pool = pool

    async def claim(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
        **options: "Unpack[ClaimOptions]",
    ) -> AsyncSession:
        """Return an open session that nobody has used; see `SandboxPool.claim`.

        A cancelled claim leaves the queue, and no session is lost by it.
        """
        session = AsyncSession(self._pool._offer(timeout, options))
        await session.open()
        return session

    async def wait_until_ready(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
    ) -> None:
        """Wait until the pool is ready; see `SandboxPool.wait_until_ready`."""
        await in_thread(lambda call: self._pool._wait_until_ready(timeout, call.check), waits=True)

    async def close(
        self,
        timeout: float | None = 30.0,  # noqa: ASYNC109 - as its twin
    ) -> None:
        """End the pool, even if the call is cancelled; see `SandboxPool.close`."""
        await to_the_end(lambda: self._pool.close(timeout))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def metrics(self) -> "PoolMetrics":
        """Metrics of this moment: sessions, claims, waits."""
        return self._pool.metrics

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._pool.backend

    @property
    def lang(self) -> str:
        """Language of the code."""
        return self._pool.lang

    def __repr__(self) -> str:
        return f"<Async{repr(self._pool).removeprefix('<')}"
