"""Encoder and decoder of the header's nodes: one node for each value.

``None``, booleans, texts, finite floats and ints of 64 bits are themselves, lists are lists; all
else is an object whose ``$`` names its kind. Bytes are in the blob: ``[offset, length]``.
"""

from __future__ import annotations

import importlib
import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn

from ..naming import qualified_name
from . import failures, moments, plain
from .failures import advice_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LARGEST = 120 * 1024 * 1024
"""Most bytes of a value; a frame of the protocol has at most 128 MiB."""

_LARGEST_HEADER = 32 * 1024 * 1024
_MOST_NODES = 4_000_000
_DEEPEST = 100
_LONG_TEXT = 1024
_MOST_COLLISIONS = 200

Node = Any

_LIBRARIES = {
    "numpy": "arrays",
    "pandas": "pandas_values",
    "polars": "polars_values",
    "pyarrow": "arrow_values",
}
_BY_PREFIX = {"np": "numpy", "pd": "pandas", "pl": "polars", "pa": "pyarrow"}


def encode(value: Any, limit: int = LARGEST) -> tuple[bytes, bytes]:
    """Encode a value.

    Args:
        value: The value.
        limit: Most bytes of the two results together.

    Returns:
        The header and the blob.

    Raises:
        TransferError: The value holds something that is not plain data, an array or a table, or too
            much.
    """
    encoder = Encoder(min(limit, LARGEST))
    header = json.dumps(encoder.encode(value), separators=(",", ":"), allow_nan=False).encode()
    if len(header) > _LARGEST_HEADER:
        raise failures.TooLargeError(_LARGEST_HEADER)
    if len(header) + encoder.size > encoder.limit:
        raise failures.TooLargeError(encoder.limit)
    return header, b"".join(encoder.pieces)


def decode(header: memoryview | bytes, blob: memoryview | bytes) -> Any:
    """Decode the result of `encode`.

    Args:
        header: The header.
        blob: The blob.

    Returns:
        The value; nothing of it refers to the blob.

    Raises:
        TransferError: The input does not describe a value, or one of a library that is not
            installed here.
    """
    # trust: on the host both come from inside.
    if len(header) > _LARGEST_HEADER:
        raise failures.TooLargeError(_LARGEST_HEADER)
    try:
        return Decoder(memoryview(blob)).decode(json.loads(bytes(header)))
    except failures.TransferError:
        raise
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a polars panic is no Exception
        raise failures.MalformedError(
            f"the encoded value is malformed: {type(error).__name__}"
        ) from None


class Encoder:
    """Encoder of values, which collects the blob while it builds the nodes.

    Attributes:
        limit: Most bytes.
        size: Bytes of the blob so far.
        pieces: The blob so far.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self.pieces: list[bytes] = []
        self._nodes = 0
        self._inside: set[int] = set()

    def encode(self, value: Any) -> Node:
        """Build the node of a value.

        Args:
            value: Any value.

        Returns:
            The node.

        Raises:
            TransferError: The value cannot be encoded.
        """
        self._nodes += 1
        # Parts that are shared are written each time: they may multiply without end.
        if self._nodes > _MOST_NODES:
            raise failures.TooLargeError(_LARGEST_HEADER)
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            return self._text(value)
        if kind is float and math.isfinite(value):
            return value
        if kind is int and -(1 << 63) <= value < 1 << 63:
            return value
        write = plain.ENCODERS.get(kind) or moments.ENCODERS.get(kind)
        if write is not None:
            return self._within(value, write)
        return self._of_library(value, kind)

    def _within(self, value: Any, write: Callable[[Encoder, Any], Node]) -> Node:
        if id(value) in self._inside:
            self.refuse(value, "it contains itself: transfer its parts")
        if len(self._inside) >= _DEEPEST:
            self.refuse(value, f"it is nested deeper than {_DEEPEST} levels: transfer its parts")
        self._inside.add(id(value))
        try:
            return write(self, value)
        finally:
            self._inside.discard(id(value))

    def _of_library(self, value: Any, kind: type) -> Node:
        library = str(kind.__module__).partition(".")[0]
        module = _LIBRARIES.get(library)
        if module is not None:
            encode = importlib.import_module(f".{module}", __package__).encode
            node = self._within(value, encode)
            if node is not None:
                return node
        return self.refuse(value, advice_for(value))

    def refuse(self, value: Any, advice: str) -> NoReturn:
        """Raise the error of a value that cannot be encoded.

        Args:
            value: The value.
            advice: Suggested alternative.

        Raises:
            TransferError: Always.
        """
        raise failures.NotTransferableError(qualified_name(type(value)), advice)

    def _text(self, text: str) -> Node:
        # JSON would join two lone surrogates that follow each other.
        if len(text) <= _LONG_TEXT and (text.isascii() or _is_clean(text)):
            return text
        return {"$": "str", "b": self.add(text.encode("utf-8", "surrogatepass"))}

    def items(self, values: Iterable[Any], path: Callable[[int, Any], str]) -> list[Node]:
        """Build the nodes of several values.

        Args:
            values: The values.
            path: Returns the path of a value, given its number and itself.

        Returns:
            The nodes.
        """
        nodes = []
        for number, item in enumerate(values):
            try:
                nodes.append(self.encode(item))
            except failures.NotTransferableError as error:
                error.found_in(path(number, item))
                raise
        return nodes

    def add(self, data: bytes) -> list[int]:
        """Append bytes to the blob.

        Args:
            data: The bytes.

        Returns:
            The reference for the node.

        Raises:
            TransferError: The limit is exceeded.
        """
        self.reserve(len(data))
        self.pieces.append(data)
        self.size += len(data)
        return [self.size - len(data), len(data)]

    def reserve(self, size: int) -> None:
        """Check that a number of bytes fits, before these are produced.

        Args:
            size: Number of bytes.

        Raises:
            TransferError: The limit would be exceeded.
        """
        if self.size + size > self.limit:
            raise failures.TooLargeError(self.limit)


class Decoder:
    """Decoder of nodes.

    Args:
        blob: The blob that references of the nodes point into.
    """

    def __init__(self, blob: memoryview) -> None:
        self._blob = blob
        self._used = 0
        self._depth = 0

    def decode(self, node: Node) -> Any:
        """Build the value of a node.

        Args:
            node: The node.

        Returns:
            The value.

        Raises:
            Exception: The node does not describe a value.
        """
        kind = type(node)
        if node is None or kind in (bool, int, float, str):
            return node
        self._depth += 1
        if self._depth > _DEEPEST + 1:
            raise failures.MalformedError("the encoded value is nested too deeply")
        try:
            if kind is list:
                return [self.decode(item) for item in node]
            return self._reader(node["$"])(self, node)
        finally:
            self._depth -= 1

    def _reader(self, kind: str) -> Callable[[Decoder, Node], Any]:
        read = plain.DECODERS.get(kind) or moments.DECODERS.get(kind)
        if read is not None:
            return read
        library = _BY_PREFIX[kind.partition(".")[0]]
        try:
            importlib.import_module(library)
        except ImportError:
            raise failures.MissingLibraryError(library) from None
        module = importlib.import_module(f".{_LIBRARIES[library]}", __package__)
        found: Callable[[Decoder, Node], Any] = module.DECODERS[kind]
        return found

    def bytes(self, reference: Any) -> memoryview:
        """Return the bytes of a reference into the blob.

        Args:
            reference: Offset and length.

        Returns:
            A view of them.

        Raises:
            TransferError: The reference is out of range, or overlaps an earlier one.
        """
        offset, length = map(natural, reference)
        self._used += length
        # trust: all references together may not name more bytes than there are, or a small blob
        # would become any amount of memory.
        if offset + length > len(self._blob) or self._used > len(self._blob):
            raise failures.MalformedError("the encoded value refers to bytes that are not there")
        return self._blob[offset : offset + length]

    def keys(self, node: Node) -> list[Any]:
        """Build values that are about to be hashed.

        Args:
            node: Node of the values.

        Returns:
            The values.

        Raises:
            TransferError: Too many values have the same hash, which indicates an attack.
        """
        values = self.decode(node)
        # trust: hashes of numbers are known to anyone, and colliding ones take quadratic time.
        counts = Counter(map(hash, values))
        if counts and max(counts.values()) > _MOST_COLLISIONS:
            raise failures.MalformedError("the keys of the encoded value collide")
        return list(values)


def natural(number: Any) -> int:
    """Check a count that came from the other side.

    Args:
        number: Anything.

    Returns:
        The count.

    Raises:
        TransferError: The value is not a count.
    """
    if type(number) is not int or not 0 <= number < 1 << 62:
        raise failures.MalformedError("a number of the encoded value is out of range")
    return number


def _is_clean(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
