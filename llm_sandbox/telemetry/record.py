"""What is told of a run: numbers and words of this library, never what the code holds or says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, Protocol

from llm_sandbox.exceptions.plain import to_plain

__all__ = ["FIELDS", "RecordKind", "RecordStatus", "RunContent", "RunObserver", "RunRecord"]

RecordKind = Literal["run", "command", "install"]
"""``run``: `BaseSession.run`; ``command``: `execute_command`; ``install``: `install`, which `open`
calls for a session's own libraries, too."""

RecordStatus = Literal[
    "ok",
    "error",
    "exited",
    "timeout",
    "oom",
    "killed",
    "crashed",
    "blocked",
    "interrupted",
    "failed",
]
"""How it ended: a `RunStatus`; ``interrupted``: it was stopped from this side, by `interrupt`, by
cancelling, by closing or by a key press; ``failed``: the library could not do it, and raised."""


@dataclass(frozen=True, slots=True)
class RunContent:
    """What a record leaves out unless its observer is in a `WithContent`, which cuts each text."""

    code: str = ""
    """The code, the command line, or the libraries of an installation."""
    stdout: str = ""
    """What was written to standard output."""
    stderr: str = ""
    """What was written to standard error."""
    value: str | None = None
    """The last expression's value as text; None when it had none."""
    error: str | None = None
    """The error's own name and message; None when there was none."""
    names: tuple[str, ...] = ()
    """Names of artifacts and files, the first 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run, command or installation, after it has ended.

    No field holds code, output, messages, or names that code has chosen. Bytes, counts, CPU time
    and memory come from inside the sandbox, whose code could forge them; times and endings by
    timeout, memory and signal are measured outside.
    """

    kind: RecordKind
    """What was done."""
    status: RecordStatus
    """How it ended."""
    started_at: datetime
    """When it was asked for, in UTC."""
    duration_s: float
    """Seconds from then until its end, on the host's clock."""
    session_id: str | None
    """Id of the session's sandbox; None when the session was not open."""
    backend: str
    """Name of the backend."""
    language: str
    """Language of the session."""
    exit_code: int | None = None
    """Exit code; None when there is none, as of what failed and of installations."""
    signal: int | None = None
    """The signal that ended it; None when none did."""
    error_type: str | None = None
    """Name of the error: that of an exception of Python, of another language's own or of this
    library; ``other`` for any else, since names can carry content. None when there was none."""
    phases: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Seconds of each phase by name: ``prepare``, ``execute``, ``recover``, ``collect``; empty
    when it had none."""
    cpu_s: float | None = None
    """CPU time in seconds; None when not known."""
    peak_memory_bytes: int | None = None
    """Largest memory in bytes; None when not known."""
    stdout_bytes: int = 0
    """Bytes of standard output that were kept."""
    stderr_bytes: int = 0
    """Bytes of standard error that were kept."""
    dropped_bytes: int = 0
    """Bytes of both streams that were not kept."""
    stdout_truncated: bool = False
    """Standard output was longer than what is kept."""
    stderr_truncated: bool = False
    """Standard error was longer than what is kept."""
    artifact_count: int = 0
    """Artifacts: what was shown, and files that were made or changed."""
    plot_count: int = 0
    """Figures."""
    file_count: int = 0
    """Files that were made or changed."""
    dropped_outputs: int = 0
    """Displays that were not kept because of a limit."""
    library_count: int = 0
    """Libraries that were asked for."""
    policy_rules: tuple[str, ...] = ()
    """Rules of the security policy that applied, each once, in the order of their names; empty
    without a policy."""
    tool_call_id: str | None = None
    """The model's tool call that it belongs to; None when `tool_call_id` was not used."""
    content: RunContent | None = field(default=None, repr=False)
    """What it was about; None unless the observer is in a `WithContent`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "phases", MappingProxyType(dict(self.phases)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A view of a mapping cannot be pickled, and records go to other processes.
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return _restored, ({**values, "phases": dict(self.phases)},)

    @property
    def ok(self) -> bool:
        """Whether it ended well: of status ``ok``, or it exited with 0."""
        return self.status == "ok" or (self.status == "exited" and self.exit_code == 0)

    def to_dict(self) -> dict[str, object]:
        """Return the record as JSON-able data, without `content` when there is none."""
        data = {name: to_plain(getattr(self, name)) for name in FIELDS}
        data["started_at"] = self.started_at.isoformat()
        if self.content is not None:
            names = RunContent.__dataclass_fields__
            data["content"] = {name: to_plain(getattr(self.content, name)) for name in names}
        return data


def _restored(values: dict[str, Any]) -> RunRecord:
    return RunRecord(**values)


FIELDS = tuple(name for name in RunRecord.__dataclass_fields__ if name != "content")
"""Names of a record's fields, but for `content`."""


class RunObserver(Protocol):
    """Whoever wants to hear of what a session ran: anything that can be called with a record."""

    def __call__(self, record: RunRecord, /) -> object:
        """Take a record. Called in the thread of the run, once it has ended, whatever its end; what
        is raised is logged once and disturbs nothing.
        """
