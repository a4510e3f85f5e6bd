"""The values of a series as rows."""

from collections.abc import Iterator

from llm_sandbox.charts.series import Series, Value

__all__ = ["Row", "flatten_grid", "list_rows"]

Row = dict[str, Value]


def list_rows(series: Series) -> Iterator[Row]:
    """Yield a row for each point; for each cell of a grid.

    Columns of different lengths, as the kind `other` may have them, leave cells out at the end.
    """
    columns = series.columns
    if series.kind.is_grid and "z" in columns:
        yield from flatten_grid(series)
        return
    length = max(map(len, columns.values()), default=0)
    for index in range(length):
        yield {name: values[index] for name, values in columns.items() if index < len(values)}


def flatten_grid(series: Series) -> Iterator[Row]:
    """Yield `x`, `y` and `z` of each cell; positions from 0 where a side has no values."""
    across, down = series.columns.get("x"), series.columns.get("y")
    for line, row in enumerate(series.columns["z"]):
        left = down[line] if down is not None and line < len(down) else line
        for place, value in enumerate(row if isinstance(row, tuple) else ()):
            # A surface may have sides that are grids themselves.
            column = across[line] if across and _nested(across, line) else across
            x = column[place] if isinstance(column, (tuple, list)) else place
            y = left[place] if isinstance(left, tuple) and place < len(left) else left
            yield {"x": x, "y": y, "z": value}


def _nested(values: object, index: int) -> bool:
    return isinstance(values, (tuple, list)) and isinstance(values[index], tuple)
