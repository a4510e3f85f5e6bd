"""Codec of polars data frames and series."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import arrays
from .codec import natural
from .failures import MalformedError, NotTransferableError
from .plain import write_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from .codec import Decoder, Encoder, Node

_NUMBERS = [
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Float32",
    "Float64",
]
_SIMPLE = (
    *_NUMBERS,
    *["Boolean", "String", "Binary", "Date", "Time", "Null", "Categorical", "Int128"],
)
_UNITS = ("ms", "us", "ns")
_DAY = 86_400 * 10**9
_MOST_COLUMNS = 100_000


def _polars() -> Any:
    return importlib.import_module("polars")


def encode(encoder: Encoder, value: Any) -> Node:
    """Encode a polars value.

    Args:
        encoder: The encoder.
        value: A value of a polars type.

    Returns:
        The node; ``None`` if the value cannot be transferred.
    """
    pl = _polars()
    if type(value) is pl.Series:
        return {"$": "pl.Series", **_write_series(encoder, value)}
    if type(value) is pl.DataFrame:
        columns = []
        for series in value.get_columns():
            try:
                columns.append(_write_series(encoder, series))
            except NotTransferableError as error:
                error.found_in(f"[{series.name[:60]!r}]")
                raise
        return {"$": "pl.DataFrame", "v": columns}
    return None


def _write_series(encoder: Encoder, series: Any) -> Node:
    node = {
        "n": encoder.encode(series.name),
        "t": _write_type(encoder, series, series.dtype, 0),
        "m": None,
    }
    name = str(series.dtype.base_type())
    if name in ("String", "Categorical", "Enum"):
        texts = series.cast(_polars().String).to_list()
        return {**node, "x": write_texts(encoder, texts)}
    physical = series.to_physical()
    if name == "Boolean" or str(physical.dtype) in _NUMBERS:
        if series.null_count():
            node["m"] = arrays.write_array(encoder, series.is_null().to_numpy())
            physical = physical.fill_null(False if name == "Boolean" else 0)
        return {**node, "a": arrays.write_array(encoder, physical.to_numpy())}
    if "ns" in str(series.dtype) and series.dtype.is_nested():
        encoder.refuse(series, "nanoseconds inside of lists are not transferred: cast them first")
    return {**node, "l": encoder.encode(series.to_list())}


def _read_series(decoder: Decoder, node: Node) -> Any:
    pl = _polars()
    dtype = _read_type(decoder, node["t"], 0)
    name = str(decoder.decode(node["n"]))
    if "x" in node:
        texts = decoder.decode({**node["x"], "$": "texts"})
        return pl.Series(name, texts, dtype=pl.String).cast(dtype, strict=True)
    if "l" in node:
        return pl.Series(name, decoder.decode(node["l"]), dtype=dtype, strict=True)
    values = arrays.read_array(decoder, node["a"])
    if values.ndim != 1 or values.dtype.kind not in "iufb":
        raise MalformedError("a column of the encoded value is malformed")
    if dtype == pl.Time and len(values) and not 0 <= values.min() <= values.max() < _DAY:
        # trust: polars panics when it draws such a time.
        raise MalformedError("a time of the encoded value is out of range")
    series = pl.Series(name, values).cast(dtype, strict=True)
    if node["m"] is None:
        return series
    mask = pl.Series(arrays.read_array(decoder, node["m"]), dtype=pl.Boolean)
    if len(mask) != len(series):
        raise MalformedError("a column of the encoded value has a mask of another length")
    missing = pl.repeat(None, len(series), dtype=dtype, eager=True)
    return series.zip_with(~mask, missing)


def _read_frame(decoder: Decoder, node: Node) -> Any:
    if len(node["v"]) > _MOST_COLUMNS:
        raise MalformedError("a frame of the encoded value has too many columns")
    return _polars().DataFrame([_read_series(decoder, column) for column in node["v"]])


def _write_type(encoder: Encoder, series: Any, dtype: Any, depth: int) -> Node:
    name = str(dtype.base_type())
    if depth < 20:
        if name in _SIMPLE:
            return name
        if name == "Datetime":
            return {"t": name, "u": dtype.time_unit, "z": dtype.time_zone}
        if name == "Duration":
            return {"t": name, "u": dtype.time_unit}
        if name == "Enum":
            return {"t": name, "c": encoder.encode(dtype.categories.to_list())}
        if name == "Decimal":
            return {"t": name, "p": dtype.precision, "s": dtype.scale}
        if name == "List":
            return {"t": name, "i": _write_type(encoder, series, dtype.inner, depth + 1)}
        if name == "Array":
            inner = _write_type(encoder, series, dtype.inner, depth + 1)
            return {"t": name, "i": inner, "w": dtype.size}
        if name == "Struct":
            return {
                "t": name,
                "f": [
                    [field.name, _write_type(encoder, series, field.dtype, depth + 1)]
                    for field in dtype.fields
                ],
            }
    return encoder.refuse(series, f"its type is {str(dtype)[:60]}: cast it first")


def _read_type(decoder: Decoder, node: Node, depth: int) -> Any:
    pl = _polars()
    if depth > 20:
        raise MalformedError("a type of the encoded value is nested too deeply")
    if type(node) is str:
        if node not in _SIMPLE:
            raise MalformedError("a column of the encoded value has an unsupported type")
        return getattr(pl, node)
    name = node["t"]
    if name in ("Datetime", "Duration") and node["u"] not in _UNITS:
        raise MalformedError("a column of the encoded value has no known unit of time")
    if name in ("List", "Array"):
        inner = _read_type(decoder, node["i"], depth + 1)
        return pl.List(inner) if name == "List" else pl.Array(inner, natural(node["w"]))
    if name == "Struct":
        fields = [(str(n), _read_type(decoder, t, depth + 1)) for n, t in node["f"]]
        return pl.Struct([pl.Field(*field) for field in fields])
    if name == "Enum":
        return pl.Enum(decoder.decode(node["c"]))
    return _SIZED[name](pl, node)


_SIZED: dict[str, Callable[[Any, Any], Any]] = {
    "Datetime": lambda pl, node: pl.Datetime(node["u"], node["z"]),
    "Duration": lambda pl, node: pl.Duration(node["u"]),
    "Decimal": lambda pl, node: pl.Decimal(natural(node["p"]), natural(node["s"])),
}

DECODERS: dict[str, Callable[[Any, Any], Any]] = {
    "pl.Series": _read_series,
    "pl.DataFrame": _read_frame,
}
