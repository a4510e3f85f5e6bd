"""Background output: what ended runs print, stored until it is taken."""

import codecs
import collections
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from llm_sandbox.guest import frames
from llm_sandbox.kernel.output_buffer import (
    OUTPUT_KINDS,
    OutputBuffer,
    StreamName,
    read_stream_name,
)
from llm_sandbox.limits import Limits
from llm_sandbox.results.outputs import BackgroundOutput, Output, StreamOutput

__all__ = ["Background", "BackgroundCallback"]

BackgroundCallback = Callable[[BackgroundOutput], None]

logger = logging.getLogger("llm_sandbox")

_MOST_RUNS = 10_000
_MOST_RECORDS = 10_000
_RECORD_CHARACTERS = 1 << 16
_LARGEST_COUNT = 1 << 53


@dataclass
class _Entry:
    """Record to which more may be added."""

    run: int | None
    output: Output
    size: int
    dropped: int = 0
    time: float = field(default_factory=time.time)
    pieces: list[str] = field(default_factory=list)

    def finish(self) -> BackgroundOutput:
        """Return the finished record."""
        output = self.output
        if isinstance(output, StreamOutput):
            output = StreamOutput(output.name, "".join(self.pieces))
        return BackgroundOutput(self.run, output, self.time, self.dropped)


class Background:
    """Background output of one session, within limits; safe between threads that take it.

    The oldest output is dropped beyond the limits, and counted.

    Args:
        limits: Limits: as many bytes as one run's stream and one display together.

    Attributes:
        callback: Called with each piece as it is received; None for nobody.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._most = limits.output_bytes + limits.display_bytes
        self._entries: collections.deque[_Entry] = collections.deque()
        self._lock = threading.RLock()
        self._size = 0
        self._lost = 0
        self._runs: collections.OrderedDict[str, int] = collections.OrderedDict()
        self._count = 0
        self._starters: list[int] = []
        self._decoders: dict[tuple[int | None, str], codecs.IncrementalDecoder] = {}
        self._news: dict[int | None, int] = {}
        self.callback: BackgroundCallback | None = None

    # --- runs

    def begin_run(self) -> int:
        """Count a run; return its number."""
        self._count += 1
        return self._count

    def sent(self, request: str) -> None:
        """Set the request of the last run."""
        self._runs[request] = self._count
        if len(self._runs) > _MOST_RUNS:
            self._runs.popitem(last=False)

    def settle_processes(self, *, started: bool, others: bool) -> None:
        """Record after a run which runs' processes may write to the pipes from now on.

        Args:
            started: Whether the run was observed to start a process.
            others: Whether processes of earlier runs existed when it began.
        """
        if not others:
            self._starters.clear()
        if started:
            self._starters.append(self._count)

    @property
    def has_processes(self) -> bool:
        """Whether processes of earlier runs may write to the pipes, as far as was observed."""
        return bool(self._starters)

    def forget_processes(self) -> None:
        """Record that the processes of earlier runs are gone with their interpreter."""
        self._starters.clear()

    @property
    def writer(self) -> int | None:
        """Run whose processes write to the pipes between runs; None when it is unknown."""
        known = self._starters or ([1] if self._count == 1 else [])
        return known[0] if len(known) == 1 else None

    # --- in

    def take_frame(self, frame: frames.Frame) -> None:
        """Add a message that answers no pending request; ignore other messages than output.

        Raises:
            LookupError, TypeError, ValueError, AttributeError: The message is malformed.
        """
        with self._lock:
            self._take_frame(frame)

    def _take_frame(self, frame: frames.Frame) -> None:
        # trust: everything in the frame comes from inside.
        message = frame.message
        kind = message["header"]["msg_type"]
        if frame.channel != frames.IOPUB or kind.startswith("llm_sandbox"):
            return
        run = self._runs.get(str(message["parent_header"].get("msg_id")))
        detail = message["metadata"].get("llm_sandbox")
        if isinstance(detail, dict) and detail.get("run", run) is None:
            run = None  # the interpreter does not know
        if kind == "stream":
            dropped = _dropped(message["metadata"])
            self._lost += dropped
            data = bytes(frame.buffers[0]) if frame.buffers else message["content"]["text"].encode()
            self.add_bytes(read_stream_name(message["content"]["name"]), data, run)
            return
        collector = OutputBuffer(self._limits)
        if kind in OUTPUT_KINDS and collector.admits(kind, frame.size):
            frames.restore_bulk(message, frame.buffers, collector.largest)
            collector.add_message(kind, message["content"])
        self._lost += frame.size * collector.dropped_outputs
        for output in collector.finish():
            self._add(_Entry(run, output, frame.size))

    def add_bytes(self, name: StreamName, data: bytes, run: int | None) -> None:
        """Add the bytes of a stream."""
        with self._lock:
            self._add_bytes(name, data, run)

    def _add_bytes(self, name: StreamName, data: bytes, run: int | None) -> None:
        key = (run, name)
        decoder = self._decoders.get(key)
        if decoder is None:
            if len(self._decoders) >= _MOST_RECORDS:
                self._decoders.clear()
            decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
            self._decoders[key] = decoder
        text = decoder.decode(data)
        if not text and not self._lost:
            return
        last = self._entries[-1] if self._entries else None
        output = StreamOutput(name, text)
        if (
            last is not None
            and last.run == run
            and isinstance(last.output, StreamOutput)
            and last.output.name == name
            and last.size < _RECORD_CHARACTERS
            and not self._lost
        ):
            last.pieces.append(text)
            self._grow(last, len(data))
            self._tell(BackgroundOutput(run, output, time.time()))
            return
        self._add(_Entry(run, output, len(data), pieces=[text]))

    def add(self, record: BackgroundOutput) -> None:
        """Add a record that another process has received."""
        size = len(record.text)
        with self._lock:
            self._lost += record.dropped_bytes
            entry = _Entry(record.run, record.output, size, time=record.time, pieces=[record.text])
            self._add(entry)

    def _add(self, entry: _Entry) -> None:
        entry.dropped, self._lost = self._lost, 0
        size, entry.size = entry.size, 0
        self._entries.append(entry)
        self._grow(entry, size)
        self._tell(BackgroundOutput(entry.run, entry.output, entry.time, entry.dropped))

    def _grow(self, entry: _Entry, size: int) -> None:
        entry.size += size
        self._size += size
        self._news[entry.run] = self._news.get(entry.run, 0) + size
        while len(self._entries) > 1 and (
            self._size > self._most or len(self._entries) > _MOST_RECORDS
        ):
            oldest = self._entries.popleft()
            self._size -= oldest.size
            self._entries[0].dropped += oldest.size + oldest.dropped

    def _tell(self, record: BackgroundOutput) -> None:
        if self.callback is None:
            return
        try:
            self.callback(record)
        except Exception:  # whoever runs code now is not whoever listens
            self.callback = None
            logger.exception("a callback for background output failed, and is called no more")

    # --- out

    def take(self) -> list[BackgroundOutput]:
        """Return the output since the last call, oldest first."""
        with self._lock:
            entries, self._entries = self._entries, collections.deque()
            self._size = 0
            self._news = {}
        return [entry.finish() for entry in entries]

    def notes(self, *, shared_pipes: bool) -> Iterator[str]:
        """Yield the notes for a run about processes that earlier runs left.

        Args:
            shared_pipes: Whether processes of earlier runs could write into the run's own output.
        """
        if shared_pipes:
            yield (
                "A process that an earlier run started was still there: what child processes wrote "
                "in this run may be its output."
            )
        news = self.news()
        if news is not None:
            yield news

    def news(self) -> str | None:
        """Return a sentence about new output since the last call of this or `take`;
        None for none.
        """
        with self._lock:
            news, self._news = self._news, {}
        if not news:
            return None
        runs = [f"run {run}" for run in sorted(run for run in news if run is not None)]
        named = ", ".join(runs[:5]) + (f" and {len(runs) - 5} more" if len(runs) > 5 else "")
        whose = " and ".join(filter(None, [named, "an unknown run" if None in news else ""]))
        return (
            f"Background output: {sum(news.values())} bytes came from what earlier runs left "
            f"running ({whose}); they are not in this result, session.background_output() has them."
        )


def _dropped(metadata: object) -> int:
    detail = metadata.get("llm_sandbox") if isinstance(metadata, dict) else None
    count = detail.get("dropped", 0) if isinstance(detail, dict) else 0
    if type(count) is not int or not 0 <= count < _LARGEST_COUNT:
        raise ValueError("invalid count: out of range")
    return count
