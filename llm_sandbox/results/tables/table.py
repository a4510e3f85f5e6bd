"""Table: the data of a displayed data frame."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeAlias

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.host.terminal import strip_controls

__all__ = ["Cell", "Column", "ColumnRole", "ColumnType", "Row", "Table"]

Cell: TypeAlias = str | int | float | bool | None
"""Value in a table: dates, decimals, lists and other objects are texts, missing values None."""


class ColumnType(StrEnum):
    """Type of a column, whichever library it is of."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    STRING = "string"
    DATETIME = "datetime"
    DATE = "date"
    TIME = "time"
    DURATION = "duration"
    CATEGORY = "category"
    LIST = "list"
    STRUCT = "struct"
    BINARY = "binary"
    OTHER = "other"

    @property
    def is_number(self) -> bool:
        """True if the values are numbers."""
        return self in (ColumnType.INTEGER, ColumnType.NUMBER)


class ColumnRole(StrEnum):
    """Role of a column in its table."""

    INDEX = "index"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table."""

    name: str
    """Name; the parts of a composed one are joined by slashes."""
    type: ColumnType = ColumnType.OTHER
    """Type of the values."""
    dtype: str = ""
    """Type of the values as the library names it; empty when unknown."""
    role: ColumnRole = ColumnRole.VALUE
    """Whether the column is data or labels the rows."""


Row = tuple[Cell, ...]

_DESCRIBED = 8


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Data of a displayed table: all of a small one, both ends of a large one.

    All of it was read inside the sandbox, beside the program, and is a claim. `Session.fetch_table`
    returns the whole table.
    """

    columns: tuple[Column, ...] = ()
    """Columns, those that label the rows first; at most 50."""
    shape: tuple[int, int] = (0, 0)
    """Rows and columns of the whole table, without columns that label the rows."""
    head: tuple[Row, ...] = ()
    """First rows: all of them up to 100, else 50."""
    tail: tuple[Row, ...] = ()
    """Last rows when `head` is not all; else empty."""
    library: str = ""
    """Library of the table; empty when unknown."""
    name: str | None = None
    """Name of the table; None when it has none."""
    handle: str = ""
    """Handle for `Session.fetch_table`; empty when the table cannot be fetched."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Rows in this record, first and last ones together."""
        return (*self.head, *self.tail)

    @property
    def omitted_rows(self) -> int:
        """Number of omitted rows, between `head` and `tail`."""
        return max(0, self.shape[0] - len(self.head) - len(self.tail))

    @property
    def omitted_columns(self) -> int:
        """Number of omitted columns, which are the last."""
        present = sum(column.role is ColumnRole.VALUE for column in self.columns)
        return max(0, self.shape[1] - present)

    @property
    def is_truncated(self) -> bool:
        """True if rows or columns are omitted."""
        return self.omitted_rows > 0 or self.omitted_columns > 0

    def describe(self) -> str:
        """Return one line about the table, without control characters."""
        rows, columns = self.shape
        facts = [f"{rows:,} row{'s' * (rows != 1)} x {columns:,} column{'s' * (columns != 1)}"]
        names = [f"{column.name[:40]} ({column.type})" for column in self.columns[:_DESCRIBED]]
        if names:
            more = len(self.columns) + self.omitted_columns - len(names)
            facts.append(", ".join(names) + (f", {more:,} more" if more else ""))
        text = f"{self.library or 'unknown'} table, {': '.join(facts)}"
        return " ".join(strip_controls(text).split())

    def to_markdown(self, max_rows: int = 10, max_columns: int = 12) -> str:
        """Return the table as Markdown, with exact counts of the omitted rows and columns.

        Args:
            max_rows: Most rows, half of them from either end.
            max_columns: Most columns.

        Raises:
            ValidationError: `max_rows` is less than 2, or `max_columns` less than 1.
        """
        from llm_sandbox.results.tables.rendering import to_markdown

        return to_markdown(self, max_rows, max_columns)

    def to_csv(self, *, safe: bool = True) -> str:
        """Return the rows and columns of this record as CSV.

        Args:
            safe: Put an apostrophe before texts that a spreadsheet would evaluate as a formula.
        """
        from llm_sandbox.results.tables.rendering import to_csv

        return to_csv(self, safe=safe)

    def to_dict(self) -> dict[str, object]:
        """Return the table as JSON-able data; `from_dict` restores it."""
        from llm_sandbox.results.tables.record import to_record

        return to_record(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> "Table":
        """Return the table that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: The data does not describe a table.
        """
        table = cls.from_record(data)
        if table is None:
            raise ValidationError("the data does not describe a table")
        return table

    @classmethod
    def from_record(cls, record: object) -> "Self | None":
        """Return the table of a record from inside; None if the record does not describe one.

        Never raises: malformed parts are omitted, and excess is cut.

        Args:
            record: Anything that JSON can hold.
        """
        from llm_sandbox.results.tables.record import read_record

        found = read_record(record)
        return None if found is None else cls(**found)

    def __repr__(self) -> str:
        return f"<Table {self.describe()}>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        from llm_sandbox.results.tables.rendering import to_html

        return {
            "text/plain": f"{self.describe()}\n\n{self.to_markdown()}",
            "text/html": to_html(self),
        }
