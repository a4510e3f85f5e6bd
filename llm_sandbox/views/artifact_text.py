"""Text of an artifact: its chart, its table, or its text content."""

import html
import re

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.results.contents import Content

__all__ = ["artifact_text", "artifact_texts", "html_text", "is_text"]

_MOST = 400_000
"""Most bytes of a text that are read for a view."""
_MOST_ROWS, _MOST_COLUMNS = 20, 20
_SIZES = ((20, 20), (20, 12), (12, 12), (10, 8), (6, 8), (6, 5), (4, 4), (2, 3))
"""Rows and columns of a table, or rows of a chart, from the largest view."""
_TEXTUAL = ("text/", "application/json", "application/xml", "application/javascript")


def is_text(mime: str) -> bool:
    """Return whether a MIME type is displayed as text."""
    return mime.startswith(_TEXTUAL) or mime.endswith(("+json", "+xml"))


def artifact_text(artifact: Artifact, most: int = _MOST) -> str:
    """Return a short text of an artifact: chart or table as Markdown, or its text.

    Args:
        artifact: The artifact.
        most: Most bytes of the content to read.

    Returns:
        Text from inside, not cleaned; empty if the artifact has none.
    """
    if artifact.chart is not None:
        return artifact.chart.to_markdown()
    if artifact.table is not None:
        return artifact.table.to_markdown(_MOST_ROWS, _MOST_COLUMNS)
    # A page's own text is markup; what the inside calls it in short says more.
    if artifact.mime in ("text/html", "image/svg+xml"):
        plain = artifact.alternatives.get("text/plain")
        said = _head(plain, most) if plain is not None else artifact.summary
        if artifact.mime == "text/html" and artifact.content is not None and _is_repr(said):
            return html_text(_head(artifact.content, most)) or said
        return said
    if artifact.content is not None and is_text(artifact.mime):
        return _head(artifact.content, most)
    return artifact.summary


def artifact_texts(artifact: Artifact) -> list[str]:
    """Return texts of an artifact from long to short: columns are omitted before rows.

    Args:
        artifact: The artifact.

    Returns:
        Texts from inside, not cleaned; one if the artifact is neither a chart nor a table.
    """
    chart, table = artifact.chart, artifact.table
    if chart is not None:
        texts = [chart.to_markdown(rows) for rows in dict(_SIZES)]
    elif table is not None:
        texts = [table.to_markdown(*size) for size in _SIZES]
    else:
        texts = [artifact_text(artifact)]
    return sorted(dict.fromkeys(texts), key=len, reverse=True)


def _is_repr(text: str) -> bool:
    """Return whether a text is an uninformative `repr` of an object."""
    return not text or (text.startswith("<") and text.endswith(">"))


def _head(content: Content, most: int) -> str:
    return content.head(most).decode("utf-8", "replace")


_LONGEST_PAGE = 200_000
"""Most characters of a page that are read."""
_HIDDEN = ("script", "style", "template", "head")
_NAME = re.compile(r"/?[A-Za-z][A-Za-z0-9]{0,31}")
_LINES = re.compile(
    "address|article|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol"
    "|p|pre|section|table|tr|ul"
)
_CELLS = frozenset({"td", "th"})


def html_text(page: str) -> str:
    """Return the text of a page, a line per block; linear in time.

    Args:
        page: HTML from inside, of which the first 200,000 characters are read.
    """
    # trust: nothing is parsed into a tree, and what does not end goes to the end.
    page = page[:_LONGEST_PAGE]
    lowered = page.lower()
    if len(lowered) != len(page):
        lowered = page
    pieces: list[str] = []
    place = 0
    while place < len(page):
        start = page.find("<", place)
        if start < 0:
            pieces.append(page[place:])
            break
        pieces.append(page[place:start])
        place = _after(page, lowered, start, pieces)
    text = html.unescape("".join(pieces))
    lines = (" ".join(line.split()).strip("| ") for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _after(page: str, lowered: str, start: int, pieces: list[str]) -> int:
    """Return the end of a tag, comment or hidden element, and append its separator."""
    if page.startswith("<!--", start):
        return _end(page, "-->", start)
    found = _NAME.match(page, start + 1)
    if found is None:
        if page.startswith(("<!", "<?"), start):
            return _end(page, ">", start)
        pieces.append("<")
        return start + 1
    name = found[0].lower().lstrip("/")
    if name in _HIDDEN and not found[0].startswith("/"):
        return _end(page, ">", _end(lowered, f"</{name}", start) - 1)
    if _LINES.fullmatch(name):
        pieces.append("\n")
    elif name in _CELLS:
        pieces.append(" | ")
    return _end(page, ">", start)


def _end(page: str, mark: str, start: int) -> int:
    end = page.find(mark, max(0, start))
    return len(page) if end < 0 else end + len(mark)
