"""Both faces of the library behind one: what is done to a session is done to its twin as well."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from llm_sandbox import aio, create_session

TWINS = (
    aio.AsyncSession,
    aio.AsyncSandbox,
    aio.AsyncProcess,
    aio.AsyncFiles,
    aio.AsyncOutputStream,
    aio.AsyncInputStream,
)
TEST_S = 60

RunAsync = Callable[[Callable[[], Awaitable[Any]]], Any]


@pytest.fixture(params=["asyncio", "trio"])
def loop(request: pytest.FixtureRequest) -> str:
    if request.param == "trio":
        pytest.importorskip("trio", reason="trio is not installed")
    return str(request.param)


@pytest.fixture
def run_async(loop: str) -> RunAsync:
    """Runs an async function to its end, in a bounded time."""

    def run(main: Callable[[], Awaitable[Any]]) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(TEST_S):
                return await main()

        return anyio.run(bounded, backend=loop)

    return run


class Blocking:
    """An async object used like its synchronous twin: every call is awaited in an event loop."""

    def __init__(self, twin: object, portal: BlockingPortal) -> None:
        self._twin = twin
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._twin, name)
        if inspect.iscoroutinefunction(value):
            return lambda *args, **kwargs: self._wrap(
                self._portal.call(functools.partial(value, *args, **kwargs))
            )
        if inspect.isasyncgenfunction(value):
            return lambda *args, **kwargs: self._each(value(*args, **kwargs))
        return self._wrap(value)

    def _wrap(self, value: object) -> Any:
        return Blocking(value, self._portal) if isinstance(value, TWINS) else value

    def _each(self, pieces: Any) -> Iterator[object]:
        while True:
            try:
                yield self._portal.call(pieces.__anext__)
            except StopAsyncIteration:
                return

    def __iter__(self) -> Iterator[object]:
        return self._each(aiter(self._twin))  # type: ignore[call-overload]

    def __enter__(self) -> Any:
        return self._wrap(self._portal.call(self._twin.__aenter__))  # type: ignore[attr-defined]

    def __exit__(self, *exc: object) -> None:
        self._portal.call(self._twin.__aexit__, *exc)  # type: ignore[attr-defined]


Make = Callable[..., Any]


@contextmanager
def face(name: str) -> Iterator[Make]:
    """What makes sessions: synchronous ones, or asynchronous ones used like them."""
    if name == "sync":
        yield create_session
        return
    with start_blocking_portal(name) as portal:
        yield lambda *args, **kwargs: Blocking(aio.create_session(*args, **kwargs), portal)


@pytest.fixture
def faces(loop: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The synchronous face, and the other under this event loop."""
    return functools.partial(face, "sync"), functools.partial(face, loop)
