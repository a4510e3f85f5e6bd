"""What a record needs of one column, whichever library it is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cells import Cell

MOST_COLUMNS = 50
MOST_ROWS = 100
"""A table of so many rows is shown whole; of a longer one half of them from either end."""

_MIDNIGHT = "T00:00:00"


@dataclass(slots=True)
class Window:
    """Which rows are shown.

    Attributes:
        rows: Rows of the table.
        head: How many of the first are shown.
        tail: How many of the last are shown.
        text: Most characters of a cell.
    """

    rows: int
    head: int
    tail: int
    text: int

    @classmethod
    def over(cls, rows: int, columns: int) -> Window:
        """Choose the window for a table.

        Args:
            rows: Its rows.
            columns: Its columns.

        Returns:
            The window; wide tables get shorter texts.
        """
        head, tail = (rows, 0) if rows <= MOST_ROWS else (MOST_ROWS // 2, MOST_ROWS // 2)
        shown = (head + tail) * min(max(columns, 1), MOST_COLUMNS)
        return cls(rows, head, tail, min(500, max(100, 500_000 // max(shown, 1))))


@dataclass(slots=True)
class Column:
    """One shown column.

    Attributes:
        name: Its name; the levels of a composed name are joined.
        type: What it holds, in the words of the record.
        dtype: What its library calls that.
        role: ``index`` or ``value``.
        cells: The shown cells, those of the head first.
    """

    name: str
    type: str
    dtype: str
    role: str
    cells: list[Cell]

    def shorten_dates(self) -> None:
        """Leave the time of day out where it is midnight throughout."""
        texts = [cell for cell in self.cells if cell is not None]
        if self.type == "datetime" and all(str(text).endswith(_MIDNIGHT) for text in texts):
            shorter = len(_MIDNIGHT)
            self.cells = [None if cell is None else str(cell)[:-shorter] for cell in self.cells]


def label(name: Any) -> str:
    """Write a column's name as one text.

    Args:
        name: A name; that of a column with several levels is a tuple.

    Returns:
        Text of at most 500 characters.
    """
    if isinstance(name, tuple):
        return " / ".join(label(part) for part in name[:10])[:500]
    return str(name)[:500]
