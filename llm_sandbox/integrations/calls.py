"""Calls of a tool as frameworks make them: several at once, from threads and tasks, or given up."""

import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext

from anyio import get_current_task, sleep

from llm_sandbox.aio import AsyncSession
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SessionBusyError, ValidationError
from llm_sandbox.integrations.output_reader import PAGE, read_page
from llm_sandbox.integrations.tool import (
    DEFAULT_READER,
    ToolOptions,
    ToolReply,
    answer,
    answer_async,
    check_options,
    describe_session,
)
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession
from llm_sandbox.telemetry.call import tool_call_id

__all__ = ["CodeCalls", "check_interpreter", "check_own_session", "known_as", "plain_session"]

_LONGEST_PAUSE_S = 0.05


class CodeCalls:
    """A session that a framework calls, in whatever way it does.

    A model may ask for several runs in one breath, and frameworks make these calls at the same
    time: here each waits for those before it, in the order in which they came, those of the
    session's other tools among them. A call that is cancelled while it waits is never made; one
    that is cancelled while it runs stops the code in the sandbox before it ends, and the session
    can be used again.

    Safe between threads and event loops.

    Args:
        session: An open session, or one that is open when the first call comes.
        options: How the tool behaves; None for the defaults.
        reads: Whether the model also gets the tool of `output_reader`, if the options name it.

    Raises:
        ValidationError: An argument is something else.
    """

    def __init__(
        self,
        session: BaseSession | AsyncSession,
        options: ToolOptions | None = None,
        *,
        reads: bool = False,
    ) -> None:
        self.session = plain_session(session)
        self.options = check_options(options)
        self.reader = self.options.reader if reads else None
        """What the model calls the tool that reads what answers leave out; None without one."""
        self._queue = _queue_of(self.session)

    @property
    def description(self) -> str:
        """What the model is told of the tool."""
        return describe_session(self.session, self.options)

    def check_open(self) -> None:
        """Find out before a model is asked that nothing could be run.

        Raises:
            NotOpenSessionError: The session is not open, or closed.
        """
        _ = self.session.sandbox

    def answer(
        self, code: str, libraries: list[str] | None = None, *, call_id: str | None = None
    ) -> ToolReply:
        """Run code in this thread, and answer whatever came of it; see `tool.answer`.

        Args:
            code: Source text in the session's language.
            libraries: Libraries to install first.
            call_id: The id by which the model's API knows the call, for telemetry; None leaves
                what `telemetry.tool_call_id` has set.

        Raises:
            SandboxError: The sandbox itself failed.
            SessionBusyError: This is the thread of an event loop, and another call is under way.
        """

        def run() -> ExecutionResult:
            return self.session.run(code, libraries or None, self.options.timeout)

        with self._queue.acquire(), known_as(call_id):
            return answer(run, self.options, reader=self.reader)

    async def answer_async(
        self, code: str, libraries: list[str] | None = None, *, call_id: str | None = None
    ) -> ToolReply:
        """As `answer`, for a task: the event loop goes on, and cancelling it stops the code.

        Args:
            code: Source text in the session's language.
            libraries: Libraries to install first.
            call_id: As in `answer`.

        Raises:
            SandboxError: The sandbox itself failed.
        """
        twin = AsyncSession(self.session)

        async def run() -> ExecutionResult:
            return await twin.run(code, libraries or None, self.options.timeout)

        async with self._queue.acquire_async():
            with known_as(call_id):
                return await answer_async(run, self.options, reader=self.reader)

    def read(self, handle: str, offset: int = 0, limit: int = PAGE) -> str:
        """Return a page of what answers left out; see `output_reader.read_page`.

        Waits for no run: what runs is in no answer yet.

        Args:
            handle: As an answer names it.
            offset: Characters before the page.
            limit: Characters of the page.
        """
        name = self.reader or DEFAULT_READER
        return read_page(self.session.history, handle, offset, limit, name=name)


def plain_session(session: object) -> BaseSession:
    """Return the session itself of what may be its awaitable twin.

    Raises:
        ValidationError: It is no session.
    """
    if isinstance(session, AsyncSession):
        return session._session
    if isinstance(session, BaseSession):
        return session
    kind = session.__name__ if isinstance(session, type) else type(session).__name__
    raise ValidationError(
        f"a tool needs a session, not {kind}",
        parameter="session",
        hint="with create_session() as session: ...",
    )


def check_own_session(session: object, config: object, backend: object) -> None:
    """Check what something is made of that has a session of its own unless it is given one.

    Args:
        session: The session that it is given; None for one of its own.
        config: Settings of its own one; None for the defaults.
        backend: Where its own one is made; None picks one.

    Raises:
        ValidationError: A session is given with settings for another one, or something else is.
    """
    if session is not None:
        plain_session(session)
        if config is not None or backend is not None:
            raise ValidationError(
                "a session that is given has its settings and its backend", parameter="session"
            )
    if config is not None and not isinstance(config, SessionConfig):
        kind = type(config).__name__
        raise ValidationError(
            f"config is a SessionConfig, not {kind}",
            parameter="config",
            hint="config=SessionConfig(...)",
        )


def check_interpreter(config: SessionConfig) -> None:
    """Check the session of a framework that writes Python and counts on its variables.

    Raises:
        ValidationError: It is of another language, or keeps no variables.
    """
    if config.lang != "python" or not config.persistent:
        raise ValidationError(
            "the agent needs a Python session that keeps variables", parameter="session"
        )


def known_as(call_id: str | None) -> AbstractContextManager[None]:
    """Name the tool call that the runs in a with block belong to; None leaves what it is."""
    return nullcontext() if call_id is None else tool_call_id(call_id)


class _Queue:
    """Threads and tasks that wait for the same thing; who came first is served first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Wait, in a thread; refused in an event loop, whose tasks could be what is waited for."""
        called = self._join()
        try:
            if not called.is_set() and _is_in_event_loop():
                raise SessionBusyError(
                    "another call of the tool is under way, and waiting for it here would stop the "
                    "event loop",
                    hint="await the tool's async call",
                )
            called.wait()
            yield
        finally:
            self._leave(called)

    @asynccontextmanager
    async def acquire_async(self) -> AsyncIterator[None]:
        """Wait, in a task. What ends the wait may be in a thread or in another event loop."""
        called = self._join()
        try:
            pause = 0.001
            while not called.is_set():
                await sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
            yield
        finally:
            self._leave(called)

    def _join(self) -> threading.Event:
        called = threading.Event()
        with self._lock:
            self._waiting.append(called)
            self._waiting[0].set()
        return called

    def _leave(self, called: threading.Event) -> None:
        with self._lock:
            self._waiting.remove(called)
            if self._waiting:
                self._waiting[0].set()


_queues: weakref.WeakKeyDictionary[BaseSession, _Queue] = weakref.WeakKeyDictionary()
_lines_lock = threading.Lock()


def _queue_of(session: BaseSession) -> _Queue:
    """A session runs one thing at a time, however many tools it is."""
    with _lines_lock:
        return _queues.setdefault(session, _Queue())


def _is_in_event_loop() -> bool:
    try:
        get_current_task()
    except RuntimeError:
        return False
    return True
