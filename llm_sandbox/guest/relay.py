"""Relay between pairs of sockets, in both directions, in one thread.

Data of one end is written to the other before more is read, so that memory stays small. The end of
one direction is passed on, and the other direction may continue.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
from collections.abc import Callable

from . import descriptors

_CHUNK = 1 << 18
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class _End:
    """One socket of a pair, with the data that waits to be written to it."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.waiting = memoryview(b"")
        self.reads = True
        self.peer: _End = self
        self.pair: _Pair | None = None

    def interest(self) -> int:
        events = _READ if self.reads and not self.peer.waiting else 0
        return events | (_WRITE if self.waiting else 0)

    def flush(self) -> None:
        while self.waiting:
            try:
                sent = self.socket.send(self.waiting)
            except BlockingIOError:
                return
            self.waiting = self.waiting[sent:]
        if not self.peer.reads:
            self.socket.shutdown(socket.SHUT_WR)

    def pump(self) -> None:
        """Read once, and write the data to the other end."""
        try:
            data = self.socket.recv(_CHUNK)
        except BlockingIOError:
            return
        self.reads = bool(data)
        self.peer.waiting = memoryview(data)
        self.peer.flush()


class _Pair:
    def __init__(
        self, near: socket.socket, far: socket.socket, on_end: Callable[[], None] | None
    ) -> None:
        self.ends = _End(near), _End(far)
        self.on_end = on_end
        for end, peer in (self.ends, self.ends[::-1]):
            end.peer, end.pair = peer, self
            end.socket.setblocking(False)

    def over(self) -> bool:
        return not any(end.reads or end.waiting for end in self.ends)


class Relay:
    """Relay of socket pairs, each until both ends have ended or one fails."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._pairs: set[_Pair] = set()
        self._new: list[_Pair] = []
        self._lock = threading.Lock()
        self._closing = False
        self._wake_read, self._wake_write = descriptors.open_pipe()
        os.set_blocking(self._wake_read, False)
        self._selector.register(self._wake_read, _READ)

    def add(
        self,
        near: socket.socket,
        far: socket.socket,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        """Relay between two sockets, and own them from now on. Any thread may call this.

        Args:
            near: One of the sockets.
            far: The other.
            on_end: Called, in the thread of `run`, when they are closed.
        """
        pair = _Pair(near, far, on_end)
        with self._lock:
            if not self._closing:
                self._new.append(pair)
                os.write(self._wake_write, b"+")
                return
        self._end(pair)

    def close(self) -> None:
        """End `run` and every pair. Any thread may call this, more than once."""
        with self._lock:
            if not self._closing:
                self._closing = True
                os.write(self._wake_write, b"-")

    def run(self, *, until_empty: bool = False) -> None:
        """Relay until `close`.

        Args:
            until_empty: Whether to end as well when no pair is left.
        """
        try:
            while True:
                self._take_new()
                if self._closing or (until_empty and not self._pairs):
                    return
                for key, events in self._selector.select():
                    if key.fd == self._wake_read:
                        os.read(self._wake_read, 4096)
                    elif key.data.pair in self._pairs:
                        self._serve(key.data, events)
        finally:
            self.close()
            self._take_new()
            for pair in list(self._pairs):
                self._end(pair)
            self._selector.close()
            os.close(self._wake_read)
            os.close(self._wake_write)

    def _take_new(self) -> None:
        with self._lock:
            new, self._new = self._new, []
        for pair in new:
            self._pairs.add(pair)
            for end in pair.ends:
                self._selector.register(end.socket, _READ, end)

    def _serve(self, end: _End, events: int) -> None:
        pair = end.pair
        assert pair is not None
        try:
            if events & _WRITE:
                end.flush()
            if events & _READ and end.reads and not end.peer.waiting:
                end.pump()
        except OSError:
            self._end(pair)
            return
        if pair.over():
            self._end(pair)
            return
        for each in pair.ends:
            self._watch(each)

    def _watch(self, end: _End) -> None:
        interest = end.interest()
        known = self._selector.get_map().get(end.socket)
        if known is None:
            if interest:
                self._selector.register(end.socket, interest, end)
        elif not interest:
            self._selector.unregister(end.socket)
        elif known.events != interest:
            self._selector.modify(end.socket, interest, end)

    def _end(self, pair: _Pair) -> None:
        self._pairs.discard(pair)
        for end in pair.ends:
            if self._selector.get_map() and end.socket in self._selector.get_map():
                self._selector.unregister(end.socket)
            end.socket.close()
        if pair.on_end is not None:
            pair.on_end()
