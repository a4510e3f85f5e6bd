"""What is told of a run: numbers and words of this library, never what the code holds or says."""

import builtins
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, Protocol, cast

from llm_sandbox import exceptions
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.exceptions.plain import to_plain

__all__ = [
    "FIELDS",
    "OTHER",
    "RecordKind",
    "RecordStatus",
    "RunContent",
    "RunObserver",
    "RunRecord",
    "check_observer",
    "checked_observers",
    "told_name",
]

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


OTHER = "other"
"""Stands for every name that is not told."""

_OF_PYTHON = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
_OF_LANGUAGES = {
    *("CompileError", "UnresolvedReference", "BashError", "ExitStatus", "panic", "fatal error"),
    *("RangeError", "URIError", "EvalError", "AggregateError", "InternalError"),
    *("NoMethodError", "ArgumentError", "NotImplementedError", "FrozenError", "IOError"),
    *("LoadError", "RegexpError", "StopIteration", "Interrupt", "SystemStackError"),
    *("java.lang.ArithmeticException", "java.lang.NullPointerException", "java.lang.Error"),
    *("java.lang.ArrayIndexOutOfBoundsException", "java.lang.ClassCastException"),
    *("java.lang.IllegalArgumentException", "java.lang.IllegalStateException"),
    *("java.lang.NumberFormatException", "java.lang.RuntimeException"),
    *("java.lang.OutOfMemoryError", "java.lang.StackOverflowError"),
    *("std::bad_alloc", "std::invalid_argument", "std::logic_error", "std::out_of_range"),
    *("std::runtime_error", "std::exception"),
}
_KNOWN = frozenset(_OF_PYTHON | _OF_LANGUAGES | set(exceptions.__all__))


def told_name(name: str | None) -> str | None:
    """Return an error's name if it may be told, ``other`` if not, None for None.

    Args:
        name: The name, which code may have chosen.
    """
    # trust: a class in the sandbox can be called anything, a secret included.
    if name is None:
        return None
    return name if name in _KNOWN else OTHER


def check_observer(observer: object) -> RunObserver:
    """Return an observer that can be called with a record.

    Raises:
        ValidationError: It cannot be called, or is a coroutine function, which nobody would await.
    """
    if isinstance(observer, type) or not callable(observer):
        kind = observer.__name__ if isinstance(observer, type) else type(observer).__name__
        raise ValidationError(
            f"an observer is called with each RunRecord, which {kind!r} cannot be",
            parameter="observers",
            hint=f"give an instance: observers=[{kind}(...)]"
            if isinstance(observer, type)
            else "give a function of one argument",
        )
    if inspect.iscoroutinefunction(observer) or inspect.iscoroutinefunction(
        getattr(observer, "__call__", None)  # noqa: B004 - an instance's method is what is looked at
    ):
        raise ValidationError(
            "an observer is called in the thread of the run, and a coroutine would not be awaited",
            parameter="observers",
            hint="give a function that hands the record to the event loop: "
            "lambda record: loop.call_soon_threadsafe(queue.put_nowait, record)",
        )
    return cast(RunObserver, observer)


def checked_observers(observers: object) -> tuple[RunObserver, ...]:
    """Return a session's observers.

    Raises:
        ValidationError: They are no sequence, or one of them is no observer.
    """
    if callable(observers) or isinstance(observers, str) or not isinstance(observers, Sequence):
        kind = type(observers).__name__
        raise ValidationError(
            f"observers must be a list, not {kind}",
            parameter="observers",
            hint="observers=[...]",
        )
    return tuple(check_observer(observer) for observer in observers)
