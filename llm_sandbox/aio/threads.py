"""Blocking calls in worker threads, with cancellation."""

import math
import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

from anyio import CancelScope, CapacityLimiter, current_time, sleep, to_thread
from anyio.lowlevel import RunVar

__all__ = ["SLICE_S", "Call", "in_thread", "in_thread_quickly", "to_the_end"]

_P = ParamSpec("_P")
_Value = TypeVar("_Value")

SLICE_S = 0.25
"""Seconds between checks for cancellation in waits without another end."""

_STOP_S = 3.0
_LONGEST_PAUSE_S = 0.05

# What ends something never queues behind what waits for it to end.
_long_calls: RunVar[CapacityLimiter] = RunVar("llm_sandbox_long_calls")
_quick_calls: RunVar[CapacityLimiter] = RunVar("llm_sandbox_quick_calls")
_waits: RunVar[CapacityLimiter] = RunVar("llm_sandbox_waits")
_LONG = 64
_QUICK = 16


class _GivenUpError(Exception):
    """Internal exception that ends the thread of a cancelled call."""


class Call(Generic[_Value]):
    """State of one call: whether it is in progress, and whether its caller still waits.
    Thread-safe.

    Args:
        undo: Called in the thread with the unclaimed value of a cancelled call, such as a started
            process.
    """

    def __init__(self, undo: Callable[[_Value], object] | None) -> None:
        self.thread: int | None = None
        """The worker thread; None before it has begun."""
        self._undo = undo
        self._lock = threading.Lock()
        self._given_up = False
        self._has_ended = False
        self._untaken: list[_Value] = []

    def make(self, work: "Callable[[Call[_Value]], _Value]") -> _Value:
        """Make the call, in the worker thread."""
        with self._lock:
            self._check()
            self.thread = threading.get_ident()
        try:
            value = work(self)
            with self._lock:
                self._untaken.append(value)
            if self._given_up:
                self.undo()
            return value
        finally:
            self._has_ended = True

    def check(self) -> None:
        """Check for cancellation; called regularly by waits without another end.

        Raises:
            _GivenUpError: The call was cancelled.
        """
        with self._lock:
            self._check()

    def _check(self) -> None:
        if self._given_up:
            raise _GivenUpError

    @property
    def is_under_way(self) -> bool:
        """Whether the call has begun and not ended."""
        return self.thread is not None and not self._has_ended

    def give_up(self) -> bool:
        """Cancel the call; one that has not begun is never made.

        Returns:
            Whether the call is in progress or must be undone.
        """
        with self._lock:
            self._given_up = True
            return self.is_under_way or bool(self._untaken)

    def undo(self) -> None:
        """Undo an unclaimed outcome, once."""
        with self._lock:
            values, self._untaken = self._untaken, []
        if self._undo is not None:
            for value in values:
                self._undo(value)


async def in_thread(
    work: Callable[[Call[_Value]], _Value],
    *,
    stop: Callable[[Call[_Value]], object] | None = None,
    undo: Callable[[_Value], object] | None = None,
    waits: bool = False,
) -> _Value:
    """Make a blocking call that may take arbitrarily long.

    Args:
        work: Function to call with its `Call` object.
        stop: Function that stops the work from another thread; called again until the call has
            ended. A cancelled call with a `stop` or an `undo` is awaited for at most three seconds.
        undo: Reverts the outcome of a call that completed after its cancellation.
        waits: Whether the call may wait for the end of other long calls, as a claim waits for
            sessions that run code: it then takes no place among them.

    Returns:
        Return value of `work`.

    Raises:
        Exception: Exception of `work`.
    """
    call = Call(undo)
    try:
        return await to_thread.run_sync(
            call.make,
            work,
            abandon_on_cancel=True,
            limiter=_limiter(_waits, math.inf) if waits else _limiter(_long_calls, _LONG),
        )
    except BaseException:
        if call.give_up() and (stop is not None or undo is not None):
            await _wind_up(call, stop)
        raise


async def _wind_up(call: Call[_Value], stop: Callable[[Call[_Value]], object] | None) -> None:
    with CancelScope(shield=True, deadline=current_time() + _STOP_S):
        pause = 0.001
        while call.is_under_way:
            if stop is not None:
                await in_thread_quickly(stop, call)
            await sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        await in_thread_quickly(call.undo)


async def in_thread_quickly(
    func: Callable[_P, _Value], *args: _P.args, **kwargs: _P.kwargs
) -> _Value:
    """Make a short blocking call, which continues to its end if cancelled."""
    return await to_thread.run_sync(
        lambda: func(*args, **kwargs),
        abandon_on_cancel=True,
        limiter=_limiter(_quick_calls, _QUICK),
    )


async def to_the_end(func: Callable[[], _Value]) -> _Value:
    """Make a cleanup call, and wait for its end even if the caller is cancelled."""
    value: _Value
    with CancelScope(shield=True):
        value = await to_thread.run_sync(func, limiter=_limiter(_quick_calls, _QUICK))
    return value


def _limiter(name: RunVar[CapacityLimiter], size: float) -> CapacityLimiter:
    """Return the capacity limiter of this event loop, which cannot be shared with others."""
    try:
        return name.get()
    except LookupError:
        limiter = CapacityLimiter(size)
        name.set(limiter)
        return limiter
