"""Watchdog: one thread that acts on processes of sandboxes that outlive their deadline."""

import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable

from llm_sandbox.backends.base import Ending

__all__ = ["start_watchdog"]

_GRACE_S = 2.0

_Entry = tuple[float, int, Ending, Callable[[], None]]


class _Watchdog:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._entries: list[_Entry] = []
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def add(self, when: float, ending: Ending, act: Callable[[], None]) -> None:
        with self._changed:
            heapq.heappush(self._entries, (when, next(self._numbers), ending, act))
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="llm-sandbox-watchdog", daemon=True
                )
                self._thread.start()
            elif self._entries[0][0] == when:
                self._changed.notify()

    def _work(self) -> None:
        while True:
            with self._changed:
                # A process that has ended must not keep the thread, nor what its action refers to.
                self._entries = [entry for entry in self._entries if entry[2].get() is None]
                heapq.heapify(self._entries)
                if not self._entries:
                    self._thread = None
                    return
                when, _, ending, act = self._entries[0]
                left = when - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                heapq.heappop(self._entries)
            threading.Thread(target=act, name="llm-sandbox-watchdog-action", daemon=True).start()
            del ending, act


_watchdog = _Watchdog()


def _renew() -> None:
    global _watchdog
    _watchdog = _Watchdog()


os.register_at_fork(after_in_child=_renew)


def start_watchdog(ending: Ending, within_s: float, act: Callable[[], None]) -> None:
    """Call a function, in a thread of its own, if a process does not end in time.

    Args:
        ending: End of the process.
        within_s: Seconds from now until its deadline; 2 more are granted.
        act: The function.
    """
    _watchdog.add(time.monotonic() + within_s + _GRACE_S, ending, act)
