"""Plain data as JSON: tuples, sets, bytes and numbers of any size have tags.

A value that JSON has is itself. Others are objects with one member, whose name begins with ``$``::

    {"$tuple": [1, 2]}    {"$set": [1, 2]}      {"$frozenset": [1, 2]}
    {"$bytes": "aGk="}    {"$float": "nan"}     {"$complex": [0.0, 1.0]}
    {"$int": "0xff"}      {"$decimal": "0.10"}  {"$fraction": [1, 3]}
    {"$datetime": "2024-05-06T07:08:09"}        {"$date": "2024-05-06"}    {"$time": "07:08:09"}
    {"$dict": [[1, "a"], [2, "b"]]}             dictionaries with other keys than text

Floats that are not finite may also be JSON's ``NaN`` and ``Infinity``; short integers are numbers.
"""

import base64
import binascii
import datetime
import json
import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from llm_sandbox.evaluation.datasets.json_text import spelled
from llm_sandbox.exceptions import ValidationError

__all__ = ["value_from_json", "value_to_json"]

_MOST_DEPTH = 200
_MOST_BITS = 13_000  # fewer than the 4,300 digits that Python prints


def value_to_json(value: object, name: str = "value") -> Any:
    """Return plain data as JSON; see `value_from_json`.

    Args:
        value: None, bool, int, float, complex, str, bytes, Decimal, Fraction, datetime, date, time,
            and lists, tuples, sets, frozensets and dictionaries of these.
        name: Name of the value in errors.

    Raises:
        ValidationError: It is, or holds, something else, or is nested too deeply.
    """
    return _encode(value, name, _MOST_DEPTH)


def value_from_json(value: object, name: str = "value") -> Any:
    """Return the plain data that JSON stands for.

    Args:
        value: Parsed JSON.
        name: Name of the value in errors.

    Raises:
        ValidationError: A tag is unknown or holds something else, or the nesting is too deep.
    """
    return _decode(value, name, _MOST_DEPTH)


def _encode(value: object, name: str, depth: int) -> Any:
    if depth < 0:
        raise _too_deep(name)
    # By exact type: a subclass would come back as its base.
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is list:
        return [_encode(item, name, depth - 1) for item in value]  # type: ignore[attr-defined]
    if kind is dict:
        return _encode_dict(value, name, depth)  # type: ignore[arg-type]
    writer = _WRITERS.get(kind)
    if writer is None:
        raise ValidationError(
            f"invalid {name}: expected plain data, got {kind.__module__}.{kind.__qualname__}",
            parameter=name,
        )
    return writer(value, lambda item: _encode(item, name, depth - 1))


def _encode_dict(value: dict[Any, Any], name: str, depth: int) -> Any:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {key: _encode(item, name, depth - 1) for key, item in value.items()}
    pairs = [
        [_encode(key, name, depth - 1), _encode(item, name, depth - 1)]
        for key, item in value.items()
    ]
    return {"$dict": pairs}


def _write_float(value: Any, _encode_item: object) -> Any:
    return value if math.isfinite(value) else {"$float": repr(value)}


def _write_integer(value: Any, _encode_item: object) -> Any:
    return value if value.bit_length() <= _MOST_BITS else {"$int": hex(value)}


def _write_items(tag: str) -> "_Writer":
    def write(value: Any, encode_item: Callable[[object], Any]) -> Any:
        items = [encode_item(item) for item in value]
        if tag != "$tuple":
            items.sort(key=lambda item: json.dumps(item, sort_keys=True))
        return {tag: items}

    return write


def _write_text(tag: str) -> "_Writer":
    def write(value: Any, _encode_item: object) -> Any:
        text = value.isoformat() if hasattr(value, "isoformat") else str(value)
        return {tag: text}

    return write


_Writer = Callable[[Any, Callable[[object], Any]], Any]
_WRITERS: dict[type, _Writer] = {
    int: _write_integer,
    float: _write_float,
    tuple: _write_items("$tuple"),
    set: _write_items("$set"),
    frozenset: _write_items("$frozenset"),
    bytes: lambda value, _item: {"$bytes": base64.b64encode(value).decode()},
    complex: lambda value, item: {"$complex": [item(value.real), item(value.imag)]},
    Decimal: _write_text("$decimal"),
    Fraction: lambda value, item: {"$fraction": [item(value.numerator), item(value.denominator)]},
    datetime.datetime: _write_text("$datetime"),
    datetime.date: _write_text("$date"),
    datetime.time: _write_text("$time"),
}


def _decode(value: object, name: str, depth: int) -> Any:
    if depth < 0:
        raise _too_deep(name)
    if isinstance(value, list):
        return [_decode(item, name, depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    tag = next(iter(value), "")
    if len(value) != 1 or not tag.startswith("$"):
        return {key: _decode(item, name, depth - 1) for key, item in value.items()}
    reader = _READERS.get(tag)
    if reader is None:
        raise ValidationError(
            f"invalid {name}: expected one of {', '.join(_READERS)}, got another tag",
            parameter=name,
        )
    content = value[tag]
    try:
        if isinstance(content, list):
            return reader([_decode(item, name, depth - 1) for item in content])
        return reader(content)
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        if isinstance(error, ValidationError):
            raise
        raise ValidationError(
            f"invalid {name}: expected the content of {tag}, got {spelled(content)}",
            parameter=name,
        ) from None


def _read_items(make: Callable[[list[Any]], object]) -> Callable[[Any], object]:
    def read(content: Any) -> object:
        if not isinstance(content, list):
            raise TypeError
        return make(content)

    return read


def _read_bytes(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _read_decimal(content: str) -> Decimal:
    try:
        return Decimal(content)
    except InvalidOperation as error:
        raise ValueError(str(error)) from None


_READERS: dict[str, Callable[[Any], object]] = {
    "$int": lambda content: int(content, 16),
    "$float": lambda content: float(str(content)),
    "$tuple": _read_items(tuple),
    "$set": _read_items(set),
    "$frozenset": _read_items(frozenset),
    "$dict": _read_items(dict),
    "$bytes": _read_bytes,
    "$complex": lambda content: complex(*content),
    "$decimal": _read_decimal,
    "$fraction": lambda content: Fraction(*content),
    "$datetime": datetime.datetime.fromisoformat,
    "$date": datetime.date.fromisoformat,
    "$time": datetime.time.fromisoformat,
}


def _too_deep(name: str) -> ValidationError:
    return ValidationError(
        f"invalid {name}: expected at most {_MOST_DEPTH} levels, got more", parameter=name
    )
