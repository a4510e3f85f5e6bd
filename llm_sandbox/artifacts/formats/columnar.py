"""Parquet and Arrow: rows and columns from the footer, read by hand and no further than needed."""

from collections.abc import Iterator
from typing import NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import little
from llm_sandbox.artifacts.formats.messages import cut_short
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["ArrowKind", "ParquetKind"]

_FOOTER = 8 * 1024**2
"""A larger footer is not looked at."""
_STEPS = 200_000
"""Values of a footer that are passed over."""
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
        """Whether the content has the signature, with a readable or an encrypted footer."""
        return content.startswith(_MAGICS)

    def describe(self, content: bytes) -> Dimensions:
        """Return rows and outermost columns, as the footer has them."""
        place = _footer(content) if self.matches(content) else None
        if place is None or not content.endswith(b"PAR1"):
            return Dimensions()
        try:
            return _Reader(content, place, len(content) - 8).dimensions()
        except _UnreadableError:
            return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether the footer is there."""
        if not self.matches(content):
            return "no Parquet table"
        if not content.endswith(_MAGICS) or len(content) < 12:
            return cut_short("there is no footer")
        return "" if _footer(content) is not None else "its footer is damaged"


class ArrowKind(ArtifactKind):
    """Arrow files, and Feather files of both versions."""

    mimes = ("application/vnd.apache.arrow.file", "application/vnd.apache.feather")
    type = ArtifactType.TABLE
    extensions = ("arrow", "feather", "ipc")
    label = "an Arrow table"

    def matches(self, content: bytes) -> bool:
        """Whether the content has one of the two signatures."""
        return content.startswith((_ARROW + b"\x00\x00", _FEATHER))

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing: rows stand in each batch, and not in the footer."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether the footer is there."""
        if not self.matches(content):
            return "no Arrow table"
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
    """A footer is not what it should be."""


class _Value(NamedTuple):
    field: int
    form: int


class _Reader:
    """Thrift's compact protocol, as far as the two facts need it."""

    def __init__(self, content: bytes, place: int, stop: int) -> None:
        self._content = content
        self._place = place
        self._stop = min(stop, place + _FOOTER)
        self._steps = _STEPS

    def dimensions(self) -> Dimensions:
        """Rows and columns of the file's description.

        Raises:
            _UnreadableError: It is none, or longer than is looked at.
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
