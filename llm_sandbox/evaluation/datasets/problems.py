"""Problems of files: lines that cannot be read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from llm_sandbox.exceptions import ValidationError

__all__ = ["OnError", "Problem", "ProblemLog"]

OnError: TypeAlias = Literal["raise", "skip"]
"""Effect of a malformed line: an error with its number, or a problem beside the other lines."""


@dataclass(frozen=True)
class Problem:
    """A line that was left out."""

    line: int
    """Number of the line, from 1; of the item in a JSON list, of the row in a parquet file."""
    message: str
    """Message with the expected form and the one that was found."""


class ProblemLog:
    """Problems of one reading of a file.

    Args:
        path: The file.
        on_error: What a problem does.

    Raises:
        ValidationError: `on_error` is invalid.
    """

    def __init__(self, path: Path, on_error: OnError) -> None:
        if on_error not in ("raise", "skip"):
            raise ValidationError(
                f"invalid on_error: expected raise or skip, got {on_error!r}", parameter="on_error"
            )
        self._path, self._on_error = path, on_error
        self._problems: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems so far."""
        return tuple(self._problems)

    def add(self, line: int, message: str) -> None:
        """Add a problem.

        Raises:
            ValidationError: Problems are to be raised.
        """
        if self._on_error == "raise":
            raise ValidationError(
                f"{self._path.name}, line {line}: {message}",
                hint='on_error="skip" reads the other lines, and names this one',
            )
        self._problems.append(Problem(line, message))
