"""How a value may be written by a host that says it back."""

import base64
import html
import json
from collections.abc import Callable, Iterator
from urllib.parse import quote

__all__ = ["encoded_forms"]

_LONGEST = 4096
"""Of a longer value only the usual two ways are known: each sign may become six."""


def encoded_forms(value: str, placeholder: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the ways in which a value may be written, each with what takes its place: as long, and
    the placeholder in the same way if that can be.

    Args:
        value: Printable ASCII.
        placeholder: What stands for it.
    """
    short = len(value) <= _LONGEST
    written = zip(_written(value), _written(placeholder), strict=True) if short else ()
    for word, other in ((value, placeholder), (quote(value, safe=""), ""), *written):
        same = len(word) == len(other)
        yield word.encode(), (other if same else "*" * len(word)).encode()


def _written(text: str) -> Iterator[str]:
    yield text.lower()
    yield text.upper()
    escaped = "".join(f"%{ord(sign):02x}" for sign in text)
    quoted = quote(text, safe="")
    for form in (quoted, quote(quoted, safe=""), escaped):
        yield form
        yield _lower_escapes(form)
        yield form.upper() if form is escaped else form
    in_json = json.dumps(text)[1:-1]
    yield in_json
    yield in_json.replace("/", "\\/")
    points = [f"{ord(sign):04x}" for sign in text]
    yield "".join(f"\\u{point}" for point in points)
    yield "".join(f"\\u{point.upper()}" for point in points)
    # As encoders do that write JSON into pages.
    for rare in ("<>&", "<>&'=", "<>&'+"):
        yield "".join(f"\\u{ord(sign):04x}" if sign in rare else sign for sign in in_json)
    yield html.escape(text)
    yield "".join(f"&#{ord(sign)};" for sign in text)
    yield "".join(f"&#x{ord(sign):x};" for sign in text)
    yield "".join(f"\\x{ord(sign):02x}" for sign in text)
    yield text.encode().hex()
    yield text.encode().hex().upper()
    yield text.encode().hex(":")
    yield text[::-1]
    for before in range(5):
        yield _inner(base64.b32encode, 5, text.encode(), before)
    for before in range(3):
        inner = _inner(base64.b64encode, 6, text.encode(), before)
        yield inner
        yield inner.translate(_URL_SAFE)
        yield quote(inner, safe="")


def _lower_escapes(text: str) -> str:
    """The same with small letters in its escapes."""
    first, *rest = text.split("%")
    return "%".join([first, *(f"{part[:2].lower()}{part[2:]}" for part in rest)])


def _inner(encode: Callable[[bytes], bytes], bits: int, data: bytes, before: int) -> str:
    """The letters that stand for some data alone, whatever comes before and after.

    Args:
        encode: Base 32 or 64.
        bits: How many of them a letter stands for.
        data: The data.
        before: How many bytes come before, modulo what is encoded at once.
    """
    whole = encode(bytes(before) + data).decode("ascii")
    return whole[-(-before * 8 // bits) : (before + len(data)) * 8 // bits]


_URL_SAFE = str.maketrans("+/", "-_")
