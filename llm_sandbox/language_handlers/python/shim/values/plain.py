"""Codec of plain data: containers, numbers, texts and other data types of the standard library."""

from __future__ import annotations

import builtins
import sys
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ..preview import preview
from .failures import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .codec import Decoder, Encoder, Node

_PACKED = 16
"""Minimum length of a list of numbers or texts that is stored in the blob."""

_LARGEST_FRACTION_BITS = 65536
_FACTORIES = ("int", "float", "str", "bool", "list", "dict", "set", "tuple", "bytes")


# --- containers


def _index(number: int, item: Any) -> str:
    return f"[{number}]"


def _write_list(encoder: Encoder, value: Any) -> Node:
    packed = pack(encoder, value)
    return encoder.items(value, _index) if packed is None else packed


def pack(encoder: Encoder, value: Any) -> Node:
    """Store a long list of numbers or texts in the blob.

    Args:
        encoder: The encoder.
        value: A list or tuple.

    Returns:
        The node; ``None`` if the list is short or has other values.
    """
    if len(value) < _PACKED:
        return None
    kinds = set(map(type, value))
    if kinds == {float}:
        return {"$": "floats", "b": _add_numbers(encoder, "d", value)}
    if kinds == {int}:
        try:
            return {"$": "ints", "b": _add_numbers(encoder, "q", value)}
        except OverflowError:
            return None
    if kinds <= {str, type(None)}:
        return write_texts(encoder, value)
    return None


def _add_numbers(encoder: Encoder, code: str, values: Iterable[Any]) -> list[int]:
    numbers = array(code, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return encoder.add(numbers.tobytes())


def _read_numbers(decoder: Decoder, code: str, reference: Any) -> array[Any]:
    numbers = array(code)
    numbers.frombytes(decoder.bytes(reference))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def write_texts(encoder: Encoder, values: Iterable[str | None]) -> Node:
    """Store texts in the blob.

    Args:
        encoder: The encoder.
        values: Texts, and None for a missing one.

    Returns:
        The node, which decodes to a list.
    """
    lengths = array("i")
    pieces = []
    total = 0
    for text in values:
        if text is None:
            lengths.append(-1)
            continue
        piece = text.encode("utf-8", "surrogatepass")
        total += len(piece) + 4
        encoder.reserve(total)
        lengths.append(len(piece))
        pieces.append(piece)
    return {
        "$": "texts",
        "n": _add_numbers(encoder, "i", lengths),
        "b": encoder.add(b"".join(pieces)),
    }


def _read_texts(decoder: Decoder, node: Node) -> list[str | None]:
    lengths = _read_numbers(decoder, "i", node["n"])
    blob = decoder.bytes(node["b"])
    found: list[str | None] = []
    offset = 0
    for length in lengths:
        if length < 0:
            found.append(None)
            continue
        found.append(str(blob[offset : offset + length], "utf-8", "surrogatepass"))
        offset += length
    # trust: a slice that ends beyond its blob is only shorter.
    if offset != len(blob):
        raise MalformedError("the texts of the encoded value have inconsistent lengths")
    return found


def _write_sequence(kind: str) -> Callable[[Encoder, Any], Node]:
    def write(encoder: Encoder, value: Any) -> Node:
        return {"$": kind, "v": _write_list(encoder, list(value))}

    return write


def _write_set(kind: str) -> Callable[[Encoder, Any], Node]:
    def write(encoder: Encoder, value: Any) -> Node:
        return {"$": kind, "v": encoder.items(value, lambda number, item: "{…}")}

    return write


def _write_mapping(kind: str) -> Callable[[Encoder, Any], Node]:
    def write(encoder: Encoder, value: Any) -> Node:
        keys = list(value)
        return {
            "$": kind,
            "k": encoder.items(keys, lambda number, key: ".keys()"),
            "v": encoder.items(value.values(), lambda number, item: f"[{_key(keys[number])}]"),
        }

    return write


def _key(key: Any) -> str:
    return preview(key, 60)


def _read_mapping(decoder: Decoder, node: Node) -> dict[Any, Any]:
    keys, values = decoder.keys(node["k"]), decoder.decode(node["v"])
    if len(keys) != len(values):
        raise MalformedError("a mapping of the encoded value has keys without values")
    return dict(zip(keys, values, strict=True))


def _write_defaultdict(encoder: Encoder, value: defaultdict[Any, Any]) -> Node:
    factory = value.default_factory
    name = getattr(factory, "__name__", None)
    if factory is not None and (name not in _FACTORIES or factory is not vars(builtins)[name]):
        encoder.refuse(value, "its default is a function: transfer dict(value)")
    return {**_write_mapping("defaultdict")(encoder, value), "f": name}


def _read_defaultdict(decoder: Decoder, node: Node) -> defaultdict[Any, Any]:
    name = node["f"]
    # trust: of all there is in builtins, these only.
    factory = vars(builtins)[_FACTORIES[_FACTORIES.index(name)]] if name is not None else None
    return defaultdict(factory, _read_mapping(decoder, node))


def _read_deque(decoder: Decoder, node: Node) -> deque[Any]:
    return deque(decoder.decode(node["v"]), node["m"])


# --- numbers and texts


def _read_int(decoder: Decoder, node: Node) -> int:
    return int.from_bytes(decoder.bytes(node["b"]), "little", signed=True)


def _write_int(encoder: Encoder, value: int) -> Node:
    size = value.bit_length() // 8 + 1
    return {"$": "int", "b": encoder.add(value.to_bytes(size, "little", signed=True))}


def _write_fraction(encoder: Encoder, value: Fraction) -> Node:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _LARGEST_FRACTION_BITS:
        encoder.refuse(value, "it is too long: transfer its numerator and denominator")
    return {"$": "fraction", "v": [hex(value.numerator), hex(value.denominator)]}


def _read_fraction(decoder: Decoder, node: Node) -> Fraction:
    above, below = node["v"]
    # trust: to reduce a fraction takes quadratic time.
    if max(len(above), len(below)) > _LARGEST_FRACTION_BITS // 4 + 3:
        raise MalformedError("a fraction of the encoded value is too long")
    return Fraction(int(above, 16), int(below, 16))


def _write_complex(encoder: Encoder, value: complex) -> Node:
    return {"$": "complex", "v": [encoder.encode(value.real), encoder.encode(value.imag)]}


def _read_complex(decoder: Decoder, node: Node) -> complex:
    real, imaginary = decoder.decode(node["v"])
    return complex(real, imaginary)


def _write_path(encoder: Encoder, value: PurePath) -> Node:
    return {"$": "path", "v": encoder.encode(value.as_posix())}


def _read_str(decoder: Decoder, node: Node) -> str:
    return str(decoder.bytes(node["b"]), "utf-8", "surrogatepass")


ENCODERS: dict[type, Callable[[Any, Any], Any]] = {
    list: _write_list,
    tuple: _write_sequence("tuple"),
    set: _write_set("set"),
    frozenset: _write_set("frozenset"),
    deque: lambda encoder, value: {**_write_sequence("deque")(encoder, value), "m": value.maxlen},
    dict: _write_mapping("dict"),
    OrderedDict: _write_mapping("OrderedDict"),
    Counter: _write_mapping("Counter"),
    defaultdict: _write_defaultdict,
    int: _write_int,
    # Only infinities and NaN come here.
    float: lambda encoder, value: {"$": "float", "v": repr(value)},
    complex: _write_complex,
    bytes: lambda encoder, value: {"$": "bytes", "b": encoder.add(value)},
    bytearray: lambda encoder, value: {"$": "bytearray", "b": encoder.add(bytes(value))},
    range: lambda encoder, value: {
        "$": "range",
        "v": encoder.encode([value.start, value.stop, value.step]),
    },
    Decimal: lambda encoder, value: {"$": "decimal", "v": encoder.encode(str(value))},
    Fraction: _write_fraction,
    UUID: lambda encoder, value: {"$": "uuid", "v": value.hex},
    # A path of one side names nothing on the other: it arrives as a pure one.
    PosixPath: _write_path,
    PurePosixPath: _write_path,
    WindowsPath: _write_path,
    PureWindowsPath: _write_path,
}
"""Encoders by exact type: a subclass may behave differently."""

DECODERS: dict[str, Callable[[Any, Any], Any]] = {
    "floats": lambda decoder, node: _read_numbers(decoder, "d", node["b"]).tolist(),
    "ints": lambda decoder, node: _read_numbers(decoder, "q", node["b"]).tolist(),
    "texts": _read_texts,
    "tuple": lambda decoder, node: tuple(decoder.decode(node["v"])),
    "set": lambda decoder, node: set(decoder.keys(node["v"])),
    "frozenset": lambda decoder, node: frozenset(decoder.keys(node["v"])),
    "deque": _read_deque,
    "dict": _read_mapping,
    "OrderedDict": lambda decoder, node: OrderedDict(_read_mapping(decoder, node)),
    "Counter": lambda decoder, node: Counter(_read_mapping(decoder, node)),
    "defaultdict": _read_defaultdict,
    "int": _read_int,
    "float": lambda decoder, node: {
        "nan": float("nan"),
        "inf": float("inf"),
        "-inf": -float("inf"),
    }[node["v"]],
    "complex": _read_complex,
    "bytes": lambda decoder, node: bytes(decoder.bytes(node["b"])),
    "bytearray": lambda decoder, node: bytearray(decoder.bytes(node["b"])),
    "range": lambda decoder, node: range(*decoder.decode(node["v"])),
    "str": _read_str,
    "decimal": lambda decoder, node: Decimal(decoder.decode(node["v"])),
    "fraction": _read_fraction,
    "uuid": lambda decoder, node: UUID(hex=node["v"]),
    "path": lambda decoder, node: PurePosixPath(decoder.decode(node["v"])),
}
