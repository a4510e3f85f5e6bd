"""Files without a name, which are gone with the process, however that ends."""

import os
import sys
import tempfile
import threading

__all__ = ["read_at", "unnamed_file", "write_at"]

_moving = threading.Lock()
"""Held while a file's position is used, where reading cannot name one."""


def unnamed_file() -> int:
    """Make a file, and return its descriptor."""
    with tempfile.TemporaryFile(buffering=0) as file:
        return os.dup(file.fileno())


def read_at(fd: int, size: int, offset: int) -> bytes:
    """Read at most `size` bytes from `offset`; empty at the end. Safe between threads."""
    if sys.platform == "win32":
        with _moving:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, size)
    else:
        return os.pread(fd, size, offset)


def write_at(fd: int, data: bytes | memoryview, offset: int) -> int:
    """Write some of `data` at `offset`, and return how many bytes. Safe between threads."""
    if sys.platform == "win32":
        with _moving:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.write(fd, data)
    else:
        return os.pwrite(fd, data, offset)
