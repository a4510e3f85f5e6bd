"""PDF: the first page's size, in points, and the number of pages."""

import re

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.messages import cut_short, joined, trailing
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

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
_END = b"%%EOF"
_NEAR = 16 * 1024
_TREE = re.compile(rb"/Type" + _SPACE + rb"{0,16}+/Pages\b")
_COUNT = re.compile(rb"/Count" + _SPACE + rb"{0,16}+([0-9]{1,9})\b")
_ACTS = (
    (re.compile(rb"/J(?:avaScript|S)\b"), "holds a script"),
    (re.compile(rb"/Launch\b"), "starts programs"),
    (re.compile(rb"/EmbeddedFiles?\b"), "holds other files"),
    (re.compile(rb"/Encrypt\b"), "is encrypted"),
)


class PdfKind(ArtifactKind):
    """PDF documents; a plot is its first page."""

    mimes = ("application/pdf", "application/x-pdf")
    type = ArtifactType.DOCUMENT
    extensions = ("pdf",)
    label = "a PDF document"
    file_type = FileType.PDF

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a PDF's header; rubbish before it is not accepted."""
        return content.startswith(b"%PDF-")

    def describe(self, content: bytes) -> Dimensions:
        """Return the first /MediaBox in points, and the pages; compressed, neither is seen."""
        if not self.matches(content):
            return Dimensions()
        # trust: a file from inside; a search for text, neither parsed nor unpacked.
        windows = ((0, min(len(content), _WINDOW)), (max(0, len(content) - _WINDOW), len(content)))
        boxes = (_first_box(content, *window) for window in windows)
        width, height = next((box for box in boxes if box is not None), (None, None))
        pages = max(_pages(content, *window) for window in windows)
        return Dimensions.of(width, height, pages=pages or None)

    def check(self, content: bytes) -> str:
        """Return whether the end is there, and what acts when it is opened, if not compressed."""
        if not self.matches(content):
            return "no PDF document"
        end = content.rfind(_END)
        if end < 0 or b"startxref" not in content[max(0, end - 64) : end]:
            ending = cut_short("there is no end of the file")
        else:
            end += len(_END)
            end += len(content[end : end + 2]) - len(content[end : end + 2].lstrip(b"\r\n"))
            ending = "" if not content[end : end + _WINDOW].strip() else trailing(content, end)
        # trust: the same; each search is one fast pass.
        acts = [fact for name, fact in _ACTS if name.search(content)]
        return joined(*acts, ending)


def _pages(content: bytes, start: int, stop: int) -> int:
    most = 0
    for _, found in zip(range(_TRIES), _TREE.finditer(content, start, stop), strict=False):
        # The tree's root counts all of its pages; the count stands before the type or behind it.
        opening = max(start, content.rfind(b"obj", max(0, found.start() - _NEAR), found.start()))
        closing = content.find(b"endobj", found.end(), found.end() + _NEAR)
        count = _COUNT.search(content, opening, closing if closing > 0 else found.end() + _NEAR)
        if count is not None:
            most = max(most, int(count[1]))
    return most


def _first_box(content: bytes, start: int, stop: int) -> tuple[float, float] | None:
    for _ in range(_TRIES):
        start = content.find(_KEY, start, stop)
        if start < 0:
            break
        start += len(_KEY)
        match = _BOX.match(content, start)
        if match is not None:
            left, bottom, right, top = map(float, match.groups())
            return abs(right - left), abs(top - bottom)
    return None
