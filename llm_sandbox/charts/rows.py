"""The values of a series as rows."""

from collections.abc import Iterator, Sequence

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
        for place, value in enumerate(row if isinstance(row, tuple) else ()):
            x = _side(across, place, line, place)
            yield {"x": x, "y": _side(down, line, line, place), "z": value}


def _side(values: Sequence[Value] | None, index: int, line: int, place: int) -> Value:
    """Return what a side says of a cell; of a surface, sides may be grids themselves."""
    if values is None:
        return index
    inner = values[line] if line < len(values) else None
    if isinstance(inner, tuple):
        return inner[place] if place < len(inner) else None
    return values[index] if index < len(values) else None
