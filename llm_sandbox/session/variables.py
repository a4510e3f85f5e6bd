"""Variables of a session: listed, read and set from the host, and shown tables fetched whole."""

import keyword
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from llm_sandbox.exceptions import (
    KernelError,
    ProtocolError,
    TableGoneError,
    ValidationError,
    ValueNotTransferableError,
    ValueTooLargeError,
    VariableNotFoundError,
)
from llm_sandbox.session import transfer

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.results.tables import Table

__all__ = ["LARGEST_TABLE", "Call", "Variable", "VariableKind", "Variables"]

LARGEST_TABLE = 1 << 30
"""Most bytes of a table that is fetched whole."""

_LARGEST_PIECE = 32 << 20
_MOST_VARIABLES = 1000
_MOST_DIMENSIONS = 64
_LARGEST_NUMBER = 1 << 62

VariableKind = Literal["value", "function", "class", "module"]


class Call(Protocol):
    """Call of a service of the interpreter."""

    def __call__(
        self, service: str, arguments: dict[str, Any], buffers: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[memoryview]]:
        """Return the reply's content and buffers.

        Args:
            service: The service's name.
            arguments: Its arguments, as JSON types.
            buffers: Bytes that are sent along.
        """


@dataclass(frozen=True, slots=True)
class Variable:
    """Variable of a session, as claimed from inside."""

    name: str
    """Name of the variable."""
    type: str
    """Full name of the type, as its users write it, such as ``pandas.DataFrame``."""
    kind: VariableKind = "value"
    """Kind of object: a value, a function, a class or a module."""
    shape: tuple[int, ...] | None = None
    """Extents of an array or table, the length of a text or container; None for the rest."""
    size: int | None = None
    """Bytes of memory, without what a container refers to; None when that is not known."""
    preview: str = ""
    """At most 200 characters; only the type for unknown classes."""


class Variables:
    """Access to the variables and tables of one interpreter.

    Args:
        call: Calls a service of the interpreter.
    """

    def __init__(self, call: Call) -> None:
        self._call = call

    def variables(self, *, all: bool = False) -> tuple[Variable, ...]:
        """Return the variables, in the order in which they were first assigned.

        Args:
            all: Include functions, classes, modules and names with a leading underscore.

        Returns:
            At most the first 1,000.
        """
        content, _ = self._ask("variables", {"all": all})
        found = content.get("variables")
        if not isinstance(found, list):
            raise ProtocolError("the interpreter sent no list of variables", op="variables")
        return tuple(map(_variable, found[:_MOST_VARIABLES]))

    def get(self, name: str, *, max_bytes: int = transfer.LARGEST) -> object:
        """Return a copy of a variable's value.

        Args:
            name: The variable.
            max_bytes: Most bytes to take.

        Raises:
            VariableNotFoundError: There is no such variable.
            ValueNotTransferableError: It is, or holds, something other than plain data, arrays and
                tables, or is too large.
            MissingDependencyError: It belongs to a library that is not installed on the host.
        """
        name = _checked(name)
        content, buffers = self._ask("get", {"name": name, "limit": max_bytes})
        failure = content.get("failure")
        if failure is not None:
            raise _failed(failure, name, "get")
        return transfer.read(buffers)

    def set(self, name: str, value: object) -> None:
        """Set a variable to a copy of a value.

        Args:
            name: The variable.
            value: Plain data, an array or a table.

        Raises:
            ValueNotTransferableError: It is, or holds, something else, or is too large.
        """
        name = _checked(name)
        content, _ = self._ask("set", {"name": name}, transfer.write(value))
        failure = content.get("failure")
        if failure is not None:
            raise _failed(failure, name, "set")

    def fetch_table(
        self,
        table: "Table | Artifact",
        format: Literal["csv", "parquet"] = "csv",
        *,
        max_bytes: int = LARGEST_TABLE,
    ) -> bytes:
        """Return the whole of a table that was shown, as it is now.

        Args:
            table: The table, or its artifact.
            format: The format of the file.
            max_bytes: Most bytes of it.

        Raises:
            TableGoneError: The code has released the table.
            ValueTooLargeError: The file is larger.
            ValueNotTransferableError: It cannot be written in that format.
        """
        return b"".join(self.iter_table(table, format, max_bytes=max_bytes))

    def iter_table(
        self,
        table: "Table | Artifact",
        format: Literal["csv", "parquet"] = "csv",
        *,
        max_bytes: int = LARGEST_TABLE,
    ) -> Iterator[bytes]:
        """Yield a table that was shown piece by piece; see `fetch_table`."""
        handle = _handle(table)
        if format not in ("csv", "parquet"):
            raise ValidationError(
                f"invalid format: expected 'csv' or 'parquet', got {format!r}", parameter="format"
            )
        request: dict[str, Any] = {"handle": handle, "format": format, "limit": max_bytes}
        taken, size = 0, 1
        while taken < size:
            content, buffers = self._ask("table", request)
            if content.get("failure") is not None:
                raise _not_exported(content["failure"], format, max_bytes)
            piece = buffers[0] if len(buffers) == 1 else memoryview(b"")
            # trust: the size is claimed inside; pieces are counted here.
            size = content["size"] if _is_count(content.get("size")) else -1
            taken += len(piece)
            too_much = len(piece) > _LARGEST_PIECE or taken > size or size > max_bytes
            if too_much or (not piece and taken < size):
                raise ProtocolError(
                    "the interpreter sent a table of another size than it claimed", op="fetch_table"
                )
            yield bytes(piece)
            request = {"export": content.get("export"), "offset": taken}

    def _ask(
        self, service: str, arguments: dict[str, Any], buffers: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[memoryview]]:
        content, answer = self._call(service, arguments, buffers)
        error = content.get("error")
        if error is not None:
            details = error if isinstance(error, dict) else {}
            words = f"{transfer.word(details.get('name'))}: {transfer.word(details.get('value'))}"
            raise KernelError(f"the interpreter could not do {service!r}: {words}", op=service)
        return content, answer


def _checked(name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ValidationError(
            "invalid name: expected an identifier that is not a keyword", parameter="name"
        )
    # As Python reads it in source text.
    return unicodedata.normalize("NFKC", name)


def _handle(table: object) -> str:
    found = getattr(table, "table", table)
    handle = getattr(found, "handle", None)
    if not isinstance(handle, str) or not handle:
        raise ValidationError(
            "invalid table: expected one of ExecutionResult.tables, or its artifact",
            parameter="table",
        )
    return handle


def _failed(failure: object, name: str, op: str) -> Exception:
    # trust: a reply from inside may hold anything.
    details = failure if isinstance(failure, dict) else {}
    kind = details.get("kind")
    if kind == "not_found":
        return VariableNotFoundError(
            f"there is no variable {name!r}", name=name, op=op, hint="see session.variables()"
        )
    if kind == "missing":
        library = transfer.word(details.get("library"))
        return ValueNotTransferableError(
            f"{library} is not installed in the sandbox",
            op=op,
            hint=f"open the session with libraries=[{library!r}]",
        )
    return transfer.failed(details, name, op)


def _not_exported(failure: object, form: str, limit: int) -> Exception:
    # trust: as above.
    details = failure if isinstance(failure, dict) else {}
    kind, op = details.get("kind"), "fetch_table"
    if kind == "gone":
        return TableGoneError(
            "the code has released the table",
            op=op,
            hint="keep it in a variable until it is fetched",
        )
    if kind == "too_large":
        return ValueTooLargeError(
            f"the table takes more than {limit:,} bytes as {form}", limit=limit, op=op
        )
    if kind == "missing":
        return ValueNotTransferableError(
            f"the sandbox has no library that writes {form}",
            op=op,
            hint="open the session with libraries=['pyarrow'], or fetch the table as csv",
        )
    words = transfer.word(details.get("message"))
    return ValueNotTransferableError(f"the table cannot be written as {form}: {words}", op=op)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _LARGEST_NUMBER


def _variable(item: object) -> Variable:
    # trust: names, types and previews are claimed inside.
    details = item if isinstance(item, dict) else {}
    kind, shape, size = details.get("kind"), details.get("shape"), details.get("size")
    if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS:
        shape = None
    return Variable(
        transfer.word(details.get("name")),
        transfer.word(details.get("type")),
        cast("VariableKind", kind) if kind in ("function", "class", "module") else "value",
        tuple(shape) if shape is not None and all(map(_is_count, shape)) else None,
        size if _is_count(size) else None,
        transfer.word(details.get("preview")),
    )
