"""Encoding of values for the transfer into a session, and decoding of those that come out.

Both sides use the codec of the interpreter's shim, which imports nothing of this package.
"""

from collections.abc import Mapping, Sequence

from llm_sandbox.exceptions import (
    MissingDependencyError,
    ProtocolError,
    ValueNotTransferableError,
    ValueTooLargeError,
)
from llm_sandbox.host.distribution import pip_install
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.language_handlers.python.shim import values

__all__ = ["LARGEST", "failed", "read", "word", "write"]

LARGEST = values.LARGEST
"""Most bytes of a value."""


def write(value: object) -> tuple[bytes, bytes]:
    """Encode a value.

    Raises:
        ValueNotTransferableError: It is, or holds, something that is not transferred, or is too
            large.
    """
    try:
        return values.encode(value)
    except values.TransferError as error:
        raise failed(error.to_dict(), "value", "set") from None


def read(buffers: Sequence[memoryview]) -> object:
    """Decode a value that came from inside.

    Raises:
        MissingDependencyError: It belongs to a library that is not installed on the host.
        ProtocolError: The bytes are not an encoded value.
    """
    # trust: both buffers come from inside; the codec checks every size and makes data only.
    try:
        header, blob = buffers
        return values.decode(header, blob)
    except values.MissingLibraryError as error:
        library = str(error.facts["library"])
        raise MissingDependencyError(
            f"the value needs {library}, which is not installed here",
            op="get",
            hint=pip_install(library),
        ) from None
    except (values.TransferError, ValueError) as error:
        reason = word(str(error))
        raise ProtocolError(f"the interpreter sent an invalid value: {reason}", op="get") from None


def failed(facts: Mapping[str, object], name: str, op: str) -> ValueNotTransferableError:
    """Return the error for a value that is not transferred.

    Args:
        facts: The codec's description of the failure, which may come from inside.
        name: The variable's name.
        op: The operation.
    """
    limit = facts.get("limit")
    if facts.get("kind") == "too_large" and isinstance(limit, int):
        return ValueTooLargeError(
            f"{name!r} takes more than {limit:,} bytes",
            limit=limit,
            op=op,
            hint="transfer a part of it, or write it to a file and copy that",
        )
    if facts.get("kind") != "not_transferable":
        return ValueNotTransferableError(f"{name!r}: {word(facts.get('message'))}", op=op)
    path, kind = f"{name}{word(facts.get('path'), 500)}", word(facts.get("type"))
    return ValueNotTransferableError(
        f"{path}, of type {kind}, is not transferred",
        path=path,
        type_name=kind,
        op=op,
        hint=word(facts.get("advice")) or None,
    )


def word(value: object, limit: int = 300) -> str:
    """Return a text from inside without control characters, on one line."""
    # trust: texts come from inside.
    return " ".join(strip_controls(value[:limit]).split()) if isinstance(value, str) else ""
