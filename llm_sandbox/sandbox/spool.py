"""Storage of a stream's bytes until they are read: memory, then a file, then only a count."""

import os
import threading
import time
import weakref

from llm_sandbox.host.paths import unnamed_file

__all__ = ["Spool"]

_IN_MEMORY = 1 << 20
_TAIL = 1 << 16


class Spool:
    """Bytes of one stream, written once and read any number of times. Safe between threads.

    The first `cap` bytes are kept, and of a longer stream the last 64 KiB besides; what lies
    between is counted and dropped, so that whoever writes is never held up.

    Args:
        cap: Number of bytes that are stored from the start.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._changed = threading.Condition()
        self._memory = bytearray()
        self._file: int | None = None
        self._kept = 0
        self._total = 0
        self._tail = bytearray()
        self._tail_size = min(_TAIL, cap)
        self._ended_at: float | None = None

    def write(self, data: bytes) -> None:
        """Add bytes; never blocks for readers and never fails."""
        with self._changed:
            self._total += len(data)
            room = self._cap - self._kept
            if room > 0:
                self._keep(data[:room])
            if len(data) > room:
                self._tail += data[max(0, room) :]
                if len(self._tail) > 2 * self._tail_size:
                    del self._tail[: len(self._tail) - self._tail_size]
            self._changed.notify_all()

    def _keep(self, data: bytes) -> None:
        if self._file is None and self._kept + len(data) <= _IN_MEMORY:
            self._memory += data
            self._kept += len(data)
            return
        try:
            if self._file is None:
                file = unnamed_file()
                _write_all(file, self._memory, 0)
                weakref.finalize(self, os.close, file)
                self._file, self._memory = file, bytearray()
            _write_all(self._file, data, self._kept)
            self._kept += len(data)
        except OSError:
            # The host's disk is full: from here on only count.
            self._cap = self._kept

    def end(self, at: float | None = None) -> None:
        """End the stream; later calls have no effect.

        Args:
            at: Time of the end by `time.monotonic`; None for now.
        """
        with self._changed:
            if self._ended_at is None:
                self._ended_at = time.monotonic() if at is None else at
                self._changed.notify_all()

    @property
    def ended_at(self) -> float | None:
        """Time of the end by `time.monotonic`; None while more may arrive."""
        return self._ended_at

    @property
    def total(self) -> int:
        """Number of bytes received so far."""
        return self._total

    @property
    def kept(self) -> int:
        """Number of bytes stored from the start so far."""
        return self._kept

    def read(self, offset: int, size: int = 1 << 18) -> bytes:
        """Wait for bytes after `offset` among those stored from the start.

        Returns:
            At most `size` bytes; empty when the stream has ended there.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._kept > offset or self._ended_at is not None)
            return self._at(offset, size)

    def follow(self, offset: int, size: int = 1 << 18) -> bytes:
        """Wait for bytes after `offset` among all received.

        Returns:
            At most `size` bytes, with zeros for those that were dropped; empty when the stream has
            ended there.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._total > offset or self._ended_at is not None)
            if offset < self._kept:
                return self._at(offset, size)
            tail = max(self._kept, self._total - len(self._tail))
            if offset < tail:
                return bytes(min(size, tail - offset))
            start = len(self._tail) - (self._total - offset)
            return bytes(self._tail[start : start + size])

    def peek(self) -> tuple[bytes, bytes, int]:
        """Return the current content: the start, the end of the rest, and the count of all."""
        with self._changed:
            tail = bytes(self._tail[-self._tail_size :]) if self._tail_size else b""
            return self._at(0, self._kept), tail, self._total

    def wait_end(self, timeout_s: float | None = None) -> bool:
        """Wait for the end of the stream; return False after the time limit."""
        with self._changed:
            return self._changed.wait_for(lambda: self._ended_at is not None, timeout_s)

    def _at(self, offset: int, size: int) -> bytes:
        size = min(size, self._kept - offset)
        if self._file is None:
            return bytes(self._memory[offset : offset + size])
        return os.pread(self._file, size, offset)


def _write_all(fd: int, data: bytes | bytearray, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(fd, view, offset)
        view = view[written:]
        offset += written
