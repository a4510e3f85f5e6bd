"""Base of all errors: common attributes, pickling and JSON form."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Self, TypedDict, TypeVar

from llm_sandbox.exceptions.plain import as_mapping, from_plain, to_plain

__all__ = ["CommonFacts", "ErrorCode", "ErrorFacts", "SandboxError"]


class ErrorCode(StrEnum):
    """Error codes for programs; one for each class of `llm_sandbox.exceptions`."""

    SANDBOX = "sandbox"
    CONFIGURATION = "configuration"
    MISSING_DEPENDENCY = "missing_dependency"
    UNSUPPORTED_BACKEND = "unsupported_backend"
    LANGUAGE_NOT_SUPPORTED = "language_not_supported"
    PLOTS_NOT_SUPPORTED = "plots_not_supported"
    INVALID_VALUE = "invalid_value"
    UNSUPPORTED = "unsupported"
    INSTALL_NOT_SUPPORTED = "install_not_supported"
    COMMAND_EMPTY = "command_empty"
    SECURITY = "security"
    SECURITY_VIOLATION = "security_violation"
    CONTAINER = "container"
    IMAGE_NOT_FOUND = "image_not_found"
    IMAGE_PULL = "image_pull"
    CONTAINER_GONE = "container_gone"
    NOT_OPEN = "not_open"
    CLOSED = "closed"
    SESSION_EXPIRED = "session_expired"
    BUSY = "busy"
    POOL_EXHAUSTED = "pool_exhausted"
    POOL_CLOSED = "pool_closed"
    POOL_CREATION = "pool_creation"
    NAME_IN_USE = "name_in_use"
    SANDBOX_NOT_FOUND = "sandbox_not_found"
    PROCESS_NOT_FOUND = "process_not_found"
    BACKEND = "backend"
    BACKEND_UNAVAILABLE = "backend_unavailable"
    ISOLATION_UNAVAILABLE = "isolation_unavailable"
    TOOLCHAIN_NOT_FOUND = "toolchain_not_found"
    LAUNCH = "launch"
    FILE = "file"
    PATH = "path"
    FILE_NOT_FOUND = "file_not_found"
    FILE_EXISTS = "file_exists"
    IS_A_DIRECTORY = "is_a_directory"
    NOT_A_DIRECTORY = "not_a_directory"
    FILE_PERMISSION = "file_permission"
    NO_SPACE = "no_space"
    RESOURCE = "resource"
    OUTPUT_LIMIT = "output_limit"
    ARTIFACT_LIMIT = "artifact_limit"
    ARTIFACT_NOT_FOUND = "artifact_not_found"
    VARIABLE_NOT_FOUND = "variable_not_found"
    TABLE_GONE = "table_gone"
    VALUE_NOT_TRANSFERABLE = "value_not_transferable"
    VALUE_TOO_LARGE = "value_too_large"
    OUT_OF_MEMORY = "out_of_memory"
    TIMEOUT = "timeout"
    KERNEL = "kernel"
    KERNEL_DIED = "kernel_died"
    KERNEL_NOT_READY = "kernel_not_ready"
    PROTOCOL = "protocol"
    INSTALL_FAILED = "install_failed"
    COMMAND_FAILED = "command_failed"
    TRANSPORT = "transport"


class CommonFacts(TypedDict, total=False):
    """Keyword arguments of an error whose constructor sets the backend itself."""

    code: ErrorCode | None
    op: str | None
    retryable: bool | None
    hint: str | None
    context: Mapping[str, object] | None


class ErrorFacts(CommonFacts, total=False):
    """Keyword arguments of every `SandboxError`."""

    backend: str | None


class SandboxError(Exception):
    """Base of every error of the library."""

    default_code: ClassVar[ErrorCode] = ErrorCode.SANDBOX
    """Code of an instance that was given none."""
    default_retryable: ClassVar[bool] = False
    """Default of `retryable`."""
    details: ClassVar[tuple[str, ...]] = ()
    """Attributes of this class beyond the common ones, included in `to_dict`."""

    message: str
    """One sentence, without the hint."""
    code: ErrorCode
    """Stable code for programs."""
    op: str | None
    """Operation ("open", "run", "copy_to_runtime"); None when unknown."""
    backend: str | None
    """Name of the backend concerned; None when none is."""
    retryable: bool
    """Whether the same call may succeed later without a change."""
    hint: str | None
    """Next thing to type or do; None without one."""
    context: dict[str, object]
    """Further data as JSON types; empty by default."""

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | None = None,
        op: str | None = None,
        backend: str | None = None,
        retryable: bool | None = None,
        hint: str | None = None,
        context: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = self.default_code if code is None else code
        self.op = op
        self.backend = None if backend is None else str(backend)
        self.retryable = self.default_retryable if retryable is None else retryable
        self.hint = hint
        self.context = dict(context or {})

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses compose their message, so their constructor cannot be called with it again.
        return _restore, (type(self), self.message, vars(self).copy())

    def to_dict(self) -> dict[str, object]:
        """Return the error as JSON types; `from_dict` restores it."""
        lineage = [c.__name__ for c in type(self).__mro__ if issubclass(c, SandboxError)]
        return {
            "type": lineage[0],
            "lineage": lineage,
            "message": self.message,
            "code": str(self.code),
            "op": self.op,
            "backend": self.backend,
            "retryable": self.retryable,
            "hint": self.hint,
            "context": to_plain(self.context),
            "details": {name: self._dump(name) for name in self.details},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the error that `to_dict` described, as the nearest class known here.

        Raises:
            ValidationError: `data` does not describe an error of this class.
        """
        # ValidationError is built on this module.
        from llm_sandbox.exceptions.configuration import ValidationError

        lineage = data.get("lineage")
        names = [data.get("type"), *(lineage if isinstance(lineage, list) else [])]
        # A class of an adapter or a plug-in may have the name of one here.
        family = sorted(_family(cls), key=lambda one: one.__module__.startswith(_HERE))
        known = {one.__name__: one for one in family}
        target = next((known[n] for n in names if isinstance(n, str) and n in known), None)
        if target is None or not isinstance(data.get("message"), str):
            raise ValidationError(f"the data does not describe a {cls.__name__}")
        code = str(data.get("code"))
        state: dict[str, Any] = {
            "message": data["message"],
            "code": ErrorCode(code) if code in list(ErrorCode) else target.default_code,
            "op": data.get("op"),
            "backend": data.get("backend"),
            "retryable": data.get("retryable") is True,
            "hint": data.get("hint"),
            "context": as_mapping(data.get("context")),
        }
        details = data.get("details")
        given = details if isinstance(details, Mapping) else {}
        state.update({name: target._load(name, given.get(name)) for name in target.details})
        return _restore(target, state["message"], state)

    def _dump(self, name: str) -> object:
        return to_plain(getattr(self, name))

    @classmethod
    def _load(cls, name: str, value: object) -> object:
        restored = from_plain(value)
        return tuple(restored) if isinstance(restored, list) else restored


_E = TypeVar("_E", bound=SandboxError)
_HERE = "llm_sandbox.exceptions."


def _restore(cls: type[_E], message: str, state: dict[str, Any]) -> _E:
    error = cls.__new__(cls)
    error.args = (message,)
    vars(error).update(state)
    return error


def _family(cls: type[_E]) -> list[type[_E]]:
    members = [cls]
    for member in members:
        members.extend(sub for sub in member.__subclasses__() if sub not in members)
    return members
