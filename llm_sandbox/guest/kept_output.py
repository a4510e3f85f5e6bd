"""Output of programs that outlive their clients: what a stream has carried, and who follows it.

The first bytes of a stream are kept, and of a longer one the last bytes besides. A follower gets
all bytes from the first one on; who comes too late for those in between gets a note instead.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 16
_TAIL = 1 << 18
MOST_OF_STREAM = 8 << 20
"""Bytes that are kept of a stream from its start."""
MOST = 32 << 20
"""Bytes that are kept of all streams from their starts."""


class Store:
    """Number of bytes that all streams have kept."""

    def __init__(self, make_room: Callable[[], bool]) -> None:
        self.used = 0
        self._make_room = make_room

    def take(self, wanted: int) -> int:
        """Return how many of these bytes may be kept; older programs are forgotten for them."""
        while self.used + wanted > MOST and self._make_room():
            pass
        taken = max(0, min(wanted, MOST - self.used))
        self.used += taken
        return taken


class Follower:
    """Reader of a stream: a pipe of a client.

    Attributes:
        fd: The pipe; -1 after the end.
        offset: Number of the next byte.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.offset = 0

    def close(self) -> None:
        """Close the pipe."""
        if self.fd != -1:
            os.close(self.fd)
            self.fd = -1


class Output:
    """One stream of a program.

    Attributes:
        source: Pipe that the program writes to; -1 after its end.
        followers: Those that have not got everything.
    """

    def __init__(self, source: int, store: Store) -> None:
        os.set_blocking(source, False)
        self.source = source
        self.followers: list[Follower] = []
        self._store = store
        self._head = bytearray()
        self._tail = bytearray()
        self._cap = MOST_OF_STREAM
        self._total = 0

    @property
    def wants_more(self) -> bool:
        """Whether the source is to be read: not while that would overtake a follower."""
        if self.source == -1:
            return False
        room = _TAIL - _CHUNK
        return all(self._total - each.offset < room for each in self.followers)

    def read(self) -> None:
        """Read what has arrived."""
        try:
            data = os.read(self.source, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.end()
            return
        self._total += len(data)
        room = min(len(data), self._cap - len(self._head))
        taken = self._store.take(room) if room > 0 else 0
        self._head += data[:taken]
        if taken < len(data):
            self._cap = len(self._head)
        self._tail += data
        del self._tail[: max(0, len(self._tail) - _TAIL)]

    def end(self) -> None:
        """End the stream, whoever still holds it."""
        if self.source != -1:
            os.close(self.source)
            self.source = -1

    def forget(self) -> None:
        """Drop what is kept."""
        self.end()
        self._store.used -= len(self._head)
        self._head.clear()
        for each in self.followers:
            each.close()

    def follow(self, fd: int) -> Follower:
        """Add a follower, which owns the pipe."""
        follower = Follower(fd)
        self.followers.append(follower)
        return follower

    def is_behind(self, follower: Follower) -> bool:
        """Whether there are bytes for a follower now."""
        return follower.offset < self._total

    def write(self, follower: Follower) -> None:
        """Write to a follower what it takes now."""
        with contextlib.suppress(BlockingIOError):
            try:
                while self.is_behind(follower):
                    data, step = self._at(follower.offset)
                    sent = os.write(follower.fd, data)
                    follower.offset += step if step else sent
            except BlockingIOError:
                raise
            except OSError:
                follower.close()  # its client is gone

    def _at(self, offset: int) -> tuple[memoryview, int]:
        """Return bytes to write, and how far they lead; 0 for as far as they are written."""
        if offset < len(self._head):
            return memoryview(bytes(self._head[offset : offset + _CHUNK])), 0
        start = self._total - len(self._tail)
        if offset < start:
            note = f"\n[{start - offset} bytes were not kept]\n".encode()
            return memoryview(note), start - offset
        begin = offset - start
        return memoryview(bytes(self._tail[begin : begin + _CHUNK])), 0

    def sweep(self) -> None:
        """Close followers that have everything, and forget those that are gone."""
        for each in self.followers:
            if self.source == -1 and not self.is_behind(each) and not _is_unread(each.fd):
                each.close()
        self.followers = [each for each in self.followers if each.fd != -1]


def _is_unread(fd: int) -> bool:
    """Whether a pipe holds bytes that its reader has not taken."""
    count = array.array("i", [0])
    if fd == -1:
        return False
    with contextlib.suppress(OSError):
        fcntl.ioctl(fd, termios.FIONREAD, count)
    return count[0] > 0
