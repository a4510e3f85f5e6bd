"""Functions with an awaitable twin: ``f(...)`` blocks, ``await f.aio(...)`` does not."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from llm_sandbox.aio.threads import in_thread

__all__ = [
    "Bound",
    "Function",
    "Listing",
    "Method",
    "function_undone_by",
    "method_undone_by",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Owner = TypeVar("_Owner")


class Function(Generic[_P, _R]):
    """Function with an awaitable twin that makes the call in a worker thread.

    Args:
        function: The function.
        undo: Reverts the outcome of a call that was cancelled after it took effect.
    """

    def __init__(
        self, function: Callable[_P, _R], undo: Callable[[_R], object] | None = None
    ) -> None:
        self._function = function
        self._undo = undo
        update_wrapper(self, function)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Make the call."""
        return self._function(*args, **kwargs)

    async def aio(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Make the call without blocking the event loop."""
        return await in_thread(lambda _: self._function(*args, **kwargs), undo=self._undo)


class Bound(Generic[_P, _R]):
    """Bound method with its awaitable twin.

    Args:
        call: The method.
        aio: The twin.
    """

    def __init__(self, call: Callable[_P, _R], aio: Callable[_P, Awaitable[_R]]) -> None:
        self._call = call
        self._aio = aio
        update_wrapper(self, call)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Make the call."""
        return self._call(*args, **kwargs)

    async def aio(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Make the call without blocking the event loop."""
        return await self._aio(*args, **kwargs)


class Method(Generic[_Owner, _P, _R]):
    """Decorator for methods with an awaitable twin.

    The twin makes the call in a worker thread, unless `awaited` sets another coroutine function, as
    for calls that wait: a thread that waits without end would outlive its cancelled call.

    Args:
        function: The method.
        undo: Reverts the outcome of a call that was cancelled after it took effect.
    """

    def __init__(
        self,
        function: Callable[Concatenate[_Owner, _P], _R],
        undo: Callable[[_R], object] | None = None,
    ) -> None:
        self._function = function
        self._undo = undo
        self._aio: Callable[Concatenate[_Owner, _P], Awaitable[_R]] | None = None
        update_wrapper(self, function)

    def __call__(self, owner: _Owner, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call the method of one object."""
        return self._function(owner, *args, **kwargs)

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> Self: ...

    @overload
    def __get__(self, owner: _Owner, kind: type | None = None) -> Bound[_P, _R]: ...

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self
        call = self._function.__get__(owner)
        if self._aio is not None:
            return Bound(call, self._aio.__get__(owner))

        async def aio(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            return await in_thread(lambda _: call(*args, **kwargs), undo=self._undo)

        return Bound(call, aio)

    def awaited(
        self, function: Callable[Concatenate[_Owner, _P], Awaitable[_R]]
    ) -> Callable[Concatenate[_Owner, _P], Awaitable[_R]]:
        """Use `function` as the awaitable twin; a decorator."""
        self._aio = function
        return function


class Listing(Generic[_P, _R]):
    """Function whose result is iterated over, with ``for``, or with ``async for`` through ``aio``.

    Args:
        function: Function that returns the items.
    """

    def __init__(self, function: Callable[_P, Iterator[_R]]) -> None:
        self._function = function
        update_wrapper(self, function)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> Iterator[_R]:
        """Return the items."""
        return self._function(*args, **kwargs)

    async def aio(self, *args: _P.args, **kwargs: _P.kwargs) -> AsyncIterator[_R]:
        """Yield the items without blocking the event loop."""
        for item in await in_thread(lambda _: list(self._function(*args, **kwargs))):
            yield item


def function_undone_by(
    undo: Callable[[Any], object],
) -> Callable[[Callable[_P, _R]], Function[_P, _R]]:
    """Return a decorator for a `Function` whose cancelled calls are reverted by `undo`."""
    return lambda function: Function(function, undo)


def method_undone_by(
    undo: Callable[[Any], object],
) -> Callable[[Callable[Concatenate[_Owner, _P], _R]], Method[_Owner, _P, _R]]:
    """Return a decorator for a `Method` whose cancelled calls are reverted by `undo`."""
    return lambda function: Method(function, undo)
