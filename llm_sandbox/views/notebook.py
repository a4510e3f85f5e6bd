"""Sessions as Jupyter notebooks of format 4.5, and source cells of notebook files."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.exceptions.plain import to_plain
from llm_sandbox.results.outputs import (
    DisplayOutput,
    ErrorOutput,
    ExecutionError,
    Output,
    ResultOutput,
    StreamOutput,
    UpdateOutput,
)
from llm_sandbox.views.visible import VisibleOutput, visible_outputs

__all__ = ["Entry", "read_notebook", "to_notebook", "write_notebook"]

Entry: TypeAlias = tuple[str, ExecutionResult]
"""Code, and its result."""

_OURS = "application/vnd.llm-sandbox."
_PYTHON: Mapping[str, object] = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"},
}
_MULTILINE = ("text/", "image/svg+xml", "application/javascript")


def to_notebook(
    entries: Iterable[Entry], metadata: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Return a notebook as JSON-able data; the same entries give the same notebook.

    Updates of displays are applied, also to those of earlier cells, and so are clear requests;
    consecutive text of one stream is one output.

    Args:
        entries: Code and result of each run, in order.
        metadata: Additional metadata of the notebook; `language` is the language of the code, by
            default Python.
    """
    cells = [_Cell(place, *entry) for place, entry in enumerate(entries)]
    _update_across(cells)
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": _notebook_metadata(dict(metadata or {})),
        "cells": [cell.to_dict() for cell in cells],
    }


def write_notebook(
    path: str | Path, entries: Iterable[Entry], metadata: Mapping[str, object] | None = None
) -> Path:
    """Write a notebook, and return its path; see `to_notebook`."""
    text = json.dumps(to_notebook(entries, metadata), indent=1, ensure_ascii=False)
    Path(path).write_text(f"{text}\n", "utf-8")
    return Path(path)


def _notebook_metadata(given: dict[str, object]) -> object:
    language = str(given.pop("language", "python"))
    known = _PYTHON if language == "python" else {"language_info": {"name": language}}
    return to_plain({**known, **given})


class _Cell:
    """Code cell under construction from a run."""

    def __init__(self, place: int, code: str, result: ExecutionResult) -> None:
        self._place = place
        self._code = code
        self._result = result
        self.shown: list[VisibleOutput] = list(visible_outputs(result.outputs))
        self.updates = [item for item in result.outputs if isinstance(item, UpdateOutput)]

    def to_dict(self) -> dict[str, object]:
        # The place is part of it: two cells may hold the same code.
        digest = hashlib.sha256(f"{self._place}\0{self._code}".encode("utf-8", "surrogatepass"))
        return {
            "cell_type": "code",
            "execution_count": self._result.execution_count,
            "id": digest.hexdigest()[:12],
            "metadata": {},
            "source": _lines(self._code),
            "outputs": self._outputs(),
        }

    def _outputs(self) -> list[dict[str, object]]:
        if not self._result.outputs:
            streams = (("stdout", self._result.stdout), ("stderr", self._result.stderr))
            outputs = [_stream(name, text) for name, text in streams if text]
        else:
            merged = _merged([item.output for item in self.shown])
            outputs = [self._output(item) for item in merged]
        if self._result.error is not None and not any(
            isinstance(item, ErrorOutput) for item in self._result.outputs
        ):
            outputs.append(_error(self._result.error))
        return outputs

    def _output(self, output: Output) -> dict[str, object]:
        if isinstance(output, StreamOutput):
            return _stream(output.name, output.text)
        if isinstance(output, ErrorOutput):
            return {
                "output_type": "error",
                "ename": _text(output.name),
                "evalue": _text(output.value),
                "traceback": [_text(line) for line in output.traceback],
            }
        assert isinstance(output, DisplayOutput | ResultOutput | UpdateOutput)  # noqa: S101
        bundle: dict[str, object] = {
            "data": _data(output.data),
            "metadata": _metadata(output.metadata),
        }
        if isinstance(output, ResultOutput):
            count = output.execution_count
            known = self._result.execution_count if count is None else count
            return {"output_type": "execute_result", "execution_count": known, **bundle}
        return {"output_type": "display_data", **bundle}


def _update_across(cells: Sequence[_Cell]) -> None:
    """Apply updates to displays of earlier cells."""
    places: dict[str, list[tuple[_Cell, int]]] = {}
    for cell in cells:
        for update in cell.updates:
            for earlier, place in places.get(update.display_id, ()):
                item = earlier.shown[place]
                old = item.output
                if isinstance(old, DisplayOutput):
                    new = DisplayOutput(update.data, update.metadata, old.display_id)
                    earlier.shown[place] = VisibleOutput(item.index, new)
        # What updated an earlier cell's display is seen there, and not once more.
        cell.shown = [
            item
            for item in cell.shown
            if not (isinstance(item.output, UpdateOutput) and item.output.display_id in places)
        ]
        for place, item in enumerate(cell.shown):
            if isinstance(item.output, DisplayOutput) and item.output.display_id is not None:
                places.setdefault(item.output.display_id, []).append((cell, place))


def _merged(outputs: Sequence[Output]) -> list[Output]:
    merged: list[Output] = []
    pieces: list[str] = []
    for place, output in enumerate(outputs):
        if not isinstance(output, StreamOutput):
            merged.append(output)
            continue
        pieces.append(output.text)
        following = outputs[place + 1] if place + 1 < len(outputs) else None
        if not (isinstance(following, StreamOutput) and following.name == output.name):
            merged.append(StreamOutput(output.name, "".join(pieces)))
            pieces = []
    return merged


def _stream(name: str, text: str) -> dict[str, object]:
    return {"output_type": "stream", "name": name, "text": _lines(text)}


def _error(error: ExecutionError) -> dict[str, object]:
    """Return the output of an error that only the host reports, such as a refusal by the policy."""
    message = f"{error.name}: {error.value}"
    return {
        "output_type": "error",
        "ename": _text(error.name),
        "evalue": _text(error.value),
        "traceback": [_text(line) for line in message.split("\n")],
    }


def _data(data: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    # trust: a bundle from inside; a notebook's reader decides what it shows of it.
    for mime in data:
        if mime.startswith(_OURS) or "/" not in mime:
            continue
        value = to_plain(data[mime])
        if mime == "application/json" or mime.endswith("+json"):
            found[mime] = _encodable(value)
        elif isinstance(value, str):
            found[mime] = _lines(value) if mime.startswith(_MULTILINE) else _text(value)
        elif isinstance(value, list) and all(isinstance(line, str) for line in value):
            found[mime] = [_text(line) for line in value]
    return found


def _metadata(metadata: Mapping[str, object]) -> dict[str, object]:
    kept = {name: value for name, value in metadata.items() if name != "llm_sandbox"}
    plain: Any = _encodable(to_plain(kept))
    return dict(plain)


def _encodable(value: object) -> object:
    """Return a JSON value whose texts can all be encoded in UTF-8."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_text(str(name)): _encodable(item) for name, item in value.items()}
    return value


def _lines(text: str) -> list[str]:
    r"""Return text as notebooks store it, in lines that end in ``\n``."""
    lines = _text(text).split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _text(text: str) -> str:
    # A lone surrogate cannot be written in UTF-8, which a notebook is.
    return text.encode("utf-8", "replace").decode("utf-8")


_LARGEST_FILE = 256 << 20
_MOST_CELLS = 10_000
_LONGEST_CODE = 16 << 20


def read_notebook(path: str | Path) -> list[str]:
    """Return the source of each code cell, in order and with magics kept; empty cells are omitted.

    Outputs are ignored, and nothing is run.

    Args:
        path: A notebook file of format 4.

    Raises:
        ValidationError: The file is not a notebook of format 4, or exceeds the limits: 256 MiB,
            10,000 cells, 16 MiB of code.
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
        data = file.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
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
