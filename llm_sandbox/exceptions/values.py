"""Variables of a session could not be read or set."""

from typing import ClassVar, Unpack

from llm_sandbox.exceptions.base import ErrorCode, ErrorFacts, SandboxError

__all__ = [
    "TableGoneError",
    "ValueNotTransferableError",
    "ValueTooLargeError",
    "VariableNotFoundError",
]


class VariableNotFoundError(SandboxError, LookupError):
    """The session has no variable of that name."""

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
    """The code has let go of a table that was shown."""

    default_code = ErrorCode.TABLE_GONE


class ValueNotTransferableError(SandboxError, TypeError):
    """A value is, or holds, something that is not brought into the sandbox or out of it."""

    default_code = ErrorCode.VALUE_NOT_TRANSFERABLE
    details: ClassVar[tuple[str, ...]] = ("path", "type_name")

    path: str | None
    """Where it is, as Python would write it, such as ``value['a'][3]``; None when unknown."""
    type_name: str | None
    """Of which type it is; None when unknown."""

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
    """A value takes more bytes than are brought over at once."""

    default_code = ErrorCode.VALUE_TOO_LARGE
    details = ("path", "type_name", "limit")

    limit: int | None
    """Most bytes; None when unknown."""

    def __init__(
        self, message: str, *, limit: int | None = None, **facts: Unpack[ErrorFacts]
    ) -> None:
        super().__init__(message, **facts)
        self.limit = limit
