"""Lock of one session: one thread holds it at a time, the others wait in the order they came."""

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from llm_sandbox.exceptions import SessionBusyError

__all__ = ["Busy", "SessionLock"]

Busy = Literal["wait", "raise"]

_MAX_WAITING = 32
"""Threads that wait for one session at most."""


class _Ticket:
    """Position of one thread in the queue."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.called = threading.Event()


_held: ContextVar[tuple[_Ticket, ...]] = ContextVar("llm_sandbox_session_locks", default=())
"""Tickets that this thread, or its caller, holds: a callback's coroutine runs in another thread."""


class SessionLock:
    """Fair lock around the calls of one session. Safe between threads.

    Args:
        busy: Behaviour of a thread that finds it held: ``wait``, or ``raise``.
    """

    def __init__(self, busy: Busy) -> None:
        self._busy = busy
        self._reset()

    def _reset(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._holder: _Ticket | None = None
        self._waiting: deque[_Ticket] = deque()

    @contextmanager
    def hold(
        self, patience_s: float | None = None, *, busy: Busy | None = None, first: bool = False
    ) -> Iterator[None]:
        """Hold the lock for a with block.

        Args:
            patience_s: Seconds to wait for it; None for no limit.
            busy: What to do when another thread holds it; None for the session's setting.
            first: Wait before all others, however many there are.

        Raises:
            SessionBusyError: Another thread holds it, and this one does not wait, has waited long
                enough, or is what that thread waits for; or 32 threads wait already.
        """
        ticket = self._enqueue(busy or self._busy, first=first)
        try:
            if not ticket.called.wait(patience_s) and self._withdraw(ticket):
                raise SessionBusyError(
                    f"another thread's code still runs in this session after {patience_s:g} s",
                    hint="nothing was run: try again, or use a session for each thread",
                )
            if ticket is not self._holder:
                raise SessionBusyError("this call was cancelled while it waited; nothing was run")
            token = _held.set((*_held.get(), ticket))
            try:
                yield
            finally:
                _held.reset(token)
        finally:
            self._release(ticket)

    def is_held_by_caller(self) -> bool:
        """Return whether this thread, or the run whose callback led here, holds the lock."""
        return self._holder is not None and self._holder in _held.get()

    def cancel_wait(self, thread: int) -> bool:
        """Remove a thread from the queue; it gets `SessionBusyError`.

        Returns:
            Whether the thread waited.
        """
        with self._lock:
            for ticket in self._waiting:
                if ticket.thread == thread:
                    self._waiting.remove(ticket)
                    ticket.called.set()
                    return True
        return False

    def _enqueue(self, busy: Busy, *, first: bool) -> _Ticket:
        if self._owner != os.getpid():
            # A forked process has none of the threads that held the lock or waited for it.
            self._reset()
        ticket = _Ticket()
        with self._lock:
            if self._holder is None:
                self._holder = ticket
                ticket.called.set()
                return ticket
            if self.is_held_by_caller():
                raise SessionBusyError(
                    "code runs in this session, and that run waits for this call",
                    hint="a callback of run() cannot use its session; do so after the run",
                )
            if busy == "raise":
                raise SessionBusyError(
                    "another thread is running code in this session",
                    hint="use a session for each thread, or busy='wait'",
                )
            if first:
                self._waiting.appendleft(ticket)
            elif len(self._waiting) < _MAX_WAITING:
                self._waiting.append(ticket)
            else:
                raise SessionBusyError(
                    f"{_MAX_WAITING} threads wait for this session already",
                    hint="use a session for each thread",
                )
        return ticket

    def _withdraw(self, ticket: _Ticket) -> bool:
        """Leave the queue; False if the lock was granted in the meantime."""
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                return True
        return False

    def _release(self, ticket: _Ticket) -> None:
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            if ticket is self._holder:
                self._holder = self._waiting.popleft() if self._waiting else None
                if self._holder is not None:
                    self._holder.called.set()
