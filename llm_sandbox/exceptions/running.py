"""Running code, installing packages or talking to the sandbox failed."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, Unpack

from llm_sandbox.exceptions.base import ErrorCode, ErrorFacts, SandboxError
from llm_sandbox.exceptions.plain import from_plain, to_plain

__all__ = [
    "RESULT_READERS",
    "ArtifactLimitError",
    "ArtifactNotFoundError",
    "CommandFailedError",
    "KernelDiedError",
    "KernelError",
    "KernelNotReadyError",
    "LibraryInstallationError",
    "OutOfMemoryError",
    "OutputLimitError",
    "PartialResult",
    "ProtocolError",
    "ResourceError",
    "SandboxTimeoutError",
    "SecurityError",
    "SecurityViolationError",
    "TransportError",
]


class PartialResult(Protocol):
    """What `ExecutionResult` and `ProcessResult` have in common."""

    @property
    def exit_code(self) -> int:
        """Exit status."""
        ...

    @property
    def stdout(self) -> str:
        """Standard output so far."""
        ...

    @property
    def stderr(self) -> str:
        """Standard error so far."""
        ...

    @property
    def timed_out(self) -> bool:
        """Whether the deadline ended it."""
        ...

    @property
    def oom_killed(self) -> bool:
        """Whether the memory limit ended it."""
        ...

    @property
    def signal(self) -> int | None:
        """The signal that ended it; None for another end."""
        ...

    @property
    def safe_text(self) -> str:
        """Both streams without terminal control sequences."""
        ...

    def to_dict(self) -> dict[str, object]:
        """Return the result as JSON-able data."""
        ...

    def to_json(self) -> str:
        """Return the result as JSON text."""
        ...


RESULT_READERS: dict[str, Callable[[Mapping[str, object]], PartialResult]] = {}
"""Readers of partial results by their `type` in JSON; each module that defines a type of result
registers its own, because results are built on errors.
"""
_RESULTS = "llm_sandbox.data"
"""Module that registers the readers when it is imported."""


class SecurityError(SandboxError):
    """Something was refused for security."""

    default_code = ErrorCode.SECURITY


class SecurityViolationError(SecurityError):
    """The security policy refused the code; nothing ran."""

    default_code = ErrorCode.SECURITY_VIOLATION
    details = ("violations", "report")

    violations: tuple[Any, ...]
    """What was found as `SecurityPattern` objects, in the order of the code; plain mappings once
    the error has been through JSON."""
    report: Any
    """The `ScanReport`; a plain mapping once the error has been through JSON, None without one."""

    def __init__(
        self,
        message: str = "the security policy refused the code",
        *,
        violations: Sequence[Any] = (),
        report: Any = None,
        **facts: Unpack[ErrorFacts],
    ) -> None:
        super().__init__(message, **facts)
        self.violations = tuple(violations)
        self.report = report

    def _dump(self, name: str) -> object:
        if name == "report":
            return self.report.to_dict() if hasattr(self.report, "to_dict") else self.report
        return [
            to_plain(item.model_dump(mode="json") if hasattr(item, "model_dump") else item)
            for item in self.violations
        ]


class ResourceError(SandboxError):
    """A limit of the sandbox stopped the library's own work."""

    default_code = ErrorCode.RESOURCE
    details = ("limit",)

    limit: int | float | None
    """The limit that was hit, in the unit of its name; None when unknown."""

    def __init__(
        self, message: str, *, limit: float | None = None, **facts: Unpack[ErrorFacts]
    ) -> None:
        super().__init__(message, **facts)
        self.limit = limit


class OutputLimitError(ResourceError):
    """More output than the limit, where output may not be cut."""

    default_code = ErrorCode.OUTPUT_LIMIT


class ArtifactLimitError(ResourceError):
    """More artifacts, or larger ones, than the limit."""

    default_code = ErrorCode.ARTIFACT_LIMIT


class ArtifactNotFoundError(SandboxError, LookupError):
    """A result has no artifact of that name, or several."""

    default_code = ErrorCode.ARTIFACT_NOT_FOUND


class OutOfMemoryError(ResourceError):
    """The sandbox itself ran out of memory."""

    default_code = ErrorCode.OUT_OF_MEMORY


class SandboxTimeoutError(SandboxError, TimeoutError):
    """A deadline passed; `result` holds whatever had come back by then."""

    default_code = ErrorCode.TIMEOUT
    details = ("timeout_duration", "result")

    timeout_duration: float | None
    """The timeout that passed, in seconds; None when unknown."""
    result: PartialResult | None
    """The partial `ExecutionResult` or `ProcessResult`; None when nothing was running."""

    def __init__(
        self,
        message: str,
        timeout_duration: float | None = None,
        result: PartialResult | None = None,
        **facts: Unpack[ErrorFacts],
    ) -> None:
        super().__init__(message, **facts)
        self.timeout_duration = timeout_duration
        self.result = result

    def _dump(self, name: str) -> object:
        if name == "result" and self.result is not None:
            return self.result.to_dict()
        return to_plain(getattr(self, name))

    @classmethod
    def _load(cls, name: str, value: object) -> object:
        if name != "result" or not isinstance(value, Mapping):
            return from_plain(value)
        import_module(_RESULTS)
        # A result of another type is refused by the reader.
        read = RESULT_READERS.get(str(value.get("type")), RESULT_READERS["result"])
        return read(value)


class KernelError(SandboxError):
    """The interpreter behind a session failed."""

    default_code = ErrorCode.KERNEL


class KernelDiedError(KernelError):
    """The interpreter's process is gone."""

    default_code = ErrorCode.KERNEL_DIED


class KernelNotReadyError(KernelError):
    """The interpreter did not become ready in time."""

    default_code = ErrorCode.KERNEL_NOT_READY
    default_retryable = True


class ProtocolError(KernelError):
    """The inside said something the protocol does not allow."""

    default_code = ErrorCode.PROTOCOL


class LibraryInstallationError(SandboxError):
    """The package manager failed."""

    default_code = ErrorCode.INSTALL_FAILED
    details = ("packages", "output")

    packages: tuple[str, ...]
    """What was to be installed."""
    output: str
    """The package manager's own output, complete as far as it was captured."""

    def __init__(
        self,
        message: str,
        *,
        packages: Sequence[str] = (),
        output: str = "",
        **facts: Unpack[ErrorFacts],
    ) -> None:
        super().__init__(message, **facts)
        self.packages = tuple(packages)
        self.output = output


class CommandFailedError(SandboxError):
    """A command the library itself needed ended with a non-zero status."""

    default_code = ErrorCode.COMMAND_FAILED
    details = ("command", "exit_code", "output")

    command: str
    """The command line."""
    exit_code: int
    """Its exit status."""
    output: str
    """What it wrote."""

    def __init__(
        self, command: str, exit_code: int, output: str = "", **facts: Unpack[ErrorFacts]
    ) -> None:
        # The message goes to logs and models; arguments may hold secrets, the first word does not.
        words = command.split(maxsplit=1)
        name = words[0] if words else "command"
        super().__init__(f"{name!r} ended with exit status {exit_code}", **facts)
        self.command = command
        self.exit_code = exit_code
        self.output = output


class TransportError(SandboxError):
    """The connection to the engine or the sandbox broke."""

    default_code = ErrorCode.TRANSPORT
    default_retryable = True
