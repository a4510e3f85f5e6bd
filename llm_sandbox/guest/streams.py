"""The streams that a multiplexer carries, and the order that some of them keep."""

from __future__ import annotations

import collections
import os
import select
import time
from collections.abc import Iterable

from .descriptors import BOTH, FROM_PEER, TO_PEER

_DRAIN_S = 5.0

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


def order_after_pipes(streams: list[Stream]) -> None:
    """Have a socket come after the pipes that were passed with it."""
    sockets = [stream for stream in streams if stream.is_socket]
    if len(sockets) == 1:
        sockets[0].pipes = [stream for stream in streams if not stream.is_socket]
        for pipe in sockets[0].pipes:
            pipe.socket = sockets[0]


def must_wait(stream: Stream) -> bool:
    """Whether what a socket is to be written has arrived after what its pipes wait to be."""
    return any(pipe.arrivals and pipe.arrivals[0] < stream.arrivals[0] for pipe in stream.pipes)


def drain(streams: Iterable[Stream]) -> None:
    """Write what has arrived to whoever still reads: it is all that will ever come."""
    deadline = time.monotonic() + _DRAIN_S
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
