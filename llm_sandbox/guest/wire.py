"""Wire: the kernel's end of its stream of frames."""

import collections
import contextlib
import socket
import threading

from . import frames

_CORK_BYTES = 32 << 10
_MAX_PIECES = 512  # below IOV_MAX, which is 1024
_MOST_HELD = 1 << 20
"""Bytes of late output that are queued while the host does not read."""


class Wire:
    """Writer of frames from any thread, under a lock, and reader in one thread.

    A write blocks while the host does not read, which bounds memory on both sides.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._lock = threading.RLock()
        self._corked: list[frames.Buffer] | None = None
        self._corked_bytes = 0
        self._held: collections.deque[memoryview] = collections.deque()
        self._held_bytes = 0
        self._reader = frames.FrameReader()
        self._received: collections.deque[frames.Frame] = collections.deque()

    def fileno(self) -> int:
        """Return the stream's descriptor."""
        return self._socket.fileno()

    def send(self, pieces: list[frames.Buffer]) -> None:
        """Send one encoded frame, or buffer it while corked and small."""
        with self._lock:
            if self._corked is None:
                self._write(pieces)
                return
            self._corked += pieces
            self._corked_bytes += sum(map(len, pieces))
            if self._corked_bytes >= _CORK_BYTES or len(self._corked) >= _MAX_PIECES - 16:
                self.flush()

    def send_now(self, pieces: list[frames.Buffer]) -> None:
        """Send one encoded frame with the corked ones; its buffers may be reused afterwards."""
        with self._lock:
            if self._corked:
                pieces = self._corked + pieces
                self._corked, self._corked_bytes = [], 0
            self._write(pieces)

    @property
    def is_full(self) -> bool:
        """Whether the queue of late output is full."""
        return self._held_bytes > _MOST_HELD

    def send_late(self, pieces: list[frames.Buffer]) -> None:
        """Send a frame of late output without waiting for the host to read; queue the rest.

        The caller checks `is_full` before.
        """
        with self._lock:
            frame = memoryview(b"".join(pieces))
            self._held.append(frame)
            self._held_bytes += len(frame)
            self.release()

    def release(self) -> None:
        """Send queued late output, as far as is possible without waiting."""
        with self._lock, contextlib.suppress(BlockingIOError):
            while self._held:
                sent = self._socket.send(self._held[0], socket.MSG_DONTWAIT)
                self._held_bytes -= sent
                self._held[0] = self._held[0][sent:]
                if not self._held[0]:
                    self._held.popleft()

    @property
    def holds(self) -> bool:
        """Whether late output is queued."""
        return bool(self._held)

    def cork(self) -> None:
        """Buffer small frames from now on, so that those of a short cell are sent in one write."""
        with self._lock:
            if self._corked is None:
                self._corked, self._corked_bytes = [], 0

    def flush(self) -> None:
        """Send the buffered frames, and stay corked."""
        with self._lock:
            if self._corked:
                pieces, self._corked, self._corked_bytes = self._corked, [], 0
                self._write(pieces)

    def uncork(self) -> None:
        """Send the buffered frames, and stop buffering."""
        with self._lock:
            self.flush()
            self._corked = None

    def _write(self, pieces: list[frames.Buffer]) -> None:
        views = [memoryview(piece) for piece in pieces]
        if self._held:
            # The first may have been sent in part.
            views[:0] = self._held
            self._held.clear()
            self._held_bytes = 0
        while views:
            sent = self._socket.sendmsg(views[:_MAX_PIECES])
            done = 0
            while done < len(views) and sent >= len(views[done]):
                sent -= len(views[done])
                done += 1
            del views[:done]
            if sent:
                views[0] = views[0][sent:]

    def receive(self) -> frames.Frame:
        """Receive the next frame.

        Raises:
            EOFError: The host hung up.
        """
        while not self._received:
            data = self._socket.recv(1 << 18)
            if not data:
                raise EOFError
            self._reader.feed(data)
            self._received.extend(self._reader)
        return self._received.popleft()

    def receive_on(self, channel: int) -> frames.Message:
        """Receive the next frame of one channel; those of others stay for `receive`."""
        set_aside: list[frames.Frame] = []
        try:
            while True:
                frame = self.receive()
                if frame.channel == channel:
                    return frame.message
                set_aside.append(frame)
        finally:
            self._received.extendleft(reversed(set_aside))

    def has_frame(self) -> bool:
        """Return whether a frame is buffered, so that `receive` would not wait."""
        return bool(self._received)


class NullWire(Wire):
    """Wire that discards frames."""

    def __init__(self) -> None:
        super().__init__(socket.socket(socket.AF_UNIX))

    def _write(self, pieces: list[frames.Buffer]) -> None:
        pass
