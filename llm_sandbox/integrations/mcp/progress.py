"""Signs of life of a long run."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from llm_sandbox.results.outputs import Output, StreamOutput

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

__all__ = ["Progress", "telling"]

_EVERY_S = 1.0
_LONGEST = 200


class Progress:
    """Tells a client how long a run has taken, and the last line that it printed.

    Args:
        context: The call.
    """

    def __init__(self, context: "Context[object, object]") -> None:
        self._context = context
        self._started = time.monotonic()
        self._line = ""

    def hear(self, output: Output) -> None:
        """Take what a run puts out; called in a worker thread."""
        if isinstance(output, StreamOutput):
            self.hear_text(output.text)

    def hear_text(self, text: str) -> None:
        """Take what a command prints; called in a worker thread."""
        lines = text.strip().splitlines()
        if lines:
            # trust: shown as a line of text, cut.
            self._line = lines[-1][:_LONGEST]

    async def tell(self) -> None:
        """Report once; a client that did not ask for it hears nothing."""
        seconds = time.monotonic() - self._started
        await self._context.report_progress(round(seconds, 1), None, self._line or None)


@asynccontextmanager
async def telling(context: "Context[object, object]") -> AsyncIterator[Progress]:
    """Report every second while the body runs."""
    progress = Progress(context)

    async def tick() -> None:
        while True:
            await anyio.sleep(_EVERY_S)
            await progress.tell()

    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        try:
            yield progress
        except Exception as error:  # noqa: BLE001 - a task group would put it into a group
            failure = error
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
