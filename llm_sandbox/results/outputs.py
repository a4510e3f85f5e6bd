"""Outputs of a run, in order: the items of `ExecutionResult.outputs`.

A MIME bundle is a mapping from MIME type to content: text as str, JSON types as JSON values, binary
content as base64 str, exactly as in the Jupyter messaging protocol.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.exceptions.plain import as_mapping, from_plain, to_plain
from llm_sandbox.results.bundles import Bundle

__all__ = [
    "BackgroundOutput",
    "ClearOutput",
    "DisplayOutput",
    "ErrorOutput",
    "ExecutionError",
    "Output",
    "ResultOutput",
    "StreamOutput",
    "TracebackFrame",
    "UpdateOutput",
    "from_dict",
    "last_displays",
    "to_dict",
]


@dataclass(frozen=True, slots=True)
class StreamOutput:
    """Text written to a standard stream."""

    type: ClassVar[Literal["stream"]] = "stream"
    """Tag in JSON."""
    name: Literal["stdout", "stderr"]
    """Name of the stream."""
    text: str
    """The text, control sequences included."""


@dataclass(frozen=True, slots=True)
class DisplayOutput:
    """Display (`display(...)`, a figure)."""

    type: ClassVar[Literal["display"]] = "display"
    """Tag in JSON."""
    data: Mapping[str, object]
    """MIME bundle."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Facts about the bundle, by MIME type; empty by default."""
    display_id: str | None = None
    """Handle for later updates; None when it cannot be updated."""


@dataclass(frozen=True, slots=True)
class UpdateOutput:
    """New content of an earlier display."""

    type: ClassVar[Literal["update"]] = "update"
    """Tag in JSON."""
    display_id: str
    """Handle of the display to replace."""
    data: Mapping[str, object]
    """MIME bundle."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Facts about the bundle, by MIME type; empty by default."""


@dataclass(frozen=True, slots=True)
class ClearOutput:
    """Request to clear the outputs so far."""

    type: ClassVar[Literal["clear"]] = "clear"
    """Tag in JSON."""
    wait: bool = False
    """Whether to clear only when the next output arrives."""


@dataclass(frozen=True, slots=True)
class ResultOutput:
    """The value of the last expression."""

    type: ClassVar[Literal["result"]] = "result"
    """Tag in JSON."""
    data: Mapping[str, object]
    """MIME bundle."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Facts about the bundle, by MIME type; empty by default."""
    execution_count: int | None = None
    """The interpreter's count of runs; None when it keeps none."""


@dataclass(frozen=True, slots=True)
class ErrorOutput:
    """Uncaught exception as the interpreter formats it."""

    type: ClassVar[Literal["error"]] = "error"
    """Tag in JSON."""
    name: str
    """Class of the exception."""
    value: str
    """Message of the exception."""
    traceback: tuple[str, ...] = ()
    """The formatted traceback, colour sequences included; empty by default."""


Output: TypeAlias = (
    StreamOutput | DisplayOutput | UpdateOutput | ClearOutput | ResultOutput | ErrorOutput
)


@dataclass(frozen=True, slots=True)
class BackgroundOutput:
    """Output of a run after its end, from a thread, a task or a process that it left running."""

    run: int | None
    """Number of the run in its session, from 1, as in `history`; None when several runs are
    possible."""
    output: Output
    """The output."""
    time: float
    """Time of receipt, in seconds since the epoch, on the host's clock."""
    dropped_bytes: int = 0
    """Number of preceding bytes that are not kept, because there were too many."""

    @property
    def stream(self) -> Literal["stdout", "stderr"] | None:
        """Stream that it was written to; None for a display or an error."""
        return self.output.name if isinstance(self.output, StreamOutput) else None

    @property
    def text(self) -> str:
        """Text that was written, or the plain text of a display."""
        if isinstance(self.output, StreamOutput):
            return self.output.text
        if isinstance(self.output, ErrorOutput):
            return "\n".join(self.output.traceback)
        data = getattr(self.output, "data", {})
        return str(data.get("text/plain", ""))


@dataclass(frozen=True, slots=True)
class TracebackFrame:
    """Frame of a traceback."""

    file: str
    """File name, or the interpreter's name of the cell."""
    line: int | None = None
    """Line in that file, from 1; None when unknown."""
    function: str = ""
    """Function name; empty when unknown."""
    source: str = ""
    """The line's text; empty when unknown."""


@dataclass(frozen=True, slots=True)
class ExecutionError:
    """Reason of a failed run, as data."""

    name: str
    """Class of the exception."""
    value: str = ""
    """Message of the error."""
    frames: tuple[TracebackFrame, ...] = ()
    """The traceback, outermost frame first; empty by default."""
    line: int | None = None
    """Line in the user's code, from 1; None when unknown."""
    kind: Literal["exception", "syntax", "exit", "compile", "input", "blocked"] = "exception"
    """Kind of failure: an exception, a syntax error, an exit, a compiler error, missing input, or
    code that the security policy refuses."""
    column: int | None = None
    """Column in that line, from 1, if a compiler names one; None when unknown."""
    file: str | None = None
    """File that a compiler names, ``main.cpp`` for the code itself; None without one."""
    errno: int | None = None
    """Error number of the operating system, of the exception or of its cause; None without one."""
    filename: str | None = None
    """Path of the operating system's error; None without one."""

    def to_dict(self) -> dict[str, object]:
        """Return the error as JSON-able data."""
        return {
            "name": self.name,
            "value": self.value,
            "frames": [dataclasses.asdict(frame) for frame in self.frames],
            "line": self.line,
            "kind": self.kind,
            "column": self.column,
            "file": self.file,
            "errno": self.errno,
            "filename": self.filename,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> "ExecutionError":
        """Return the error that `to_dict` described; unknown fields are ignored."""
        frames = data.get("frames", ())
        if not isinstance(frames, (list, tuple)):
            raise ValidationError("the frames of an error must be a list", parameter="frames")
        known = _known(cls, data)
        known["frames"] = tuple(_build(TracebackFrame, frame) for frame in frames)
        return _build(cls, known)


_T = TypeVar("_T")


def _known(cls: type[Any], data: object) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise ValidationError(f"the data does not describe a {cls.__name__}")
    names = {item.name for item in dataclasses.fields(cls)}
    return {name: value for name, value in data.items() if name in names}


def _build(cls: type[_T], data: object) -> _T:
    try:
        return cls(**_known(cls, data))
    except TypeError as error:
        raise ValidationError(f"a field of {cls.__name__} is missing") from error


_BY_TYPE: dict[str, type[Output]] = {member.type: member for member in get_args(Output)}


def to_dict(output: Output) -> dict[str, object]:
    """Return an output as JSON-able data, tagged with its `type`."""
    names = [item.name for item in dataclasses.fields(output)]
    return {"type": output.type} | {name: to_plain(getattr(output, name)) for name in names}


def last_displays(
    outputs: Sequence[Output],
) -> "dict[int, DisplayOutput | UpdateOutput | ResultOutput]":
    """Return the displays in their final state: an update replaces its display.

    Args:
        outputs: All outputs of a run.

    Returns:
        The last form by the index of the first among the outputs, in order.
    """
    shown: dict[int, DisplayOutput | UpdateOutput | ResultOutput] = {}
    places: dict[str, int] = {}
    for index, output in enumerate(outputs):
        if isinstance(output, UpdateOutput):
            if output.display_id in places:
                shown[places[output.display_id]] = output
        elif isinstance(output, DisplayOutput | ResultOutput):
            shown[index] = output
            if isinstance(output, DisplayOutput) and output.display_id is not None:
                places[output.display_id] = index
    return shown


def from_dict(data: Mapping[str, object]) -> Output:
    """Return the output that `to_dict` described; unknown fields are ignored.

    Raises:
        ValidationError: the type is unknown or a required field is absent.
    """
    cls = _BY_TYPE.get(str(data.get("type")))
    if cls is None:
        raise ValidationError("the data does not describe an output", parameter="type")
    known = _known(cls, data)
    for name in ("data", "metadata"):
        if name in known:
            known[name] = as_mapping(known[name])
    if "data" in known:
        known["data"] = Bundle(known["data"])
    if cls is ErrorOutput:
        lines = from_plain(known.get("traceback", []))
        known["traceback"] = tuple(map(str, lines)) if isinstance(lines, list) else ()
    return _build(cls, known)
