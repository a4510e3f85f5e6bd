"""HTML, XML and SVG documents."""

import re

from llm_sandbox.artifacts.base import ArtifactKind, DimensionlessKind, Dimensions
from llm_sandbox.artifacts.formats.messages import cut_short, joined
from llm_sandbox.artifacts.formats.text import classify, encoding_note
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = ["HtmlKind", "SvgKind", "XmlKind", "draws", "is_table"]

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
    """Return whether a page has an image, a video, a drawing, or a script that may draw."""
    return _PICTURE.search(content) is not None


class HtmlKind(DimensionlessKind):
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
        """Return whether the content begins with a tag, a comment or a document type."""
        return _TAG.match(_beginning(content)) is not None

    def check(self, content: bytes) -> str:
        """Return a warning if the outermost element is not closed."""
        opened = _OPENED.search(_beginning(content)) is not None
        closed = not opened or _CLOSED.search(content[-_TAIL:]) is not None
        return joined(
            encoding_note(content), "" if closed else cut_short("the html element does not end")
        )


class XmlKind(DimensionlessKind):
    """XML of an unknown vocabulary, or with its own entities."""

    mimes = ("application/xml", "text/xml")
    type = ArtifactType.TEXT
    extensions = ("xml", "xsd", "xsl", "kml", "gpx", "rss")
    label = "XML"
    also = ("text",)
    needs = _WINDOW
    textual = True

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with a declaration or an element."""
        return classify(content[:_WINDOW], "xml") == "xml"

    def check(self, content: bytes) -> str:
        """Return warnings on entity declarations, and on an unclosed root."""
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
    """Return whether HTML is a table, optionally with a style and a heading, and without a picture.

    Args:
        content: HTML, possibly hostile; only the first 64 KiB are read.
    """
    window = _beginning(content)
    offset = 0
    while (match := _LEADING.match(window, offset)) is not None:
        offset = match.end()
    return _TABLE.match(window, offset) is not None and _PICTURE.search(window, offset) is None


def _beginning(content: bytes) -> bytes:
    # trust: text from inside; only its beginning is looked at.
    return content[:_WINDOW].removeprefix(b"\xef\xbb\xbf").lstrip(_SPACE)


_SVG_WINDOW = 64 * 1024
"""Bytes at the beginning that must contain the root's start tag: 64 KiB."""
_ATTRIBUTES = 256

# Repetitions are possessive or exclude what follows, so that no input takes more than one pass. A
# document type with declarations of its own (`[`) does not match: those are entities, which a
# reader of the file may expand without end.
_DOCTYPE = re.compile(
    rb"<!DOCTYPE[^<>\[\]\"']*+(?:(?:\"[^\"]*+\"|'[^']*+')[^<>\[\]\"']*+)*>", re.IGNORECASE
)
_SVG_SPACE = re.compile(rb"[ \t\r\n]*+")
_SVG_ROOT = re.compile(rb"<(?:[A-Za-z_][\w.-]{0,63}:)?svg(?=[ \t\r\n/>])")
_ATTRIBUTE = re.compile(
    rb"[ \t\r\n]++([^ \t\r\n=<>/\"']{1,256})[ \t\r\n]*+=[ \t\r\n]*+(?:\"([^\"<]*+)\"|'([^'<]*+)')"
)

_NUMBER = rb"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?"
_LENGTH = re.compile(rb"[ \t\r\n]*(" + _NUMBER + rb")(px|pt|pc|in|cm|mm|q)?[ \t\r\n]*", re.I)
_VIEW_BOX = re.compile(
    rb"[ \t\r\n]*+"
    + rb"(?:[ \t\r\n]++,?[ \t\r\n]*+|,[ \t\r\n]*+)".join([rb"(%b)" % _NUMBER] * 4)
    + rb"[ \t\r\n]*+"
)
_LONGEST_VALUE = 256

_SEARCHED = 8 * 1024**2
"""Bytes that are searched for active content."""
_SVG_TAIL = 64 * 1024
_END = re.compile(rb"</(?:[A-Za-z_][\w.-]{0,63}:)?svg[ \t\r\n]*+>")
_AFTER = re.compile(rb"(?:[ \t\r\n]++|<!--.*?-->)*+", re.DOTALL)
_ACTS = (
    (
        re.compile(
            rb"<(?:[a-z_][\w.-]{0,63}:)?script[ \t\r\n/>]"
            rb"|[ \t\r\n\"'/]on[a-z]{3,32}[ \t\r\n]{0,16}=[ \t\r\n]{0,16}[\"']"
            rb"|javascript:",
            re.IGNORECASE,
        ),
        "holds a script",
    ),
    (re.compile(rb"<(?:[a-z_][\w.-]{0,63}:)?foreignObject\b", re.IGNORECASE), "holds HTML"),
    (
        re.compile(
            rb"[ \t\r\n:]href[ \t\r\n]{0,16}=[ \t\r\n]{0,16}[\"'](?!#|data:)|@import\b"
            rb"|url\([ \t\r\n\"']{0,16}(?:https?:|//)",
            re.IGNORECASE,
        ),
        "refers to other addresses",
    ),
)

_PIXELS = {
    b"": 1.0,
    b"px": 1.0,
    b"pt": 96 / 72,
    b"pc": 16.0,
    b"in": 96.0,
    b"cm": 96 / 2.54,
    b"mm": 96 / 25.4,
    b"q": 96 / 101.6,
}


class SvgKind(ArtifactKind):
    """SVG drawings in an ASCII-compatible encoding."""

    mimes = ("image/svg+xml",)
    type = ArtifactType.IMAGE
    extensions = ("svg",)
    label = "an SVG drawing"
    also = ("xml", "text")
    needs = _SVG_WINDOW
    file_type = FileType.SVG
    textual = True

    def matches(self, content: bytes) -> bool:
        """Return whether the first element is `svg` and no entities are declared before it."""
        return _root(content) is not None

    def describe(self, content: bytes) -> Dimensions:
        """Return the root's width and height in CSS pixels, or those of its viewBox."""
        root = _root(content)
        if root is None:
            return Dimensions()
        found = _attributes(*root)
        width, height = _length(found.get(b"width")), _length(found.get(b"height"))
        box_width, box_height = _view_box(found.get(b"viewBox"))
        if width is None and height is None:
            width, height = box_width, box_height
        elif box_width and box_height:
            # One of the two is enough where the viewBox gives the proportions: so do browsers.
            if width is None and height is not None:
                width = height * box_width / box_height
            elif height is None and width is not None:
                height = width * box_height / box_width
        return Dimensions.of(width, height)

    def check(self, content: bytes) -> str:
        """Return warnings on an unclosed root, and on active content.

        An obfuscated script is not found: a drawing without a warning is not safe.
        """
        root = _root(content)
        if root is None:
            return "not an SVG drawing, or one that declares entities"
        # trust: text from inside; each search is one pass over a bounded part.
        searched = content[:_SEARCHED]
        acts = [fact for pattern, fact in _ACTS if pattern.search(searched)]
        return joined(encoding_note(content), *acts, _ending(content, *root))


def _root(content: bytes) -> tuple[bytes, int] | None:
    # trust: text from inside; only its beginning is looked at, and every turn moves forward.
    window = content[:_SVG_WINDOW]
    offset = 3 if window.startswith(b"\xef\xbb\xbf") else 0
    while True:
        offset = _after_space(window, offset)
        root = _SVG_ROOT.match(window, offset)
        if root is not None:
            return window, root.end()
        end = _after_preamble(window, offset)
        if end is None:
            return None
        offset = end


def _after_space(window: bytes, offset: int) -> int:
    match = _SVG_SPACE.match(window, offset)
    return match.end() if match else offset


def _after_preamble(window: bytes, offset: int) -> int | None:
    for opening, closing in ((b"<?", b"?>"), (b"<!--", b"-->")):
        if window.startswith(opening, offset):
            end = window.find(closing, offset + len(opening))
            return None if end < 0 else end + len(closing)
    match = _DOCTYPE.match(window, offset)
    return match.end() if match else None


def _attributes(window: bytes, offset: int) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for _ in range(_ATTRIBUTES):
        match = _ATTRIBUTE.match(window, offset)
        if match is None:
            break
        value = match[2] if match[2] is not None else match[3]
        if len(value) <= _LONGEST_VALUE:
            found.setdefault(match[1], value)
        offset = match.end()
    return found


def _length(value: bytes | None) -> float | None:
    match = _LENGTH.fullmatch(value) if value is not None else None
    if match is None:
        return None
    size = float(match[1]) * _PIXELS[(match[2] or b"").lower()]
    return size if size > 0 else None


def _view_box(value: bytes | None) -> tuple[float | None, float | None]:
    match = _VIEW_BOX.fullmatch(value) if value is not None else None
    if match is None:
        return None, None
    return float(match[3]), float(match[4])


def _ending(content: bytes, window: bytes, offset: int) -> str:
    tail = content[-_SVG_TAIL:]
    ends = list(_END.finditer(tail))
    if not ends:
        start = window.find(b">", offset)
        closed = start > 0 and window[start - 1 : start] == b"/"
        return "" if closed else cut_short("the svg element does not end")
    rest = _AFTER.match(tail, ends[-1].end())
    left = len(tail) - (rest.end() if rest else 0)
    return f"{left:,} bytes follow its end" if left else ""
