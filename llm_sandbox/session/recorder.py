"""Records of a session's runs for its observers; free of cost while there are none."""

import copy
import logging
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from llm_sandbox.const import RunStatus
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import (
    OutOfMemoryError,
    SandboxTimeoutError,
    SecurityViolationError,
    ValidationError,
)
from llm_sandbox.results.console import ConsoleOutput, ProcessResult
from llm_sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from llm_sandbox.telemetry import RecordKind, RecordStatus, RunContent, RunObserver, RunRecord

__all__ = ["NullSpan", "Recorder"]

logger = logging.getLogger("llm_sandbox")

_Result = TypeVar("_Result", bound=ConsoleOutput)


class NullSpan:
    """Context manager around a run, a command or an installation without observers."""

    __slots__ = ()

    def ended(self, result: _Result, *, stopped: bool = False) -> _Result:
        """Set the result, and return it.

        Args:
            result: The result.
            stopped: Whether the host had asked it to end.
        """
        del stopped
        return result

    def withdraw(self) -> None:
        """Make no record: nothing was run."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        pass


_NULL_SPAN = NullSpan()


class Recorder:
    """Maker of a record for whatever a session runs, passed to its observers.

    Args:
        backend: Name of the session's backend.
        language: Name of its language.
        observers: The first observers.
    """

    def __init__(self, backend: str, language: str, observers: "Sequence[RunObserver]") -> None:
        self.backend = backend
        self.language = language
        self._observers = tuple(observers)
        self._failed: list[RunObserver] = []
        self._was_stopped: Callable[[], bool] | None = None

    def add(self, observer: "RunObserver") -> None:
        """See `BaseSession.add_observer`."""
        from llm_sandbox.telemetry.record import check_observer

        # Replaced, never changed: a run that has begun keeps those that it began with.
        self._observers = (*self._observers, check_observer(observer))

    def remove(self, observer: "RunObserver") -> None:
        """See `BaseSession.remove_observer`."""
        left = list(self._observers)
        if observer not in left:
            raise ValidationError(
                f"invalid observer: expected one of this session's, got {observer!r}",
                parameter="observer",
            )
        left.remove(observer)
        self._observers = tuple(left)

    def stopped_by(self, was_stopped: Callable[[], bool]) -> "Recorder":
        """Return a recorder of the same observers for one call that another thread may stop.

        Args:
            was_stopped: Returns whether the call was stopped.
        """
        same = copy.copy(self)
        same._was_stopped = was_stopped
        return same

    def span(
        self,
        kind: "RecordKind",
        sandbox: Sandbox | None,
        text: str | Sequence[str],
        libraries: Sequence[str] | None = None,
    ) -> NullSpan:
        """Return the context manager of a run, a command or an installation.

        Args:
            kind: Kind of the record.
            sandbox: The session's; None when it is not open.
            text: The code, the command or the libraries.
            libraries: Libraries that are installed for it.
        """
        if not self._observers:
            return _NULL_SPAN
        return _RunSpan(self, kind, sandbox, text, libraries)

    def notify(
        self,
        observers: "tuple[RunObserver, ...]",
        record: "RunRecord",
        content: "Callable[[], RunContent]",
    ) -> None:
        """Call observers with a record, in order; with the content for those that want it."""
        from llm_sandbox.telemetry.content import WithContent

        whole = None
        for observer in observers:
            try:
                if isinstance(observer, WithContent):
                    whole = whole or replace(record, content=content())
                    observer(whole)
                else:
                    observer(record)
            except Exception as error:  # noqa: BLE001 - no failure disturbs the run
                self._log_once(observer, error)

    def _log_once(self, observer: "RunObserver", error: Exception) -> None:
        if any(observer is known for known in self._failed):
            return
        self._failed.append(observer)
        # Without its context, which would be the error that the run itself ended with.
        words = "".join(traceback.format_exception(error, chain=False)).rstrip()
        message = "an observer failed, a %s; its next failures are not logged\n%s"
        logger.warning(message, type(observer).__name__, words)


class _RunSpan(NullSpan):
    """Context manager around whatever is observed."""

    __slots__ = (
        "_call_id",
        "_kind",
        "_libraries",
        "_observers",
        "_recorder",
        "_result",
        "_sandbox_id",
        "_started",
        "_started_at",
        "_stopped",
        "_text",
        "_withdrawn",
    )

    def __init__(
        self,
        recorder: Recorder,
        kind: "RecordKind",
        sandbox: Sandbox | None,
        text: str | Sequence[str],
        libraries: Sequence[str] | None,
    ) -> None:
        from llm_sandbox.telemetry.call import current_tool_call_id

        self._recorder = recorder
        self._observers = recorder._observers
        self._kind = kind
        self._sandbox_id = sandbox.id if sandbox is not None else None
        self._text = text
        self._libraries = libraries
        self._call_id = current_tool_call_id()
        self._result: ConsoleOutput | None = None
        self._stopped = False
        self._withdrawn = False
        self._started_at = datetime.now(UTC)
        self._started = time.perf_counter()

    def ended(self, result: _Result, *, stopped: bool = False) -> _Result:
        self._result = result
        self._stopped = stopped
        return result

    def withdraw(self) -> None:
        self._withdrawn = True

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._withdrawn:
            return
        duration = time.perf_counter() - self._started
        result = self._result
        if result is None and isinstance(error, SandboxTimeoutError):
            partial = error.result
            result = partial if isinstance(partial, ExecutionResult | ProcessResult) else None
        was_stopped = self._recorder._was_stopped
        stopped = self._stopped or (was_stopped is not None and was_stopped())
        record = self._record(result, error, stopped, duration)
        self._recorder.notify(self._observers, record, lambda: self._content(result, error))

    def _record(
        self,
        result: ConsoleOutput | None,
        error: BaseException | None,
        stopped: bool,
        duration: float,
    ) -> "RunRecord":
        from llm_sandbox.telemetry.record import RunRecord

        libraries = self._libraries
        return RunRecord(
            kind=self._kind,
            status=_status(result, error, stopped),
            started_at=self._started_at,
            duration_s=duration,
            session_id=self._sandbox_id,
            backend=self._recorder.backend,
            language=self._recorder.language,
            error_type=_error_type(result, error),
            library_count=len(libraries) if isinstance(libraries, list | tuple) else 0,
            policy_rules=_rules(result, error),
            tool_call_id=self._call_id,
            **_measures(result),
        )

    def _content(self, result: ConsoleOutput | None, error: BaseException | None) -> "RunContent":
        from llm_sandbox.telemetry.content import content_of

        return content_of(self._text, result, error)


def _status(
    result: ConsoleOutput | None, error: BaseException | None, stopped: bool
) -> "RecordStatus":
    if isinstance(result, ExecutionResult):
        is_killed = result.status is RunStatus.KILLED
        return "interrupted" if is_killed and stopped else result.status.value
    if isinstance(result, ProcessResult):
        return _process_status(result, stopped)
    if error is None:
        return "ok"
    if not isinstance(error, Exception):
        return "interrupted"
    if isinstance(error, SecurityViolationError):
        return "blocked"
    if isinstance(error, SandboxTimeoutError):
        return "timeout"
    return "oom" if isinstance(error, OutOfMemoryError) else "failed"


def _process_status(result: ProcessResult, stopped: bool) -> "RecordStatus":
    if result.oom_killed:
        return "oom"
    if result.timed_out:
        return "timeout"
    if result.signal is not None:
        return "interrupted" if stopped else "killed"
    return "error" if result.exit_code else "ok"


def _error_type(result: ConsoleOutput | None, error: BaseException | None) -> str | None:
    from llm_sandbox.telemetry.record import told_name

    if error is not None:
        return told_name(type(error).__name__)
    inside = result.error if isinstance(result, ExecutionResult) else None
    return told_name(inside.name if inside is not None else None)


def _rules(result: ConsoleOutput | None, error: BaseException | None) -> tuple[str, ...]:
    findings = result.findings if isinstance(result, ExecutionResult) else ()
    if isinstance(error, SecurityViolationError):
        findings = getattr(error.report, "findings", ())
    return tuple(sorted({finding.rule_id for finding in findings}))


def _measures(result: ConsoleOutput | None) -> dict[str, Any]:
    """Return the numbers of a result, by the names of a record's fields."""
    if result is None:
        return {}
    facts: dict[str, Any] = {
        "exit_code": result.exit_code,
        "stdout_bytes": _size(result.stdout),
        "stderr_bytes": _size(result.stderr),
    }
    if isinstance(result, ExecutionResult | ProcessResult):
        names = ("signal", "dropped_bytes", "stdout_truncated", "stderr_truncated")
        facts.update({name: getattr(result, name) for name in names})
    if isinstance(result, ExecutionResult):
        facts.update(
            phases=result.usage.phases,
            cpu_s=result.usage.cpu_s,
            peak_memory_bytes=result.usage.peak_memory_bytes,
            artifact_count=len(result.artifacts),
            plot_count=len(result.plots),
            file_count=len(result.files),
            dropped_outputs=result.dropped_outputs,
        )
    return facts


def _size(text: str) -> int:
    # trust: text from inside may hold lone surrogates.
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
