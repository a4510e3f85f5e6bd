"""Thread that moves bytes between this process and the programs it started.

Pipes are emptied as they fill, whoever reads the result and whenever, so that a program never waits
for its reader and the order in which streams are read does not matter.
"""

import collections
import contextlib
import os
import selectors
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from llm_sandbox.backends.base import Ending
from llm_sandbox.host.wake import Wake
from llm_sandbox.sandbox.spool import Spool

__all__ = ["GRACE_S", "Feed", "Pump", "get_pump"]

_TICK_S = 0.1
_PIECE = 1 << 18
_LAST_WORDS = 1 << 22

GRACE_S = 0.2
"""Seconds that a stream continues after its program, while other processes hold it open."""


class Feed:
    """Queue of bytes for a program's standard input. Safe between threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pieces: collections.deque[memoryview] = collections.deque()
        self._last = False
        self._closed = False
        self._lost = False

    def put(self, data: bytes) -> None:
        """Queue bytes."""
        with self._changed:
            if data and self._closed:
                self._lost = True
            elif data:
                self._pieces.append(memoryview(data))

    def finish(self) -> None:
        """End the stream after the queued bytes."""
        with self._changed:
            self._last = True

    @property
    def finished(self) -> bool:
        """Whether `finish` was called."""
        return self._last

    def wait_empty(self, timeout_s: float | None) -> bool | None:
        """Wait until the program has read all bytes.

        Returns:
            True if it has, False after the time limit, None if the program no longer reads.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._closed or not self._pieces, timeout_s):
                return False
            return None if self._pieces or self._lost else True

    def move(self, fd: int) -> bool:
        """Write what the pipe accepts; return False when the descriptor is to be closed. For the
        pump.
        """
        with self._changed:
            try:
                while self._pieces:
                    sent = os.write(fd, self._pieces[0][:_PIECE])
                    rest = self._pieces[0][sent:]
                    if rest:
                        self._pieces[0] = rest
                    else:
                        self._pieces.popleft()
            except BlockingIOError:
                return True
            except OSError:
                self._closed = True
            self._changed.notify_all()
            return not (self._closed or self._last)

    def abandon(self) -> None:
        """Mark the descriptor as closed, and drop the queued bytes. For the pump."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def is_waiting(self) -> bool:
        """Whether the pump has something to write or to close."""
        with self._changed:
            return bool(self._pieces) or self._last


@dataclass
class _Pipe:
    end: Spool | Feed
    ending: Ending
    ended_at: float | None = None
    """Time at which the program's end was noticed."""
    watched: bool = True
    grace_s: float = GRACE_S


class Pump:
    """Thread that moves bytes, started when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipes: dict[int, _Pipe] = {}
        self._todo: collections.deque[Callable[[], None]] = collections.deque()
        self._selector = selectors.DefaultSelector()
        self._wake = Wake()
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._thread: threading.Thread | None = None

    def drain(self, fd: int, spool: Spool, ending: Ending, grace_s: float = GRACE_S) -> None:
        """Read a pipe into `spool`, which ends with the pipe or soon after the program.

        A program may leave a child behind that holds the pipe open; `ending` says when to stop
        waiting for it, `grace_s` seconds later.
        """
        os.set_blocking(fd, False)
        pipe = _Pipe(spool, ending, grace_s=grace_s)
        self._post(lambda: self._add(fd, pipe, selectors.EVENT_READ))

    def feed(self, fd: int, feed: Feed, ending: Ending) -> None:
        """Write `feed` to a pipe; call `nudge` whenever `feed` has changed."""
        os.set_blocking(fd, False)
        self._post(lambda: self._add(fd, _Pipe(feed, ending), selectors.EVENT_WRITE))

    def nudge(self, feed: Feed) -> None:
        """Make the pump check a feed again."""
        self._post(lambda: self._rearm(feed))

    def _post(self, job: Callable[[], None]) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="llm-sandbox-pump", daemon=True
                )
                self._thread.start()
        self._todo.append(job)
        self._wake.set()

    # --- in the pump's thread --------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            # A program's end is noticed by looking, because its last pipe may be held open by a
            # child it left.
            for key, _ in self._selector.select(_TICK_S if self._pipes else None):
                if key.fileobj is self._wake:
                    self._wake.clear()
                else:
                    self._move(key.fd)
            while self._todo:
                self._todo.popleft()()
            self._look_for_ends()

    def _add(self, fd: int, pipe: _Pipe, events: int) -> None:
        self._pipes[fd] = pipe
        self._selector.register(fd, events)

    def _rearm(self, feed: Feed) -> None:
        for fd, pipe in self._pipes.items():
            if pipe.end is feed and not pipe.watched:
                pipe.watched = True
                self._selector.register(fd, selectors.EVENT_WRITE)

    def _move(self, fd: int) -> None:
        pipe = self._pipes[fd]
        if isinstance(pipe.end, Spool):
            data = _read(fd)
            if data:
                pipe.end.write(data)
            elif data is not None:
                self._drop(fd)
        elif not pipe.end.move(fd):
            self._drop(fd)
        elif not pipe.end.is_waiting:
            pipe.watched = False
            self._selector.unregister(fd)

    def _look_for_ends(self) -> None:
        now = time.monotonic()
        for fd, pipe in list(self._pipes.items()):
            if pipe.ended_at is None and pipe.ending.get() is not None:
                pipe.ended_at = now
            if pipe.ended_at is None:
                continue
            if isinstance(pipe.end, Feed):
                self._drop(fd)
            elif now - pipe.ended_at >= pipe.grace_s:
                self._take_last_words(fd, pipe.end)
                self._drop(fd)

    def _take_last_words(self, fd: int, spool: Spool) -> None:
        # Bounded: a child that was left behind may write for ever.
        left = _LAST_WORDS
        while left > 0 and (data := _read(fd)):
            spool.write(data)
            left -= len(data)

    def _drop(self, fd: int) -> None:
        pipe = self._pipes.pop(fd)
        if pipe.watched:
            self._selector.unregister(fd)
        os.close(fd)
        if isinstance(pipe.end, Spool):
            pipe.end.end(pipe.ended_at)
        else:
            pipe.end.abandon()

    def forget(self) -> None:
        """Close the parent's pipes in a forked child, where they would never end."""
        self._selector.close()
        self._wake.close()
        for fd in self._pipes:
            with contextlib.suppress(OSError):
                os.close(fd)


def _read(fd: int) -> bytes | None:
    """Return what the pipe holds; empty at its end, None if there is nothing now."""
    try:
        return os.read(fd, _PIECE)
    except BlockingIOError:
        return None
    except OSError:
        return b""


_pump: Pump | None = None
_making = threading.Lock()


def get_pump() -> Pump:
    """Return the pump of this process."""
    global _pump
    with _making:
        if _pump is None:
            _pump = Pump()
        return _pump


def _after_fork() -> None:
    global _pump, _making
    _making = threading.Lock()
    if _pump is not None:
        _pump.forget()
        _pump = None


os.register_at_fork(after_in_child=_after_fork)
