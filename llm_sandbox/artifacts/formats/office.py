"""Documents that are ZIP archives: of Word, Excel, PowerPoint, OpenDocument, and books."""

import re
from typing import ClassVar

from llm_sandbox.artifacts.base import Dimensions
from llm_sandbox.artifacts.formats.messages import joined
from llm_sandbox.artifacts.formats.zipped import ZipKind, detect_subtype, entries
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["DocxKind", "EpubKind", "OdpKind", "OdsKind", "OdtKind", "PptxKind", "XlsxKind"]

_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"


class _OfficeKind(ZipKind):
    """What all of them have in common."""

    name: ClassVar[str]
    type = ArtifactType.DOCUMENT
    also: ClassVar[tuple[str, ...]] = ("zip",)
    page: ClassVar[re.Pattern[str] | None] = None
    """Names of the files that are a page each; None when pages are not files."""
    heart: ClassVar[str] = "content.xml"
    """The file without which there is no document; empty when its name is free."""

    def matches(self, content: bytes) -> bool:
        """Whether the archive's first file, or its folders, say that it is this format."""
        return content.startswith(b"PK\x03\x04") and detect_subtype(content) == self.name

    def describe(self, content: bytes) -> Dimensions:
        """Return the number of sheets or slides, where each is a file."""
        if self.page is None or not self.matches(content):
            return Dimensions()
        found = entries(content) or []
        return Dimensions.of(pages=sum(bool(self.page.fullmatch(e.name)) for e in found) or None)

    def check(self, content: bytes) -> str:
        """Return what is said of the archive, and whether the document is in it."""
        found = entries(content)
        lacks = found is not None and self.heart and self.heart not in {e.name for e in found}
        return joined(super().check(content), f"{self.heart} is not in it" if lacks else "")


class DocxKind(_OfficeKind):
    """Word documents."""

    name = "docx"
    mimes = (f"{_OFFICE}.wordprocessingml.document",)
    extensions = ("docx", "docm", "dotx")
    label = "a Word document"
    heart = "word/document.xml"


class XlsxKind(_OfficeKind):
    """Excel workbooks."""

    name = "xlsx"
    mimes = (f"{_OFFICE}.spreadsheetml.sheet",)
    extensions = ("xlsx", "xlsm", "xltx")
    label = "an Excel workbook"
    page = re.compile(r"xl/worksheets/[^/]+\.xml")
    heart = "xl/workbook.xml"


class PptxKind(_OfficeKind):
    """PowerPoint presentations."""

    name = "pptx"
    mimes = (f"{_OFFICE}.presentationml.presentation",)
    extensions = ("pptx", "pptm", "potx")
    label = "a PowerPoint presentation"
    page = re.compile(r"ppt/slides/[^/]+\.xml")
    heart = "ppt/presentation.xml"


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
    """Books."""

    name = "epub"
    mimes = ("application/epub+zip",)
    extensions = ("epub",)
    label = "an EPUB book"
    heart = "META-INF/container.xml"
