"""Functions without an effect, which folding may call on constants."""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import json
import operator
import posixpath
import string
import struct
import textwrap
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.words import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["CONSTANTS", "FUNCTIONS", "HIGHER", "function"]

_MOST = 100_000
_MOST_ITEMS = 10_000


def _range(*bounds: int) -> range:
    return range(*bounds)


def _few(items: Iterable[Any]) -> list[Any]:
    found = list(itertools.islice(items, _MOST_ITEMS + 1))
    if len(found) > _MOST_ITEMS:
        raise ValueError("too large")
    return found


def _pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is None and not (abs(base) <= 1 << 64 and abs(exponent) <= 4096):
        raise ValueError("too large")
    return pow(base, exponent, modulus)


def _bytes(*args: Any) -> bytes:
    if args and isinstance(args[0], int) and args[0] > _MOST:
        raise ValueError("too large")
    return bytes(*args) if not args or not isinstance(args[0], str) else args[0].encode(*args[1:])


def _text(*args: Any) -> str:
    if args and isinstance(args[0], bytes) and len(args) > 1:
        from llm_sandbox.security.python.decoding import decode

        return str(decode(*args))
    return str(*args)


def _format(value: Any, spec: str = "") -> str:
    if sum(letter.isdigit() for letter in spec) > 4:
        raise ValueError("too large")
    return format(value, spec)


def _sum(items: Iterable[Any], start: Any = 0) -> Any:
    return sum(items, start)


def _pack(template: str, *values: Any) -> bytes:
    if struct.calcsize(template) > _MOST:
        raise ValueError("too large")
    return struct.pack(template, *values)


def _slice(*bounds: Any) -> slice:
    return slice(*bounds)


def _substitute(template: str, values: dict[str, str]) -> str:
    return string.Template(template).substitute(values)


def _next(items: Any, *default: Any) -> Any:
    return next(iter(items), *default)


def _repeat(item: Any, times: int) -> list[Any]:
    if times > _MOST_ITEMS:
        raise ValueError("too large")
    return [item] * times


def _itemgetter(items: Any, key: Any) -> Any:
    return items[key]


_BUILTINS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "all": all,
    "any": any,
    "ascii": ascii,
    "bin": bin,
    "bool": bool,
    "bytearray": _bytes,
    "bytes": _bytes,
    "chr": chr,
    "complex": complex,
    "dict": dict,
    "divmod": divmod,
    "enumerate": lambda items, start=0: _few(enumerate(items, start)),
    "float": float,
    "format": _format,
    "frozenset": frozenset,
    "hex": hex,
    "int": int,
    "iter": _few,
    "len": len,
    "list": _few,
    "max": max,
    "memoryview": _bytes,
    "min": min,
    "next": _next,
    "oct": oct,
    "ord": ord,
    "pow": _pow,
    "range": _range,
    "repr": repr,
    "reversed": lambda items: _few(reversed(items)),
    "round": round,
    "set": set,
    "slice": _slice,
    "sorted": sorted,
    "str": _text,
    "sum": _sum,
    "tuple": tuple,
    "unichr": chr,
    "zip": lambda *items: _few(zip(*items, strict=False)),
}
_OPERATORS = names(
    """
    add and_ concat contains eq floordiv getitem ge gt index inv invert le lt mod ne neg not_ or_
    sub truediv xor indexOf countOf rshift
    """
)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"builtins.{name}": work for name, work in _BUILTINS.items()},
    **{f"operator.{name}": getattr(operator, name) for name in _OPERATORS},
    **{f"operator.__{name.strip('_')}__": getattr(operator, name) for name in _OPERATORS},
    "ast.literal_eval": ast.literal_eval,
    "fractions.Fraction": float,
    "itertools.chain": lambda *items: _few(itertools.chain(*items)),
    "itertools.chain.from_iterable": lambda items: _few(itertools.chain.from_iterable(items)),
    "itertools.compress": lambda items, kept: _few(itertools.compress(items, kept)),
    "itertools.islice": lambda items, *bounds: _few(itertools.islice(items, *bounds)),
    "itertools.repeat": _repeat,
    "itertools.zip_longest": lambda *items: _few(itertools.zip_longest(*items)),
    "json.dumps": json.dumps,
    "json.loads": json.loads,
    "os.fsdecode": lambda data: data.decode() if isinstance(data, bytes) else str(data),
    "os.fsencode": lambda data: data.encode() if isinstance(data, str) else data,
    "os.fspath": lambda data: data,
    "os.path.abspath": posixpath.normpath,
    "os.path.basename": posixpath.basename,
    "os.path.dirname": posixpath.dirname,
    "os.path.expanduser": lambda path: path,
    "os.path.expandvars": lambda path: path,
    "os.path.join": posixpath.join,
    "os.path.normpath": posixpath.normpath,
    "os.path.realpath": posixpath.normpath,
    "shlex.join": " ".join,
    "shlex.quote": str,
    "shlex.split": str.split,
    "string.Template().substitute": _substitute,
    "struct.pack": _pack,
    "struct.unpack": struct.unpack,
    "sys.intern": str,
    "textwrap.dedent": textwrap.dedent,
}
"""Full name to the function, on plain Python objects."""

HIGHER = {
    "builtins.map": "map",
    "builtins.filter": "filter",
    "functools.reduce": "reduce",
    "itertools.accumulate": "accumulate",
    "itertools.starmap": "starmap",
}
"""Functions that call their first argument on the members of the next."""

CONSTANTS: dict[str, object] = {
    "os.curdir": ".",
    "os.extsep": ".",
    "os.linesep": "\n",
    "os.name": "posix",
    "os.pardir": "..",
    "os.path.sep": "/",
    "os.sep": "/",
    **{
        f"string.{name}": getattr(string, name)
        for name in names(
            """
            ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable
            punctuation whitespace
            """
        )
    },
    **{
        f"builtins.{name}.{what}": getattr(getattr(builtins, name), what)
        for name in names(
            """
            str int dict list tuple bytes object type float set print chr len open eval exec bool
            range sum map filter zip super property repr hash id sorted complex bytearray
            frozenset
            """
        )
        for what in ("__doc__", "__name__")
    },
}
"""Attributes of modules that are the same everywhere, nearly."""


@functools.lru_cache(maxsize=1024)
def function(name: str) -> Callable[..., Any] | None:
    """Return the function of a full name; None when it may have an effect or is not known."""
    found = FUNCTIONS.get(name)
    if found is not None:
        return found
    root = name.partition(".")[0]
    if root in {
        "base64",
        "binascii",
        "zlib",
        "gzip",
        "bz2",
        "lzma",
        "codecs",
        "quopri",
        "html",
        "urllib",
    }:
        from llm_sandbox.security.python.decoding import DECODERS

        return DECODERS.get(name)
    return None
