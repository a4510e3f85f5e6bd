"""MIME bundles whose large values are stored outside the heap until they are accessed."""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from llm_sandbox.results.contents import Content

__all__ = ["CHART_MIME", "TABLE_MIME", "Bundle", "decode_base64", "is_binary", "is_json"]

CHART_MIME = "application/vnd.llm-sandbox.chart+json"
"""MIME type of chart records from inside."""
TABLE_MIME = "application/vnd.llm-sandbox.table+json"
"""MIME type of table records from inside."""

_KEPT_INLINE = 4096
_BINARY = ("image/", "audio/", "video/", "font/")
_BINARY_TYPES = frozenset({"application/pdf", "application/octet-stream"})


def is_binary(mime: str) -> bool:
    """Return whether bundles hold a type as base64 text."""
    return (mime.startswith(_BINARY) and not mime.endswith("+xml")) or mime in _BINARY_TYPES


def is_json(mime: str) -> bool:
    """Return whether bundles hold a type as a JSON value."""
    return mime.endswith(("+json", ".json", "/json"))


@dataclass(frozen=True, slots=True)
class _Held:
    """Value stored as bytes."""

    content: Content
    form: Literal["base64", "text", "json"]

    def value(self) -> object:
        if self.form == "base64":
            return self.content.base64()
        text = self.content.bytes().decode()
        return _parse(text) if self.form == "json" else text


class Bundle(Mapping[str, object]):
    """Data of a display, or its metadata, by MIME type; immutable.

    A bundle is a mapping of Jupyter's values: text, base64 text for binary types, JSON values
    for JSON types. `content` returns a value's bytes without conversion to text.
    """

    __slots__ = ("_values",)

    def __init__(self, data: Mapping[str, object]) -> None:
        self._values = {str(mime): _hold(str(mime), value) for mime, value in data.items()}

    def __getitem__(self, mime: str) -> object:
        value = self._values[mime]
        return value.value() if isinstance(value, _Held) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def content(self, mime: str) -> Content | None:
        """Return the bytes of a value: of the file, the text, or the JSON text.

        Returns:
            The bytes; None when there is no such value, or when it is not valid base64.
        """
        value = self._values.get(mime)
        if isinstance(value, _Held):
            return value.content
        if isinstance(value, str):
            if is_binary(mime):
                decoded = decode_base64(value)
                return None if decoded is None else Content.of(decoded)
            return Content.of(value.encode("utf-8", "replace"))
        if value is None:
            return None
        return Content.of(json.dumps(value, default=str).encode())

    def __repr__(self) -> str:
        parts = []
        for mime, value in self._values.items():
            shown = f"<{value.content.size} bytes>" if isinstance(value, _Held) else repr(value)
            parts.append(f"{mime!r}: {shown}")
        return f"Bundle({{{', '.join(parts)}}})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Bundle, (dict(self),)


def decode_base64(text: str) -> bytes | None:
    """Return the bytes of base64 text, which may have line breaks; None if it is invalid."""
    try:
        # trust: claimed to be base64; anything else in it is refused, not passed over.
        return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return None


def _hold(mime: str, value: object) -> object:
    # trust: values come from inside; one that is not what its type promises is kept as it came.
    if isinstance(value, dict | list):
        text = json.dumps(value, default=str)
        return value if len(text) <= _KEPT_INLINE else _Held(Content.of(text.encode()), "json")
    if not isinstance(value, str) or len(value) <= _KEPT_INLINE:
        return _parse(value) if isinstance(value, str) and is_json(mime) else value
    if is_binary(mime):
        decoded = decode_base64(value)
        return value if decoded is None else _Held(Content.of(decoded), "base64")
    try:
        return _Held(Content.of(value.encode()), "json" if is_json(mime) else "text")
    except UnicodeEncodeError:
        return value  # lone surrogates, which no file holds


def _parse(text: str) -> object:
    """Parse a JSON value that was sent as text; text that is not JSON is returned unchanged."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return text
