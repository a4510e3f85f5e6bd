"""The streams that a multiplexer carries, and the order that some of them keep."""

from __future__ import annotations

import collections
import fcntl
import os
import select
import socket
import stat
import sys
import termios
import time
from collections.abc import Iterable

_HAND_OVER_S = 5.0

TO_PEER, FROM_PEER, BOTH, NULL = range(4)
"""What becomes of a descriptor: it is read here, written here, both, or the null device."""

WINDOW = 1 << 20
"""How many bytes a sender may be ahead of its receiver, on each stream."""


class Stream:
    """One descriptor and what is under way for it.

    Attributes:
        pending: What has arrived and is not written yet, and in `arrivals` the number of each.
        pipes: Of a socket: the pipes that it comes after.
        socket: Of a pipe: the socket that comes after it.
        owed: Of a socket: how many bytes each pipe held when the socket had something to read.
    """

    def __init__(self, number: int, fd: int, kind: int) -> None:
        os.set_blocking(fd, False)
        self.number, self.fd = number, fd
        self.is_socket = kind == BOTH
        self.reading = kind in (TO_PEER, BOTH)
        self.writing = kind in (FROM_PEER, BOTH)
        self.credit = WINDOW
        self.pending: collections.deque[memoryview] = collections.deque()
        self.arrivals: collections.deque[int] = collections.deque()
        self.pending_bytes = 0
        self.taken = 0
        self.pipes: list[Stream] = []
        self.socket: Stream | None = None
        self.owed: dict[Stream, int] = {}
        self.ending = False
        self.interest = 0


def open_pipe() -> tuple[int, int]:
    """Make a pipe that programs can open by name, as ``/dev/stderr``, whoever they run as."""
    read, write = os.pipe2(os.O_CLOEXEC)
    try:
        os.fchmod(read, 0o666)
    except OSError:
        pass  # not of pipes in gVisor, where nobody can open one by name
    return read, write


def order(streams: list[Stream]) -> None:
    """Have a socket come after the pipes that were passed with it."""
    sockets = [stream for stream in streams if stream.is_socket]
    if len(sockets) == 1:
        sockets[0].pipes = [stream for stream in streams if not stream.is_socket]
        for pipe in sockets[0].pipes:
            pipe.socket = sockets[0]


def comes_later(stream: Stream) -> bool:
    """Whether what a socket is to be written has arrived after what its pipes wait to be."""
    return any(pipe.arrivals and pipe.arrivals[0] < stream.arrivals[0] for pipe in stream.pipes)


def held_by(pipe: int) -> int:
    """How many bytes can be read from a pipe."""
    size = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
    return int.from_bytes(size, sys.byteorder)


def shut_down(fd: int) -> None:
    with socket.socket(fileno=os.dup(fd)) as end:
        try:
            end.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # its other end has been closed


def kind_of(fd: int) -> int:
    mode = os.fstat(fd).st_mode
    if stat.S_ISSOCK(mode):
        return BOTH
    if stat.S_ISFIFO(mode):
        access = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE
        return TO_PEER if access == os.O_RDONLY else FROM_PEER
    return NULL


def hand_over(streams: Iterable[Stream]) -> None:
    """Write what has arrived to whoever still reads: it is all that will ever come."""
    deadline = time.monotonic() + _HAND_OVER_S
    waiting = {stream.fd: stream for stream in streams if stream.pending}
    while waiting and (left := deadline - time.monotonic()) > 0:
        for fd in select.select([], list(waiting), [], left)[1]:
            stream = waiting[fd]
            try:
                sent = os.write(fd, stream.pending[0])
            except OSError:
                del waiting[fd]
                continue
            stream.pending[0] = stream.pending[0][sent:]
            if not stream.pending[0]:
                stream.pending.popleft()
            if not stream.pending:
                del waiting[fd]
