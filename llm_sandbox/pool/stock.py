"""Stock of a pool: ready sessions, the queue of claims, and the threads that keep it filled.

A session goes one way, and never back::

    being created --> IDLE --claim--> BUSY --release--> REMOVING --> gone
                        '--ended, too old, or unneeded--> UNHEALTHY --^

Claims are served in their order, the oldest ready session first. Every creation runs in a thread of
its own, so that a claim can give up while one is under way; what it creates is then for the next
claim. One more thread, the keeper, ends ready sessions and notices when time has passed.
"""

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.exceptions import (
    ContainerError,
    PoolClosedError,
    PoolCreationError,
    PoolExhaustedError,
    SandboxError,
    SandboxTimeoutError,
)
from llm_sandbox.pool.bounds import PoolBounds
from llm_sandbox.pool.member import ContainerState, Member, PooledContainer
from llm_sandbox.pool.metrics import PoolCounters, PoolMetrics

__all__ = ["Stock", "Ticket"]

logger = logging.getLogger("llm_sandbox")

_CREATORS = 4
"""Sessions that are created at once."""
_FIRST_RETRY_S = 0.5
_LAST_RETRY_S = 15.0
_ENDING_S = 60.0
"""Seconds that `close` waits for what is being created or ended."""
_EXIT_S = 10.0
"""The same at the exit of the interpreter; what is left then ends with the process."""
_SLICE_S = 0.25
_IDLE, _BUSY = ContainerState.IDLE, ContainerState.BUSY


class Ticket:
    """Place of one claim in the queue, and its outcome."""

    def __init__(self) -> None:
        self.decided = threading.Event()
        self.member: Member | None = None
        self.error: SandboxError | None = None

    def decide(self, outcome: "Member | SandboxError") -> None:
        """Set the outcome, and wake up the claim."""
        if isinstance(outcome, Member):
            self.member = outcome
        else:
            self.error = outcome
        self.decided.set()


class Stock:
    """Ready and claimed sessions within bounds. Thread-safe.

    Args:
        bounds: The bounds.
        create: Returns a new session, open and prepared.
    """

    def __init__(self, bounds: PoolBounds, create: Callable[[], ArtifactSandboxSession]) -> None:
        self.bounds = bounds
        self._create_session = create
        self._closed = False
        self._begin()
        _stocks.add(self)
        atexit.register(self._close_at_exit)
        with self._lock:
            self._settle()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._members: list[Member] = []
        self._tenants: dict[PooledContainer, ArtifactSandboxSession] = {}
        self._queue: deque[Ticket] = deque()
        self._keeper: threading.Thread | None = None
        self._creating = 0
        self._counters = PoolCounters()
        self._last_claim = time.monotonic()
        self._failures = 0
        self._error: BaseException | None = None
        self._retry_at = 0.0

    def forget(self) -> None:
        """Become empty, in a forked child: sessions and threads are the parent's."""
        self._begin()

    # --- claims

    def claim(self, ticket: Ticket, timeout_s: float | None) -> Member:
        """Wait for a session that nobody has used; `release` ends it.

        Args:
            ticket: A new ticket, by which `withdraw` finds the claim.
            timeout_s: Seconds to wait; None for no limit.

        Raises:
            PoolExhaustedError: None was ready in time, or too many claims wait already.
            PoolCreationError: Creating one failed.
            PoolClosedError: The pool is closed.
        """
        began = time.monotonic()
        try:
            with self._lock:
                if self._closed:
                    raise PoolClosedError()
                self._check_room()
                self._last_claim = began
                self._queue.append(ticket)
                self._settle()
                hit = ticket.member is not None
            ticket.decided.wait(timeout_s)
        except BaseException:
            self.withdraw(ticket)
            raise
        with self._lock:
            if not ticket.decided.is_set():
                self._queue.remove(ticket)
                ticket.decide(self._too_late(timeout_s))
            if ticket.member is not None:
                self._counters.add_claim(time.monotonic() - began, hit=hit)
                return ticket.member
            self._counters.refused += 1
        raise ticket.error or PoolClosedError()

    def withdraw(self, ticket: Ticket) -> None:
        """Give up a claim, from any thread: it raises, and its session is not handed to another."""
        with self._lock:
            if ticket in self._queue:
                self._queue.remove(ticket)
                ticket.decide(ContainerError("the claim was withdrawn"))
                return
            member = ticket.member
            if member is not None and member.state is _BUSY and member not in self._tenants:
                self._discard(member)

    def occupy(self, member: PooledContainer, tenant: ArtifactSandboxSession) -> None:
        """Note the session that has claimed a member, which `close` ends in the end.

        Raises:
            PoolClosedError: The pool was closed in between, and the member ended.
        """
        with self._lock:
            if member.state is not _BUSY:
                raise PoolClosedError()
            self._tenants[member] = tenant

    def release(self, member: PooledContainer) -> None:
        """End a claimed session; no effect if that was done."""
        with self._lock:
            if member not in self._members or member.state is not _BUSY:
                return
            member.state = ContainerState.REMOVING
        self._end(member)

    def _check_room(self) -> None:
        bounds = self.bounds
        if bounds.max_waiting is None or bounds.overflow:
            return
        busy = self._count(_BUSY)
        free = max(bounds.max_sessions - busy, 0)
        if len(self._queue) >= free + bounds.max_waiting:
            self._counters.refused += 1
            raise PoolExhaustedError(
                bounds.max_sessions,
                busy=busy,
                waiting=len(self._queue),
                hint=bounds.hint,
            )

    def _too_late(self, timeout_s: float | None) -> SandboxError:
        if self._error is not None:
            return self._creation_error()
        return PoolExhaustedError(
            self.bounds.max_sessions,
            timeout_s,
            busy=self._count(_BUSY),
            hint=self.bounds.hint,
        )

    def _creation_error(self) -> PoolCreationError:
        error = PoolCreationError(self._error, self._failures)
        error.__cause__ = self._error
        return error

    # --- keeping it filled; all with the lock held

    def _settle(self) -> None:
        """Serve claims, discard what is over, and start what is missing."""
        now = time.monotonic()
        if self._closed:
            return
        ready = []
        for member in self._members:
            if member.state is _IDLE:
                left = member.left_s(self.bounds.max_age, now)
                if member.is_healthy and (left is None or left > 0):
                    ready.append(member)
                else:
                    self._discard(member)
        while self._queue and ready:
            member = ready.pop(0)
            member.lend()
            self._queue.popleft().decide(member)
        idle = self.bounds.idle
        surplus = len(ready) - self._wanted(now)
        if idle is not None and surplus > 0:
            for member in [one for one in ready if one.ready_s(now) >= idle][:surplus]:
                self._discard(member)
                ready.remove(member)
        self._start_creations(len(ready), now)
        if self._keeper is None:
            keeper = threading.Thread(target=self._keep, name="llm-sandbox-pool", daemon=True)
            self._keeper = keeper if self._start(keeper) else None

    def _wanted(self, now: float) -> int:
        """Return the number of sessions to keep ready."""
        bounds = self.bounds
        rests = bounds.idle is not None and now - self._last_claim >= bounds.idle
        return bounds.min_size if rests else bounds.size

    def _discard(self, member: Member) -> None:
        """Let the keeper end a session that nobody has used."""
        member.state = ContainerState.UNHEALTHY
        self._counters.discarded += 1
        self._changed.notify_all()

    def _start_creations(self, ready: int, now: float) -> None:
        if now < self._retry_at:
            return
        lack = self._wanted(now) + len(self._queue) - ready - self._creating
        room = self.bounds.max_sessions - len(self._members) - self._creating
        if self.bounds.overflow:
            room = max(room, len(self._queue) - self._creating)
        for _ in range(min(lack, room, _CREATORS - self._creating)):
            creator = threading.Thread(
                target=self._create, name="llm-sandbox-pool-creation", daemon=True
            )
            self._creating += 1
            if not self._start(creator):
                self._creating -= 1
                break

    def _start(self, thread: threading.Thread) -> bool:
        try:
            thread.start()
        except RuntimeError as error:  # no memory for one, or the interpreter is ending
            self._fail(error)
            return False
        return True

    def _fail(self, error: BaseException) -> None:
        """Note a failed creation, and report it to the first claim that waits."""
        now = time.monotonic()
        if now >= self._retry_at:  # creations that fail together are one failure
            self._failures += 1
            delay = _FIRST_RETRY_S * 2 ** min(self._failures - 1, 10)
            self._retry_at = now + min(delay, _LAST_RETRY_S)
        self._counters.failed += 1
        self._error = error
        if self._queue:
            self._queue.popleft().decide(self._creation_error())
        self._changed.notify_all()

    def _count(self, state: ContainerState) -> int:
        return sum(member.state is state for member in self._members)

    # --- threads

    def _create(self) -> None:
        try:
            session = self._create_session()
            member = Member(session)
        except BaseException as error:  # noqa: BLE001 - whatever it is, claims have to know it
            with self._lock:
                self._creating -= 1
                self._fail(error)
                closed = self._closed
            # Without the lock, which a handler that logs the metrics takes.
            if not closed:
                logger.warning("a pool could not create a session: %s", error)
            return
        with self._lock:
            self._creating -= 1
            self._counters.created += 1
            self._failures, self._error, self._retry_at = 0, None, 0.0
            self._members.append(member)
            if self._closed:
                self._discard(member)
            self._settle()
            self._changed.notify_all()

    def _keep(self) -> None:
        while True:
            with self._lock:
                self._settle()
                over = [one for one in self._members if one.state is ContainerState.UNHEALTHY]
                for member in over:
                    member.state = ContainerState.REMOVING
                if not over:
                    if self._closed and not self._creating:
                        self._keeper = None
                        return
                    self._changed.wait(self._until_next_look_s())
            for member in over:
                try:
                    self._end(member)
                except Exception as error:  # noqa: BLE001 - the others have to be ended, too
                    logger.warning("a ready session of a pool did not end well: %s", error)

    def _until_next_look_s(self) -> float:
        bounds, now = self.bounds, time.monotonic()
        waits = [bounds.check_interval]
        for member in self._members:
            left = member.left_s(bounds.max_age, now)
            if member.state is _IDLE and left is not None:
                waits.append(left)
        if bounds.idle is not None:
            waits.append(self._last_claim + bounds.idle - now)
            waits += [
                bounds.idle - member.ready_s(now)
                for member in self._members
                if member.state is _IDLE
            ]
        waits.append(self._retry_at - now)
        return min(wait for wait in waits if wait > 0)

    def _end(self, member: PooledContainer) -> None:
        try:
            member.session.close()
        finally:
            with self._lock:
                self._members = [one for one in self._members if one is not member]
                self._tenants.pop(member, None)
                self._settle()
                self._changed.notify_all()

    # --- for its owner

    def wait_until_ready(
        self, timeout_s: float | None, check: Callable[[], object] | None = None
    ) -> None:
        """Wait until as many sessions are ready as are wanted and have room.

        Args:
            timeout_s: Seconds to wait; None for no limit.
            check: Called now and then; it raises to end the wait.

        Raises:
            PoolCreationError: Creating one failed.
            PoolClosedError: The pool is closed.
            SandboxTimeoutError: The time was up.
        """
        limit = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            with self._lock:
                if self._closed:
                    raise PoolClosedError()
                self._settle()
                if self._error is not None:
                    raise self._creation_error() from self._error
                room = self.bounds.max_sessions - self._count(_BUSY)
                if self._count(_IDLE) >= min(self._wanted(time.monotonic()), room):
                    return
                left = _SLICE_S if limit is None else min(_SLICE_S, limit - time.monotonic())
                if left <= 0:
                    raise SandboxTimeoutError(
                        f"the pool was not ready within {timeout_s:g} s", timeout_s
                    )
                self._changed.wait(left)
            if check is not None:
                check()

    def metrics(self) -> PoolMetrics:
        """Return the metrics."""
        with self._lock:
            return PoolMetrics(
                size=self.bounds.size,
                max_sessions=self.bounds.max_sessions,
                ready=self._count(_IDLE),
                creating=self._creating,
                claimed=self._count(_BUSY),
                waiting=len(self._queue),
                last_error=None if self._error is None else self._creation_error().message,
                closed=self._closed,
                **vars(self._counters),
            )

    def states(self) -> dict[ContainerState, int]:
        """Return the number of sessions in each state."""
        with self._lock:
            counts = {state: self._count(state) for state in ContainerState}
            counts[ContainerState.INITIALIZING] += self._creating
            return counts

    def close(self, timeout_s: float | None) -> None:
        """End the ready sessions, and those that are claimed when they are closed, or in the end.

        Args:
            timeout_s: Seconds until claimed sessions are ended; None to wait for them.
        """
        self._close(timeout_s, _ENDING_S)

    def _close_at_exit(self) -> None:
        self._close(0.0, _EXIT_S)

    def _close(self, timeout_s: float | None, ending_s: float) -> None:
        atexit.unregister(self._close_at_exit)
        with self._lock:
            self._closed = True
            while self._queue:
                self._queue.popleft().decide(PoolClosedError())
            for member in self._members:
                if member.state is _IDLE:
                    self._discard(member)
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._count(_BUSY), timeout_s)
            busy = [
                (member, self._tenants.get(member))
                for member in self._members
                if member.state is _BUSY
            ]
        for member, tenant in busy:
            if tenant is not None:
                tenant.close()
            self.release(member)
        with self._lock:
            self._changed.wait_for(lambda: not self._members and not self._creating, ending_s)


_stocks: "weakref.WeakSet[Stock]" = weakref.WeakSet()


def _forget_all() -> None:
    for stock in list(_stocks):
        stock.forget()


os.register_at_fork(after_in_child=_forget_all)
