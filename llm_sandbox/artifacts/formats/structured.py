"""JSON, JSON Lines, GeoJSON and Jupyter notebooks."""

import json
from collections.abc import Callable
from typing import ClassVar

from llm_sandbox.artifacts.base import ArtifactKind, DimensionlessKind, Dimensions
from llm_sandbox.artifacts.formats.messages import cut_short, joined
from llm_sandbox.artifacts.formats.text import classify, encoding_note
from llm_sandbox.artifacts.identify import LOOK
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = ["GeoJsonKind", "JsonKind", "NdjsonKind", "NotebookKind"]

_PARSED = 8 * 1024**2
"""Size above which only both ends of a text are checked."""
_NODES = 500_000
"""Most lists and objects of a text that is parsed: each takes thirty times its bytes."""
_ESCAPE = 6
_LONGEST_LINE = 1024**2


class JsonKind(DimensionlessKind):
    """JSON."""

    mimes: ClassVar[tuple[str, ...]] = ("application/json", "text/json")
    type = ArtifactType.JSON
    extensions: ClassVar[tuple[str, ...]] = ("json",)
    label = "JSON"
    also: ClassVar[tuple[str, ...]] = ("text",)
    needs = LOOK
    file_type: ClassVar[FileType | None] = FileType.JSON
    textual = True

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins as a JSON object or list."""
        return classify(content[:LOOK], "json") == "json"

    def check(self, content: bytes) -> str:
        """Return a warning if the text cannot be parsed; above 8 MiB, if its end does not match its
        beginning.
        """
        return encoding_note(content) or _check_json(content, self.fault)

    def fault(self, value: object) -> str:
        """Return the reason why a parsed value is not of this kind; empty for none.

        Args:
            value: Parsed value, possibly hostile.
        """
        return ""


class GeoJsonKind(JsonKind):
    """GeoJSON."""

    mimes = ("application/geo+json", "application/vnd.geo+json")
    type = ArtifactType.MAP
    extensions = ("geojson",)
    label = "GeoJSON"
    also = ("json", "text")
    file_type = None

    def matches(self, content: bytes) -> bool:
        """Return whether the type of the first object is a feature or a geometry."""
        return classify(content[:LOOK]) == "geojson"

    def fault(self, value: object) -> str:
        """Return a warning if a collection has no list of features."""
        if not isinstance(value, dict):
            return "not GeoJSON: it is not an object"
        if value.get("type") == "FeatureCollection" and not isinstance(value.get("features"), list):
            return "not GeoJSON: the collection has no list of features"
        return ""


class NotebookKind(JsonKind):
    """Jupyter notebooks; their outputs are not examined here."""

    mimes = ("application/x-ipynb+json",)
    type = ArtifactType.NOTEBOOK
    extensions = ("ipynb",)
    label = "a notebook"
    also = ("json", "text")
    file_type = None

    def matches(self, content: bytes) -> bool:
        """Return whether the first object has cells, or the keys beside them."""
        return classify(content[:LOOK]) == "ipynb"

    def fault(self, value: object) -> str:
        """Return the required key that is missing or has a wrong type."""
        if not isinstance(value, dict):
            return "not a notebook: it is not an object"
        for key, form in (("nbformat", int), ("cells", list), ("metadata", dict)):
            # Before version 4, cells were part of worksheets.
            if not isinstance(value.get(key), form) and not (key == "cells" and _is_old(value)):
                return f"not a notebook: {key!r} is missing or of another type"
        return ""


class NdjsonKind(ArtifactKind):
    """JSON Lines: one value per line."""

    mimes = ("application/x-ndjson", "application/jsonl", "application/x-jsonlines")
    type = ArtifactType.JSON
    extensions = ("jsonl", "ndjson")
    label = "lines of JSON"
    also = ("json", "text")
    needs = LOOK
    textual = True

    def matches(self, content: bytes) -> bool:
        """Return whether the first line is an object, and the second begins as one."""
        return classify(content[:LOOK], "ndjson") == "ndjson"

    def describe(self, content: bytes) -> Dimensions:
        """Return the number of lines as rows."""
        if not self.matches(content):
            return Dimensions()
        return Dimensions.of(rows=content.count(b"\n") + (not content.endswith(b"\n")))

    def check(self, content: bytes) -> str:
        """Return a warning if the first or the last line cannot be parsed."""
        if wrong := encoding_note(content):
            return wrong
        body = content.rstrip(b"\r\n")
        first = body[:_LONGEST_LINE].partition(b"\n")[0]
        last = body[-_LONGEST_LINE:].rpartition(b"\n")[2]
        return joined(
            _parse_note(first, "the first line") if len(first) < _LONGEST_LINE else "",
            _parse_note(last, "the last line") if len(last) < _LONGEST_LINE else "",
        )


def _is_old(value: dict[object, object]) -> bool:
    return isinstance(value.get("worksheets"), list)


def _check_json(content: bytes, fault: Callable[[object], str]) -> str:
    if len(content) > _PARSED or content.count(b"[") + content.count(b"{") > _NODES:
        # trust: parsed, this much could take hundreds of times its size in memory.
        first, last = content[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1], content[-64:].rstrip()[-1:]
        ends = {b"{": b"}", b"[": b"]"}.get(first, last)
        return "" if last == ends else cut_short("its last bracket is missing")
    try:
        value = _parse(content)
    except ValueError as error:
        return _reason(error, "it")
    return fault(value)


def _parse_note(line: bytes, what: str) -> str:
    if line.count(b"[") + line.count(b"{") > _NODES:
        return ""
    try:
        _parse(line)
    except ValueError as error:
        return _reason(error, what)
    return ""


def _reason(error: ValueError, what: str) -> str:
    if isinstance(error, json.JSONDecodeError):
        last = error.msg.startswith("Invalid \\") and len(error.doc) - error.pos < _ESCAPE
        if not error.doc[error.pos :].strip() or last or error.msg.startswith("Unterminated"):
            return cut_short(f"{what} ends within a value")
        # Python's own words for what it met, which hold nothing of the content.
        return f"{what} is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
    return f"{what} is not JSON: {error}"


def _parse(content: bytes) -> object:
    try:
        # trust: text from inside, of a size that the caller has bounded; the parser is Python's.
        return json.loads(content.decode("utf-8-sig"), parse_constant=_refuse, parse_int=_digits)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not a JSON value")


def _digits(digits: str) -> int:
    # Only small numbers matter here, and to convert long ones takes the square of their length.
    return int(digits) if len(digits) <= 20 else 0
