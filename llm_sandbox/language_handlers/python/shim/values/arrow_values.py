"""Codec of Arrow tables, batches and arrays.

Arrow's own file formats are not used: their readers trust the metadata of a file too much, and a
compressed file grows without bound.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

from . import arrays
from .codec import natural
from .failures import MalformedError, NotTransferableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .codec import Decoder, Encoder, Node

_NUMBERS = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
]
_ALIASES = {"float": "float32", "double": "float64", "halffloat": "float16"}
_SIMPLE = [
    "null",
    "bool",
    "string",
    "large_string",
    "binary",
    "large_binary",
    "date32",
    "date64",
    "string_view",
    "binary_view",
]
_TIMED = re.compile(r"(timestamp|time32|time64|duration)\[(s|ms|us|ns)(?:, tz=(.{1,60}))?\]")
_DECIMAL = re.compile(r"decimal(?:32|64|128|256)\(\d{1,3}, -?\d{1,3}\)")


def _arrow() -> Any:
    return importlib.import_module("pyarrow")


def encode(encoder: Encoder, value: Any) -> Node:
    """Encode an Arrow value.

    Args:
        encoder: The encoder.
        value: A value of an Arrow type.

    Returns:
        The node; ``None`` if the value cannot be transferred.
    """
    pa = _arrow()
    if isinstance(value, (pa.Table, pa.RecordBatch)):
        batch = isinstance(value, pa.RecordBatch)
        table = pa.Table.from_batches([value]) if batch else value
        return {
            "$": "pa.RecordBatch" if batch else "pa.Table",
            "n": table.num_rows,
            "c": [encoder.encode(name) for name in table.column_names],
            "v": [_write_named(encoder, table, number) for number in range(table.num_columns)],
        }
    if isinstance(value, pa.ChunkedArray):
        return {"$": "pa.ChunkedArray", "v": write_chunks(encoder, value)}
    if isinstance(value, pa.Array):
        return {"$": "pa.Array", "v": write_chunks(encoder, pa.chunked_array([value]))}
    return None


def _write_named(encoder: Encoder, table: Any, number: int) -> Node:
    try:
        return write_chunks(encoder, table.column(number))
    except NotTransferableError as error:
        error.found_in(f"[{table.column_names[number][:60]!r}]")
        raise


def _read_table(decoder: Decoder, node: Node) -> Any:
    pa = _arrow()
    names = decoder.decode(node["c"])
    columns = [read_chunks(decoder, column) for column in node["v"]]
    table = pa.Table.from_arrays(columns, names=names)
    if table.num_rows != node["n"] and columns:
        raise MalformedError(
            "a table of the encoded value does not have the declared number of rows"
        )
    if node["$"] == "pa.Table":
        return table
    whole = [column.combine_chunks() for column in columns]
    return pa.RecordBatch.from_arrays(whole, names=names)


def write_chunks(encoder: Encoder, values: Any) -> Node:
    """Encode a column.

    Args:
        encoder: The encoder.
        values: A chunked array.

    Returns:
        The node.

    Raises:
        TransferError: The type, or a value, cannot be transferred.
    """
    kind = _write_type(encoder, values, values.type)
    if _is_number(values.type):
        missing = values.is_null().to_numpy() if values.null_count else None
        plain = values.fill_null(0) if values.null_count else values
        return {
            "t": kind,
            "v": arrays.write_array(encoder, plain.to_numpy()),
            "m": None if missing is None else arrays.write_array(encoder, missing),
        }
    if str(values.type).startswith(("timestamp", "duration", "time", "date")):
        # By number: Python's own moments are not as fine as Arrow's.
        width = values.type.bit_width
        stored = write_chunks(encoder, values.cast(f"int{width}"))
        return {"t": kind, "i": stored}
    if str(values.type).startswith("dictionary"):
        return {"t": kind, "d": _write_dictionary(encoder, values)}
    return {"t": kind, "l": encoder.encode(values.to_pylist())}


def _write_dictionary(encoder: Encoder, values: Any) -> list[Node]:
    pa = _arrow()
    whole = values.unify_dictionaries().combine_chunks()
    parts = (whole.indices, whole.dictionary)
    return [write_chunks(encoder, pa.chunked_array([part])) for part in parts]


def read_chunks(decoder: Decoder, node: Node) -> Any:
    """Decode a column.

    Args:
        decoder: The decoder.
        node: The node.

    Returns:
        A chunked array.

    Raises:
        TransferError: The node does not describe a column.
    """
    pa = _arrow()
    kind = _read_type(node["t"])
    if "d" in node:
        indices, known = (read_chunks(decoder, part).combine_chunks() for part in node["d"])
        ordered = kind.ordered
        # trust: this checks that every index has its entry.
        found = pa.DictionaryArray.from_arrays(indices, known, ordered=ordered, safe=True)
        return pa.chunked_array([found], type=kind)
    if "l" in node:
        values = decoder.decode(node["l"])
        return pa.chunked_array([pa.array(values, type=kind)], type=kind)
    if "i" in node:
        stored = read_chunks(decoder, node["i"])
        if pa.types.is_time(kind):
            _check_times(stored, str(kind))
        return stored.cast(kind)
    plain = arrays.read_array(decoder, node["v"])
    mask = None if node["m"] is None else arrays.read_array(decoder, node["m"])
    if plain.ndim != 1 or not _is_number(kind):
        raise MalformedError("a column of the encoded value is malformed")
    return pa.chunked_array([pa.array(plain, type=kind, mask=mask)], type=kind)


def _check_times(stored: Any, kind: str) -> None:
    per_second = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[kind.partition("[")[2][:-1]]
    for value in stored.drop_null().to_numpy()[:].tolist():
        if not 0 <= value < 86400 * per_second:
            raise MalformedError("a time of the encoded value is out of range")


def _is_number(kind: Any) -> bool:
    name = str(kind)
    return _ALIASES.get(name, name) in _NUMBERS


def _write_type(encoder: Encoder, values: Any, kind: Any) -> Node:
    name = str(kind)
    simple = _ALIASES.get(name, name)
    if simple in _NUMBERS or simple in _SIMPLE or _DECIMAL.fullmatch(name):
        return simple
    if _TIMED.fullmatch(name):
        return name
    if name.startswith("date"):
        return name.partition("[")[0]
    if name.startswith("dictionary"):
        index, value = str(kind.index_type), _write_type(encoder, values, kind.value_type)
        return {"dictionary": value, "index": index, "ordered": bool(kind.ordered)}
    if name.startswith(("list<", "large_list<")):
        return {name.partition("<")[0]: _write_inner(encoder, values, kind.value_type)}
    if name.startswith("fixed_size_list<"):
        return {"fixed": _write_inner(encoder, values, kind.value_type), "width": kind.list_size}
    if name.startswith("struct<"):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        return {
            "struct": [[f.name, _write_inner(encoder, values, f.type)] for f in fields],
        }
    return encoder.refuse(values, f"its type is {name[:60]}: cast it first")


def _write_inner(encoder: Encoder, values: Any, kind: Any) -> Node:
    name = str(kind)
    if "[ns" in name:
        encoder.refuse(values, "nanoseconds inside of lists are not transferred: cast them first")
    return _write_type(encoder, values, kind)


def _read_type(node: Node, depth: int = 0) -> Any:
    pa = _arrow()
    if depth > 20:
        raise MalformedError("a type of the encoded value is nested too deeply")
    if type(node) is str:
        return _named_type(node)
    if "dictionary" in node:
        index = node["index"]
        if index not in _NUMBERS[:8]:
            raise MalformedError("a dictionary of the encoded value has no proper index")
        value = _read_type(node["dictionary"], depth + 1)
        return pa.dictionary(getattr(pa, index)(), value, ordered=node["ordered"] is True)
    if "struct" in node:
        return pa.struct(
            [(str(name), _read_type(kind, depth + 1)) for name, kind in node["struct"]]
        )
    if "fixed" in node:
        return pa.list_(_read_type(node["fixed"], depth + 1), natural(node["width"]))
    (name,) = node
    make = {"list": pa.list_, "large_list": pa.large_list}[name]
    return make(_read_type(node[name], depth + 1))


def _named_type(name: str) -> Any:
    pa = _arrow()
    if name in _NUMBERS or name in _SIMPLE:
        return getattr(pa, {"bool": "bool_"}.get(name, name))()
    timed = _TIMED.fullmatch(name)
    if timed is not None:
        make, unit, zone = timed.groups()
        return getattr(pa, make)(unit, zone) if zone else getattr(pa, make)(unit)
    if _DECIMAL.fullmatch(name):
        make, _, rest = name.partition("(")
        precision, scale = map(int, rest[:-1].split(","))
        natural(precision)
        return getattr(pa, make)(precision, scale)
    raise MalformedError("a column of the encoded value has an unsupported type")


DECODERS: dict[str, Callable[[Any, Any], Any]] = {
    "pa.Table": _read_table,
    "pa.RecordBatch": _read_table,
    "pa.ChunkedArray": lambda decoder, node: read_chunks(decoder, node["v"]),
    "pa.Array": lambda decoder, node: read_chunks(decoder, node["v"]).combine_chunks(),
}
