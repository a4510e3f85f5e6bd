"""The code cells of a notebook file, which may be hostile: bounded in size, depth and number."""

import json
from pathlib import Path
from typing import Any

from llm_sandbox.exceptions import ValidationError

__all__ = ["read_notebook"]

_LARGEST = 256 << 20
_MOST_CELLS = 10_000
_LONGEST_CODE = 16 << 20


def read_notebook(path: str | Path) -> list[str]:
    """Return the source of each code cell, in order and with magics kept; empty cells are left out.

    Outputs are not looked at, and nothing is run.

    Args:
        path: A notebook file of format 4.

    Raises:
        ValidationError: The file is no notebook of format 4, or beyond the bounds: 256 MiB, 10,000
            cells, 16 MiB of code.
        OSError: The file cannot be read.
    """
    document = _document(Path(path))
    version = document.get("nbformat")
    if version in (1, 2, 3):
        raise ValidationError(
            f"the notebook has format {version}; only format 4 is read",
            parameter="path",
            hint="convert it first: jupyter nbconvert --to notebook --nbformat 4 FILE",
        )
    cells = document.get("cells")
    if version != 4 or not isinstance(cells, list):
        raise ValidationError("the file is not a notebook of format 4", parameter="path")
    if len(cells) > _MOST_CELLS:
        raise ValidationError(
            f"the notebook has {len(cells):,} cells, more than {_MOST_CELLS:,}", parameter="path"
        )
    sources = [_source(cell, number) for number, cell in enumerate(cells, start=1)]
    if sum(map(len, sources)) > _LONGEST_CODE:
        raise ValidationError("the notebook has more than 16 MiB of code", parameter="path")
    return [source for source in sources if source.strip()]


def _document(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValidationError("the file is larger than 256 MiB", parameter="path")
    try:
        # trust: a file of unknown origin; the parser refuses what is nested too deeply, and numbers
        # that are longer than Python converts.
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValidationError("the file is not a notebook: no JSON", parameter="path") from error
    if not isinstance(document, dict):
        raise ValidationError("the file is not a notebook of format 4", parameter="path")
    return document


def _source(cell: object, number: int) -> str:
    if not isinstance(cell, dict):
        raise ValidationError(f"cell {number} of the notebook is malformed", parameter="path")
    if cell.get("cell_type") != "code":
        return ""
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    if not isinstance(source, str):
        raise ValidationError(f"the code of cell {number} is not text", parameter="path")
    return source
