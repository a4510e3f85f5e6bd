"""Codec of pandas data frames, series, indexes and scalars."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import pandas_columns
from .codec import natural
from .failures import MalformedError
from .moments import read_zone, write_zone

if TYPE_CHECKING:
    from collections.abc import Callable

    from .codec import Decoder, Encoder, Node

_MOST_COLUMNS = 100_000
_UNITS = ("s", "ms", "us", "ns")


def pandas() -> Any:
    """Return the pandas module, which is loaded already or about to be needed."""
    return importlib.import_module("pandas")


def encode(encoder: Encoder, value: Any) -> Node:
    """Encode a pandas value.

    Args:
        encoder: The encoder.
        value: A value of a pandas type.

    Returns:
        The node; ``None`` if the value cannot be transferred.
    """
    pd = pandas()
    kind = type(value)
    if value is pd.NA or value is pd.NaT:
        return {"$": "pd.NA" if value is pd.NA else "pd.NaT"}
    if kind is pd.DataFrame:
        return _write_frame(encoder, value)
    if kind is pd.Series:
        return {
            "$": "pd.Series",
            "n": encoder.encode(value.name),
            "i": write_index(encoder, value.index),
            "v": pandas_columns.write_column(encoder, value.array),
        }
    if isinstance(value, pd.Index):
        return write_index(encoder, value)
    if kind is pd.Timestamp:
        zone = write_zone(encoder, value.tzinfo)
        return {"$": "pd.Timestamp", "v": value._value, "u": value.unit, "z": zone}
    if kind is pd.Timedelta:
        return {"$": "pd.Timedelta", "v": value._value, "u": value.unit}
    if isinstance(value, pd.api.extensions.ExtensionArray):
        return {"$": "pd.array", "v": pandas_columns.write_column(encoder, value)}
    return None


def _write_frame(encoder: Encoder, frame: Any) -> Node:
    if frame.shape[1] > _MOST_COLUMNS:
        encoder.refuse(frame, f"it has more than {_MOST_COLUMNS} columns: transfer to_numpy()")
    return {
        "$": "pd.DataFrame",
        "c": write_index(encoder, frame.columns),
        "i": write_index(encoder, frame.index),
        "v": pandas_columns.write_columns(
            encoder,
            [frame.iloc[:, number].array for number in range(frame.shape[1])],
            lambda number: f"[{str(frame.columns[number])[:60]!r}]",
        ),
    }


def _read_frame(decoder: Decoder, node: Node) -> Any:
    pd = pandas()
    names, index = read_index(decoder, node["c"]), read_index(decoder, node["i"])
    columns = list(enumerate(node["v"]))
    if not len(names) == len(columns) <= _MOST_COLUMNS:
        raise MalformedError("a frame of the encoded value has columns without names")
    # Under numbers first: names may repeat.
    series = {n: _series(pandas_columns.read_column(decoder, c), index) for n, c in columns}
    frame = pd.DataFrame(series, index=index, columns=pd.RangeIndex(len(names)))
    frame.columns = names
    return frame


def _series(values: Any, index: Any, name: Any = None) -> Any:
    if len(values) != len(index):
        raise MalformedError("a column of the encoded value differs in length from its index")
    # The dtype is said so that pandas infers none from objects.
    return pandas().Series(values, index=index, name=name, dtype=values.dtype)


def _read_series(decoder: Decoder, node: Node) -> Any:
    name, index = decoder.decode(node["n"]), read_index(decoder, node["i"])
    return _series(pandas_columns.read_column(decoder, node["v"]), index, name)


def write_index(encoder: Encoder, index: Any) -> Node:
    """Encode an index.

    Args:
        encoder: The encoder.
        index: The index.

    Returns:
        The node.

    Raises:
        TransferError: A value of the index cannot be transferred.
    """
    pd = pandas()
    names = encoder.encode(list(index.names))
    if type(index) is pd.RangeIndex:
        return {"$": "pd.RangeIndex", "n": names, "v": [index.start, index.stop, index.step]}
    if isinstance(index, pd.MultiIndex):
        index = index.remove_unused_levels()
        return {
            "$": "pd.MultiIndex",
            "n": names,
            "l": [write_index(encoder, level) for level in index.levels],
            "c": [encoder.encode(codes) for codes in map(_plain_array, index.codes)],
        }
    regular = isinstance(index, (pd.DatetimeIndex, pd.TimedeltaIndex))
    frequency = index.freqstr if regular else None
    return {
        "$": "pd.Index",
        "n": names,
        "v": pandas_columns.write_column(encoder, index.array),
        "f": frequency,
    }


def _plain_array(codes: Any) -> Any:
    # A frozen subclass in older releases.
    return importlib.import_module("numpy").array(codes)


def read_index(decoder: Decoder, node: Node) -> Any:
    """Decode an index.

    Args:
        decoder: The decoder.
        node: The node.

    Returns:
        The index.

    Raises:
        TransferError: The node does not describe an index.
    """
    pd = pandas()
    kind, names = node["$"], decoder.decode(node["n"])
    if kind == "pd.RangeIndex":
        start, stop, step = node["v"]
        return pd.RangeIndex(start, stop, step, name=names[0])
    if kind == "pd.MultiIndex":
        levels = [read_index(decoder, level) for level in node["l"]]
        codes = [decoder.decode(code) for code in node["c"]]
        return pd.MultiIndex(levels=levels, codes=codes, names=names, verify_integrity=True)
    values = pandas_columns.read_column(decoder, node["v"])
    # The dtype is said so that pandas infers none from objects.
    index = pd.Index(values, dtype=values.dtype, name=names[0])
    frequency = node["f"]
    if frequency is not None and pandas_columns.FREQUENCY.fullmatch(frequency):
        index = type(index)(index, freq=frequency)
    return index


def _read_moment(name: str) -> Callable[[Decoder, Node], Any]:
    def read(decoder: Decoder, node: Node) -> Any:
        if node["u"] not in _UNITS:
            raise MalformedError("a moment of the encoded value has no known unit")
        value = node["v"]
        natural(abs(value) >> 2)
        numpy = importlib.import_module("numpy")
        if name == "Timedelta":
            return pandas().Timedelta(numpy.timedelta64(value, node["u"]))
        moment = pandas().Timestamp(numpy.datetime64(value, node["u"]))
        zone = read_zone(node["z"])
        return moment if zone is None else moment.tz_localize("UTC").tz_convert(zone)

    return read


DECODERS: dict[str, Callable[[Any, Any], Any]] = {
    "pd.NA": lambda decoder, node: pandas().NA,
    "pd.NaT": lambda decoder, node: pandas().NaT,
    "pd.DataFrame": _read_frame,
    "pd.Series": _read_series,
    "pd.Index": read_index,
    "pd.RangeIndex": read_index,
    "pd.MultiIndex": read_index,
    "pd.Timestamp": _read_moment("Timestamp"),
    "pd.Timedelta": _read_moment("Timedelta"),
    "pd.array": lambda decoder, node: pandas_columns.read_column(decoder, node["v"]),
}
