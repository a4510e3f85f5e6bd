"""HTML: recognised by a tag at its beginning. It has no size of its own."""

import re

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.plots import FileType

__all__ = ["HtmlKind", "is_table"]

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
_PICTURE = re.compile(rb"<(?:canvas|embed|iframe|img|object|script|svg|video)\b", re.IGNORECASE)


class HtmlKind(ArtifactKind):
    """HTML documents and fragments."""

    mimes = ("text/html",)
    file_type = FileType.HTML
    textual = True
    ambiguous = True

    def matches(self, content: bytes) -> bool:
        """Whether the first thing in the content is a tag, a comment or a document type."""
        return _TAG.match(_beginning(content)) is not None

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing known: how large a page is, its reader decides."""
        return Dimensions()


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
