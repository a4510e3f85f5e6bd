"""Waiting for several connections at once, and not waiting for one."""

import contextlib
import select
import socket
import sys
from collections.abc import Iterator
from typing import Protocol

__all__ = ["IN", "OUT", "Poll", "Wake", "receive_now", "send_now"]

if sys.platform == "win32":
    IN, OUT = 1, 4

    class _HasFileno(Protocol):
        def fileno(self) -> int: ...

    _HasNumber = int | _HasFileno

    class Poll:
        """As `select.poll`, which Windows has not: by `select`, which takes sockets only."""

        def __init__(self) -> None:
            self._events: dict[int, int] = {}

        def register(self, fd: _HasNumber, eventmask: int = IN) -> None:
            """Wait for it from now on."""
            self._events[_number(fd)] = eventmask

        modify = register

        def unregister(self, fd: _HasNumber) -> None:
            """Wait for it no more."""
            del self._events[_number(fd)]

        def poll(self, timeout: int | None = None) -> list[tuple[int, int]]:
            """Wait at most so many milliseconds; returns what is ready, and for what."""
            reads = [fd for fd, events in self._events.items() if events & IN]
            writes = [fd for fd, events in self._events.items() if events & OUT]
            wait_s = None if timeout is None or timeout < 0 else timeout / 1000
            # A connection that failed is told as readable; one that was refused, as exceptional.
            found = select.select(reads, writes, writes, wait_s)
            ready = {fd: 0 for each in found for fd in each}
            for fd in found[0]:
                ready[fd] |= IN
            for fd in (*found[1], *found[2]):
                ready[fd] |= OUT
            return list(ready.items())

    def _number(fd: _HasNumber) -> int:
        return fd if isinstance(fd, int) else fd.fileno()

else:
    IN, OUT = select.POLLIN, select.POLLOUT
    Poll = select.poll


class Wake:
    """Wakes a thread that waits for connections. `set` may be called by any thread and by a signal
    handler; everything else by the thread that waits.
    """

    def __init__(self) -> None:
        # A pair of sockets: Windows waits for nothing else, and macOS has no event descriptors.
        self._near, self._far = socket.socketpair()
        self._near.setblocking(False)
        self._far.setblocking(False)

    def fileno(self) -> int:
        """What is readable once it is set."""
        return self._near.fileno()

    def set(self) -> None:
        """Wake whoever waits; nothing happens if it was set before."""
        with contextlib.suppress(BlockingIOError):
            self._far.send(b"\0")

    def clear(self) -> None:
        """Take what was set."""
        with contextlib.suppress(BlockingIOError):
            while len(self._near.recv(4096)) == 4096:
                pass

    def close(self) -> None:
        """Close it; it is set no more."""
        self._near.close()
        self._far.close()


def receive_now(connection: socket.socket, size: int, flags: int = 0) -> bytes:
    """Receive what is there; the connection is for one thread.

    Raises:
        BlockingIOError: There is nothing yet.
    """
    if sys.platform == "win32":
        with _not_waiting(connection):
            return connection.recv(size, flags)
    else:
        return connection.recv(size, flags | socket.MSG_DONTWAIT)


def send_now(connection: socket.socket, data: bytes | memoryview) -> int:
    """Send what is taken at once, and return how much; the connection is for one thread.

    Raises:
        BlockingIOError: Nothing is taken now.
    """
    if sys.platform == "win32":
        with _not_waiting(connection):
            return connection.send(data)
    else:
        return connection.send(data, socket.MSG_DONTWAIT)


@contextlib.contextmanager
def _not_waiting(connection: socket.socket) -> Iterator[None]:
    timeout = connection.gettimeout()
    connection.setblocking(False)
    try:
        yield
    finally:
        connection.settimeout(timeout)
