"""CSV and TSV: the delimiter by counting, rows and columns without a parser."""

from typing import ClassVar

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.messages import cut_short, joined
from llm_sandbox.artifacts.formats.text import encoding_note
from llm_sandbox.artifacts.formats.textual import decoded, is_text
from llm_sandbox.artifacts.identify import LOOK
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = ["CsvKind", "TsvKind", "sniff"]

_DELIMITERS = ",;\t|"
_WINDOW = 64 * 1024
_RECORDS = 50
_CHECKED = 1000
_COUNTED = 64 * 1024**2
"""Bytes whose rows are counted."""
_QUOTES = 500_000
"""Of a file with more quotes, rows are not counted."""
_LONGEST_WORD = 64


class CsvKind(ArtifactKind):
    """Tables as text, with commas, semicolons or bars between cells."""

    mimes: ClassVar[tuple[str, ...]] = ("text/csv", "application/csv", "text/x-csv")
    type = ArtifactType.TABLE
    extensions: ClassVar[tuple[str, ...]] = ("csv",)
    label = "CSV"
    also: ClassVar[tuple[str, ...]] = ("text",)
    needs = LOOK
    file_type: ClassVar[FileType | None] = FileType.CSV
    textual = True

    def matches(self, content: bytes) -> bool:
        """Whether the content is text whose lines have the same number of cells, two or more."""
        return sniff(_window(content)) not in (None, "\t")

    def describe(self, content: bytes) -> Dimensions:
        """Return the number of rows below a heading, and of the first row's cells."""
        window = _window(content)
        delimiter = _delimiter(window)
        records = _records(window, delimiter, _RECORDS)
        if not records:
            return Dimensions()
        rows = _count(content)
        if rows is not None and rows and not any(map(_is_number, records[0])):
            rows -= 1
        return Dimensions.of(rows=rows, columns=len(records[0]))

    def check(self, content: bytes) -> str:
        """Return whether a quoted cell is left open, and rows have cells as the first one has."""
        if wrong := encoding_note(content):
            return wrong
        window = _window(content)
        records = _records(window, _delimiter(window), _CHECKED)
        return joined(
            cut_short("a quoted cell does not end")
            if len(content) <= _COUNTED and content.count(b'"') % 2
            else "",
            _uneven([len(record) for record in records]),
        )


class TsvKind(CsvKind):
    """Tables as text, with tabs between cells."""

    mimes = ("text/tab-separated-values",)
    extensions = ("tsv", "tab")
    label = "TSV"
    file_type = None

    def matches(self, content: bytes) -> bool:
        """Whether the content is text whose lines have the same number of tabs, one or more."""
        return sniff(_window(content)) == "\t"


def sniff(text: str) -> str | None:
    """Return the delimiter of a table; None when the text is none.

    Args:
        text: Its beginning, possibly hostile and possibly cut: the last line is left out.
    """
    best: tuple[int, str] | None = None
    for delimiter in _DELIMITERS:
        records = _records(text, delimiter, _RECORDS)
        widths = {len(record) for record in records}
        if len(records) < 2 or len(widths) != 1:
            continue
        width = widths.pop()
        # Prose has commas as well, and two lines of it may have as many.
        if width > 1 and _is_tabular(records, delimiter) and (best is None or width > best[0]):
            best = (width, delimiter)
    return best[1] if best else None


def _is_tabular(records: list[list[str]], delimiter: str) -> bool:
    if delimiter == "\t":
        return True
    if any(len(cell) > _LONGEST_WORD or not cell.strip() for cell in records[0]):
        return False
    spaced = sum(cell.startswith(" ") for record in records for cell in record[1:])
    cells = sum(len(record) - 1 for record in records)
    return any(_is_number(cell) for record in records[1:] for cell in record) or spaced * 2 < cells


def _window(content: bytes) -> str:
    # trust: bytes from inside; only their beginning is looked at.
    head = content[:_WINDOW]
    if not is_text(head):
        return ""
    text = decoded(head)
    return head.decode("latin-1") if text is None else text


def _delimiter(window: str) -> str:
    found = sniff(window)
    if found is not None:
        return found
    first = window.partition("\n")[0]
    return max(_DELIMITERS, key=first.count)


def _records(text: str, delimiter: str, limit: int) -> list[list[str]]:
    """The first records; a line that the window cuts is left out."""
    records: list[list[str]] = []
    open_record = ""
    lines = text.split("\n", 4 * limit)
    cut = len(text) >= _WINDOW // 4 or len(lines) > 4 * limit
    for line in lines[:-1] if cut and len(lines) > 1 else lines:
        open_record = f"{open_record}\n{line}" if open_record else line
        # A cell in quotes may hold line ends and delimiters.
        if open_record.count('"') % 2:
            if len(open_record) > _WINDOW // 4:
                break
            continue
        record = open_record.rstrip("\r")
        open_record = ""
        if record.strip():
            records.append(_cells(record, delimiter))
        if len(records) >= limit:
            break
    return records


def _cells(record: str, delimiter: str) -> list[str]:
    if '"' not in record:
        return record.split(delimiter)
    cells: list[str] = []
    open_cell: list[str] = []
    odd = False
    for piece in record.split(delimiter):
        open_cell.append(piece)
        odd ^= bool(piece.count('"') % 2)
        if not odd:
            cells.append(delimiter.join(open_cell).strip('"'))
            open_cell = []
    return [*cells, delimiter.join(open_cell)] if open_cell else cells


def _count(content: bytes) -> int | None:
    if len(content) > _COUNTED:
        return None
    quotes = content.count(b'"')
    if quotes > _QUOTES:
        return None
    outside = content if not quotes else b"".join(content.split(b'"')[::2])
    ends = outside.count(b"\n") or outside.count(b"\r")
    return ends + (not content.endswith((b"\n", b"\r")))


def _uneven(widths: list[int]) -> str:
    if len(set(widths)) < 2:
        return ""
    if len(set(widths[:-1])) == 1 and widths[-1] < widths[0]:
        return cut_short("the last row is shorter than the others")
    return f"its rows have from {min(widths)} to {max(widths)} cells"


def _is_number(cell: str) -> bool:
    text = cell.strip().strip('"')
    try:
        float(text[:_LONGEST_WORD].replace(",", "."))
    except ValueError:
        return False
    return True
