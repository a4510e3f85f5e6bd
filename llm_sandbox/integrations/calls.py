"""Tool calls of frameworks: concurrent, from threads and tasks, or cancelled."""

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
    """Session as the target of a framework's concurrent tool calls.

    A model may request several runs at once, and frameworks make these calls concurrently. Each
    call waits for earlier ones, including those of the session's other tools, in first-come order.
    A call that is cancelled while it waits is never made; one that is cancelled while it runs stops
    the code in the sandbox first, and the session remains usable.

    Safe for use from several threads and event loops.

    Args:
        session: Session, which must be open at the first call.
        options: Options of the tool; None for the defaults.
        reads: Whether the model also gets the tool of `output_reader`, if the options name it.

    Raises:
        ValidationError: An argument has the wrong type.
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
        """Description of the tool for the model."""
        return describe_session(self.session, self.options)

    def check_open(self) -> None:
        """Check that code can be run, before a model is asked.

        Raises:
            NotOpenSessionError: The session is not open.
        """
        _ = self.session.sandbox

    def answer(
        self, code: str, libraries: list[str] | None = None, *, call_id: str | None = None
    ) -> ToolReply:
        """Run code in this thread, and return the answer for the model; see `tool.answer`.

        Args:
            code: Source text in the session's language.
            libraries: Libraries to install first.
            call_id: Id of the call in the model's API, for telemetry; None keeps the value of
                `telemetry.tool_call_id`.

        Raises:
            SandboxError: The sandbox itself failed.
            SessionBusyError: The caller is an event loop's thread, and another call is in progress.
        """

        def run() -> ExecutionResult:
            return self.session.run(code, libraries or None, self.options.timeout)

        with self._queue.acquire(), known_as(call_id):
            return answer(run, self.options, reader=self.reader)

    async def answer_async(
        self, code: str, libraries: list[str] | None = None, *, call_id: str | None = None
    ) -> ToolReply:
        """Run code without blocking the event loop, like `answer`; cancellation stops the code.

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
        """Return a page of output that answers omitted; see `output_reader.read_page`.

        Does not wait for a current run, which is not in an answer yet.

        Args:
            handle: Name of the output, as in an answer.
            offset: Number of characters before the page.
            limit: Maximum characters of the page.
        """
        name = self.reader or DEFAULT_READER
        return read_page(self.session.history, handle, offset, limit, name=name)


def plain_session(session: object) -> BaseSession:
    """Return the synchronous session of a session or its awaitable twin.

    Raises:
        ValidationError: The argument is not a session.
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
    """Check the arguments of an integration that creates a session unless it is given one.

    Args:
        session: Given session; None for an own one.
        config: Settings of the own session; None for the defaults.
        backend: Backend of the own session; None picks one.

    Raises:
        ValidationError: A session is given together with settings, or an argument has the wrong
            type.
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
    """Check that a session runs Python and keeps variables, as the framework requires.

    Raises:
        ValidationError: The session has another language, or keeps no variables.
    """
    if config.lang != "python" or not config.persistent:
        raise ValidationError(
            "the agent needs a Python session that keeps variables", parameter="session"
        )


def known_as(call_id: str | None) -> AbstractContextManager[None]:
    """Set the tool call id of the runs in a ``with`` block; None keeps the current one."""
    return nullcontext() if call_id is None else tool_call_id(call_id)


class _Queue:
    """Fair lock for threads and tasks: first come, first served."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Acquire from a thread; refused in an event loop, whose own tasks could hold the lock."""
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
        """Acquire from a task. The holder may be a thread or a task of another event loop."""
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
    """Return the queue of a session, shared by all tools of the session."""
    with _lines_lock:
        return _queues.setdefault(session, _Queue())


def _is_in_event_loop() -> bool:
    try:
        get_current_task()
    except RuntimeError:
        return False
    return True
