"""Observers as they are given to sessions."""

import inspect
from collections.abc import Sequence
from typing import cast

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.telemetry.record import RunObserver

__all__ = ["check_observer", "checked_observers"]


def check_observer(observer: object) -> RunObserver:
    """Return an observer that can be called with a record.

    Raises:
        ValidationError: It cannot be called, or is a coroutine function, which nobody would await.
    """
    if isinstance(observer, type) or not callable(observer):
        kind = observer.__name__ if isinstance(observer, type) else type(observer).__name__
        raise ValidationError(
            f"an observer is called with each RunRecord, which {kind!r} cannot be",
            parameter="observers",
            hint=f"give an instance: observers=[{kind}(...)]"
            if isinstance(observer, type)
            else "give a function of one argument",
        )
    if inspect.iscoroutinefunction(observer) or inspect.iscoroutinefunction(
        getattr(observer, "__call__", None)  # noqa: B004 - an instance's method is what is looked at
    ):
        raise ValidationError(
            "an observer is called in the thread of the run, and a coroutine would not be awaited",
            parameter="observers",
            hint="give a function that hands the record to the event loop: "
            "lambda record: loop.call_soon_threadsafe(queue.put_nowait, record)",
        )
    return cast(RunObserver, observer)


def checked_observers(observers: object) -> tuple[RunObserver, ...]:
    """Return a session's observers.

    Raises:
        ValidationError: They are no sequence, or one of them is no observer.
    """
    if callable(observers) or isinstance(observers, str) or not isinstance(observers, Sequence):
        kind = type(observers).__name__
        raise ValidationError(
            f"observers must be a list, not {kind}",
            parameter="observers",
            hint="observers=[...]",
        )
    return tuple(check_observer(observer) for observer in observers)
