"""Lifecycle of a session: opened, held by one call at a time, closed or detached.

States::

    NEW --open()--> OPEN --close()--> CLOSED        (a with block does both)
                     ^----- open() -----'
                     '----detach()--> DETACHED      (the session lives on without this handle)

A session is OPEN still when its sandbox has ended by itself; `open` makes a new one then. While a
run is under way `close` stops it first, so that CLOSED may come before the end of the run, which
takes the sandbox down.
"""

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from llm_sandbox.exceptions import (
    NotOpenSessionError,
    SessionBusyError,
    SessionClosedError,
    SessionExpiredError,
    UnsupportedError,
)
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.lock import SessionLock
from llm_sandbox.session.runtime import SessionRuntime

if TYPE_CHECKING:
    from llm_sandbox.session.detached import DetachOptions

__all__ = ["SessionLifecycle", "SessionState"]

_STOP_S = 3.0
"""Seconds that `close` waits for a run that it stops."""


class SessionState(Enum):
    """State of a session's handle; the module draws the transitions."""

    NEW = "new"
    OPEN = "open"
    CLOSED = "closed"
    DETACHED = "detached"


class SessionLifecycle:
    """State, lock and runtime of one session.

    Args:
        backend: Name of the backend.
        config: The session's settings.
        detach_options: Options of a detached session; None for a session of this process.
        log: Function that logs a message with its values.
    """

    def __init__(
        self,
        backend: str,
        config: SessionConfig,
        detach_options: "DetachOptions | None",
        log: Callable[..., None],
    ) -> None:
        self.state = SessionState.NEW
        self.lock = SessionLock(config.busy)
        self.stop: Stop | None = None
        """Stop request of the latest run or call."""
        self.committed: str | None = None
        """Name of the image that the container was saved as."""
        self._backend = backend
        self._session_timeout = config.session_timeout
        self._detach_options = detach_options
        self._log = log
        self.current: SessionRuntime | None = None
        """The runtime, if there is one, whatever the state."""
        self._taking_down = threading.Lock()
        self._detached_as = ""

    @property
    def is_open(self) -> bool:
        """Whether code can be run: the session is open, and its sandbox has not ended."""
        runtime = self.current
        return self.state is SessionState.OPEN and runtime is not None and runtime.kernel.is_alive

    @property
    def is_over(self) -> bool:
        """Whether it was closed or detached."""
        return self.state in (SessionState.CLOSED, SessionState.DETACHED)

    @property
    def is_attached(self) -> bool:
        """Whether another process has created the session, and this one has attached to it."""
        return self._detach_options is not None and self._detach_options.found is not None

    @property
    def detaches(self) -> bool:
        """Whether the end of a with block detaches from the session, and does not close it."""
        options = self._detach_options
        return options is not None and options.detaches and self.is_open

    @property
    def name(self) -> str | None:
        """Name of a detached session; None without one."""
        return None if self._detach_options is None else self._detach_options.name

    @property
    def sandbox(self) -> Sandbox | None:
        """The sandbox, if there is one, whatever the state."""
        return None if self.current is None else self.current.sandbox

    def with_sandbox(self, wrap: Callable[[Sandbox], Sandbox]) -> "SessionLifecycle":
        """Return the same lifecycle with a wrapped sandbox, for one call."""
        same = copy.copy(self)
        if self.current is not None:
            same.current = replace(self.current, sandbox=wrap(self.current.sandbox))
        return same

    def runtime(self) -> SessionRuntime:
        """Return the runtime of an open session.

        Raises:
            NotOpenSessionError: The session is not open.
            SessionClosedError: It was closed, or this handle has detached from it.
            SessionExpiredError: Its `session_timeout` is over.
        """
        runtime = self.current
        if self.state is SessionState.DETACHED:
            raise SessionClosedError(
                "this handle has detached from the session",
                hint=f"attach_session({self._detached_as!r})",
            )
        if self.state is SessionState.CLOSED:
            raise SessionClosedError()
        if runtime is None:
            raise NotOpenSessionError()
        if runtime.sandbox.end_reason == "deadline":
            raise SessionExpiredError(self._session_timeout, backend=self._backend)
        return runtime

    # --- transitions

    def needs_open(self) -> bool:
        """Return whether `open` has something to do.

        Raises:
            SessionClosedError: This handle has detached from the session, or has closed one that it
                had attached to.
        """
        if self.state is SessionState.DETACHED or (
            self.state is SessionState.CLOSED and self.is_attached
        ):
            raise SessionClosedError(
                op="open", hint=f"attach_session({self.name or 'its id'!r}) finds it while it lives"
            )
        return not self.is_open

    def open(
        self,
        start: "Callable[[DetachOptions | None], SessionRuntime]",
        install: Callable[[], None],
    ) -> None:
        """Create a runtime in place of an ended one.

        Args:
            start: Starts the runtime.
            install: Installs the session's own libraries in it.
        """
        if self.current is not None:
            self.close()
        self.state = SessionState.NEW
        runtime = self.current = start(self._detach_options)
        self.state = SessionState.OPEN
        try:
            install()
        except BaseException:
            self.current = None
            self.state = SessionState.NEW
            runtime.close()
            raise

    def take_over(self, ready: "SessionLifecycle") -> SessionRuntime:
        """Take the runtime of an open session of the same kind, which nobody else has used."""
        runtime, ready.current = ready.current, None
        assert runtime is not None
        self.current = runtime
        self.state = SessionState.OPEN
        return runtime

    def close(self) -> None:
        """End the runtime; code that runs is stopped first."""
        if self.state is not SessionState.DETACHED:
            self.state = SessionState.CLOSED
        stop = self.stop
        if stop is None or not stop.ask():
            self._take_down()
            return
        if self.lock.is_held_by_caller():
            return  # the run ends, and then takes down what it still reads
        try:
            with self.lock.hold(_STOP_S, busy="wait", first=True):
                self._take_down()
        except SessionBusyError:
            runtime = self.current
            if runtime is not None:
                runtime.sandbox.destroy()

    def _take_down(self) -> None:
        with self._taking_down:
            runtime, self.current = self.current, None
        if runtime is None:
            return
        try:
            self.committed = runtime.commit()
        finally:
            runtime.close()
            self._log("closed")

    def detach(self) -> None:
        """Disconnect from the runtime, which lives on.

        Raises:
            UnsupportedError: The session lives in this process.
        """
        if self._detach_options is None:
            raise UnsupportedError(
                "detach()",
                self._backend,
                "this session lives in the process that made it",
                hint="create it with a name or on_exit='keep'",
            )
        if self.is_over:
            return
        self.runtime()
        with self.lock.hold():
            self.state = SessionState.DETACHED
            runtime, self.current = self.current, None
            assert runtime is not None
            self._detached_as = self.name or runtime.sandbox.id
            try:
                runtime.detach()
            finally:
                self._log("detached from session %s", self._detached_as)

    @contextmanager
    def running(self, patience_s: float | None) -> Iterator[Stop]:
        """Hold the lock for a call that can be stopped; take down the session it has closed.

        Args:
            patience_s: Seconds to wait for the lock; None for no limit.
        """
        with self.lock.hold(patience_s):
            try:
                with Stop() as self.stop:
                    yield self.stop
            finally:
                if self.state is SessionState.CLOSED:
                    self._take_down()
