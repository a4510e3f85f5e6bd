"""Decoders that folding may run, each with a limit on what comes out."""

from __future__ import annotations

import base64
import binascii
import bz2
import codecs
import html
import lzma
import quopri
import urllib.parse
import zlib
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.bounds import LONGEST
from llm_sandbox.security.python.name_tables import names

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CODECS", "DECODERS", "decode", "encode", "unzip"]

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
"""Take time by the square of the length, or worse."""


def decode(data: Any, codec: str = "utf-8", errors: str = "strict") -> object:
    """Return what `codecs.decode` returns.

    Raises:
        ValueError: The codec is not one of `CODECS`, or the data is too long.
    """
    name = _known(codec)
    if name in _COMPRESSED:
        return (
            unzip(bytes(data)) if name[0] == "z" else _bounded(bz2.BZ2Decompressor(), bytes(data))
        )
    _check_length(data, name)
    return codecs.decode(data, name, errors)


def encode(data: Any, codec: str = "utf-8", errors: str = "strict") -> object:
    """Return what `codecs.encode` returns.

    Raises:
        ValueError: The codec is not one of `CODECS`, or the data is too long.
    """
    name = _known(codec)
    _check_length(data, name)
    return codecs.encode(data, name, errors)


def _check_length(data: Any, name: str) -> None:
    if len(data) > (_LONGEST_SLOW if name in _SLOW else _LONGEST_CODED):
        raise ValueError("too long")


def _known(codec: str) -> str:
    name = str(codec).lower().replace("-", "_")
    if name not in CODECS:
        raise ValueError("unknown codec")
    return name


def unzip(data: bytes, wbits: int = zlib.MAX_WBITS) -> bytes:
    """Return what `zlib.decompress` returns.

    Raises:
        ValueError: It is too long.
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
    """A decoder of at most so many characters, whose other arguments are short."""

    def decoder(data: Any, *options: Any, **named: Any) -> object:
        given = [one for one in (*options, *named.values()) if hasattr(one, "__len__")]
        if len(data) > most or any(len(one) > _LONGEST_OPTION for one in given):
            raise ValueError("too long")
        return work(data, *options, **named)

    return decoder


def _unquoted(work: Callable[..., object]) -> Callable[..., object]:
    def decoder(text: Any, encoding: str = "utf-8", errors: str = "replace") -> object:
        if _known(encoding) in _SLOW:
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
"""Functions without an effect that turn text into other text."""
