"""JSON encoding of values between a client and a daemon.

Dataclasses and enumerations of the library are encoded by name, and constructed at the other end
with their own checks; no other classes are.
"""

import base64
import dataclasses
import sys
from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

from llm_sandbox.exceptions import UnsupportedError

__all__ = ["decode", "encode"]

_KIND = "kind"
_OURS = "llm_sandbox."


def encode(value: Any) -> Any:
    """Encode a value as JSON types.

    Raises:
        UnsupportedError: The value contains something other than plain data and classes of the
            library.
    """
    if isinstance(value, Enum) and type(value).__module__.startswith(_OURS):
        return {_KIND: _name(value), "value": value.value}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple | frozenset | set):
        return {_KIND: type(value).__name__, "items": [encode(item) for item in value]}
    if isinstance(value, Mapping):
        return {_KIND: "map", "items": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, bytes):
        return {_KIND: "bytes", "text": base64.b64encode(value).decode()}
    if isinstance(value, Path):
        return {_KIND: "path", "text": str(value)}
    if dataclasses.is_dataclass(value) and type(value).__module__.startswith(_OURS):
        fields = [item.name for item in dataclasses.fields(value) if item.init]
        return {
            _KIND: _name(value),
            "fields": {name: encode(getattr(value, name)) for name in fields},
        }
    raise UnsupportedError(
        f"an option of type {type(value).__name__}",
        reason="a detached sandbox is created by another process, to which it cannot be sent",
        hint="give plain values, such as names and numbers",
    )


def decode(value: Any) -> Any:
    """Decode the result of `encode`.

    Raises:
        ValueError: The data is not a result of `encode`.
    """
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value[_KIND]
    if kind in _SEQUENCES:
        return _SEQUENCES[kind](decode(item) for item in value["items"])
    if kind == "map":
        return {decode(key): decode(item) for key, item in value["items"]}
    if kind == "bytes":
        return base64.b64decode(value["text"])
    if kind == "path":
        return Path(value["text"])
    cls = _find(kind)
    if issubclass(cls, Enum):
        return cls(value["value"])
    return cls(**{name: decode(item) for name, item in value["fields"].items()})


_SEQUENCES: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def _name(value: object) -> str:
    return f"{type(value).__module__}:{type(value).__qualname__}"


def _find(kind: str) -> Any:
    module, _, name = kind.partition(":")
    if module.startswith(_OURS) and "." not in name:
        found = getattr(sys.modules.get(module) or import_module(module), name, None)
        if isinstance(found, type) and (dataclasses.is_dataclass(found) or issubclass(found, Enum)):
            return found
    raise ValueError(f"{kind!r} is nothing that can be received")
