"""PDF, PostScript, EPS and office documents: page size and page count, without rendering."""

import re
from typing import ClassVar

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.archives import ZipKind, detect_zip, entries
from llm_sandbox.artifacts.formats.fields import little
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = [
    "DocxKind",
    "EpsKind",
    "EpubKind",
    "OdpKind",
    "OdsKind",
    "OdtKind",
    "PdfKind",
    "PostScriptKind",
    "PptxKind",
    "XlsxKind",
]

_KEY = b"/MediaBox"
_TRIES = 64
"""Most occurrences of the key that are read; some refer to a box stored elsewhere."""
_WINDOW = 1024 * 1024
"""Bytes at the beginning and at the end that are searched: writers put page sizes in either."""

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
        """Return whether the content begins with a PDF header; leading garbage is not accepted."""
        return content.startswith(b"%PDF-")

    def describe(self, content: bytes) -> Dimensions:
        """Return the first /MediaBox in points, and the page count, if these are uncompressed."""
        if not self.matches(content):
            return Dimensions()
        # trust: a file from inside; a search for text, neither parsed nor unpacked.
        windows = ((0, min(len(content), _WINDOW)), (max(0, len(content) - _WINDOW), len(content)))
        boxes = (_first_box(content, *window) for window in windows)
        width, height = next((box for box in boxes if box is not None), (None, None))
        pages = max(_pages(content, *window) for window in windows)
        return Dimensions.of(width, height, pages=pages or None)

    def check(self, content: bytes) -> str:
        """Return warnings on a missing end, and on active content that is not compressed."""
        if not self.matches(content):
            return "not a PDF document"
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


_PS_WINDOW = 64 * 1024
_EPS_BINARY = b"\xc5\xd0\xd3\xc6"
_PS_NUMBER = rb"(-?[0-9]{1,9}(?:\.[0-9]{0,9})?)"
_PS_BOX = re.compile(rb"^%%BoundingBox:[ \t]{0,16}" + rb"[ \t]{1,16}".join([_PS_NUMBER] * 4), re.M)
_PS_PAGES = re.compile(rb"^%%Pages:[ \t]{0,16}([0-9]{1,9})", re.M)
_PS_END = re.compile(rb"%%EOF|\bshowpage\b")


class PostScriptKind(ArtifactKind):
    """PostScript programs that draw pages."""

    mimes: ClassVar[tuple[str, ...]] = ("application/postscript",)
    type = ArtifactType.DOCUMENT
    extensions: ClassVar[tuple[str, ...]] = ("ps",)
    label = "PostScript"

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins as a PostScript program that is not EPS."""
        return content.startswith(b"%!PS") and not _is_eps(content)

    def describe(self, content: bytes) -> Dimensions:
        """Return the bounding box in points and the page count, from the comments at both ends."""
        if not self.matches(content):
            return Dimensions()
        program = _ps_program(content)
        # trust: a program from inside; its comments are searched, at both ends.
        box = _PS_BOX.search(program[:_PS_WINDOW]) or _PS_BOX.search(program[-_PS_WINDOW:])
        pages = _PS_PAGES.search(program[:_PS_WINDOW]) or _PS_PAGES.search(program[-_PS_WINDOW:])
        width = height = None
        if box is not None:
            left, bottom, right, top = map(float, box.groups())
            width, height = right - left, top - bottom
        return Dimensions.of(width, height, pages=int(pages[1]) if pages else None)

    def check(self, content: bytes) -> str:
        """Return a warning if the end of the program is missing."""
        if not self.matches(content):
            return f"no {self.label}"
        program = _ps_program(content)
        late = ""
        if content.startswith(_EPS_BINARY):
            late = missing(
                content, _eps_start(content) + (little(content, 8, 4) or 0), "the program"
            )
        ended = _PS_END.search(program[-_PS_WINDOW:]) is not None
        return late or ("" if ended else cut_short("the program does not end"))


class EpsKind(PostScriptKind):
    """Encapsulated PostScript: one drawing."""

    mimes = ("application/postscript", "image/x-eps", "application/eps")
    type = ArtifactType.IMAGE
    extensions = ("eps", "epsf")
    label = "an EPS drawing"
    also = ("postscript",)

    def matches(self, content: bytes) -> bool:
        """Return whether the content declares itself encapsulated, or has the binary header."""
        return content.startswith(_EPS_BINARY) or (content.startswith(b"%!PS") and _is_eps(content))


def _is_eps(content: bytes) -> bool:
    return b" EPSF-" in content[:64].partition(b"\n")[0]


def _eps_start(content: bytes) -> int:
    return little(content, 4, 4) or 0


def _ps_program(content: bytes) -> bytes:
    if not content.startswith(_EPS_BINARY):
        return content
    # trust: offsets from inside; a slice ends where the file does.
    start = _eps_start(content)
    return content[start : start + (little(content, 8, 4) or 0)]


_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"


class _OfficeKind(ZipKind):
    """Base class of office documents."""

    name: ClassVar[str]
    type = ArtifactType.DOCUMENT
    also: ClassVar[tuple[str, ...]] = ("zip",)
    page: ClassVar[re.Pattern[str] | None] = None
    """Pattern of the files that are one page each; None when pages are not files."""
    main_file: ClassVar[str] = "content.xml"
    """File that every document has; empty when its name is free."""

    def matches(self, content: bytes) -> bool:
        """Return whether the first file of the archive, or its folders, identify this format."""
        return content.startswith(b"PK\x03\x04") and detect_zip(content) == self.name

    def describe(self, content: bytes) -> Dimensions:
        """Return the number of sheets or slides, if each is a file."""
        if self.page is None or not self.matches(content):
            return Dimensions()
        found = entries(content) or []
        return Dimensions.of(pages=sum(bool(self.page.fullmatch(e.name)) for e in found) or None)

    def check(self, content: bytes) -> str:
        """Return the warnings on the archive, and on a missing main document."""
        found = entries(content)
        lacks = (
            found is not None and self.main_file and self.main_file not in {e.name for e in found}
        )
        return joined(super().check(content), f"{self.main_file} is not in it" if lacks else "")


class DocxKind(_OfficeKind):
    """Word documents."""

    name = "docx"
    mimes = (f"{_OFFICE}.wordprocessingml.document",)
    extensions = ("docx", "docm", "dotx")
    label = "a Word document"
    main_file = "word/document.xml"


class XlsxKind(_OfficeKind):
    """Excel workbooks."""

    name = "xlsx"
    mimes = (f"{_OFFICE}.spreadsheetml.sheet",)
    extensions = ("xlsx", "xlsm", "xltx")
    label = "an Excel workbook"
    page = re.compile(r"xl/worksheets/[^/]+\.xml")
    main_file = "xl/workbook.xml"


class PptxKind(_OfficeKind):
    """PowerPoint presentations."""

    name = "pptx"
    mimes = (f"{_OFFICE}.presentationml.presentation",)
    extensions = ("pptx", "pptm", "potx")
    label = "a PowerPoint presentation"
    page = re.compile(r"ppt/slides/[^/]+\.xml")
    main_file = "ppt/presentation.xml"


class OdtKind(_OfficeKind):
    """OpenDocument texts."""

    name = "odt"
    mimes = (f"{_OPEN}.text",)
    extensions = ("odt",)
    label = "an OpenDocument text"


class OdsKind(_OfficeKind):
    """OpenDocument spreadsheets."""

    name = "ods"
    mimes = (f"{_OPEN}.spreadsheet",)
    extensions = ("ods",)
    label = "an OpenDocument spreadsheet"


class OdpKind(_OfficeKind):
    """OpenDocument presentations."""

    name = "odp"
    mimes = (f"{_OPEN}.presentation",)
    extensions = ("odp",)
    label = "an OpenDocument presentation"


class EpubKind(_OfficeKind):
    """EPUB books."""

    name = "epub"
    mimes = ("application/epub+zip",)
    extensions = ("epub",)
    label = "an EPUB book"
    main_file = "META-INF/container.xml"
