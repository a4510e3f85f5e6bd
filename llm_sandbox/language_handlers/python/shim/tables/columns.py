"""Column and row window of a table record, for every library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cells import Cell

MOST_COLUMNS = 50
MOST_ROWS = 100
"""Most rows that are shown of a table; of a longer one half of them from either end."""

_MIDNIGHT = "T00:00:00"


@dataclass(slots=True)
class Window:
    """Rows that are shown.

    Attributes:
        rows: Number of rows of the table.
        head: Number of first rows that are shown.
        tail: Number of last rows that are shown.
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
            rows: Number of rows.
            columns: Number of columns.

        Returns:
            The window; wide tables get shorter texts.
        """
        head, tail = (rows, 0) if rows <= MOST_ROWS else (MOST_ROWS // 2, MOST_ROWS // 2)
        shown = (head + tail) * min(max(columns, 1), MOST_COLUMNS)
        return cls(rows, head, tail, min(500, max(100, 500_000 // max(shown, 1))))


@dataclass(slots=True)
class Column:
    """Shown column of a table.

    Attributes:
        name: Name of the column; the levels of a composed name are joined.
        type: Type of the values, as the record names it.
        dtype: Type of the values, as the library names it.
        role: ``index`` or ``value``.
        cells: Shown cells, those of the head first.
    """

    name: str
    type: str
    dtype: str
    role: str
    cells: list[Cell]

    def shorten_dates(self) -> None:
        """Omit the time of day if it is midnight throughout."""
        texts = [cell for cell in self.cells if cell is not None]
        if self.type == "datetime" and all(str(text).endswith(_MIDNIGHT) for text in texts):
            shorter = len(_MIDNIGHT)
            self.cells = [None if cell is None else str(cell)[:-shorter] for cell in self.cells]


def label(name: Any) -> str:
    """Return a column's name as one text.

    Args:
        name: A name; that of a column with several levels is a tuple.

    Returns:
        Text of at most 500 characters.
    """
    if isinstance(name, tuple):
        return " / ".join(label(part) for part in name[:10])[:500]
    return str(name)[:500]
