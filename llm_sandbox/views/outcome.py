"""Outcome of a run as text: its status, and its error with the user's line."""

from collections.abc import Sequence

from llm_sandbox.const import RunCause, RunStatus, StateOutcome
from llm_sandbox.data import ExecutionResult
from llm_sandbox.results.outputs import ErrorOutput, ExecutionError, TracebackFrame
from llm_sandbox.views.sanitize import clean, cut_middle, fenced, one_line

__all__ = ["ErrorSection", "error_line", "status_lines", "user_frames"]

_MOST_FRAMES = 8
_MOST_NOTES = 8
_LEAST = 40
_LONGEST_SOURCE = 200

_ENDS = {
    RunStatus.OK: "ok",
    RunStatus.ERROR: "error",
    RunStatus.EXITED: "the program exited",
    RunStatus.TIMEOUT: "stopped at the time limit",
    RunStatus.OOM: "killed at the memory limit",
    RunStatus.KILLED: "killed",
    RunStatus.CRASHED: "the inside broke the protocol",
    RunStatus.BLOCKED: "refused by the policy; nothing ran",
}
_LIMITS: dict[RunCause | None, str] = {
    RunCause.CPU: "limit on CPU time",
    RunCause.MEMORY: "limit on memory",
    RunCause.PROCESSES: "limit on processes",
    RunCause.DISK: "a file system was full",
    RunCause.FILE_SIZE: "limit on the size of a file",
    RunCause.OPEN_FILES: "limit on open files",
}
"""Causes that the status does not name; the interpreter's claim if nothing else was measured."""


def status_lines(result: ExecutionResult) -> list[str]:
    """Return sentences about the end of a run and about missing output.

    Args:
        result: The run.
    """
    status = f"status: {_ENDS[result.status]}"
    if result.status is not RunStatus.OK or result.exit_code:
        status += f", exit code {result.exit_code}"
    if result.signal is not None:
        status += f", signal {result.signal}"
    if result.cause in _LIMITS:
        status += f" ({_LIMITS[result.cause]})"
    lines = [status]
    if result.state is not StateOutcome.KEPT:
        lines.append(f"variables: {result.state.value}")
    if result.dropped_bytes:
        cut = (("stdout", result.stdout_truncated), ("stderr", result.stderr_truncated))
        names = " and ".join(name for name, is_cut in cut if is_cut) or "output"
        lines.append(f"the limit on output dropped {result.dropped_bytes:,} bytes of {names}")
    if result.dropped_outputs:
        lines.append(f"the limits dropped {result.dropped_outputs:,} displays")
    lines += [f"note: {one_line(note, 400)}" for note in result.notes[:_MOST_NOTES]]
    return lines


def user_frames(error: ExecutionError) -> tuple[TracebackFrame, ...]:
    """Return the frames of the user's own code and the innermost one, outermost first."""
    last = len(error.frames) - 1
    return tuple(
        frame
        for place, frame in enumerate(error.frames)
        if frame.file.startswith("<cell") or place == last
    )[-_MOST_FRAMES:]


def error_line(error: ExecutionError, outputs: Sequence[object] = ()) -> str:
    """Return the source text of the user's line; empty when unknown.

    Args:
        error: The error.
        outputs: Outputs of the run, which hold the line of a syntax error.
    """
    for frame in reversed(error.frames):
        if frame.file.startswith("<cell") and frame.line == error.line and frame.source:
            return frame.source
    if error.kind != "syntax":
        return ""
    shown = next((item for item in reversed(outputs) if isinstance(item, ErrorOutput)), None)
    lines = shown.traceback if shown is not None else ()
    for place, line in enumerate(lines):
        if line.lstrip().startswith('File "<cell'):
            # The source stands below, and the interpreter's caret below that.
            below = lines[place + 1 : place + 3]
            return "\n".join(text for text in below if text.startswith("    "))
    return ""


class ErrorSection:
    """Error of a run: the user's line, the message, the innermost frames.

    The message is shortened last, in its middle.

    Args:
        error: The error.
        source: Text of the user's line; empty when unknown.
        longest: Most characters of the message that are read.
    """

    def __init__(self, error: ExecutionError, source: str = "", longest: int = 100_000) -> None:
        # trust: everything about an error is claimed inside.
        where = f" in line {error.line} of the code" if error.line else ""
        self._title = f"error{where}:"
        self._source = cut_middle(clean(cut_middle(source, 4 * _LONGEST_SOURCE)), _LONGEST_SOURCE)
        name = one_line(error.name, 100)
        message = clean(cut_middle(error.value, longest))
        self._message = f"{name}: {message}" if message else name
        frames = [_frame(frame) for frame in user_frames(error)]
        self._frames = frames if len(frames) > 1 else []

    @property
    def message_size(self) -> int:
        """Number of characters of the message and the user's line."""
        return len(self._message) + len(self._source)

    @property
    def size(self) -> int:
        """Number of characters of content."""
        return self.message_size + sum(len(frame) + 1 for frame in self._frames)

    def render(self, characters: int) -> str:
        """Return the section; see `Section`."""
        room = max(_LEAST, characters)
        source = self._source if len(self._source) <= room // 3 else ""
        if room >= self.message_size:
            source = self._source
        message = cut_middle(self._message, room - len(source))
        room -= len(source) + len(message)
        frames: list[str] = []
        for frame in reversed(self._frames):
            room -= len(frame) + 1
            if room < 0:
                break
            frames.insert(0, frame)
        body = "\n".join(part for part in (source, message, *frames) if part)
        return f"{self._title}\n{fenced(body)}"


def _frame(frame: TracebackFrame) -> str:
    place = one_line(frame.file, 120)
    place += f", line {frame.line}" if frame.line else ""
    place += f", in {one_line(frame.function, 80)}" if frame.function else ""
    source = one_line(frame.source)
    return f"  at {place}: {source}" if source else f"  at {place}"
