"""CSV, TSV, Parquet and Arrow tables: row and column counts."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, DimensionlessKind, Dimensions
from llm_sandbox.artifacts.formats.fields import little
from llm_sandbox.artifacts.formats.messages import cut_short, joined
from llm_sandbox.artifacts.formats.text import decoded, encoding_note, is_text
from llm_sandbox.artifacts.identify import LOOK
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = ["ArrowKind", "CsvKind", "ParquetKind", "TsvKind", "sniff"]

_DELIMITERS = ",;\t|"
_WINDOW = 64 * 1024
_RECORDS = 50
_CHECKED = 1000
_COUNTED = 64 * 1024**2
"""Most bytes whose rows are counted."""
_QUOTES = 500_000
"""Most quotes of a file whose rows are counted."""
_LONGEST_WORD = 64


class CsvKind(ArtifactKind):
    """Tables as text, with commas, semicolons or vertical bars between cells."""

    mimes: ClassVar[tuple[str, ...]] = ("text/csv", "application/csv", "text/x-csv")
    type = ArtifactType.TABLE
    extensions: ClassVar[tuple[str, ...]] = ("csv",)
    label = "CSV"
    also: ClassVar[tuple[str, ...]] = ("text",)
    needs = LOOK
    file_type: ClassVar[FileType | None] = FileType.CSV
    textual = True

    def matches(self, content: bytes) -> bool:
        """Return whether the content is text whose lines have the same number of cells, two or
        more.
        """
        return sniff(_window(content)) not in (None, "\t")

    def describe(self, content: bytes) -> Dimensions:
        """Return the number of rows below a header, and of the cells of the first row."""
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
        """Return warnings on an unclosed quoted cell, and on rows of different lengths."""
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
        """Return whether the content is text whose lines have the same number of tabs, at least
        one.
        """
        return sniff(_window(content)) == "\t"


def sniff(text: str) -> str | None:
    """Return the delimiter of a table; None when the text is not a table.

    Args:
        text: Beginning of the text, possibly hostile and possibly truncated: the last line is
            ignored.
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
    """Return the first records; a truncated line is omitted."""
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


_FOOTER = 8 * 1024**2
"""Largest footer that is read."""
_STEPS = 200_000
"""Most values of a footer that are skipped."""
_DEPTH = 16
_MAGICS = (b"PAR1", b"PARE")
_ARROW = b"ARROW1"
_FEATHER = b"FEA1"

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_VARIABLE = frozenset({4, 5, 6})
_SCHEMA, _ROWS = 2, 3
_CHILDREN = 5


class ParquetKind(ArtifactKind):
    """Parquet tables."""

    mimes = ("application/vnd.apache.parquet", "application/x-parquet")
    type = ArtifactType.TABLE
    extensions = ("parquet", "pq")
    label = "a Parquet table"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature, with a readable or an encrypted footer."""
        return content.startswith(_MAGICS)

    def describe(self, content: bytes) -> Dimensions:
        """Return the number of rows and of outermost columns, from the footer."""
        place = _footer(content) if self.matches(content) else None
        if place is None or not content.endswith(b"PAR1"):
            return Dimensions()
        try:
            return _Reader(content, place, len(content) - 8).dimensions()
        except _UnreadableError:
            return Dimensions()

    def check(self, content: bytes) -> str:
        """Return a warning if the footer is missing."""
        if not self.matches(content):
            return "not a Parquet table"
        if not content.endswith(_MAGICS) or len(content) < 12:
            return cut_short("there is no footer")
        return "" if _footer(content) is not None else "its footer is damaged"


class ArrowKind(DimensionlessKind):
    """Arrow files, and Feather files of both versions."""

    mimes = ("application/vnd.apache.arrow.file", "application/vnd.apache.feather")
    type = ArtifactType.TABLE
    extensions = ("arrow", "feather", "ipc")
    label = "an Arrow table"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has one of the two signatures."""
        return content.startswith((_ARROW + b"\x00\x00", _FEATHER))

    def check(self, content: bytes) -> str:
        """Return a warning if the footer is missing."""
        if not self.matches(content):
            return "not an Arrow table"
        magic = _ARROW if content.startswith(_ARROW) else _FEATHER
        if not content.endswith(magic) or len(content) < 2 * len(magic) + 4:
            return cut_short("there is no footer")
        length = little(content, len(content) - len(magic) - 4, 4) or 0
        return "" if length <= len(content) - 2 * len(magic) - 4 else "its footer is damaged"


def _footer(content: bytes) -> int | None:
    length = little(content, len(content) - 8, 4)
    if length is None or not 0 < length <= len(content) - 12:
        return None
    return len(content) - 8 - length


class _UnreadableError(Exception):
    """Error of a malformed footer."""


class _Value(NamedTuple):
    field: int
    form: int


class _Reader:
    """Reader of Thrift's compact protocol, as far as needed for the two facts."""

    def __init__(self, content: bytes, place: int, stop: int) -> None:
        self._content = content
        self._place = place
        self._stop = min(stop, place + _FOOTER)
        self._steps = _STEPS

    def dimensions(self) -> Dimensions:
        """Return the number of rows and columns from the file metadata.

        Raises:
            _UnreadableError: The metadata is malformed, or too long.
        """
        rows = columns = None
        for value in self._fields():
            if value.field == _SCHEMA and value.form == _LIST:
                columns = self._columns()
            elif value.field == _ROWS and value.form in _VARIABLE:
                # The schema and the rows come first; what follows is not looked at.
                return Dimensions.of(rows=self._signed(), columns=columns)
            else:
                self._skip(value.form, 0)
        return Dimensions.of(rows=rows, columns=columns)

    def _columns(self) -> int | None:
        count, form = self._list_head()
        columns = None
        for index in range(count):
            if form != _STRUCT or index:
                self._skip(form, 1)
                continue
            # The first element is the root, and the others are all below it.
            for value in self._fields():
                if value.field == _CHILDREN and value.form in _VARIABLE:
                    columns = self._signed()
                else:
                    self._skip(value.form, 1)
        return columns

    def _fields(self) -> Iterator[_Value]:
        field = 0
        while head := self._byte():
            delta, form = head >> 4, head & 15
            field = field + delta if delta else self._signed()
            yield _Value(field, form)

    def _list_head(self) -> tuple[int, int]:
        head = self._byte()
        count = head >> 4
        return (self._unsigned() if count == 15 else count), head & 15

    def _skip(self, form: int, depth: int) -> None:
        if depth > _DEPTH:
            raise _UnreadableError
        if form in _VARIABLE:
            self._unsigned()
        elif form in (_BYTE, _DOUBLE):
            self._advance(1 if form == _BYTE else 8)
        elif form == _BINARY:
            self._advance(self._unsigned())
        elif form in (_LIST, _SET):
            count, inner = self._list_head()
            for _ in range(count):
                # A truth takes no byte as a field, and one in a list.
                self._skip(_BYTE if inner in (_TRUE, _FALSE) else inner, depth + 1)
        elif form == _STRUCT:
            for value in self._fields():
                self._skip(value.form, depth + 1)
        elif form not in (_TRUE, _FALSE):
            raise _UnreadableError

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise _UnreadableError

    def _byte(self) -> int:
        place = self._place
        self._advance(1)
        return self._content[place]

    def _advance(self, count: int) -> None:
        # trust: a footer from inside; each step counts, and none leads out of it.
        self._steps -= 1
        if self._steps < 0 or count < 0 or self._place + count > self._stop:
            raise _UnreadableError
        self._place += count
