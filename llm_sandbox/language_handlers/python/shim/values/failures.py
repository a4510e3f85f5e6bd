"""Errors of a value that cannot be transferred, as data for the other side."""

from __future__ import annotations

from enum import Enum
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any, ClassVar

_BY_LIBRARY = {
    "PIL": "show it in a run and take the picture from result.artifacts",
    "matplotlib": "show it in a run and take the figure from result.artifacts",
    "plotly": "show it in a run and take the figure from result.artifacts",
    "altair": "show it in a run and take the figure from result.artifacts",
    "bokeh": "show it in a run and take the figure from result.artifacts",
    "torch": "transfer value.detach().cpu().numpy()",
    "tensorflow": "transfer value.numpy()",
    "jax": "transfer numpy.asarray(value)",
    "jaxlib": "transfer numpy.asarray(value)",
    "xarray": "transfer value.values, or value.to_dataframe()",
    "geopandas": "transfer pandas.DataFrame(value.to_wkt())",
}
_CODE = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type)
_GENERAL = "transfer the parts that are plain data, arrays or tables"


class TransferError(ValueError):
    """Error of a value that cannot be transferred.

    Attributes:
        facts: Details of the error, for programs.
    """

    kind: ClassVar[str] = "transfer"

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts

    def to_dict(self) -> dict[str, Any]:
        """Return the error as JSON-able data."""
        return {"kind": self.kind, "message": str(self), **self.facts}


class NotTransferableError(TransferError):
    """Error of a part of the value that is neither plain data nor an array nor a table."""

    kind = "not_transferable"

    def __init__(self, type_name: str, advice: str) -> None:
        super().__init__(advice, type=type_name[:200], path="", advice=advice)

    def found_in(self, part: str) -> None:
        """Prepend one step to the path of that part, from the inside out.

        Args:
            part: Index expression in Python syntax.
        """
        self.facts["path"] = f"{part}{self.facts['path']}"[:500]


class TooLargeError(TransferError):
    """Error of a value that takes more bytes than the limit."""

    kind = "too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the value takes more than {limit} bytes", limit=limit)


class MissingLibraryError(TransferError):
    """Error of a value whose library is not installed on this side."""

    kind = "missing"

    def __init__(self, library: str) -> None:
        super().__init__(f"{library} is not installed", library=library)


class MalformedError(TransferError):
    """Error of a header and a blob that do not describe a value."""

    kind = "malformed"


def advice_for(value: Any) -> str:
    """Return advice on what to transfer instead of a value.

    Args:
        value: The value that cannot be transferred.

    Returns:
        A clause without a full stop.
    """
    kind = type(value)
    library = str(kind.__module__).partition(".")[0]
    if issubclass(kind, _CODE):
        return "code is not transferred: run it there and transfer what it returns"
    if kind.__name__ == "LazyFrame":
        return "transfer value.collect()"
    if library == "scipy" and "toarray" in dir(kind):
        return "transfer value.toarray()"
    if library in _BY_LIBRARY:
        return _BY_LIBRARY[library]
    if issubclass(kind, GeneratorType):
        return "transfer list(value)"
    if issubclass(kind, Enum):
        return "transfer value.value"
    if issubclass(kind, tuple) and "_asdict" in dir(kind):
        return "transfer value._asdict()"
    if "__dataclass_fields__" in dir(kind):
        return "transfer dataclasses.asdict(value)"
    if issubclass(kind, (dict, list, tuple, set, frozenset, str, int, float)):
        plain = next(base for base in kind.__mro__ if base.__module__ == "builtins")
        return f"transfer {plain.__name__}(value)"
    return _GENERAL
