"""Records of local files: JSON lines, JSON lists and parquet."""

import gzip
import hashlib
import importlib
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from llm_sandbox.evaluation.datasets.json_text import parse_json, spelled
from llm_sandbox.exceptions import MissingDependencyError, ValidationError
from llm_sandbox.host.distribution import pip_install

__all__ = ["Row", "file_sha256", "find_file", "read_rows"]

_SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".parquet")
_MOST_DOCUMENT = 2 * 2**30
_BATCH_ROWS = 64
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Row:
    """One record of a file, or the reason why it cannot be read."""

    line: int
    """Number of the line, the item or the row, from 1."""
    record: dict[str, Any] | None
    """The record; None if it cannot be read."""
    error: str = ""
    """The reason."""


def find_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a local file whose name says a format that can be read.

    Raises:
        ValidationError: There is no such file, or its name ends otherwise.
    """
    found = Path(path)
    if not found.name.endswith(_SUFFIXES):
        raise ValidationError(
            f"invalid path: expected a file name that ends with {', '.join(_SUFFIXES)}, "
            f"got {found.name!r}",
            parameter="path",
        )
    if not found.is_file():
        raise ValidationError(
            f"invalid path: expected a local file, got {str(path)!r}, which does not exist",
            parameter="path",
            hint="download the file first: nothing is fetched from the network",
        )
    return found


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, compressed as they are."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_rows(path: Path, *, most_line: int = 512 * 2**20) -> Iterator[Row]:
    """Yield the records of a file, one at a time unless it is one JSON document.

    Args:
        path: The file.
        most_line: Most bytes of a line, decompressed.

    Raises:
        ValidationError: The file as a whole is damaged.
        MissingDependencyError: It is a parquet file, and pyarrow is not installed.
    """
    if path.name.endswith(".parquet"):
        yield from _parquet_rows(path)
    elif path.name.endswith(".json"):
        yield from _document_rows(path)
    else:
        yield from _line_rows(path, most_line)


def _line_rows(path: Path, most_line: int) -> Iterator[Row]:
    for number, line in enumerate(_lines(path, most_line), 1):
        text = line.removeprefix(_BOM) if number == 1 else line
        if not text.strip():
            continue
        try:
            yield _row(number, parse_json(text, "line"))
        except ValidationError as error:
            yield Row(number, None, error.message)


def _lines(path: Path, most: int) -> Iterator[bytes]:
    """Yield lines; only line feeds end them, as JSON may hold the other characters."""
    try:
        with _open(path) as file:
            while line := file.readline(most + 1):
                if len(line) > most:
                    raise ValidationError(
                        f"invalid line in {path.name}: expected at most {most} bytes, got more"
                    )
                yield line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValidationError(
            f"invalid file {path.name}: expected gzip data, got damage: {error}"
        ) from None


def _open(path: Path) -> BinaryIO:
    if path.name.endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb")


def _document_rows(path: Path) -> Iterator[Row]:
    size = path.stat().st_size
    if size > _MOST_DOCUMENT:
        raise ValidationError(
            f"invalid file {path.name}: expected at most {_MOST_DOCUMENT} bytes, got {size}",
            hint="write it as JSON lines, which are read one by one",
        )
    document = parse_json(path.read_bytes().removeprefix(_BOM), path.name)
    if not isinstance(document, list):
        raise ValidationError(
            f"invalid file {path.name}: expected a list of objects, got {spelled(document)}"
        )
    for number, value in enumerate(document, 1):
        yield _row(number, value)


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"{path.name} needs pyarrow, which is not installed", hint=pip_install("pyarrow")
        ) from error
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                for record in batch.to_pylist():
                    number += 1
                    yield Row(number, record)
    except (arrow.ArrowException, OSError) as error:
        raise ValidationError(
            f"invalid file {path.name}: expected parquet, got {type(error).__name__} "
            f"after row {number}"
        ) from error


def _row(number: int, value: object) -> Row:
    if isinstance(value, dict):
        return Row(number, value)
    return Row(number, None, f"invalid record: expected an object, got {spelled(value)}")
