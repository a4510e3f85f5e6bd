"""Export of displayed tables as files, in pieces."""

from __future__ import annotations

import importlib
import itertools
import sys
import tempfile
from typing import IO, TYPE_CHECKING, Any, cast

from .tables.columns import label
from .tables.pandas_columns import index_names, is_trivial
from .tables.sources import recognise

if TYPE_CHECKING:
    from .handles import Handles

PIECE = 32 * 1024 * 1024

_numbers = itertools.count(1)
_open: dict[int, IO[bytes]] = {}


class _TooLargeError(Exception):
    """Error of a file that exceeds its limit."""


class _Bounded:
    """File object that refuses to grow over a limit."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file = file
        self._limit = limit

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if self._file.tell() + size > self._limit:
            raise _TooLargeError
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Any:
        return iter(self._file)


def export(handles: Handles, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Write a displayed table to a file, or read the next piece of that file.

    Args:
        handles: The displayed tables.
        arguments: ``handle``, ``format`` and ``limit`` to begin; ``export`` and ``offset`` to
            continue.

    Returns:
        The number of the export and the size of the file, with one piece; or the failure.
    """
    if "export" in arguments:
        return _piece(int(arguments["export"]), int(arguments["offset"]))
    found = recognise(handles.find(arguments["handle"]))
    if found is None:
        return _failure("gone", "")
    _close_all()
    file = cast("IO[bytes]", tempfile.TemporaryFile())  # noqa: SIM115 - read piece by piece
    number = next(_numbers)
    _open[number] = file
    try:
        _write(*found, arguments["format"], _Bounded(file, int(arguments["limit"])))
    except _TooLargeError:
        _close_all()
        return _failure("too_large", "")
    except ImportError as error:
        _close_all()
        return _failure("missing", str(error.name or error))
    except Exception as error:  # noqa: BLE001 - whatever the library cannot write
        _close_all()
        return _failure("unwritable", f"{type(error).__name__}: {error}")
    # polars writes to the descriptor itself.
    if file.seek(0, 2) > int(arguments["limit"]):
        _close_all()
        return _failure("too_large", "")
    return _piece(number, 0)


def _failure(kind: str, words: str) -> tuple[dict[str, Any], list[bytes]]:
    return {"failure": {"kind": kind, "message": words[:1000]}}, []


def _close_all() -> None:
    # A host that lost interest in an export never says so.
    for file in _open.values():
        file.close()
    _open.clear()


def _piece(number: int, offset: int) -> tuple[dict[str, Any], list[bytes]]:
    file = _open.get(number)
    if file is None:
        return _failure("gone", "")
    size = file.seek(0, 2)
    file.seek(offset)
    piece = file.read(PIECE)
    if offset + len(piece) >= size:
        _close_all()
    return {"export": number, "size": size}, [piece]


def _write(library: str, table: Any, form: str, file: Any) -> None:
    writers = {"pandas": _write_pandas, "polars": _write_polars, "pyarrow": _write_arrow}
    writers[library](table, form, file)


def _write_pandas(table: Any, form: str, file: Any) -> None:
    pandas = sys.modules["pandas"]
    if isinstance(table, pandas.Series):
        table = table.to_frame("value" if table.name is None else table.name)
    # The names of the record: also where columns or the index have several levels.
    frame = table.set_axis([label(name) for name in table.columns], axis=1)
    indexed = not is_trivial(frame.index)
    if indexed:
        frame = frame.set_axis(frame.index.set_names(index_names(frame.index)))
    if form == "csv":
        frame.to_csv(file, index=indexed)
    else:
        frame.to_parquet(file, index=indexed)


def _write_polars(table: Any, form: str, file: Any) -> None:
    polars = sys.modules["polars"]
    if isinstance(table, polars.Series):
        table = table.to_frame(table.name or "value")
    if form == "csv":
        table.write_csv(file)
    else:
        table.write_parquet(file)


def _write_arrow(table: Any, form: str, file: Any) -> None:
    arrow = sys.modules["pyarrow"]
    if isinstance(table, arrow.ChunkedArray):
        table = arrow.table({"value": table})
    elif isinstance(table, arrow.RecordBatch):
        table = arrow.Table.from_batches([table])
    if form == "csv":
        importlib.import_module("pyarrow.csv").write_csv(table, file)
    else:
        importlib.import_module("pyarrow.parquet").write_table(table, file)
