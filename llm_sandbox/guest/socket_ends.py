"""What `ends` has, where only sockets can be waited for: numbers of sockets stand for pipes.

Never in a guest: the host's end on Windows uses it. A pipe is a pair of sockets of which each is
used in one direction, and the null device is the end of such a pair whose other end is closed.
"""

from __future__ import annotations

import socket
import threading

_READS, _WRITES, _BOTH, _NULL = range(4)
_PEEK = 1 << 20


class _End:
    def __init__(self, connection: socket.socket, kind: int) -> None:
        self.socket, self.kind = connection, kind


_ends: dict[int, _End] = {}
_lock = threading.Lock()


def _keep(connection: socket.socket, kind: int) -> int:
    number = connection.fileno()
    with _lock:
        _ends[number] = _End(connection, kind)
    return number


def _find(fd: int) -> _End:
    try:
        return _ends[fd]
    except KeyError:
        raise OSError(9, "Bad file descriptor") from None


def open_pipe() -> tuple[int, int]:
    near, far = socket.socketpair()
    return _keep(near, _READS), _keep(far, _WRITES)


def open_null() -> int:
    near, far = socket.socketpair()
    far.close()
    return _keep(near, _NULL)


def take_over(connection: socket.socket) -> int:
    return _keep(connection, _BOTH)


def duplicate(fd: int) -> int:
    """Another number for the same; of a socket that is somebody's own, too."""
    known = _ends.get(fd)
    if known is not None:
        return _keep(known.socket.dup(), known.kind)
    borrowed = socket.socket(fileno=fd)
    try:
        return _keep(borrowed.dup(), _BOTH)
    finally:
        borrowed.detach()


def read(fd: int, size: int) -> bytes:
    return _find(fd).socket.recv(size)


def write(fd: int, data: bytes | memoryview) -> int:
    return _find(fd).socket.send(data)


def close(fd: int) -> None:
    with _lock:
        end = _ends.pop(fd, None)
    if end is None:
        raise OSError(9, "Bad file descriptor")
    end.socket.close()


def set_non_blocking(fd: int) -> None:
    _find(fd).socket.setblocking(False)


def held_by(pipe: int) -> int:
    try:
        return len(_find(pipe).socket.recv(_PEEK, socket.MSG_PEEK))
    except BlockingIOError:
        return 0


def shut_down(fd: int) -> None:
    try:
        _find(fd).socket.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # its other end has been closed


def kind_of(fd: int) -> int:
    return _find(fd).kind
