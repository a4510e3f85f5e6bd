"""Text streams of a kernel: the output of cells, their threads and their tasks, as messages."""

import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType, FrameType
from typing import Any

from . import frames, parent_headers
from .parent_headers import Parent
from .wire import Wire

_FRAME_BYTES = 1 << 20
_LATE_FRAME_BYTES = 32 << 10
_GATHERED_BYTES = 1 << 16
_encoder = json.JSONEncoder(default=str)


class CapturedStream(io.BufferedIOBase):
    """Binary stream below `sys.stdout` or `sys.stderr`, which sends output as stream messages.

    Output over the limit of a run is counted and dropped here, at the source, and so is late output
    for which the host has no room.

    Args:
        name: ``stdout`` or ``stderr``.
        descriptor: The process's descriptor of that name.
        session: The session that makes headers.
    """

    def __init__(self, name: str, descriptor: int, session: Any) -> None:
        self._name = name
        self._descriptor = descriptor
        self._session = session
        self._lock = threading.RLock()
        self.flushing = threading.RLock()
        """Lock of a flush of the text stream above, which takes the pending text from that stream
        before the text arrives here."""
        self._pieces: list[bytes] = []
        self._size = 0
        self._parent: Parent | None = None
        self._is_closed = False
        self._is_forked = False
        self.wire: Wire | None = None
        self.limit = 10 << 20
        """Most bytes that are sent of one run, and of late output between two runs."""
        self.total = 0
        """Bytes that the current run has written."""
        self.late = 0
        """Bytes of late output since the start of the current run."""
        self.writes = 0
        """Number of writes."""
        self._unreported = 0
        self.on_late: Callable[[], None] = _nothing
        """Called after a write of late output, which may not be sent yet."""
        self.interrupt: Callable[[], None] | None = None
        """Called by the main thread after a write or flush in which an interrupt has arrived."""

    def begin(self) -> None:
        """Start counting a new run."""
        self.total = self.late = 0
        self.interrupt = None

    @property
    def dropped(self) -> int:
        """Bytes of the current run that were dropped."""
        return max(0, self.total - self.limit)

    # --- as a stream

    @property
    def name(self) -> str:
        """Name like those of the interpreter's own streams."""
        return f"<{self._name}>"

    @property
    def closed(self) -> bool:
        """True if the code has closed the stream."""
        return self._is_closed

    def close(self) -> None:
        if not self._is_closed:
            self.flush()
            self._is_closed = True

    def reopen(self) -> None:
        """Undo `close`: the next cell needs the stream."""
        self._is_closed = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """Return the process's descriptor of that name, for child processes."""
        return self._descriptor

    def isatty(self) -> bool:
        return False

    def write(self, data: Any) -> int:
        if self._is_closed:
            raise ValueError("I/O operation on closed file.")
        if type(data) is not bytes:
            data = bytes(memoryview(data).cast("B"))
        parent = parent_headers.current()
        size = len(data)
        with self._lock:
            if parent is not self._parent:
                self._send()
                self._parent = parent
            self.writes += 1
            self._pieces.append(data)
            self._size += size
            if self._size >= _GATHERED_BYTES:
                self._send()
        if parent.ended:
            self.on_late()
        if self.interrupt is not None:
            self._raise_interrupt()
        return size

    def flush(self) -> None:
        with self.flushing:
            if self._pieces:
                with self._lock:
                    self._send()
        if self.interrupt is not None:
            self._raise_interrupt()

    def _raise_interrupt(self) -> None:
        interrupt = self.interrupt
        if interrupt is not None and threading.current_thread() is threading.main_thread():
            interrupt()

    # --- sending

    def _send(self) -> None:
        pieces, self._pieces = self._pieces, []
        size, self._size = self._size, 0
        parent = self._parent
        if self._is_forked:
            self._write_through(b"".join(pieces))
            return
        if not size or parent is None or self.wire is None:
            return
        if parent.ended:
            self._send_late(b"".join(pieces), parent)
            return
        room = self.limit - self.total
        self.total += size
        if room <= 0:
            return
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        kept = memoryview(data)[:room]
        for start in range(0, len(kept), _FRAME_BYTES):
            piece = kept[start : start + _FRAME_BYTES]
            self.wire.send_now(frames.encode_raw(frames.IOPUB, self._head(parent), [piece]))

    def _send_late(self, data: bytes, parent: Parent) -> None:
        assert self.wire is not None
        for start in range(0, len(data), _LATE_FRAME_BYTES):
            piece = data[start : start + _LATE_FRAME_BYTES]
            if self.wire.is_full or self.late + len(piece) > self.limit:
                self._unreported += len(piece)
                continue
            head = self._late_head(parent) if self._unreported else self._head(parent)
            self.wire.send_late(frames.encode_raw(frames.IOPUB, head, [piece]))
            self.late += len(piece)
            self._unreported = 0

    def report_dropped(self, more: int = 0) -> None:
        """Report how many bytes of late output were dropped since the last report.

        Args:
            more: Bytes to add.
        """
        with self._lock:
            self._unreported += more
            parent = self._parent or parent_headers.current()
            if self._unreported and self.wire is not None and not self.wire.is_full:
                pieces = frames.encode_raw(frames.IOPUB, self._late_head(parent), [b""])
                self.wire.send_late(pieces)
                self._unreported = 0

    def _head(self, parent: Parent) -> bytes:
        head = parent.heads.get(self._name)
        if head is None:
            head = parent.heads[self._name] = self._encode(parent, {})
        return head

    def _late_head(self, parent: Parent) -> bytes:
        return self._encode(parent, {"llm_sandbox": {"dropped": self._unreported}})

    def _encode(self, parent: Parent, metadata: dict[str, Any]) -> bytes:
        message = {
            "header": self._session.msg_header("stream"),
            "parent_header": parent.header,
            "metadata": metadata,
            "content": {"name": self._name, "text": ""},
            "bulk": [["text"]],
        }
        return _encoder.encode(message).encode()

    # --- in a copy of the process

    def become_forked(self) -> None:
        """Write to the descriptor from now on: the protocol belongs to the parent process."""
        self._lock, self.flushing = threading.RLock(), threading.RLock()
        self._pieces, self._size = [], 0
        self._is_forked, self._is_closed = True, False
        self.wire = self.interrupt = None

    def _write_through(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._descriptor, left) :]


def text_stream(below: CapturedStream) -> io.TextIOWrapper:
    """Return a text stream over a captured stream.

    It is exactly a `TextIOWrapper`: a subclass would lose the C implementation's fast path and
    print several times slower.
    """
    stream = io.TextIOWrapper(
        below,
        encoding="utf-8",
        errors="backslashreplace",
        newline="\n",
        line_buffering=True,
        write_through=False,
    )
    stream._CHUNK_SIZE = _GATHERED_BYTES  # type: ignore[attr-defined]
    return stream


class TextStreams:
    """The two text streams of a kernel, repaired when the code closes or replaces them.

    Args:
        session: The session that makes headers.

    Attributes:
        below: The captured streams, by name.
        own: The text streams over them, by name.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self.below = {
            "stdout": CapturedStream("stdout", 1, session),
            "stderr": CapturedStream("stderr", 2, session),
        }
        self.own = {name: text_stream(below) for name, below in self.below.items()}
        self._shared = False

    def use_wire(self, wire: Wire) -> None:
        """Send over this wire from now on."""
        for below in self.below.values():
            below.wire = wire

    def install(self) -> None:
        """Install the streams in `sys`."""
        for name, stream in self.own.items():
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)

    def share(self) -> None:
        """Pass each piece of text on to the captured streams at once, from now on.

        Called when more than one thread or task writes, as only the captured streams know which.
        Before Python 3.13 the buffer of text streams is not even safe between threads (CPython
        issue 119506).
        """
        if not self._shared:
            self._shared = True
            for stream in self.own.values():
                with suppress(ValueError):
                    stream.reconfigure(write_through=True)

    def repair(self) -> None:
        """Replace streams in `sys` that the code has closed, detached or deleted."""
        for name, below in self.below.items():
            below.reopen()
            stream: Any = getattr(sys, name, _MISSING)
            own = self.own[name]
            if _is_detached(own):
                fresh = text_stream(below)
                fresh.reconfigure(write_through=self._shared)
                self.own[name] = fresh
                setattr(sys, f"__{name}__", fresh)
            if stream is _MISSING or stream is own or _is_closed(stream):
                setattr(sys, name, self.own[name])

    def begin(self) -> None:
        """Start counting a new run."""
        for below in self.below.values():
            below.begin()

    def interrupt_later(self, interrupt: Callable[[], None] | None) -> None:
        """Call a function after the main thread's next write to one of the streams.

        Args:
            interrupt: The function, which calls this again with None; None to call none.
        """
        for below in self.below.values():
            below.interrupt = interrupt

    def report_dropped(self) -> None:
        """Report how many bytes of late output were dropped, displays included."""
        displays, self._session.late_dropped = self._session.late_dropped, 0
        for name, below in self.below.items():
            below.report_dropped(displays if name == "stdout" else 0)

    def flush_own(self) -> None:
        """Send buffered text of the own streams."""
        for name in self.own:
            with suppress(OSError):
                self.flush_stream(name)

    def flush_stream(self, name: str) -> None:
        """Send buffered text of one own stream, if it is open."""
        with suppress(ValueError), self.below[name].flushing:
            self.own[name].flush()

    def flush(self) -> None:
        """Send buffered text, that of streams that the code has put into `sys` included."""
        for name, own in self.own.items():
            stream = getattr(sys, name, None)
            if stream is not own and stream is not None:
                with suppress(Exception):
                    stream.flush()
        self.flush_own()

    def become_forked(self) -> None:
        """Write to the descriptors of a forked process, line by line as to a terminal.

        Such a process may be ended without a flush, as a pool ends its workers.
        """
        for name, below in self.below.items():
            below.become_forked()
            with suppress(ValueError):
                self.own[name].reconfigure(line_buffering=True)


class InputStream(io.TextIOBase):
    """`sys.stdin` of a cell: lines of the run's ``stdin=``, as `input` reads them."""

    encoding = "utf-8"

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        if not self._kernel._allow_stdin:
            return ""
        try:
            return str(self._kernel._input_request("", [], self._kernel.get_parent("shell"))) + "\n"
        except EOFError:
            return ""

    def read(self, size: int | None = -1) -> str:
        return "".join(iter(self.readline, ""))


def _nothing() -> None:
    pass


_MISSING: Any = object()


def _is_detached(stream: io.TextIOWrapper) -> bool:
    try:
        return stream.buffer is None
    except ValueError:
        return True


def _is_closed(stream: Any) -> bool:
    try:
        return bool(getattr(stream, "closed", False))
    except ValueError:
        return True  # detached
    except Exception:  # noqa: BLE001 - an object of the code, which may do anything
        return False


class PeriodicFlush:
    """Thread that decides when printed text is sent.

    A line is sent as it is printed, so that nothing is lost if the process dies the moment after;
    but a flood is buffered, and sent every 20 ms and whenever the buffer is full.
    """

    _FIRST_S, _PERIOD_S, _HELD_S = 0.004, 0.02, 0.1
    _FLOOD_WRITES, _CALM_BYTES = 32, 1 << 10

    def __init__(self, wire: Wire, streams: TextStreams) -> None:
        self._wire = wire
        self._streams = streams
        self._gathering: set[str] = set()
        self._awake = threading.Event()
        self._pause = threading.Event()
        self._running = False
        for each in streams.below.values():
            each.on_late = self._awake.set
        _start_thread(self._loop)

    @contextmanager
    def during(self) -> Iterator[None]:
        """Flush periodically while the body runs."""
        self._running = True
        self._awake.set()
        try:
            yield
        finally:
            self._running = False
            self._awake.clear()

    def _loop(self) -> None:
        while True:
            self._awake.wait()
            if not self._running:
                self._flush_late()
                continue
            below = self._streams.below
            seen = {name: (each.writes, each.total) for name, each in below.items()}
            pause = self._FIRST_S
            while self._running:
                self._pause.wait(pause)
                pause = self._PERIOD_S
                with suppress(ValueError, OSError):
                    for name, each in below.items():
                        self._streams.flush_stream(name)
                        writes, total = seen[name]
                        self._choose(name, each.writes - writes, each.total - total)
                        seen[name] = each.writes, each.total
                    self._wire.flush()

    def _flush_late(self) -> None:
        """Send output of threads and tasks between two cells, as fast as the host reads it."""
        self._awake.clear()
        self._pause.wait(self._PERIOD_S)
        with suppress(OSError):
            self._wire.release()
            self._streams.flush_own()
            self._streams.report_dropped()
        if self._wire.holds:
            self._pause.wait(self._HELD_S)
            self._awake.set()

    def _choose(self, name: str, writes: int, written: int) -> None:
        gathering = name in self._gathering
        flood = written > self._CALM_BYTES if gathering else writes > self._FLOOD_WRITES
        if flood != gathering:
            self._streams.own[name].reconfigure(line_buffering=not flood)
            (self._gathering.add if flood else self._gathering.discard)(name)


def _start_thread(target: Callable[[], None]) -> None:
    """Start a daemon thread; retry while dying processes fill the machine's limit."""
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
    for method in (
        Wire.send,
        Wire.send_now,
        Wire.send_late,
        Wire._write,
        Wire.flush,
        CapturedStream.write,
        CapturedStream.flush,
        CapturedStream._send,
    )
)


def is_delivering(frame: FrameType | None) -> bool:
    """Return whether output is being written: an exception now would tear or repeat it."""
    for _ in range(8):
        if frame is None:
            return False
        if frame.f_code in _DELIVERY:
            return True
        frame = frame.f_back
    return False
