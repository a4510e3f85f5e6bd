"""One direction of a connection: a copy of bytes from one socket to another, with back-pressure."""

import contextlib
import os
import socket
from collections.abc import Callable
from fcntl import F_SETPIPE_SZ, fcntl

__all__ = ["Direction"]

_CHUNK = 1 << 16
_PIPE_BYTES = 1 << 20
_SPLICED_FROM = 1 << 19
"""Bytes of a connection from which on `splice` through a pipe is cheaper than a copy."""
_ROUNDS = 16
"""Chunks in a row, before other connections have their turn."""
_NONBLOCK = os.SPLICE_F_NONBLOCK | os.SPLICE_F_MOVE


class Direction:
    """Copy of one direction until its end, which shuts the target down for writing.

    Args:
        source: The socket to read from.
        target: The socket to write to.
        inspect: Called with all bytes so far, and whether they have ended, until it returns True;
            nothing is passed on before. It may raise to end the connection.
        given: Bytes that were read from the source before.
    """

    def __init__(
        self,
        source: socket.socket,
        target: socket.socket,
        inspect: Callable[[bytes, bool], bool] | None = None,
        given: bytes = b"",
    ) -> None:
        self.total = 0
        self.done = False
        self._source = source
        self._target = target
        self._inspect = inspect
        self._given = given
        self._held = b""
        self._waiting = memoryview(b"")
        self._pipe: tuple[int, int] | None = None
        self._in_pipe = 0
        self._ended = False

    def pump(self) -> bool:
        """Copy as much as is possible without waiting.

        Returns:
            Whether more may be possible at once.

        Raises:
            OSError: One of the sockets has failed.
        """
        with contextlib.suppress(BlockingIOError):
            for _ in range(_ROUNDS):
                if self.done:
                    return False
                self._step()
            return True
        return False

    def close(self) -> None:
        """Close the pipe; the owner closes the sockets."""
        if self._pipe is not None:
            for fd in self._pipe:
                os.close(fd)
            self._pipe = None

    def _step(self) -> None:
        if self._waiting:
            sent = self._target.send(self._waiting)
            self._waiting = self._waiting[sent:]
        elif self._in_pipe and self._pipe is not None:
            self._in_pipe -= os.splice(
                self._pipe[0], self._target.fileno(), self._in_pipe, flags=_NONBLOCK
            )
        elif self._ended:
            with contextlib.suppress(OSError):  # it is closed already
                self._target.shutdown(socket.SHUT_WR)
            self.done = True
        elif self._inspect is not None:
            self._read_inspected(self._inspect)
        elif self.total >= _SPLICED_FROM and (pipe := self._open_pipe()) is not None:
            self._in_pipe = os.splice(self._source.fileno(), pipe[1], _PIPE_BYTES, flags=_NONBLOCK)
            self.total += self._in_pipe
            self._ended = not self._in_pipe
        else:
            self._take(self._receive())

    def _receive(self) -> bytes:
        given, self._given = self._given, b""
        return given or self._source.recv(_CHUNK)

    def _read_inspected(self, inspect: Callable[[bytes, bool], bool]) -> None:
        data = self._receive()
        self._held += data
        if inspect(self._held, not data):
            self._inspect = None
            held, self._held = self._held, b""
            self._take(held)
            self._ended = not data

    def _take(self, data: bytes) -> None:
        # trust: bytes of a program or of a server; copied as they are, and not parsed here.
        self.total += len(data)
        self._waiting = memoryview(data)
        self._ended = not data

    def _open_pipe(self) -> tuple[int, int] | None:
        if self._pipe is None:
            try:
                self._pipe = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            except OSError:
                return None  # out of descriptors: slower, and no less right
            with contextlib.suppress(OSError):  # beyond what the user may have: a smaller one
                fcntl(self._pipe[1], F_SETPIPE_SZ, _PIPE_BYTES)
        return self._pipe
