"""Event loop of the gate's process: epoll with callbacks, in one thread."""

import collections
import os
import select
import time
from collections.abc import Callable

__all__ = ["EVENTS_BOTH", "EVENTS_READ", "FAILED", "Loop"]

EVENTS_READ = select.EPOLLIN
EVENTS_BOTH = select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET
"""Edge-triggered: each change is reported once, and nothing is registered again."""
FAILED = select.EPOLLERR | select.EPOLLHUP

_SWEEP_S = 1.0


class Loop:
    """Callbacks for ready descriptors, for other threads, and for sweeps once a second."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._callbacks: dict[int, Callable[[int], None]] = {}
        self._stale: set[int] = set()
        self._again: dict[Callable[[], None], None] = {}
        self._posted: collections.deque[Callable[[], None]] = collections.deque()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.sweeps: list[Callable[[float], None]] = []
        self.watch(self._wake, EVENTS_READ, self._run_posted)

    def watch(self, fd: int, events: int, callback: Callable[[int], None]) -> None:
        """Call `callback` with the events of a descriptor."""
        self._callbacks[fd] = callback
        self._poll.register(fd, events)

    def forget(self, fd: int) -> None:
        """Stop watching a descriptor; required before it is closed."""
        if self._callbacks.pop(fd, None) is not None:
            self._poll.unregister(fd)
            self._stale.add(fd)

    def soon(self, callback: Callable[[], None]) -> None:
        """Call `callback` once, after the other ready callbacks."""
        self._again[callback] = None

    def post(self, callback: Callable[[], None]) -> None:
        """Call `callback` in the loop's thread; any thread may call this."""
        self._posted.append(callback)
        os.eventfd_write(self._wake, 1)

    def run(self) -> None:
        """Run for ever."""
        swept = time.monotonic()
        while True:
            ready = self._poll.poll(0 if self._again else _SWEEP_S)
            self._stale.clear()
            again, self._again = self._again, {}
            for callback in again:
                callback()
            for fd, events in ready:
                # An earlier callback may have closed the descriptor, and its number be reused.
                handler = self._callbacks.get(fd)
                if handler is not None and fd not in self._stale:
                    handler(events)
            now = time.monotonic()
            if now - swept >= _SWEEP_S:
                swept = now
                for sweep in self.sweeps:
                    sweep(now)

    def _run_posted(self, _: int) -> None:
        os.eventfd_read(self._wake)
        while self._posted:
            self._posted.popleft()()
