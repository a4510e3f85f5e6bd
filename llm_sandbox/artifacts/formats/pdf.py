"""PDF: the first page's size, in points."""

import re

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.plots import FileType

__all__ = ["PdfKind"]

_KEY = b"/MediaBox"
_TRIES = 64
"""Occurrences of the key that are looked at; some name a box kept elsewhere."""
_WINDOW = 1024 * 1024
"""Writers put page sizes near the beginning or the end: each of that many bytes is searched."""

_SPACE = rb"[\x00\t\n\x0c\r ]"
_NUMBER = rb"([+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12}))"
_BOX = re.compile(
    _SPACE
    + rb"{0,64}+\["
    + _SPACE
    + rb"{0,64}+"
    + (_SPACE + rb"{1,64}+").join([_NUMBER] * 4)
    + _SPACE
    + rb"{0,64}+\]"
)


class PdfKind(ArtifactKind):
    """PDF documents; a plot is its first page."""

    mimes = ("application/pdf",)
    file_type = FileType.PDF

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a PDF's header; rubbish before it is not accepted."""
        return content.startswith(b"%PDF-")

    def describe(self, content: bytes) -> Dimensions:
        """Return the first readable /MediaBox in points; a compressed one is not seen."""
        if not self.matches(content):
            return Dimensions()
        # trust: a file from inside; a search for text, neither parsed nor unpacked.
        return (
            _first_box(content, 0, min(len(content), _WINDOW))
            or _first_box(content, max(0, len(content) - _WINDOW), len(content))
            or Dimensions()
        )


def _first_box(content: bytes, start: int, stop: int) -> Dimensions | None:
    for _ in range(_TRIES):
        start = content.find(_KEY, start, stop)
        if start < 0:
            break
        start += len(_KEY)
        match = _BOX.match(content, start)
        if match is not None:
            left, bottom, right, top = map(float, match.groups())
            return Dimensions.of(abs(right - left), abs(top - bottom))
    return None
