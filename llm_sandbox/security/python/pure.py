"""Functions without effects that constant folding may call, each with a limit on its result."""

from __future__ import annotations

import ast
import base64
import binascii
import builtins
import bz2
import codecs
import functools
import html
import itertools
import json
import lzma
import operator
import posixpath
import quopri
import re
import string
import struct
import textwrap
import urllib.parse
import zlib
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.folding import (
    LONGEST,
    MOST_WEIGHT,
    UNKNOWN,
    are_short,
    fold_operator,
    is_hashed_quickly,
    is_printable,
    is_small_modulus,
    size_after,
    weight,
    written_size,
)
from llm_sandbox.security.python.full_names import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "CODECS",
    "CONSTANTS",
    "DECODERS",
    "FUNCTIONS",
    "HIGHER",
    "LAZY",
    "decode",
    "encode",
    "function",
    "unzip",
]

_LONGEST_CODED = 125_000
_LONGEST_SLOW = 1_000
_LONGEST_OPTION = 200

CODECS = frozenset(
    names(
        """
        ascii latin1 latin_1 iso8859_1 utf8 utf_8 utf_8_sig utf16 utf_16 utf_16_le utf_16_be utf32
        utf_32 utf_32_le utf_32_be utf7 utf_7 unicode_escape raw_unicode_escape punycode idna
        rot13 rot_13 hex hex_codec base64 base64_codec zlib zlib_codec zip bz2 bz2_codec quopri
        quoted_printable quopri_codec uu uu_codec cp437 cp500 cp037 cp1140 cp1251 cp1252 mac_roman
        u8 u16 string_escape
        """
    )
)
_COMPRESSED = {"zlib", "zlib_codec", "zip", "bz2", "bz2_codec"}
_SLOW = {"idna", "punycode"}
"""Codecs that take quadratic time or worse."""


def decode(data: Any, codec: str = "utf-8", errors: str = "strict") -> object:
    """Decode like `codecs.decode`.

    Raises:
        ValueError: The codec is not one of `CODECS`, or the data is too long.
    """
    name = _known_codec(codec)
    if name in _COMPRESSED:
        return (
            unzip(bytes(data)) if name[0] == "z" else _bounded(bz2.BZ2Decompressor(), bytes(data))
        )
    _check_length(data, name)
    return codecs.decode(data, name, errors)


def encode(data: Any, codec: str = "utf-8", errors: str = "strict") -> object:
    """Encode like `codecs.encode`.

    Raises:
        ValueError: The codec is not one of `CODECS`, or the data is too long.
    """
    name = _known_codec(codec)
    _check_length(data, name)
    return codecs.encode(data, name, errors)


def _check_length(data: Any, name: str) -> None:
    if len(data) > (_LONGEST_SLOW if name in _SLOW else _LONGEST_CODED):
        raise ValueError("too long")


def _known_codec(codec: str) -> str:
    name = str(codec).lower().replace("-", "_")
    if name not in CODECS:
        raise ValueError("unknown codec")
    return name


def unzip(data: bytes, wbits: int = zlib.MAX_WBITS) -> bytes:
    """Decompress like `zlib.decompress`.

    Raises:
        ValueError: The result is too long.
    """
    return _bounded(zlib.decompressobj(wbits), data)


def _bounded(reader: Any, data: bytes) -> bytes:
    out: bytes = reader.decompress(data, LONGEST)
    if len(out) >= LONGEST:
        raise ValueError("too long")
    return out


def _gunzip(data: bytes) -> bytes:
    return unzip(data, 31)


def _lzma(data: bytes) -> bytes:
    return _bounded(lzma.LZMADecompressor(memlimit=64_000_000), data)


def _bunzip(data: bytes) -> bytes:
    return _bounded(bz2.BZ2Decompressor(), data)


def _bounded_by(most: int, work: Callable[..., object]) -> Callable[..., object]:
    """Return a decoder with a maximum length of its input and short other arguments."""

    def decoder(data: Any, *options: Any, **named: Any) -> object:
        given = [one for one in (*options, *named.values()) if hasattr(one, "__len__")]
        if len(data) > most or any(len(one) > _LONGEST_OPTION for one in given):
            raise ValueError("too long")
        return work(data, *options, **named)

    return decoder


def _unquoted(work: Callable[..., object]) -> Callable[..., object]:
    def decoder(text: Any, encoding: str = "utf-8", errors: str = "replace") -> object:
        if _known_codec(encoding) in _SLOW:
            raise ValueError("too slow")
        return work(text, encoding, errors)

    return decoder


_BASE64 = {
    f"base64.{name}": getattr(base64, name)
    for name in names(
        """
        b64decode b64encode standard_b64decode standard_b64encode urlsafe_b64decode
        urlsafe_b64encode b32decode b32encode b32hexdecode b32hexencode b16decode b16encode
        b85decode b85encode a85decode a85encode decodebytes encodebytes
        """
    )
}
_BINASCII = {
    f"binascii.{name}": getattr(binascii, name)
    for name in names(
        """
        a2b_base64 b2a_base64 unhexlify hexlify a2b_hex b2a_hex a2b_uu b2a_uu a2b_qp b2a_qp
        """
    )
}
_QUICK: dict[str, Callable[..., object]] = {
    **{name: work for name, work in _BASE64.items() if "64" in name or "16" in name},
    **_BINASCII,
    "base64.decodebytes": base64.decodebytes,
    "base64.encodebytes": base64.encodebytes,
    "base64.decodestring": base64.decodebytes,
    "quopri.decodestring": quopri.decodestring,
    "zlib.decompress": unzip,
    "gzip.decompress": _gunzip,
    "bz2.decompress": _bunzip,
    "lzma.decompress": _lzma,
    "codecs.escape_decode": codecs.escape_decode,
}
_BY_PYTHON: dict[str, Callable[..., object]] = {
    **{name: work for name, work in _BASE64.items() if name not in _QUICK},
    "zlib.compress": zlib.compress,
    "codecs.decode": decode,
    "codecs.encode": encode,
    "html.unescape": html.unescape,
    "urllib.parse.unquote": _unquoted(urllib.parse.unquote),
    "urllib.parse.unquote_plus": _unquoted(urllib.parse.unquote_plus),
    "urllib.parse.unquote_to_bytes": urllib.parse.unquote_to_bytes,
    "urllib.parse.quote": lambda text, safe="/": urllib.parse.quote(text, safe),
}
DECODERS: dict[str, Callable[..., object]] = {
    **{name: _bounded_by(LONGEST, work) for name, work in _QUICK.items()},
    **{name: _bounded_by(_LONGEST_CODED, work) for name, work in _BY_PYTHON.items()},
}
"""Pure functions that decode or encode text."""


_MOST = 100_000
_MOST_ITEMS = 10_000
_MOST_CELLS = 100_000
_MOST_STEP = 10
_MOST_PLACES = 1_000
_MOST_ADDED = 10_000_000
_LONGEST_TEMPLATE = 1_000
_LONGEST_JSON = 125_000
_LONGEST_LITERAL = 50_000
_INDENT = re.compile(r"[ \t]{200}")


def _check(is_small: bool) -> None:
    if not is_small:
        raise ValueError("too large")


def _range(*bounds: int) -> range:
    return range(*bounds)


def _slice(*bounds: Any) -> slice:
    return slice(*bounds)


def _few(items: Iterable[Any], width: int = 1) -> list[Any]:
    """Return the members of a possibly infinite iterable, each with `width` values."""
    most = min(_MOST_ITEMS, _MOST_CELLS // max(width, 1))
    found = list(itertools.islice(items, most + 1))
    _check(len(found) <= most)
    return found


def _row(items: Iterable[Any]) -> Iterable[Any]:
    """Return an iterable that becomes a set or dictionary, after a check of its hashes."""
    _check(not hasattr(items, "__len__") or is_hashed_quickly(items))
    return items


def _pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is None:
        _check(size_after(ast.Pow, base, exponent) is not None)
    else:
        _check(is_small_modulus(base, exponent, modulus))
    return pow(base, exponent, modulus)


def _divmod(one: Any, other: Any) -> Any:
    _check(size_after(ast.FloorDiv, one, other) is not None)
    return divmod(one, other)


def _round(number: Any, digits: Any = None) -> Any:
    _check(not isinstance(digits, int) or abs(digits) <= _MOST_PLACES)
    return round(number, digits)


def _bytes(*args: Any) -> bytes:
    if args and isinstance(args[0], int):
        _check(args[0] <= _MOST)
    if args and isinstance(args[0], str):
        encoded = encode(*args)
        return encoded if isinstance(encoded, bytes) else b""
    return bytes(*args)


def _text(*args: Any) -> str:
    if args and isinstance(args[0], bytes) and len(args) > 1:
        return str(decode(*args))
    _check(isinstance(args[0] if args else "", str) or is_printable(*args))
    return str(*args)


def _shown(value: Any) -> str:
    _check(is_printable(value))
    return repr(value)


def _ascii(value: Any) -> str:
    _check(is_printable(value))
    return ascii(value)


def _format(value: Any, spec: str = "") -> str:
    _check(isinstance(value, str) or is_printable(value))
    _check(written_size(spec + "{}", [0 if isinstance(value, str) else value]) is not None)
    return format(value, spec)


def _sum(items: Iterable[Any], start: Any = 0) -> Any:
    known = list(items)
    if not isinstance(start, (int, float, complex)):
        # Each sum of lists copies all before it.
        _check(len(known) * weight([start, known]) <= _MOST_ADDED)
    return sum(known, start)


def _pack(template: str, *values: Any) -> bytes:
    _check(len(template) <= _LONGEST_TEMPLATE and struct.calcsize(template) <= _MOST)
    return struct.pack(template, *values)


def _unpack(template: str, data: bytes) -> tuple[Any, ...]:
    _check(len(template) <= _LONGEST_TEMPLATE)
    return struct.unpack(template, data)


def _substitute(template: str, values: dict[str, str]) -> str:
    longest = max((len(str(one)) for one in values.values()), default=0)
    _check(len(template) + template.count("$") * longest <= LONGEST)
    return string.Template(template).substitute(values)


def _next(items: Any, *default: Any) -> Any:
    return next(iter(items), *default)


def _repeat(item: Any, times: int) -> list[Any]:
    _check(times <= _MOST_ITEMS and times * weight(item) <= MOST_WEIGHT)
    return [item] * times


def _islice(items: Any, *bounds: Any) -> list[Any]:
    known = [one for one in bounds if one is not None]
    _check(all(isinstance(one, int) for one in known))
    if len(bounds) > 1:
        _check((bounds[0] or 0) <= _MOST)
    if len(bounds) > 2:
        _check((bounds[2] or 1) <= _MOST_STEP)
    return _few(itertools.islice(items, *bounds))


def _dumps(value: Any, *, ensure_ascii: bool = True, sort_keys: bool = False) -> str:
    _check(is_printable(value))
    return json.dumps(value, ensure_ascii=bool(ensure_ascii), sort_keys=bool(sort_keys))


def _loads(text: Any) -> Any:
    _check(len(text) <= _LONGEST_JSON)
    return json.loads(text)


def _literal(text: str) -> Any:
    from llm_sandbox.security.python.parsing import parse

    _check(len(text) <= _LONGEST_LITERAL)
    tree = parse(text.lstrip(" \t")).tree
    statement = tree.body[0] if tree is not None and len(tree.body) == 1 else None
    if not isinstance(statement, ast.Expr):
        raise ValueError("no literal")
    return ast.literal_eval(statement.value)


def _dedent(text: str) -> str:
    # What all lines begin with becomes a regular expression.
    _check(_INDENT.search(text) is None)
    return textwrap.dedent(text)


def _operator(kind: type[ast.operator]) -> Callable[..., Any]:
    def work(one: Any, other: Any) -> Any:
        found = fold_operator(kind, one, other)
        _check(found is not UNKNOWN)
        return found

    return work


def _searched(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that searches its first argument for the second, bounded."""

    def search(one: Any, other: Any) -> Any:
        _check(not isinstance(one, (str, bytes)) or are_short(one, other))
        return work(one, other)

    return search


_BUILTINS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "all": all,
    "any": any,
    "ascii": _ascii,
    "bin": bin,
    "bool": bool,
    "bytearray": _bytes,
    "bytes": _bytes,
    "chr": chr,
    "complex": complex,
    "dict": lambda *items: dict(*map(_row, items)),
    "divmod": _divmod,
    "enumerate": lambda items, start=0: _few(enumerate(items, start)),
    "float": float,
    "format": _format,
    "frozenset": lambda *items: frozenset(*map(_row, items)),
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
    "repr": _shown,
    "reversed": lambda items: _few(reversed(items)),
    "round": _round,
    "set": lambda *items: set(*map(_row, items)),
    "slice": _slice,
    "sorted": sorted,
    "str": _text,
    "sum": _sum,
    "tuple": tuple,
    "unichr": chr,
    "zip": lambda *items: _few(zip(*items, strict=False), len(items)),
}
_OPERATORS = names(
    """
    and_ eq getitem ge gt index inv invert le lt ne neg not_ or_ sub xor rshift
    """
)
_BOUNDED = {
    "add": _operator(ast.Add),
    "concat": _operator(ast.Add),
    "contains": _searched(operator.contains),
    "countOf": operator.countOf,
    "floordiv": _operator(ast.FloorDiv),
    "indexOf": operator.indexOf,
    "mod": _operator(ast.Mod),
    "truediv": _operator(ast.Div),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"builtins.{name}": work for name, work in _BUILTINS.items()},
    **{f"operator.{name}": getattr(operator, name) for name in _OPERATORS},
    **{f"operator.__{name.strip('_')}__": getattr(operator, name) for name in _OPERATORS},
    **{f"operator.{name}": work for name, work in _BOUNDED.items()},
    **{f"operator.__{name}__": work for name, work in _BOUNDED.items()},
    "ast.literal_eval": _literal,
    "fractions.Fraction": float,
    "itertools.chain": lambda *items: _few(itertools.chain(*items)),
    "itertools.chain.from_iterable": lambda items: _few(itertools.chain.from_iterable(items)),
    "itertools.compress": lambda items, kept: _few(itertools.compress(items, kept)),
    "itertools.islice": _islice,
    "itertools.repeat": _repeat,
    "itertools.zip_longest": lambda *items: _few(itertools.zip_longest(*items), len(items)),
    "json.dumps": _dumps,
    "json.loads": _loads,
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
    "struct.unpack": _unpack,
    "sys.intern": str,
    "textwrap.dedent": _dedent,
}
"""Full name to the function on plain Python objects."""

LAZY = frozenset(
    names(
        """
        builtins.ascii builtins.bool builtins.enumerate builtins.format builtins.iter builtins.len
        builtins.list builtins.next builtins.range builtins.repr builtins.reversed builtins.slice
        builtins.str builtins.zip itertools.chain itertools.chain.from_iterable itertools.compress
        itertools.islice itertools.zip_longest operator.getitem
        """
    )
)
"""Functions that read only the first members of a range."""

HIGHER = {
    "builtins.map": "map",
    "builtins.filter": "filter",
    "functools.reduce": "reduce",
    "itertools.accumulate": "accumulate",
    "itertools.starmap": "starmap",
}
"""Functions that call their first argument on the members of the others."""

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
"""Attributes of modules that are the same on nearly all systems."""


@functools.lru_cache(maxsize=1024)
def function(name: str) -> Callable[..., Any] | None:
    """Return the pure function of a full name; None when it has effects or is not known."""
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
        return DECODERS.get(name)
    return None
