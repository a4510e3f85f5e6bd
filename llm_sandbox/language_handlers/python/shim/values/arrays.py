"""Codec of numpy arrays and scalars."""

from __future__ import annotations

import importlib
import math
import re
from typing import TYPE_CHECKING, Any

from .codec import natural
from .failures import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .codec import Decoder, Encoder, Node

_UNIT = r"(?:\[\d{0,6}(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
_DTYPE = re.compile(
    r"\|b1|[|<>][iu][1248]|[<>]f[248]|[<>]c(?:8|16)|[<>][mM]8" + _UNIT + r"|[|<>][SU][1-9]\d{0,8}"
)
"""Numbers, booleans, dates and texts of fixed width; never objects, never records."""

_MOST_DIMENSIONS = 32
_LAST_CHARACTER = 0x10FFFF


def numpy() -> Any:
    """Return the numpy module, which is loaded already or about to be needed."""
    return importlib.import_module("numpy")


def encode(encoder: Encoder, value: Any) -> Node:
    """Encode a numpy value.

    Args:
        encoder: The encoder.
        value: A value of a numpy type.

    Returns:
        The node; ``None`` if the value cannot be transferred.
    """
    np = numpy()
    kind = type(value)
    if kind is np.ndarray or kind is np.memmap:
        return write_array(encoder, np.asarray(value))
    if kind is np.str_:
        return {"$": "np.str", "v": encoder.encode(str(value))}
    if kind is np.bytes_:
        return {"$": "np.bytes", "v": encoder.encode(bytes(value))}
    if isinstance(value, np.generic) and _DTYPE.fullmatch(value.dtype.str):
        return {"$": "np.scalar", "d": value.dtype.str, "v": value.tobytes().hex()}
    return None


def write_array(encoder: Encoder, value: Any) -> Node:
    """Encode an array.

    Args:
        encoder: The encoder.
        value: The array.

    Returns:
        The node.

    Raises:
        TransferError: The element type, or an element, cannot be transferred.
    """
    shape = list(value.shape)
    if value.dtype == object:
        flat = value.reshape(-1).tolist()
        path = (lambda number, item: f"[{number}]") if len(shape) == 1 else _flat_path
        return {"$": "np.objects", "s": shape, "v": encoder.items(flat, path)}
    if not _DTYPE.fullmatch(value.dtype.str):
        if value.dtype.itemsize == 0 and value.dtype.kind in "SU":
            return write_array(encoder, value.astype(f"{value.dtype.kind}1"))
        advice = f"its elements are {str(value.dtype)[:60]}: transfer plain columns of it"
        encoder.refuse(value, advice)
    encoder.reserve(value.nbytes)
    return {
        "$": "np.array",
        "d": value.dtype.str,
        "s": shape,
        "b": encoder.add(value.tobytes()),
    }


def _flat_path(number: int, item: Any) -> str:
    return f".flat[{number}]"


def _dtype(text: Any) -> Any:
    # trust: a dtype's name can ask for objects, that is for addresses taken from the bytes.
    if type(text) is not str or not _DTYPE.fullmatch(text):
        raise MalformedError("an array of the encoded value has an unsupported type")
    return numpy().dtype(text)


def _shape(sizes: Any) -> tuple[int, ...]:
    shape = tuple(map(natural, sizes))
    if len(shape) > _MOST_DIMENSIONS:
        raise MalformedError("an array of the encoded value has too many dimensions")
    return shape


def _from_bytes(raw: memoryview | bytes, dtype: Any) -> Any:
    np = numpy()
    values = np.frombuffer(raw, dtype)
    # trust: bytes that are no value of their type make numpy misbehave later.
    if dtype.kind == "b" and np.frombuffer(raw, np.uint8).max() > 1:
        raise MalformedError("a boolean of the encoded value is neither true nor false")
    if dtype.kind == "U" and np.frombuffer(raw, f"{dtype.str[0]}u4").max() > _LAST_CHARACTER:
        raise MalformedError("a text of the encoded value has invalid characters")
    return values


def read_array(decoder: Decoder, node: Node) -> Any:
    """Decode an array.

    Args:
        decoder: The decoder.
        node: The node.

    Returns:
        The array, with its own memory.

    Raises:
        TransferError: The node is inconsistent.
    """
    np = numpy()
    dtype, shape = _dtype(node["d"]), _shape(node["s"])
    raw = decoder.bytes(node["b"])
    if math.prod(shape) * dtype.itemsize != len(raw):
        raise MalformedError("the shape of an array does not fit its bytes")
    return _from_bytes(raw, dtype).reshape(shape).copy() if raw else np.empty(shape, dtype)


def _read_objects(decoder: Decoder, node: Node) -> Any:
    np = numpy()
    shape, items = _shape(node["s"]), decoder.decode(node["v"])
    if math.prod(shape) != len(items):
        raise MalformedError("the shape of an array does not fit its elements")
    values = np.empty(len(items), object)
    for number, item in enumerate(items):  # a slice assignment would unpack lists
        values[number] = item
    return values.reshape(shape)


def _read_scalar(decoder: Decoder, node: Node) -> Any:
    dtype, raw = _dtype(node["d"]), bytes.fromhex(node["v"])
    if len(raw) != dtype.itemsize:
        raise MalformedError("a number of the encoded value has the wrong size")
    return _from_bytes(raw, dtype)[0]


DECODERS: dict[str, Callable[[Any, Any], Any]] = {
    "np.array": read_array,
    "np.objects": _read_objects,
    "np.scalar": _read_scalar,
    "np.str": lambda decoder, node: numpy().str_(decoder.decode(node["v"])),
    "np.bytes": lambda decoder, node: numpy().bytes_(decoder.decode(node["v"])),
}
