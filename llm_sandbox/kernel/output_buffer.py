"""Output of a run, collected in order and within limits."""

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from llm_sandbox.guest.audit_events import MAX_OBSERVATIONS, MAX_SUBJECT, is_possible
from llm_sandbox.limits import Limits
from llm_sandbox.results.bundles import Bundle
from llm_sandbox.results.findings import Observation
from llm_sandbox.results.outputs import (
    ClearOutput,
    DisplayOutput,
    ErrorOutput,
    ExecutionError,
    Output,
    ResultOutput,
    StreamOutput,
    TracebackFrame,
    UpdateOutput,
)

__all__ = [
    "OUTPUT_KINDS",
    "ObservationLog",
    "OutputBuffer",
    "OutputCallback",
    "StreamName",
    "read_stream_name",
]

_LARGEST_COUNT = 1 << 53
_STARTS = ("process.run", "process.fork")
_MOST_CALLS = 2 * MAX_OBSERVATIONS


class ObservationLog:
    """Merged observations of one run: those reported at once, and those with the reply.

    Without a reply the observations are known, but not their counts. Without a kernel there are
    none.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], int] = {}
        self._calls = 0

    def add(self, report: object) -> None:
        """Add a report; ignore invalid observations."""
        self._calls += 1
        if not isinstance(report, list) or self._calls > _MOST_CALLS:
            return
        # trust: made inside, where user code can forge it: types, words and numbers are checked.
        for entry in report[:MAX_OBSERVATIONS]:
            if not isinstance(entry, list) or len(entry) != 4:
                continue
            event, capability, subject, count = entry
            if not all(isinstance(word, str) for word in (event, capability, subject)):
                continue
            if not is_possible(event, capability) or not _is_count(count):
                continue
            text = subject[:MAX_SUBJECT].encode("utf-8", "backslashreplace").decode()[:MAX_SUBJECT]
            key = (event, capability, text)
            if key in self._counts or len(self._counts) < MAX_OBSERVATIONS:
                self._counts[key] = max(count, self._counts.get(key, 0))

    @property
    def started_process(self) -> bool:
        """Whether the run was observed to start a process."""
        return any(capability in _STARTS for _, capability, _ in self._counts)

    @property
    def is_full(self) -> bool:
        """Whether no more observations are stored."""
        return len(self._counts) >= MAX_OBSERVATIONS

    def finish(self) -> tuple[Observation, ...]:
        """Return the observations, in the order of their first occurrence."""
        return tuple(Observation(*key, count) for key, count in self._counts.items())


def _is_count(value: object) -> bool:
    return type(value) is int and 0 < value < _LARGEST_COUNT


StreamName = Literal["stdout", "stderr"]
OutputCallback = Callable[[Output], None]

_DISPLAYS = ("display_data", "execute_result", "update_display_data")
OUTPUT_KINDS = (*_DISPLAYS, "clear_output", "error")
"""Message types that are outputs, besides streams."""
_MAX_ERRORS = 20
_MAX_OUTPUTS = 10_000
_ENVELOPE = 8 << 10
"""Bytes of a message besides its content."""
_TOTAL_DISPLAYS = 4
"""Limit of all displays of a run, in multiples of the limit of one."""
_LONGEST = 1 << 20
"""Limit of an error's name, message or line in characters; the interpreter sends fewer."""
_MOST_LINES = 1000
_ERROR_KINDS = ("exception", "syntax", "exit", "compile", "input")


@dataclass
class _Stream:
    """State of one stream: stored text, and the count of the rest."""

    room: int
    rest: bytes = b""
    """Bytes of an incomplete character."""
    dropped: int = 0

    def decode(self, data: bytes | memoryview, *, final: bool = False) -> str:
        """Decode bytes; `final` when no more will come."""
        # trust: bytes from inside; whatever does not decode is shown as an escape.
        joined = self.rest + data if self.rest else data
        text, used = codecs.utf_8_decode(joined, "backslashreplace", final)
        self.rest = bytes(joined[used:])
        return text


class OutputBuffer:
    """Collector of a run's messages and raw bytes as ordered outputs.

    Args:
        limits: Limits of each stream, and of the number and size of displays.
        on_output: Callback for each output as it arrives, a stream's text in pieces.

    Attributes:
        observed: Observations of the run.
    """

    def __init__(self, limits: Limits, on_output: OutputCallback | None = None) -> None:
        self._limits = limits
        self._on_output = on_output
        self._streams = {
            name: _Stream(limits.output_bytes) for name in ("stdout", "stderr", "fd1", "fd2")
        }
        self._outputs: list[Output] = []
        self._pieces: list[str] = []
        self._overflow: dict[StreamName, list[str]] = {"stdout": [], "stderr": []}
        self._open: StreamName | None = None
        self._counts = {"display": 0, "error": 0}
        self._kept_bytes = 0
        self.observed = ObservationLog()
        self.dropped_outputs = self.dropped_displays = 0
        self.error: ExecutionError | None = None
        self.value: str | None = None
        self.callback_error: Exception | None = None

    @property
    def largest(self) -> int:
        """Maximum size of one message in bytes."""
        return self._limits.display_bytes + _ENVELOPE

    # --- in

    def add_bytes(self, name: StreamName, data: bytes | memoryview, *, raw: bool = False) -> None:
        """Add stream bytes.

        Args:
            name: Name of the stream.
            data: The bytes; a character may be split between two calls.
            raw: Whether the bytes bypassed the interpreter, through the process's own descriptor.
        """
        key = {"stdout": "fd1", "stderr": "fd2"}[name] if raw else name
        stream = self._streams[key]
        shared = self._streams[name]
        kept = data[: max(0, shared.room)]
        shared.room -= len(kept)
        shared.dropped += len(data) - len(kept)
        if kept:
            self._add_text(name, stream.decode(kept))

    def admits(self, kind: str, size: int) -> bool:
        """Check one more message against the limits, before it is unpacked.

        Args:
            kind: Type of the message.
            size: Size of the message on the wire, in bytes.

        Returns:
            Whether to add the message.
        """
        if kind in _DISPLAYS:
            return self._admit(size, "display")
        return kind != "error" or self._admit(size, "error")

    def add_message(self, kind: str, content: dict[str, Any]) -> None:
        """Add a display, result, update, clear or error message that was admitted; others are
        ignored.

        Args:
            kind: Type of the message.
            content: Content of the message.

        Raises:
            KeyError, TypeError, ValueError: The message is malformed.
        """
        if kind in _DISPLAYS:
            self._add_display(kind, content)
        elif kind == "clear_output":
            clear = ClearOutput(bool(content.get("wait", False)))
            if self._open is not None or self._outputs[-1:] != [clear]:
                self._add(clear)
        elif kind == "error":
            name, value = str(content["ename"])[:_LONGEST], str(content["evalue"])[:_LONGEST]
            lines = tuple(str(line)[:_LONGEST] for line in content["traceback"][:_MOST_LINES])
            self._add(ErrorOutput(name, value, lines))
            self.error = _read_error(name, value, content)

    def _add_display(self, kind: str, content: dict[str, Any]) -> None:
        data, metadata = content["data"], content.get("metadata", {})
        display_id = content.get("transient", {}).get("display_id")
        count = content.get("execution_count")
        # trust: types are checked here, so that nothing after this has to.
        if not isinstance(data, dict) or not isinstance(metadata, dict):
            raise TypeError("invalid display: expected a MIME bundle")
        about = Bundle(metadata)
        detail = about.get("llm_sandbox")
        if isinstance(detail, dict) and "left_out_bytes" in detail:
            self.dropped_outputs += 1
            self.dropped_displays += 1
        if kind == "execute_result":
            text = data.get("text/plain")
            self.value = text if isinstance(text, str) else None
        if kind == "display_data":
            known = display_id if isinstance(display_id, str) else None
            self._add(DisplayOutput(Bundle(data), about, known))
        elif kind == "execute_result":
            number = count if isinstance(count, int) else None
            self._add(ResultOutput(Bundle(data), about, number))
        elif isinstance(display_id, str):
            self._add(UpdateOutput(display_id, Bundle(data), about))

    def set_error(self, error: ExecutionError | None) -> None:
        """Set an error that was parsed from the text of a stream."""
        self.error = error

    def add_dropped(self, counts: dict[StreamName, int]) -> None:
        """Count bytes that were dropped before sending.

        Raises:
            ValueError: The count is invalid.
        """
        for name, count in counts.items():
            if not 0 <= count < _LARGEST_COUNT:
                raise ValueError("invalid count: out of range")
            self._streams[name].dropped += count

    def _admit(self, size: int, what: Literal["display", "error"]) -> bool:
        """Return whether one more display or error of `size` bytes is stored."""
        limits = self._limits
        self._counts[what] += 1
        most = limits.displays if what == "display" else _MAX_ERRORS
        room = _TOTAL_DISPLAYS * limits.display_bytes - self._kept_bytes
        if self._counts[what] > most or size > self.largest or size > room:
            self.dropped_outputs += 1
            self.dropped_displays += what == "display"
            return False
        self._kept_bytes += size
        return True

    def _add_text(self, name: StreamName, text: str) -> None:
        if not text:
            return
        if self._open != name:
            if len(self._outputs) >= _MAX_OUTPUTS:
                # An interleaving this fine is kept as text and not as order.
                self._overflow[name].append(text)
                self._tell(StreamOutput(name, text))
                return
            self._close_stream()
            self._open = name
        self._pieces.append(text)
        self._tell(StreamOutput(name, text))

    def _add(self, output: Output) -> None:
        self._close_stream()
        self._outputs.append(output)
        self._tell(output)

    def _close_stream(self) -> None:
        if self._open is not None:
            self._outputs.append(StreamOutput(self._open, "".join(self._pieces)))
            self._open, self._pieces = None, []

    def _tell(self, output: Output) -> None:
        if self._on_output is None or self.callback_error is not None:
            return
        try:
            self._on_output(output)
        except Exception as error:  # noqa: BLE001 - kept, and raised when the run is complete
            self.callback_error = error

    # --- out

    def finish(self) -> tuple[Output, ...]:
        """Return all outputs in order; nothing may be added afterwards."""
        for name in ("stdout", "stderr"):
            for key in (name, {"stdout": "fd1", "stderr": "fd2"}[name]):
                rest = self._streams[key].decode(b"", final=True)
                self._add_text(name, rest)
        self._close_stream()
        for name, pieces in self._overflow.items():
            if pieces:
                self._outputs.append(StreamOutput(name, "".join(pieces)))
        return tuple(self._outputs)

    def dropped(self, name: StreamName) -> int:
        """Return the number of dropped bytes of a stream."""
        return self._streams[name].dropped


def _read_error(name: str, value: str, content: dict[str, Any]) -> ExecutionError:
    # trust: the kernel's word; types are checked, truth cannot be.
    detail = content.get("llm_sandbox") or {}
    frames = tuple(
        TracebackFrame(
            str(frame.get("file", "")),
            frame["line"] if isinstance(frame.get("line"), int) else None,
            str(frame.get("function", "")),
            str(frame.get("source", "")),
        )
        for frame in detail.get("frames", ())
    )
    line, column, file = (detail.get(key) for key in ("line", "column", "file"))
    errno, filename = detail.get("errno"), detail.get("filename")
    kind = detail.get("kind")
    return ExecutionError(
        name,
        value,
        frames,
        line if isinstance(line, int) else None,
        kind if kind in _ERROR_KINDS else "exception",
        column if isinstance(column, int) else None,
        file if isinstance(file, str) else None,
        errno if isinstance(errno, int) else None,
        filename[:_LONGEST] if isinstance(filename, str) else None,
    )


def read_stream_name(name: object) -> StreamName:
    """Return the validated name of a stream.

    Raises:
        ValueError: The stream does not exist.
    """
    if name == "stdout":
        return "stdout"
    if name == "stderr":
        return "stderr"
    raise ValueError(f"unknown stream {name!r}")
