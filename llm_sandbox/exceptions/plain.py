"""Lossless conversion of values to strict JSON and back.

JSON has no NaN, so non-finite floats travel as ``{"$float": "nan"}``; a mapping that happens to
look like such a mark travels wrapped as ``{"$object": {...}}``. Text keeps NUL and lone surrogates
(the `json` module escapes them).
"""

import base64
import math
from collections.abc import Mapping, Sequence
from typing import cast

__all__ = ["as_mapping", "from_plain", "to_plain"]

_FLOAT = "$float"
_OBJECT = "$object"
_DEEPEST = 100


def to_plain(value: object, depth: int = 0) -> object:
    """Return `value` made of dict, list, str, int, finite float, bool and None only.

    Bytes become base64 text, as in a Jupyter MIME bundle; any other object becomes its `str()`.
    Containers nested deeper than 100 levels are replaced by a note.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {_FLOAT: repr(float(value))}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    # trust: nesting comes from inside; it must not exhaust the host's stack.
    if depth >= _DEEPEST:
        return "<nested too deeply>"
    if isinstance(value, Mapping):
        plain = {str(key): to_plain(item, depth + 1) for key, item in value.items()}
        return {_OBJECT: plain} if len(plain) == 1 and plain.keys() <= {_FLOAT, _OBJECT} else plain
    if isinstance(value, (Sequence, set, frozenset)):
        return [to_plain(item, depth + 1) for item in value]
    return str(value)


def from_plain(value: object) -> object:
    """Restore the argument of `to_plain`, with sequences as lists."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        if isinstance(value.get(_FLOAT), str):
            try:
                return float(value[_FLOAT])
            except ValueError:
                return value
        if isinstance(value.get(_OBJECT), dict):
            return {key: from_plain(item) for key, item in value[_OBJECT].items()}
    return {key: from_plain(item) for key, item in value.items()}


def as_mapping(value: object) -> dict[str, object]:
    """Return the mapping that `from_plain` makes of `value`, empty when it is not one."""
    restored = from_plain(value)
    return cast("dict[str, object]", restored) if isinstance(restored, dict) else {}
