"""Callbacks of async code: called in the worker thread, awaited in the event loop."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from anyio import get_cancelled_exc_class
from anyio.from_thread import BlockingPortal

from llm_sandbox.results.outputs import Output

__all__ = ["CallbackAdapter", "OutputListener", "StreamListener", "adapted_callbacks"]

_Heard = TypeVar("_Heard")

StreamListener = Callable[[str], Awaitable[None] | None]
"""`StreamCallback`, or a coroutine function like it."""
OutputListener = Callable[[Output], Awaitable[None] | None]
"""`OutputCallback`, or a coroutine function like it."""


class CallbackAdapter(Protocol):
    """Function that turns a listener into the callback of a synchronous method."""

    def __call__(
        self, listener: Callable[[_Heard], Awaitable[None] | None] | None
    ) -> Callable[[_Heard], None] | None:
        """Return the callback; None for None."""


@asynccontextmanager
async def adapted_callbacks(*listeners: object) -> AsyncIterator[CallbackAdapter]:
    """Return, for one call, the adapter that turns `listeners` into synchronous callbacks."""
    if all(listener is None for listener in listeners):
        yield _nobody
        return
    failure: BaseException | None = None
    async with BlockingPortal() as portal:
        try:
            yield _Listeners(portal).hear
        except get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - the portal would wrap it in a group
            failure = error
    if failure is not None:
        raise failure


def _nobody(listener: Callable[[_Heard], Awaitable[None] | None] | None) -> None:
    del listener


class _Listeners:
    def __init__(self, portal: BlockingPortal) -> None:
        self._portal = portal

    def hear(
        self, listener: Callable[[_Heard], Awaitable[None] | None] | None
    ) -> Callable[[_Heard], None] | None:
        if listener is None:
            return None

        def forward(value: _Heard) -> None:
            answer = listener(value)
            if answer is not None and inspect.isawaitable(answer):
                self._await(answer)

        return forward

    def _await(self, answer: Awaitable[None]) -> None:
        try:
            self._portal.call(_awaited, answer)
        finally:
            if inspect.iscoroutine(answer):
                answer.close()  # if the event loop no longer took it, it would be complained about


async def _awaited(answer: Awaitable[None]) -> None:
    await answer
