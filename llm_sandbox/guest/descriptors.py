"""Descriptors of streams: pipes, sockets and the null device, and the writers of a pipe."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import sys
import termios

TO_PEER, FROM_PEER, BOTH, NULL = range(4)
"""Kinds of a passed descriptor: read here, written here, both, or the null device."""


def open_pipe() -> tuple[int, int]:
    """Make a pipe that programs of any user can open by name, as ``/dev/stderr``."""
    ends = os.pipe()
    try:
        os.fchmod(ends[0], 0o666)
    except OSError:
        pass  # not supported for pipes in gVisor, where they cannot be opened by name, nor on macOS
    return ends


def held_by(pipe: int) -> int:
    """Return how many bytes can be read from a pipe."""
    size = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
    return int.from_bytes(size, sys.byteorder)


def shut_down(fd: int) -> None:
    """Shut a socket down for writing."""
    with socket.socket(fileno=os.dup(fd)) as end:
        try:
            end.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the peer has closed it


def kind_of(fd: int) -> int:
    """Return the kind of a passed descriptor."""
    mode = os.fstat(fd).st_mode
    if stat.S_ISSOCK(mode):
        return BOTH
    if stat.S_ISFIFO(mode):
        access = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE
        return TO_PEER if access == os.O_RDONLY else FROM_PEER
    return NULL


_MAX_PROCESSES = 500


_UNKNOWN = -1


def writers(process: int) -> set[int]:
    """Find the other processes that can write to standard output or error of `process`.

    Returns:
        Their pids; an invalid one where there are too many processes to check.
    """
    pipes = {_target(f"/proc/{process}/fd/{number}") for number in (1, 2)} - {None}
    if not pipes:
        return set()
    candidates = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {
        process,
        os.getpid(),
    }
    if len(candidates) > _MAX_PROCESSES:
        return {_UNKNOWN}
    return {pid for pid in candidates if _writes(pid, pipes)}


def _writes(process: int, pipes: set[str | None]) -> bool:
    folder = f"/proc/{process}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return False  # the process has ended, or is another user's
    for name in names:
        path = f"{folder}/{name}"
        try:
            # The mode of a link in /proc is the mode that the descriptor was opened with.
            if _target(path) in pipes and os.lstat(path).st_mode & 0o200:
                return True
        except OSError:
            continue
    return False


def _target(path: str) -> str | None:
    try:
        target = os.readlink(path)
    except OSError:
        return None
    return target if target.startswith("pipe:") else None
