"""HTML and XML: recognised by a tag at their beginning. They have no size of their own."""

import re

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.messages import cut_short, joined
from llm_sandbox.artifacts.formats.text import encoding_note
from llm_sandbox.artifacts.formats.textual import classify
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = ["HtmlKind", "XmlKind", "draws", "is_table"]

_WINDOW = 64 * 1024

_SPACE = b" \t\r\n\x0c"
_TAG = re.compile(rb"<(?:[a-z]|!doctype[ \t\r\n\x0c]+html|!--)", re.IGNORECASE)

# What stands before a table that is nothing but a table: each alternative either matches in one
# pass, or fails and ends the search.
_LEADING = re.compile(
    rb"[ \t\r\n\x0c]++"
    rb"|<!--.*?-->"
    rb"|<style\b[^>]*+>.*?</style[ \t\r\n\x0c]*+>"
    rb"|<(?:!doctype|html|head|body|div|center|section|meta)\b[^>]*+>"
    rb"|</head[ \t\r\n\x0c]*+>"
    rb"|<(small|p|b|strong|title|h[1-6])\b[^>]*+>[^<]*+</\1[ \t\r\n\x0c]*+>",
    re.IGNORECASE | re.DOTALL,
)
_TABLE = re.compile(rb"<table\b", re.IGNORECASE)
_OPENED = re.compile(rb"<html\b", re.IGNORECASE)
_CLOSED = re.compile(rb"</html[ \t\r\n\x0c]*+>", re.IGNORECASE)
_ENTITIES = re.compile(rb"<!DOCTYPE[^<>\[]*+\[|<!ENTITY\b", re.IGNORECASE)
_ROOT = re.compile(rb"<([A-Za-z_][\w.:-]{0,127})(?=[ \t\r\n/>])([^>]{0,4096}+)>")
_TAIL = 64 * 1024
_PICTURE = re.compile(rb"<(?:canvas|embed|iframe|img|object|script|svg|video)\b", re.IGNORECASE)


def draws(content: bytes) -> bool:
    """Whether a page has a picture, a film, a drawing, or a script that may draw."""
    return _PICTURE.search(content) is not None


class HtmlKind(ArtifactKind):
    """HTML documents and fragments."""

    mimes = ("text/html", "application/xhtml+xml")
    type = ArtifactType.HTML
    extensions = ("html", "htm", "xhtml")
    label = "HTML"
    also = ("text", "xml")
    needs = _WINDOW
    file_type = FileType.HTML
    textual = True
    ambiguous = True

    def matches(self, content: bytes) -> bool:
        """Whether the first thing in the content is a tag, a comment or a document type."""
        return _TAG.match(_beginning(content)) is not None

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing known: how large a page is, its reader decides."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether a page that opens its outermost element closes it."""
        opened = _OPENED.search(_beginning(content)) is not None
        closed = not opened or _CLOSED.search(content[-_TAIL:]) is not None
        return joined(
            encoding_note(content), "" if closed else cut_short("the html element does not end")
        )


class XmlKind(ArtifactKind):
    """XML of no known vocabulary, or with entities of its own."""

    mimes = ("application/xml", "text/xml")
    type = ArtifactType.TEXT
    extensions = ("xml", "xsd", "xsl", "kml", "gpx", "rss")
    label = "XML"
    also = ("text",)
    needs = _WINDOW
    textual = True

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a declaration or an element."""
        return classify(content[:_WINDOW], "xml") == "xml"

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing known."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether it declares entities, and whether its root is closed."""
        window = content[:_WINDOW]
        root = _ROOT.search(window)
        if root is None:
            # What stands before it may be longer than is looked at.
            closed = len(content) > _WINDOW
        else:
            closed = root[2].endswith(b"/") or b"</" + root[1] in content[-_TAIL:]
        return joined(
            encoding_note(content),
            # A reader that expands them may be made to fill its memory, or to read other files.
            "declares entities" if _ENTITIES.search(window) else "",
            "" if closed else cut_short("the outermost element does not end"),
        )


def is_table(content: bytes) -> bool:
    """Whether HTML is a table, perhaps with a style and a heading, and no picture.

    Args:
        content: HTML, possibly hostile; its first 64 KiB decide.
    """
    window = _beginning(content)
    offset = 0
    while (match := _LEADING.match(window, offset)) is not None:
        offset = match.end()
    return _TABLE.match(window, offset) is not None and _PICTURE.search(window, offset) is None


def _beginning(content: bytes) -> bytes:
    # trust: text from inside; only its beginning is looked at.
    return content[:_WINDOW].removeprefix(b"\xef\xbb\xbf").lstrip(_SPACE)
