"""Pickled texts, read without unpickling.

A pickle is a program: `pickle.loads` runs what it says. Some data sets hold a text as base64 of
zlib of a pickle; the reader here goes through the opcodes, and accepts those of one string alone.
"""

import base64
import binascii
import io
import pickletools
import zlib

from llm_sandbox.exceptions import ValidationError

__all__ = ["MOST_BYTES", "read_pickled_text", "unpack_text"]

MOST_BYTES = 512 * 2**20
"""Default of the most bytes that a text is decompressed to."""

_STRINGS = frozenset({"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE"})
_MEMO = frozenset({"MEMOIZE", "BINPUT", "LONG_BINPUT", "PUT"})


def unpack_text(packed: str, *, most_bytes: int = MOST_BYTES, name: str = "text") -> str:
    """Return the text within base64 of zlib of a pickle.

    Args:
        packed: The base64.
        most_bytes: Most bytes to decompress.
        name: Name of the text in errors.

    Raises:
        ValidationError: It is damaged, decompresses to more, or its pickle is not one string.
    """
    try:
        compressed = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        raise ValidationError(
            f"invalid {name}: expected base64, got other characters or a wrong length",
            parameter=name,
        ) from None
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(compressed, most_bytes + 1)
    except zlib.error as error:
        raise ValidationError(
            f"invalid {name}: expected zlib data, got damage: {error}", parameter=name
        ) from None
    if len(data) > most_bytes:
        raise ValidationError(
            f"invalid {name}: expected at most {most_bytes} bytes when decompressed, got more",
            parameter=name,
        )
    if not stream.eof or stream.unused_data:
        got = "bytes after its end" if stream.eof else "data that is cut off"
        raise ValidationError(f"invalid {name}: expected zlib data, got {got}", parameter=name)
    return read_pickled_text(data, name=name)


def read_pickled_text(data: bytes, *, name: str = "text") -> str:
    """Return the string that a pickle holds, of any protocol; nothing is unpickled.

    Args:
        data: The pickle.
        name: Name of the text in errors.

    Raises:
        ValidationError: The pickle is damaged, or anything but one string.
    """
    found: list[str] = []
    stream = io.BytesIO(data)
    try:
        for number, (opcode, argument, _position) in enumerate(pickletools.genops(stream)):
            kind = opcode.name
            if kind in _STRINGS and not found:
                found.append(str(argument))
            elif not (
                (kind == "PROTO" and number == 0)
                or kind == "FRAME"
                or (kind in _MEMO and found)
                or (kind == "STOP" and found)
            ):
                raise _refused(name, f"the opcode {kind} at {number}")
    except (ValueError, EOFError, OverflowError, MemoryError) as error:
        if isinstance(error, ValidationError):
            raise
        raise _refused(name, "damaged data") from None
    if stream.tell() != len(data):
        raise _refused(name, "bytes after its end")
    return found[0]


def _refused(name: str, got: str) -> ValidationError:
    return ValidationError(
        f"invalid {name}: expected a pickle of one string, got {got}", parameter=name
    )
