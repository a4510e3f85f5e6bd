"""Codec of pandas columns, by the type of the array that holds the values."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

from . import arrays
from .failures import MalformedError, NotTransferableError
from .moments import read_zone, write_zone
from .plain import write_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from .codec import Decoder, Encoder, Node

FREQUENCY = re.compile(r"-?[0-9A-Za-z-]{1,20}")
_CLOSED = ("left", "right", "both", "neither")
_MASKED = {"i": "IntegerArray", "u": "IntegerArray", "f": "FloatingArray", "b": "BooleanArray"}


def _pandas() -> Any:
    return importlib.import_module("pandas")


def write_columns(encoder: Encoder, columns: list[Any], path: Callable[[int], str]) -> list[Node]:
    """Encode several columns.

    Args:
        encoder: The encoder.
        columns: The array of each.
        path: Returns the path of a column, given its number.

    Returns:
        The nodes.

    Raises:
        TransferError: A value of a column cannot be transferred.
    """
    nodes = []
    for number, column in enumerate(columns):
        try:
            nodes.append(write_column(encoder, column))
        except NotTransferableError as error:
            error.found_in(path(number))
            raise
    return nodes


def write_column(encoder: Encoder, values: Any) -> Node:
    """Encode a column.

    Args:
        encoder: The encoder.
        values: Array of the column.

    Returns:
        The node.

    Raises:
        TransferError: A value of the column cannot be transferred.
    """
    dtype = values.dtype
    kind = type(dtype).__name__
    write = _WRITERS.get(kind)
    if write is not None:
        return write(encoder, values, dtype)
    if hasattr(dtype, "numpy_dtype") and hasattr(values, "isna") and kind != "ArrowDtype":
        if _is_numpy(values):
            return arrays.write_array(encoder, values.to_numpy())
        return _write_masked(encoder, values, dtype)
    if hasattr(dtype, "itemsize") and hasattr(dtype, "str"):  # one of numpy's own
        return arrays.write_array(encoder, values.to_numpy())
    return encoder.refuse(values, f"its type is {str(dtype)[:60]}: convert it by astype() first")


def _is_numpy(values: Any) -> bool:
    return type(values).__name__ in ("NumpyExtensionArray", "PandasArray")


def _write_masked(encoder: Encoder, values: Any, dtype: Any) -> Node:
    missing = values.isna()
    fill: Any = False if dtype.kind == "b" else 0
    plain = values.to_numpy(dtype=dtype.numpy_dtype, na_value=fill)
    return {
        "$": "masked",
        "v": arrays.write_array(encoder, plain),
        "m": arrays.write_array(encoder, missing),
    }


def _read_masked(decoder: Decoder, node: Node) -> Any:
    values = arrays.read_array(decoder, node["v"])
    mask = arrays.read_array(decoder, node["m"])
    return getattr(_pandas().arrays, _MASKED[values.dtype.kind])(values, mask)


def _write_texts(encoder: Encoder, values: Any, dtype: Any) -> Node:
    pd = _pandas()
    texts = values.to_numpy(dtype=object, na_value=None).tolist()
    return {
        "$": "string",
        "v": write_texts(encoder, texts),
        "s": dtype.storage,
        "m": "NA" if getattr(dtype, "na_value", pd.NA) is pd.NA else "nan",
    }


def _read_texts(decoder: Decoder, node: Node) -> Any:
    pd = _pandas()
    texts = decoder.decode({**node["v"], "$": "texts"})
    storage = "pyarrow" if node["s"] == "pyarrow" else "python"
    missing = pd.NA if node["m"] == "NA" else float("nan")
    try:
        dtype = pd.StringDtype(storage, na_value=missing)
    except TypeError:  # a release before there were two kinds of missing texts
        dtype = pd.StringDtype("python")
    except ImportError:
        dtype = pd.StringDtype("python", na_value=missing)
    return pd.array(texts, dtype=dtype)


def _write_zoned(encoder: Encoder, values: Any, dtype: Any) -> Node:
    plain = values.tz_convert("UTC").tz_localize(None).to_numpy()
    return {
        "$": "zoned",
        "v": arrays.write_array(encoder, plain),
        "z": write_zone(encoder, dtype.tz),
    }


def _read_zoned(decoder: Decoder, node: Node) -> Any:
    values = _pandas().array(arrays.read_array(decoder, node["v"]))
    return values.tz_localize("UTC").tz_convert(read_zone(node["z"]))


def _write_categories(encoder: Encoder, values: Any, dtype: Any) -> Node:
    from .pandas_values import write_index

    return {
        "$": "category",
        "v": arrays.write_array(encoder, values.codes),
        "c": write_index(encoder, values.categories),
        "o": bool(values.ordered),
    }


def _read_categories(decoder: Decoder, node: Node) -> Any:
    from .pandas_values import read_index

    codes = arrays.read_array(decoder, node["v"])
    categories = read_index(decoder, node["c"])
    return _pandas().Categorical.from_codes(codes, categories=categories, ordered=node["o"] is True)


def _write_periods(encoder: Encoder, values: Any, dtype: Any) -> Node:
    return {
        "$": "period",
        "v": arrays.write_array(encoder, values.asi8),
        "f": values.freqstr,
    }


def _read_periods(decoder: Decoder, node: Node) -> Any:
    frequency = node["f"]
    if type(frequency) is not str or not FREQUENCY.fullmatch(frequency):
        raise MalformedError("a period of the encoded value has no proper frequency")
    ordinals = arrays.read_array(decoder, node["v"])
    return _pandas().PeriodIndex.from_ordinals(ordinals, freq=frequency).array


def _write_intervals(encoder: Encoder, values: Any, dtype: Any) -> Node:
    return {
        "$": "interval",
        "l": write_column(encoder, values.left.array),
        "r": write_column(encoder, values.right.array),
        "c": values.closed,
    }


def _read_intervals(decoder: Decoder, node: Node) -> Any:
    if node["c"] not in _CLOSED:
        raise MalformedError("an interval of the encoded value has an unknown closed side")
    left, right = read_column(decoder, node["l"]), read_column(decoder, node["r"])
    return _pandas().arrays.IntervalArray.from_arrays(left, right, closed=node["c"])


def _write_arrow(encoder: Encoder, values: Any, dtype: Any) -> Node:
    from .arrow_values import write_chunks

    return {"$": "arrow", "v": write_chunks(encoder, values.__arrow_array__())}


def _read_arrow(decoder: Decoder, node: Node) -> Any:
    from .arrow_values import read_chunks

    return _pandas().arrays.ArrowExtensionArray(read_chunks(decoder, node["v"]))


_WRITERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "StringDtype": _write_texts,
    "DatetimeTZDtype": _write_zoned,
    "CategoricalDtype": _write_categories,
    "PeriodDtype": _write_periods,
    "IntervalDtype": _write_intervals,
    "ArrowDtype": _write_arrow,
}

_READERS: dict[str, Callable[[Any, Any], Any]] = {
    "masked": _read_masked,
    "string": _read_texts,
    "zoned": _read_zoned,
    "category": _read_categories,
    "period": _read_periods,
    "interval": _read_intervals,
    "arrow": _read_arrow,
    "np.array": arrays.DECODERS["np.array"],
    "np.objects": arrays.DECODERS["np.objects"],
}


def read_column(decoder: Decoder, node: Node) -> Any:
    """Decode a column.

    Args:
        decoder: The decoder.
        node: The node.

    Returns:
        An array of one dimension.

    Raises:
        TransferError: The node does not describe a column.
    """
    values = _READERS[node["$"]](decoder, node)
    if values.ndim != 1:
        raise MalformedError("a column of the encoded value is malformed")
    return values
