"""What a page says, without its markup."""

import html
import re

__all__ = ["html_text"]

_MOST = 200_000
"""Characters of a page that are looked at."""
_HIDDEN = ("script", "style", "template", "head")
_NAME = re.compile(r"/?[A-Za-z][A-Za-z0-9]{0,31}")
_LINES = re.compile(
    "address|article|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol"
    "|p|pre|section|table|tr|ul"
)
_CELLS = frozenset({"td", "th"})


def html_text(page: str) -> str:
    """Return the text of a page, a line a block; linear in time.

    Args:
        page: HTML from inside, of which the first 200,000 characters are looked at.
    """
    # trust: nothing is parsed into a tree, and what does not end goes to the end.
    page = page[:_MOST]
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
    """Where a tag, comment or hidden element ends; adds the separator that it stands for."""
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
