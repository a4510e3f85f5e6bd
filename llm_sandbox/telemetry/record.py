"""Records of runs for observers, without content of the code."""

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
"""Outcome: a `RunStatus`; ``interrupted``: stopped by the host, through `interrupt`, cancellation,
closing or a key press; ``failed``: the library raised an exception.
"""


@dataclass(frozen=True, slots=True)
class RunContent:
    """Content of a record, set only for an observer in `WithContent`, which cuts each text."""

    code: str = ""
    """Code, command line, or libraries of an installation."""
    stdout: str = ""
    """Standard output."""
    stderr: str = ""
    """Standard error."""
    value: str | None = None
    """Value of the last expression as text; None for none."""
    error: str | None = None
    """Name and message of the error; None for none."""
    names: tuple[str, ...] = ()
    """Names of artifacts and files, the first 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Record of an ended run, command or installation.

    No field holds code, output, messages, or names that code has chosen. Bytes, counts, CPU time
    and memory come from inside the sandbox, whose code could forge them; times and endings by
    timeout, memory and signal are measured outside.
    """

    kind: RecordKind
    """Kind of the operation."""
    status: RecordStatus
    """Outcome."""
    started_at: datetime
    """Time of the request, in UTC."""
    duration_s: float
    """Duration in seconds, on the host's clock."""
    session_id: str | None
    """Id of the sandbox; None if the session was not open."""
    backend: str
    """Name of the backend."""
    language: str
    """Language of the session."""
    exit_code: int | None = None
    """Exit code; None for failures and installations."""
    signal: int | None = None
    """Signal that ended the program; None for none."""
    error_type: str | None = None
    """Name of the error: a built-in exception of Python or another language, or one of this
    library; ``other`` for any other, since names can carry content. None for none.
    """
    phases: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Seconds of each phase by name: ``prepare``, ``execute``, ``recover``, ``collect``; empty for
    none.
    """
    cpu_s: float | None = None
    """CPU time in seconds; None if unknown."""
    peak_memory_bytes: int | None = None
    """Peak memory in bytes; None if unknown."""
    stdout_bytes: int = 0
    """Kept bytes of standard output."""
    stderr_bytes: int = 0
    """Kept bytes of standard error."""
    dropped_bytes: int = 0
    """Dropped bytes of both streams."""
    stdout_truncated: bool = False
    """Whether standard output was truncated."""
    stderr_truncated: bool = False
    """Whether standard error was truncated."""
    artifact_count: int = 0
    """Number of artifacts: displays, and created or changed files."""
    plot_count: int = 0
    """Number of figures."""
    file_count: int = 0
    """Number of created or changed files."""
    dropped_outputs: int = 0
    """Number of displays dropped because of a limit."""
    library_count: int = 0
    """Number of requested libraries."""
    policy_rules: tuple[str, ...] = ()
    """Distinct rules of the security policy that applied, sorted by name; empty without a policy.
    """
    tool_call_id: str | None = None
    """Id of the model's tool call; None if `tool_call_id` was not used."""
    content: RunContent | None = field(default=None, repr=False)
    """Content; None unless the observer is in a `WithContent`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "phases", MappingProxyType(dict(self.phases)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A view of a mapping cannot be pickled, and records go to other processes.
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return _restored, ({**values, "phases": dict(self.phases)},)

    @property
    def ok(self) -> bool:
        """Whether the operation succeeded: status ``ok``, or exit code 0."""
        return self.status == "ok" or (self.status == "exited" and self.exit_code == 0)

    def to_dict(self) -> dict[str, object]:
        """Return the record as JSON-able data, without an empty `content`."""
        data = {name: to_plain(getattr(self, name)) for name in FIELDS}
        data["started_at"] = self.started_at.isoformat()
        if self.content is not None:
            names = RunContent.__dataclass_fields__
            data["content"] = {name: to_plain(getattr(self.content, name)) for name in names}
        return data


def _restored(values: dict[str, Any]) -> RunRecord:
    return RunRecord(**values)


FIELDS = tuple(name for name in RunRecord.__dataclass_fields__ if name != "content")
"""Names of the fields of a record, except `content`."""


class RunObserver(Protocol):
    """Observer of a session's runs: a callable that takes a record."""

    def __call__(self, record: RunRecord, /) -> object:
        """Receive a record. Called in the thread of the run after every end; exceptions are logged
        once and have no effect.
        """


OTHER = "other"
"""Replacement for undisclosed names."""

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
    """Return the name of an error if it may be disclosed, otherwise ``other``; None for None.

    Args:
        name: Name, possibly chosen by the code.
    """
    # trust: a class in the sandbox can be called anything, a secret included.
    if name is None:
        return None
    return name if name in _KNOWN else OTHER


def check_observer(observer: object) -> RunObserver:
    """Return a valid observer.

    Raises:
        ValidationError: The observer is not callable, or a coroutine function, which would not be
            awaited.
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
        getattr(observer, "__call__", None)  # noqa: B004 - the method of an instance is needed
    ):
        raise ValidationError(
            "an observer is called in the thread of the run, and a coroutine would not be awaited",
            parameter="observers",
            hint="give a function that hands the record to the event loop: "
            "lambda record: loop.call_soon_threadsafe(queue.put_nowait, record)",
        )
    return cast(RunObserver, observer)


def checked_observers(observers: object) -> tuple[RunObserver, ...]:
    """Return the valid observers of a session.

    Raises:
        ValidationError: The argument is not a sequence of observers.
    """
    if callable(observers) or isinstance(observers, str) or not isinstance(observers, Sequence):
        kind = type(observers).__name__
        raise ValidationError(
            f"observers must be a list, not {kind}",
            parameter="observers",
            hint="observers=[...]",
        )
    return tuple(check_observer(observer) for observer in observers)
