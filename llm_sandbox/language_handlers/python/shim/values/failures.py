"""Why a value does not go over, as data for the other side."""

from __future__ import annotations

from typing import Any, ClassVar


class TransferError(ValueError):
    """A value cannot be brought to the other side.

    Attributes:
        facts: What there is to know, for programs.
    """

    kind: ClassVar[str] = "transfer"

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts

    def to_dict(self) -> dict[str, Any]:
        """Give the failure as JSON-able data."""
        return {"kind": self.kind, "message": str(self), **self.facts}


class NotTransferableError(TransferError):
    """Some part of the value is neither plain data nor an array nor a table."""

    kind = "not_transferable"

    def __init__(self, type_name: str, advice: str) -> None:
        super().__init__(advice, type=type_name[:200], path="", advice=advice)

    def found_in(self, part: str) -> None:
        """Say one more step of the way to that part, from the inside out.

        Args:
            part: An index as Python writes it.
        """
        self.facts["path"] = f"{part}{self.facts['path']}"[:500]


class TooLargeError(TransferError):
    """The value takes more bytes than agreed."""

    kind = "too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the value takes more than {limit} bytes", limit=limit)


class MissingLibraryError(TransferError):
    """The value is of a library that is not installed on this side."""

    kind = "missing"

    def __init__(self, library: str) -> None:
        super().__init__(f"{library} is not installed", library=library)


class MalformedError(TransferError):
    """The header and the blob describe no value."""

    kind = "malformed"
