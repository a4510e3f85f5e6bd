"""Plain text, prose and source code, and the classifier that distinguishes text formats."""

import codecs
import re
from typing import ClassVar

from llm_sandbox.artifacts.base import DimensionlessKind
from llm_sandbox.artifacts.formats.messages import cut_short, joined
from llm_sandbox.artifacts.identify import LOOK
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = [
    "JavaScriptKind",
    "LatexKind",
    "MarkdownKind",
    "PythonKind",
    "TextKind",
    "TomlKind",
    "YamlKind",
    "classify",
    "decoded",
    "encoding_note",
    "is_text",
]

_READ = 64 * 1024**2
"""Most bytes whose encoding is checked."""
_BLOCK = 1024**2
_FENCE = re.compile(rb"^ {0,3}```", re.MULTILINE)


class TextKind(DimensionlessKind):
    """Text of an unknown format; base class of those that only their name distinguishes."""

    mimes: ClassVar[tuple[str, ...]] = ("text/plain",)
    type = ArtifactType.TEXT
    extensions: ClassVar[tuple[str, ...]] = ("txt", "text", "log", "out")
    label = "plain text"
    needs = LOOK
    file_type: ClassVar[FileType | None] = FileType.TXT
    textual = True

    def matches(self, content: bytes) -> bool:
        """Return whether the content is text."""
        # trust: bytes from inside; one fast pass over a bounded part.
        return bool(content) and is_text(content[:LOOK])

    def check(self, content: bytes) -> str:
        """Return warnings on bytes that are not text, and on terminal control sequences."""
        escapes = "holds terminal control sequences" if b"\x1b" in content else ""
        return joined(encoding_note(content), escapes)


class MarkdownKind(TextKind):
    """Markdown."""

    mimes = ("text/markdown", "text/x-markdown")
    extensions = ("md", "markdown", "rmd", "qmd")
    label = "Markdown"
    also = ("text",)
    file_type = None

    def check(self, content: bytes) -> str:
        """Return the warnings of `TextKind`, and one on an unclosed code block."""
        fences = len(_FENCE.findall(content[:_READ]))
        return joined(super().check(content), "a block of code does not end" if fences % 2 else "")


class LatexKind(TextKind):
    """LaTeX documents and formulas."""

    mimes = ("text/latex", "application/x-latex", "application/x-tex", "text/x-tex")
    extensions = ("tex", "latex", "sty")
    label = "LaTeX"
    also = ("text",)
    file_type = None

    def check(self, content: bytes) -> str:
        """Return the warnings of `TextKind`, and one on a document without an end."""
        opened = b"\\begin{document}" in content and b"\\end{document}" not in content
        cut = cut_short("the document does not end") if opened else ""
        return joined(super().check(content), cut)


class PythonKind(TextKind):
    """Python source."""

    mimes = ("text/x-python", "text/x-python3", "application/x-python-code")
    extensions = ("py", "pyi", "pyw")
    label = "Python source"
    also = ("text",)
    file_type = None


class JavaScriptKind(TextKind):
    """JavaScript source."""

    mimes = ("text/javascript", "application/javascript", "application/x-javascript")
    extensions = ("js", "mjs", "cjs")
    label = "JavaScript source"
    also = ("text",)
    file_type = None


class YamlKind(TextKind):
    """YAML text."""

    mimes = ("application/yaml", "text/yaml", "application/x-yaml")
    extensions = ("yaml", "yml")
    label = "YAML"
    also = ("text",)
    file_type = None


class TomlKind(TextKind):
    """TOML text."""

    mimes = ("application/toml",)
    extensions = ("toml",)
    label = "TOML"
    also = ("text",)
    file_type = None


def encoding_note(content: bytes) -> str:
    """Return a warning with the offset of the first bytes that are not text; empty for none.

    Args:
        content: A file, possibly hostile; its first 64 MiB are read.
    """
    if not content:
        return ""
    if not is_text(content[:LOOK]):
        return "it is not text"
    if decoded(content[:LOOK]) is None:
        return "its encoding is unknown"
    if content.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)):
        return ""
    decoder = codecs.getincrementaldecoder("utf-8")()
    end = min(len(content), _READ)
    # trust: bytes from inside, decoded block by block: all of it at once may take four times more.
    for start in range(0, end, _BLOCK):
        try:
            decoder.decode(content[start : start + _BLOCK])
        except UnicodeDecodeError:
            return f"it stops being UTF-8 within MiB {start // _BLOCK + 1}"
        if b"\x00" in content[start : start + _BLOCK]:
            return f"it holds zero bytes within MiB {start // _BLOCK + 1}"
    if end == len(content) and decoder.getstate()[0]:
        return cut_short("it ends within a character")
    return ""


_SNIFFED = 64 * 1024
"""Number of leading bytes that identify a text format."""

_FIRST_TAG = 4096
"""Number of leading characters among which text claimed to be HTML must have a tag."""
_PRINTABLE = bytes((*range(0x20, 0x7F), *range(0x80, 0x100), 8, 9, 10, 12, 13, 0x1B))
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_BY_EXTENSION = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "md": "markdown",
    "markdown": "markdown",
    "rmd": "markdown",
    "qmd": "markdown",
    "tex": "latex",
    "latex": "latex",
    "sty": "latex",
    "py": "python",
    "pyi": "python",
    "pyw": "python",
    "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "yaml": "yaml",
    "yml": "yaml",
    "toml": "toml",
    "htm": "html",
    "html": "html",
    "xml": "xml",
    "json": "json",
    "jsonl": "ndjson",
    "ndjson": "ndjson",
}
_BY_MIME = {
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/markdown": "markdown",
    "text/latex": "latex",
    "application/x-latex": "latex",
    "text/x-python": "python",
    "text/javascript": "javascript",
    "application/javascript": "javascript",
    "application/yaml": "yaml",
    "application/toml": "toml",
    "text/html": "html",
    "application/json": "json",
}
_UNTELLING = frozenset({"", "txt", "text", "log", "out", "dat", "bin"})
"""Extensions that say only that a file is text, or not even that."""
_CONTENT_DECIDES = frozenset({"html", "xml", "json", "ndjson"})
_WIDER_THAN_JSON = frozenset({"javascript", "markdown", "python", "toml", "yaml"})
"""Formats that may begin like JSON."""

_PAGE = re.compile(
    r"<(?:!doctype\s+html|(?:html|head|body|title|meta|link|script|style|div|span|p|a|b|i|em|ul|ol"
    r"|li|h[1-6]|table|thead|tbody|tr|td|th|img|iframe|canvas|video|audio|form|input|button|br|hr"
    r"|pre|code|section|article|center|small|strong|details|summary|nav|main|header|footer|math"
    r")(?=[\s/>]))",
    re.IGNORECASE,
)
_XML = re.compile(r"<(?:\?xml|!DOCTYPE)\s")
_ELEMENT = re.compile(r"<([A-Za-z_][\w.:-]{0,127})(?=[\s/>])")
_PREAMBLE = re.compile(r"\s++|<\?.*?\?>|<!--.*?-->", re.DOTALL)
_NUMBER = r"-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?"
_OBJECT = re.compile(r"\{\s*+(?:\"|\}\s*+\Z)")
_ARRAY = re.compile(
    rf"\[\s*+(?:[{{\[\"]|\]\s*+\Z|(?:{_NUMBER}|true|false|null|NaN|-?Infinity)\s*+(?:,|\]\s*+\Z))"
)
_SCALAR = re.compile(rf"(?:{_NUMBER}|true|false|null|\"(?:[^\"\\\n]|\\.)*+\")\s*+")
# A string that does not end takes the rest: to look again within it would take its square.
_STRING_OR_SIGN = re.compile(r'"((?:[^"\\]|\\.)*+)(?:"|\\?\Z)|([{}\[\]:,])', re.DOTALL)
_TOKENS = 2048
_GEOMETRY = frozenset(
    {
        "Feature",
        "FeatureCollection",
        "GeometryCollection",
        "LineString",
        "MultiLineString",
        "MultiPoint",
        "MultiPolygon",
        "Point",
        "Polygon",
    }
)


def is_text(head: bytes) -> bool:
    """Return whether bytes are text: in UTF-8, with a byte order mark, or in an 8-bit encoding.

    Args:
        head: A file or its beginning, which may end within a character.
    """
    # trust: bytes from inside; both looks are one fast pass.
    if head.startswith(tuple(mark for mark, _ in _MARKS)):
        return decoded(head) is not None
    if head.translate(None, _PRINTABLE):
        return False
    if decoded(head) is not None:
        return True
    # Without control characters, and mostly ASCII: text of an 8-bit encoding.
    return sum(map(head.count, (b" ", b"\n", b"e"))) * 20 > len(head) and (
        len(head.translate(None, bytes(range(0x80)))) * 10 < len(head) * 3
    )


def decoded(head: bytes) -> str | None:
    """Return text decoded by its byte order mark or as UTF-8; None when neither applies.

    Args:
        head: A file or its beginning, which may end within a character.
    """
    encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return None


def classify(head: bytes, extension: str = "", claimed: str = "") -> str | None:
    """Return the name of the kind of a text; None if it is not text.

    Args:
        head: A file or its beginning, possibly hostile.
        extension: Extension of the file name, in lower case; empty for none.
        claimed: Claimed MIME type, in lower case; empty for none.
    """
    if not is_text(head):
        return None
    window = decoded(head[:_SNIFFED])
    text = (head[:_SNIFFED].decode("latin-1") if window is None else window).lstrip(" \t\r\n\f")
    if text.startswith("<"):
        found = _markup(head, text, extension)
    elif text[:1] in "{[" and text:
        found = _json(text, extension)
    else:
        found = None
    named = _BY_EXTENSION.get(extension) or _BY_MIME.get(claimed)
    if found is not None and not (found == "json" and named in _WIDER_THAN_JSON):
        return found
    if named is None or named in _CONTENT_DECIDES:
        # What the name says and the content is not, is plain text, and so says the note.
        if named == "json" and _SCALAR.fullmatch(text):
            return "json"
        if named == "html" and _PAGE.search(text, 0, _FIRST_TAG):
            return "html"
        open_question = extension in _UNTELLING and named is None
        return _guess(text, extension) if open_question else "text"
    return named


def _markup(head: bytes, text: str, extension: str) -> str | None:
    from llm_sandbox.artifacts.formats.markup import SvgKind

    if SvgKind().matches(head):
        return "svg"
    start = 0
    while (match := _PREAMBLE.match(text, start)) is not None and match.end() > start:
        start = match.end()
    if _BY_EXTENSION.get(extension) in ("markdown", "javascript", "python", "latex"):
        return None
    if _PAGE.match(text, start):
        # XHTML says that it is XML, and is shown as HTML.
        return "html" if extension != "xml" else "xml"
    if _XML.match(text) or _XML.match(text, start):
        return "xml"
    # Without a declaration, it takes more than `<name>`: people are written like that in chats.
    root = _ELEMENT.match(text, start)
    closed = root is not None and (f"</{root[1]}" in text or "/>" in text)
    return "xml" if closed or (root and extension == "xml") else None


def _json(text: str, extension: str) -> str | None:
    if text.startswith("["):
        return "json" if _ARRAY.match(text) else None
    if not _OBJECT.match(text):
        return None
    keys, values, closed = _members(text)
    if values.get("type") in _GEOMETRY and keys & {
        "features",
        "geometry",
        "geometries",
        "coordinates",
    }:
        return "geojson"
    if "features" in keys and '"geometry"' in text:
        return "geojson"
    if "cells" in keys and ("nbformat" in keys or '"cell_type"' in text or extension == "ipynb"):
        return "ipynb"
    if "nbformat" in keys and "metadata" in keys:
        return "ipynb"
    rest = text[closed:].lstrip(" \t\r") if closed else ""
    if rest.startswith("\n") and rest.lstrip().startswith("{") and "\n" not in text[:closed]:
        return "ndjson"
    return "ndjson" if extension in ("jsonl", "ndjson") and closed and not rest.strip() else "json"


def _members(text: str) -> tuple[frozenset[str], dict[str, str], int]:
    """Return the keys of the first object, its short text values, and its end (0 if not found)."""
    keys: set[str] = set()
    values: dict[str, str] = {}
    depth = 0
    last = key = ""
    is_value = False
    # trust: text from inside; tokens are counted, and none is longer than the window.
    for _, match in zip(range(_TOKENS), _STRING_OR_SIGN.finditer(text), strict=False):
        word, sign = match.groups()
        if word is not None:
            last = word
            if depth == 1 and is_value and len(word) <= 64:
                values.setdefault(key, word)
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
            if depth == 0:
                return frozenset(keys), values, match.end()
        elif sign == ":" and depth == 1 and not is_value:
            key = last
            keys.add(key)
        if sign and depth == 1:
            is_value = sign == ":"
    return frozenset(keys), values, 0


def _guess(text: str, extension: str) -> str:
    first = text.partition("\n")[0]
    if first.startswith("#!"):
        return "python" if "python" in first else "text"
    if text.startswith(("\\documentclass", "\\begin{", "\\usepackage")):
        return "latex"
    if extension in ("txt", "text", "log", "out"):
        return "text"
    from llm_sandbox.artifacts.formats.tables import sniff

    found = sniff(text)
    if found is None:
        return "text"
    return "tsv" if found == "\t" else "csv"
