"""Errors of running code, installing packages, exchanging variables and talking to the sandbox."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Protocol, Unpack

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
    "TableGoneError",
    "TransportError",
    "ValueNotTransferableError",
    "ValueTooLargeError",
    "VariableNotFoundError",
]


class PartialResult(Protocol):
    """Common protocol of `ExecutionResult` and `ProcessResult`."""

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
        """Signal that ended the program; None for another end."""
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
    """Refusal for security."""

    default_code = ErrorCode.SECURITY


class SecurityViolationError(SecurityError):
    """Refusal of code by the security policy; nothing ran."""

    default_code = ErrorCode.SECURITY_VIOLATION
    details = ("violations", "report")

    violations: tuple[Any, ...]
    """Findings as `SecurityPattern` objects, in the order of the code; plain mappings once the
    error has been through JSON.
    """
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
    """Limit of the sandbox that stopped the library's own work."""

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
    """Output beyond the limit, where output must not be cut."""

    default_code = ErrorCode.OUTPUT_LIMIT


class ArtifactLimitError(ResourceError):
    """Artifacts beyond the limit of number or size."""

    default_code = ErrorCode.ARTIFACT_LIMIT


class ArtifactNotFoundError(SandboxError, LookupError):
    """Artifact name that a result has not, or several times."""

    default_code = ErrorCode.ARTIFACT_NOT_FOUND


class OutOfMemoryError(ResourceError):
    """Exhausted memory of the sandbox itself."""

    default_code = ErrorCode.OUT_OF_MEMORY


class SandboxTimeoutError(SandboxError, TimeoutError):
    """Passed deadline; `result` holds the outputs until then."""

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
    """Failure of the interpreter of a session."""

    default_code = ErrorCode.KERNEL


class KernelDiedError(KernelError):
    """Death of the interpreter's process."""

    default_code = ErrorCode.KERNEL_DIED


class KernelNotReadyError(KernelError):
    """Interpreter that did not become ready in time."""

    default_code = ErrorCode.KERNEL_NOT_READY
    default_retryable = True


class ProtocolError(KernelError):
    """Violation of the protocol by the code inside."""

    default_code = ErrorCode.PROTOCOL


class LibraryInstallationError(SandboxError):
    """Failure of the package manager."""

    default_code = ErrorCode.INSTALL_FAILED
    details = ("packages", "output")

    packages: tuple[str, ...]
    """Packages to install."""
    output: str
    """Output of the package manager, complete as far as it was captured."""

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
    """Non-zero exit of a command that the library itself needed."""

    default_code = ErrorCode.COMMAND_FAILED
    details = ("command", "exit_code", "output")

    command: str
    """The command line."""
    exit_code: int
    """Exit code of the command."""
    output: str
    """Output of the command."""

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
    """Broken connection to the engine or the sandbox."""

    default_code = ErrorCode.TRANSPORT
    default_retryable = True


class VariableNotFoundError(SandboxError, LookupError):
    """Variable that the session does not have."""

    default_code = ErrorCode.VARIABLE_NOT_FOUND
    details = ("name",)

    name: str | None
    """The name; None when unknown."""

    def __init__(
        self, message: str, *, name: str | None = None, **facts: Unpack[ErrorFacts]
    ) -> None:
        super().__init__(message, **facts)
        self.name = name


class TableGoneError(VariableNotFoundError):
    """Shown table that the code has released."""

    default_code = ErrorCode.TABLE_GONE


class ValueNotTransferableError(SandboxError, TypeError):
    """Value that cannot be transferred into the sandbox or out of it."""

    default_code = ErrorCode.VALUE_NOT_TRANSFERABLE
    details: ClassVar[tuple[str, ...]] = ("path", "type_name")

    path: str | None
    """Path to the value, as Python would write it, such as ``value['a'][3]``; None when unknown."""
    type_name: str | None
    """Type of the value; None when unknown."""

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        type_name: str | None = None,
        **facts: Unpack[ErrorFacts],
    ) -> None:
        super().__init__(message, **facts)
        self.path = path
        self.type_name = type_name


class ValueTooLargeError(ValueNotTransferableError):
    """Value beyond the size limit of a transfer."""

    default_code = ErrorCode.VALUE_TOO_LARGE
    details = ("path", "type_name", "limit")

    limit: int | None
    """Maximum number of bytes; None when unknown."""

    def __init__(
        self, message: str, *, limit: int | None = None, **facts: Unpack[ErrorFacts]
    ) -> None:
        super().__init__(message, **facts)
        self.limit = limit
