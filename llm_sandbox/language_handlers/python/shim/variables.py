"""Variables of the user: their description, and transfer of their values in both directions."""

from __future__ import annotations

import itertools
import re
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from . import values
from .naming import qualified_name
from .preview import preview
from .tables.columns import label
from .tables.sources import recognise

_MOST = 1000
_PREVIEW = 200
_SHAPED = frozenset({"numpy", "pandas", "polars", "pyarrow", "scipy", "torch", "jax", "xarray"})
_SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset, range)
_PLAIN = (*_SIZED, type(None), bool, int, float, complex)
_IPYTHONS = re.compile(r"_{1,3}|_i{1,3}|_i?\d+|_[iod]h|In|Out|__.*__|__builtin__")
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)


def list_variables(shell: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Describe the variables of the user's code.

    Args:
        shell: The IPython shell.
        arguments: ``all`` adds functions, classes, modules and names with a leading underscore.

    Returns:
        The first 1,000 in order of creation, and the number of all.
    """
    everything = arguments.get("all") is True
    hidden = shell.user_ns_hidden
    # A thread of the user's may be naming things at this moment.
    names = [
        (name, value)
        for name, value in list(shell.user_ns.items())
        if type(name) is str and _is_users(name, value, hidden, everything)
    ]
    chosen = itertools.islice(names, _MOST)
    return {"variables": [_describe(name, value) for name, value in chosen], "total": len(names)}


def _is_users(name: str, value: Any, hidden: dict[str, Any], everything: bool) -> bool:
    if _IPYTHONS.fullmatch(name) or (name in ("exit", "quit") and value is sys.exit):
        return False
    # A name of IPython's that was given another value is the user's.
    if name in hidden and hidden[name] is value:
        return False
    return everything or (not name.startswith("_") and _kind(value) == "value")


def _kind(value: Any) -> str:
    kind = type(value)
    if issubclass(kind, ModuleType):
        return "module"
    if issubclass(kind, type):
        return "class"
    return "function" if kind in _FUNCTIONS else "value"


def _describe(name: str, value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "kind": _kind(value)}
    # Libraries and metaclasses may raise anything; one of them must not hide the rest.
    for key, describe in (
        ("type", lambda: qualified_name(type(value))),
        ("shape", lambda: _shape(value)),
        ("size", lambda: _size(value)),
        ("preview", lambda: _preview(value)),
    ):
        try:
            found[key] = describe()
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - see above
            found[key] = None
    return found


def _is_known(value: Any) -> bool:
    return str(type(value).__module__).partition(".")[0] in _SHAPED


def _shape(value: Any) -> list[int] | None:
    if type(value) in _SIZED:
        return [len(value)]
    if not _is_known(value):
        return None
    shape = getattr(value, "shape", None)
    if shape is None:
        return [len(value)] if recognise(value) else None
    return [int(extent) for extent in shape]


def _size(value: Any) -> int | None:
    if type(value) in _PLAIN:
        return sys.getsizeof(value)
    if not _is_known(value):
        return None
    for name in ("memory_usage", "estimated_size", "nbytes"):
        found = getattr(value, name, None)
        if name == "memory_usage" and found is not None:
            usage = found(deep=False)
            return int(usage if isinstance(usage, int) else usage.sum())
        if found is not None:
            return int(found() if callable(found) else found)
    return None


def _preview(value: Any) -> str:
    found = recognise(value)
    if found is None or found[1] is not value:
        return preview(value, _PREVIEW)
    if not hasattr(value, "columns"):
        return f"{len(value)} rows of {value.dtype if hasattr(value, 'dtype') else value.type}"
    names = value.columns if hasattr(value, "dtypes") else value.schema.names
    shown = ", ".join(label(name)[:50] for name in names[:12])
    more = ", …" if len(names) > 12 else ""
    text = f"{value.shape[0]} rows x {value.shape[1]} columns: {shown}{more}"
    return text if len(text) <= _PREVIEW else text[: _PREVIEW - 1] + "…"


def get_variable(shell: Any, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Encode the value of a variable.

    Args:
        shell: The IPython shell.
        arguments: ``name``, and ``limit`` in bytes.

    Returns:
        An empty content and the encoded value, or the failure.
    """
    name = arguments["name"]
    try:
        value = shell.user_ns[name]
    except KeyError:
        return {"failure": {"kind": "not_found"}}, []
    try:
        return {}, list(values.encode(value, int(arguments["limit"])))
    except values.TransferError as error:
        return {"failure": error.to_dict()}, []


def set_variable(
    shell: Any, arguments: dict[str, Any], buffers: list[memoryview]
) -> dict[str, Any]:
    """Set the value of a variable.

    Args:
        shell: The IPython shell.
        arguments: ``name``.
        buffers: The encoded value.

    Returns:
        Nothing, or the failure.
    """
    try:
        shell.user_ns[arguments["name"]] = values.decode(*buffers)
    except values.TransferError as error:
        return {"failure": error.to_dict()}
    shell.user_ns_hidden.pop(arguments["name"], None)
    return {}
