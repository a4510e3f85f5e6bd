"""What a run or a command comes back with.

Results are immutable and complete: a run that ends badly still holds everything it put out before.
"""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from llm_sandbox import outputs as outputs_json
from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.outputs import ExecutionError, Output
from llm_sandbox.plain import as_mapping, to_plain
from llm_sandbox.plots import FileType, PlotOutput
from llm_sandbox.terminal import strip_controls

__all__ = [
    "SCHEMA",
    "ConsoleOutput",
    "ExecutionResult",
    "FileType",
    "PlotOutput",
    "ProcessResult",
    "StreamCallback",
    "Usage",
]

SCHEMA = 1
"""Version of the JSON form of results."""

StreamCallback = Callable[[str], None]
"""What is called with each piece of a stream as it arrives."""

_OUTSIDE = frozenset(
    {RunStatus.TIMEOUT, RunStatus.OOM, RunStatus.KILLED, RunStatus.CRASHED, RunStatus.BLOCKED}
)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run used."""

    wall_s: float = 0.0
    """Time from request to end, in seconds, on the host's clock."""
    cpu_s: float | None = None
    """CPU time in seconds; None when not known."""
    peak_memory_bytes: int | None = None
    """Largest memory in bytes; None when not known."""
    phases: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each phase by name, on the host's clock; empty by default."""

    def to_dict(self) -> dict[str, object]:
        """Return the usage as JSON-able data."""
        names = ("wall_s", "cpu_s", "peak_memory_bytes", "phases")
        return {name: to_plain(getattr(self, name)) for name in names}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the usage that `to_dict` described; unknown fields are ignored."""
        given: dict[str, Any] = as_mapping(dict(data))
        return cls(
            given.get("wall_s", 0.0),
            given.get("cpu_s"),
            given.get("peak_memory_bytes"),
            as_mapping(given.get("phases")),  # type: ignore[arg-type]
        )


@dataclass(frozen=True, slots=True)
class ConsoleOutput:
    """Exit status and streams of a command."""

    type: ClassVar[str] = "console"
    """Tag in JSON."""
    exit_code: int = 0
    """Exit status; 0 is success, 128+n is death by signal n."""
    stderr: str = ""
    """What was written to standard error."""
    stdout: str = ""
    """What was written to standard output."""

    def success(self) -> bool:
        """Return whether the exit status is 0."""
        return self.exit_code == 0

    def text(self) -> str:
        """Return `stdout`.

        Deprecated: read `stdout`.
        """
        warnings.warn("text() is deprecated; read stdout", DeprecationWarning, stacklevel=2)
        return self.stdout

    @property
    def safe_text(self) -> str:
        """Standard output, then standard error, without terminal control sequences."""
        between = "\n" if self.stdout and self.stderr and not self.stdout.endswith("\n") else ""
        return strip_controls(f"{self.stdout}{between}{self.stderr}")

    def to_dict(self) -> dict[str, object]:
        """Return the output as JSON-able data; `from_dict` brings it back."""
        return _dump(self, ConsoleOutput.__match_args__)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the output that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: `data` is of another schema or of another type.
        """
        return cls(**_load(cls, data))


@dataclass(frozen=True, slots=True, repr=False)
class ExecutionResult(ConsoleOutput):
    """What a run of code came back with."""

    type: ClassVar[str] = "result"
    """Tag in JSON."""
    plots: list[PlotOutput] = field(default_factory=list)
    """Figures, in the order they were shown."""
    status: RunStatus = RunStatus.OK
    """How the run ended."""
    outputs: tuple[Output, ...] = ()
    """Everything put out, in order."""
    error: ExecutionError | None = None
    """Why the run did not end well, as the interpreter says; None when it says nothing."""
    value: str | None = None
    """The last expression's value as text; None when it had none."""
    usage: Usage = field(default_factory=Usage)
    """What the run used."""
    state: StateOutcome = StateOutcome.KEPT
    """What became of the interpreter's variables."""
    execution_count: int | None = None
    """The interpreter's count of runs; None when it keeps none."""
    stdout_truncated: bool = False
    """Standard output was longer than what is kept."""
    stderr_truncated: bool = False
    """Standard error was longer than what is kept."""
    dropped_bytes: int = 0
    """Bytes of both streams that were not kept."""
    dropped_outputs: int = 0
    """Displays that were not kept because of a limit."""
    timed_out: bool = False
    """The deadline ended the run."""
    oom_killed: bool = False
    """The memory limit ended the run."""
    signal: int | None = None
    """The signal that ended the process; None when none did."""
    notes: tuple[str, ...] = ()
    """What the sandbox has to say about the run, a sentence each, by the host."""

    @property
    def trust(self) -> dict[str, tuple[str, ...]]:
        """Which fields were `measured` outside and which are `claimed` by code inside."""
        measured = ["usage.wall_s", "usage.phases", "state", "timed_out", "oom_killed", "signal"]
        claimed = ["stdout", "stderr", "plots", "outputs", "error", "value", "execution_count"]
        # Counted where the output is produced, which user code can reach.
        claimed += ["stdout_truncated", "stderr_truncated", "dropped_bytes", "dropped_outputs"]
        claimed += ["usage.cpu_s", "usage.peak_memory_bytes"]
        # An interpreter reports its own good or bad end; only the host sees these other endings.
        (measured if self.status in _OUTSIDE else claimed).extend(("status", "exit_code"))
        return {"measured": (*measured, "notes"), "claimed": tuple(claimed)}

    def __repr__(self) -> str:
        parts = [f"status={self.status.value!r}", f"exit_code={self.exit_code}"]
        for name in ("stdout", "stderr"):
            text = getattr(self, name)
            if text:
                cut = ", truncated" if getattr(self, f"{name}_truncated") else ""
                parts.append(f"{name}=<{len(text)} characters{cut}>")
        if self.plots:
            parts.append(f"plots={len(self.plots)}")
        if self.error is not None:
            parts.append(f"error={strip_controls(self.error.name)[:80]!r}")
        return f"ExecutionResult({', '.join(parts)})"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        text = self.safe_text.rstrip("\n")
        summary = [repr(self), text] if text else [repr(self)]
        bundle: dict[str, object] = {"text/plain": "\n".join([*summary, *self.notes])}
        # trust: plots come from inside; only raster images are shown without being asked for.
        shown = [p for p in self.plots if p.format in (FileType.PNG, FileType.JPEG)]
        if shown:
            bundle[shown[-1].format.mime] = shown[-1].content_base64
        return bundle

    def to_dict(self, *, include_plots: bool = True) -> dict[str, object]:
        """Return the result as JSON-able data; `from_dict` brings it back.

        Args:
            include_plots: Keep the plots' content. Without it `plots` names formats and sizes only,
                and image content is left out of the displays in `outputs`.
        """
        data = _dump(self, ExecutionResult.__match_args__)
        data["plots"] = [plot.to_dict(include_content=include_plots) for plot in self.plots]
        items = [outputs_json.to_dict(item) for item in self.outputs]
        data["outputs"] = items if include_plots else [_without_images(item) for item in items]
        data["error"] = None if self.error is None else self.error.to_dict()
        data["usage"] = self.usage.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the result that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: `data` is of another schema, of another type, or malformed.
        """
        given = _load(cls, data)
        readers: dict[str, Callable[[Any], object]] = {
            "plots": lambda items: [PlotOutput.from_dict(item) for item in items],
            "outputs": lambda items: tuple(outputs_json.from_dict(item) for item in items),
            "error": lambda item: None if item is None else ExecutionError.from_dict(item),
            "usage": Usage.from_dict,
            "status": RunStatus,
            "state": StateOutcome,
            "notes": tuple,
        }
        try:
            for name in readers.keys() & given.keys():
                given[name] = readers[name](given[name])
        except (TypeError, ValueError, AttributeError) as error:
            raise ValidationError("the data does not describe a result") from error
        return cls(**given)

    def to_json(self, indent: int | None = None, include_plots: bool = True) -> str:
        """Return the result as strict JSON text; see `to_dict`."""
        return json.dumps(self.to_dict(include_plots=include_plots), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the result that `to_json` wrote.

        Raises:
            ValidationError: `text` is not JSON of this schema.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValidationError("the text is not JSON") from error
        if not isinstance(data, dict):
            raise ValidationError("the JSON text does not describe a result")
        return cls.from_dict(data)


@dataclass(frozen=True, slots=True)
class ProcessResult(ConsoleOutput):
    """What a process came back with."""

    type: ClassVar[str] = "process"
    """Tag in JSON."""
    command: tuple[str, ...] = ()
    """The command's words."""
    signal: int | None = None
    """The signal that ended the process; None when none did."""
    timed_out: bool = False
    """The deadline ended the process."""
    oom_killed: bool = False
    """The memory limit ended the process."""
    stdout_truncated: bool = False
    """Standard output was longer than what is kept."""
    stderr_truncated: bool = False
    """Standard error was longer than what is kept."""
    dropped_bytes: int = 0
    """Bytes of both streams that were not kept."""
    duration_s: float = 0.0
    """Time from start to end, in seconds, on the host's clock."""

    def to_dict(self) -> dict[str, object]:
        """Return the result as JSON-able data; `from_dict` brings it back."""
        return _dump(self, ProcessResult.__match_args__)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the result that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: `data` is of another schema or of another type.
        """
        given = _load(cls, data)
        given["command"] = tuple(given.get("command", ()))
        return cls(**given)


def _dump(output: ConsoleOutput, names: tuple[str, ...]) -> dict[str, object]:
    data: dict[str, object] = {"schema": SCHEMA, "type": output.type}
    special = {"plots", "outputs", "error", "usage"}
    data.update({n: to_plain(getattr(output, n)) for n in names if n not in special})
    return data


def _load(cls: type[ConsoleOutput], data: Mapping[str, object]) -> dict[str, Any]:
    if data.get("schema") != SCHEMA:
        raise ValidationError(
            f"this version reads results of schema {SCHEMA} only", parameter="schema"
        )
    if data.get("type") != cls.type:
        raise ValidationError(f"the data is not of type {cls.type!r}", parameter="type")
    return {name: data[name] for name in cls.__match_args__ if name in data}


def _without_images(item: dict[str, object]) -> dict[str, object]:
    bundle = item.get("data")
    if not isinstance(bundle, dict):
        return item
    kept = {m: c for m, c in bundle.items() if not m.startswith("image/") and m not in _HEAVY}
    return item | {"data": kept}


_HEAVY = frozenset({FileType.PDF.mime})
