"""Awaitable twin of the evaluator."""

from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import Self

from anyio.lowlevel import checkpoint

from llm_sandbox.aio.threads import SLICE_S, in_thread, in_thread_quickly, to_the_end
from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.result_stream import ResultStream
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.sample import Sample

__all__ = ["AsyncEvaluator"]


class AsyncEvaluator:
    """Evaluator whose methods are awaited; see `Evaluator`.

        async with AsyncEvaluator(Evaluator(workers=2)) as evaluator:
            async for result in evaluator.map(samples):
                print(result.id, result.verdict)

    Args:
        evaluator: The evaluator, which is closed with this one.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    async def run(self, sample: Sample) -> SampleResult:
        """Evaluate one sample; see `Evaluator.run`."""
        return await in_thread(lambda _: self.evaluator.run(sample))

    async def map(
        self, samples: Iterable[Sample], *, ordered: bool = False
    ) -> AsyncIterator[SampleResult]:
        """Evaluate samples and yield results; see `Evaluator.map`."""
        stream = self.evaluator.start(samples, ordered=ordered)
        try:
            while (result := await _next(stream)) is not None:
                yield result
        finally:
            await to_the_end(stream.stop)

    async def close(self) -> None:
        """End all sandboxes; see `Evaluator.close`."""
        await to_the_end(self.evaluator.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()


async def _next(stream: ResultStream) -> SampleResult | None:
    while True:
        try:
            return await in_thread_quickly(stream.next, SLICE_S)
        except TimeoutError:
            await checkpoint()
