"""Tracebacks for the user of a session: the user's code and line numbers, without our frames."""

import os
import sys
import traceback
from types import TracebackType
from typing import Any

NO_INPUT = "EOF when reading a line"
"""Message of `input` in a script whose standard input is at its end."""
_FIRST, _LAST = 20, 80
_CHAIN = 20
_MAX_VALUE = 20_000
_MAX_TEXT = 200_000
_MAX_LINES = 998
_MACHINERY = ("IPython", "ipykernel", "traitlets", "guest", "shim")


def machinery_folders() -> tuple[str, ...]:
    """Return the folders of the packages whose frames are left out."""
    folders = []
    for name in _MACHINERY:
        module = sys.modules.get(name)
        if module is not None and getattr(module, "__file__", None):
            folders.append(os.path.dirname(str(module.__file__)) + os.sep)
    return tuple(folders)


def is_cell(filename: str, script: str | None = None) -> bool:
    """Return whether a code object's file name is that of a cell, or of the present script."""
    return filename.startswith("<cell ") or filename == script


def cell_name(number: int) -> str:
    """Return the file name of cell `number`."""
    return f"<cell {number}>"


class Report:
    """Report of an exception.

    Args:
        value: The exception.
        trace: Its traceback.
        file: The script file of the code; None for a cell.

    Attributes:
        lines: The traceback as the interpreter would print it.
        detail: The same as data: frames, the line in the cell, and the kind of error.
    """

    def __init__(
        self, value: BaseException, trace: TracebackType | None, file: str | None = None
    ) -> None:
        hidden = machinery_folders()
        described = traceback.TracebackException(
            type(value), value, trace, limit=None if _depth(trace) < 4000 else 4000, compact=True
        )
        _clean(described, hidden)
        text = "".join(described.format(chain=True))
        if len(text) > _MAX_TEXT:
            half = _MAX_TEXT // 2
            cut = len(text) - 2 * half
            text = f"{text[:half]}\n... {cut} characters left out ...\n{text[-half:]}"
        lines = text.rstrip("\n").split("\n")
        if len(lines) > _MAX_LINES:
            half = _MAX_LINES // 2
            left_out = f"... {len(lines) - 2 * half} lines left out ..."
            lines = [*lines[:half], left_out, *lines[-half:]]
        self.lines = lines
        self.value = safe_text(value)
        self.detail = self._describe(value, described, file)

    @staticmethod
    def _describe(
        value: BaseException, described: traceback.TracebackException, file: str | None
    ) -> dict[str, Any]:
        frames = [
            {
                "file": frame.filename,
                "line": frame.lineno or 0,
                "function": frame.name,
                "source": frame.line or "",
            }
            for frame in described.stack
        ]
        lines = [frame["line"] for frame in frames if is_cell(str(frame["file"]), file)]
        line = lines[-1] if lines else None
        kind = "exception"
        if isinstance(value, SyntaxError):
            kind = "syntax"
            if is_cell(value.filename or "", file):
                line = value.lineno
        elif type(value).__name__ == "StdinNotImplementedError" or (
            isinstance(value, EOFError) and value.args == (NO_INPUT,)
        ):
            kind = "input"
        return {"frames": frames, "line": line, "kind": kind, **_system_error(value)}


def _system_error(value: BaseException | None) -> dict[str, Any]:
    """Return number and path of the OSError that an exception is, or is raised from."""
    for _ in range(_CHAIN):
        if isinstance(value, OSError) and isinstance(value.errno, int):
            path = value.filename
            if isinstance(path, (bytes, os.PathLike)):
                path = os.fsdecode(path)
            return {"errno": value.errno, "filename": path if isinstance(path, str) else None}
        if value is None:
            break
        value = value.__cause__
    return {}


def safe_text(value: object) -> str:
    """Return a bounded `str(value)`, without ever raising."""
    try:
        text = str(value)
    except BaseException as error:  # noqa: BLE001 - a user's __str__ may do anything
        return f"<str() of this {type(value).__name__} raised {type(error).__name__}>"
    if len(text) > _MAX_VALUE:
        return f"{text[:_MAX_VALUE]}... ({len(text)} characters)"
    return text


def _depth(trace: TracebackType | None) -> int:
    depth = 0
    while trace is not None and depth < 4000:
        depth, trace = depth + 1, trace.tb_next
    return depth


def _clean(described: traceback.TracebackException, hidden: tuple[str, ...]) -> None:
    """Remove frames of the machinery, and shorten long stacks and texts."""
    waiting = [(described, 0)]
    seen: set[int] = set()
    while waiting:
        item, depth = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        kept = [frame for frame in item.stack if not frame.filename.startswith(hidden)]
        if len(kept) > _FIRST + _LAST:
            kept = kept[:_FIRST] + kept[-_LAST:]
        item.stack = traceback.StackSummary.from_list(kept)
        text = getattr(item, "_str", "")
        if isinstance(text, str) and len(text) > _MAX_VALUE:
            item._str = f"{text[:_MAX_VALUE]}... ({len(text)} characters)"  # type: ignore[attr-defined]
        if depth >= _CHAIN:
            item.__cause__ = item.__context__ = item.exceptions = None
        related = [item.__cause__, item.__context__, *(item.exceptions or ())[:_CHAIN]]
        waiting += [(other, depth + 1) for other in related if other is not None]
