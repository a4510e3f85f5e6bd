"""The kernel's end of its stream: whole frames out, frames in, and the text streams that feed
it.
"""

import collections
import contextlib
import io
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from . import frames

_CORK_BYTES = 32 << 10
_MAX_PIECES = 512  # below IOV_MAX, which is 1024
_FRAME_BYTES = 1 << 20


class Wire:
    """Writes frames under a lock from any thread, and reads them in one.

    Writing blocks while the host does not read: that is what bounds memory on both sides.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._lock = threading.RLock()
        self._corked: list[frames.Buffer] | None = None
        self._corked_bytes = 0
        self._reader = frames.FrameReader()
        self._received: collections.deque[frames.Frame] = collections.deque()

    def fileno(self) -> int:
        """The stream's descriptor."""
        return self._socket.fileno()

    def send(self, pieces: list[frames.Buffer]) -> None:
        """Send one encoded frame, or keep it while corked and small."""
        with self._lock:
            if self._corked is None:
                self._write(pieces)
                return
            self._corked += pieces
            self._corked_bytes += sum(map(len, pieces))
            if self._corked_bytes >= _CORK_BYTES or len(self._corked) >= _MAX_PIECES - 16:
                self.flush()

    def send_now(self, pieces: list[frames.Buffer]) -> None:
        """Send one encoded frame with what the cork holds; its buffers are free afterwards."""
        with self._lock:
            if self._corked:
                pieces = self._corked + pieces
                self._corked, self._corked_bytes = [], 0
            self._write(pieces)

    def cork(self) -> None:
        """Gather small frames from now on, so that those of a short cell leave in one write."""
        with self._lock:
            if self._corked is None:
                self._corked, self._corked_bytes = [], 0

    def flush(self) -> None:
        """Send what is gathered; gathering goes on."""
        with self._lock:
            if self._corked:
                pieces, self._corked, self._corked_bytes = self._corked, [], 0
                self._write(pieces)

    def uncork(self) -> None:
        """Send what is gathered and stop gathering."""
        with self._lock:
            self.flush()
            self._corked = None

    def _write(self, pieces: list[frames.Buffer]) -> None:
        views = [memoryview(piece) for piece in pieces]
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
        """Wait for the next frame.

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
        """Wait for the next frame of one channel; those of others stay for `receive`."""
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
        """Whether `receive` would return without reading."""
        return bool(self._received)


class RehearsalWire(Wire):
    """Takes frames and sends nothing."""

    def __init__(self) -> None:
        super().__init__(socket.socket(socket.AF_UNIX))

    def _write(self, pieces: list[frames.Buffer]) -> None:
        pass


class CapturedRaw(io.RawIOBase):
    """The raw end below `sys.stdout` and `sys.stderr`: each write becomes one stream frame.

    What exceeds the limit of a run is counted and dropped here, at the source.
    """

    def __init__(self, name: str, descriptor: int) -> None:
        self._name = name
        self._descriptor = descriptor
        self.wire: Wire | None = None
        self.limit = 10 << 20
        """Bytes of one run that are sent."""
        self.total = 0
        """Bytes that the run at hand has written."""
        self.writes = 0
        """How often it has written them."""
        self._head: bytes = b""

    def begin(self, head: bytes) -> None:
        """Start counting a new run; `head` is the JSON of its stream messages."""
        self._head = head
        self.total = self.writes = 0

    @property
    def dropped(self) -> int:
        """Bytes of the run at hand that were not sent."""
        return max(0, self.total - self.limit)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """The process's own descriptor of that name, so that child processes can be given this
        stream.
        """
        return self._descriptor

    def isatty(self) -> bool:
        return False

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        size = len(view)
        room = self.limit - self.total
        self.total += size
        self.writes += 1
        if self.wire is None or room <= 0:
            return size
        kept = view[:room]
        for start in range(0, len(kept), _FRAME_BYTES):
            piece = kept[start : start + _FRAME_BYTES]
            self.wire.send_now(frames.encode_raw(frames.IOPUB, self._head, [piece]))
        return size


class ForkedRaw(io.RawIOBase):
    """What a child process that was forked by user code writes to: its parent's pipes, never the
    protocol.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any) -> int:
        return os.write(self._descriptor, data)


def text_stream(raw: io.RawIOBase) -> io.TextIOWrapper:
    """A text stream over `raw`.

    It is exactly a `TextIOWrapper`: a subclass would lose the C implementation's quick path and
        print several times
    slower.
    """
    return io.TextIOWrapper(
        io.BufferedWriter(raw, 1 << 16),
        encoding="utf-8",
        errors="backslashreplace",
        newline="\n",
        write_through=False,
    )


def guard_from_threads(streams: list[io.TextIOWrapper]) -> None:
    """Have the streams stop gathering text when a second thread is started.

    Before Python 3.13 that gathering is not safe between threads that write (CPython issue 119506):
    text is lost and freed memory is written. The buffer below it has a lock, and costs more.
    """
    if sys.version_info >= (3, 13):
        return
    module: Any = threading
    start_new_thread = module._start_new_thread

    def start(*args: Any) -> Any:
        module._start_new_thread = start_new_thread
        for stream in streams:
            stream.reconfigure(write_through=True)
        return start_new_thread(*args)

    module._start_new_thread = start


class PeriodicFlush:
    """Decides how soon what a running cell prints is sent.

    A line is sent as it is printed, so that nothing of it is lost if the process dies the moment
    after; but a flood is gathered, and sent every 20 ms and whenever the buffer is full.
    """

    _FIRST_S, _PERIOD_S = 0.004, 0.02
    _FLOOD_WRITES, _CALM_BYTES = 32, 1 << 10

    def __init__(self, wire: Wire, streams: dict[CapturedRaw, io.TextIOWrapper]) -> None:
        self._wire = wire
        self._streams = streams
        self._gathering: set[CapturedRaw] = set()
        self._running = threading.Event()
        self._pause = threading.Event()
        for stream in streams.values():
            stream.reconfigure(line_buffering=True)
        _start_thread(self._loop)

    @contextlib.contextmanager
    def during(self) -> Iterator[None]:
        """Flush while the body runs."""
        self._running.set()
        try:
            yield
        finally:
            self._running.clear()

    def _loop(self) -> None:
        while True:
            self._running.wait()
            seen = {raw: (raw.writes, raw.total) for raw in self._streams}
            pause = self._FIRST_S
            while self._running.is_set():
                self._pause.wait(pause)
                pause = self._PERIOD_S
                with contextlib.suppress(ValueError, OSError):
                    for raw, stream in self._streams.items():
                        stream.flush()
                        writes, total = seen[raw]
                        self._choose(raw, stream, raw.writes - writes, raw.total - total)
                        seen[raw] = raw.writes, raw.total
                    self._wire.flush()

    def _choose(
        self, raw: CapturedRaw, stream: io.TextIOWrapper, writes: int, written: int
    ) -> None:
        gathering = raw in self._gathering
        flood = written > self._CALM_BYTES if gathering else writes > self._FLOOD_WRITES
        if flood != gathering:
            stream.reconfigure(line_buffering=not flood)
            (self._gathering.add if flood else self._gathering.discard)(raw)


def _start_thread(target: Callable[[], None]) -> None:
    """Start a daemon thread, also while a machine full of dying processes has no room for it."""
    deadline = time.monotonic() + 5.0
    while True:
        try:
            threading.Thread(target=target, name="llm-sandbox-flush", daemon=True).start()
            return
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


_DELIVERY: frozenset[CodeType] = frozenset(
    method.__code__
    for method in (Wire.send, Wire.send_now, Wire._write, Wire.flush, CapturedRaw.write)
)


def is_delivering(frame: FrameType | None) -> bool:
    """Whether a frame is being written: an exception now would tear it, or send its text twice."""
    for _ in range(8):
        if frame is None:
            return False
        if frame.f_code in _DELIVERY:
            return True
        frame = frame.f_back
    return False
