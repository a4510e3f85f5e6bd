"""Errors of reading and setting variables of a session."""

from typing import ClassVar, Unpack

from llm_sandbox.exceptions.base import ErrorCode, ErrorFacts, SandboxError

__all__ = [
    "TableGoneError",
    "ValueNotTransferableError",
    "ValueTooLargeError",
    "VariableNotFoundError",
]


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
