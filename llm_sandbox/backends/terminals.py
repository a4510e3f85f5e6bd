"""Terminal of a program: size and type."""

from dataclasses import dataclass

from llm_sandbox.exceptions import ValidationError

__all__ = ["Terminal", "check_size"]

_MOST = (1 << 16) - 1


@dataclass(frozen=True)
class Terminal:
    """Specification of a terminal.

    Raises:
        ValidationError: The size or the type is invalid.
    """

    rows: int = 24
    """Height in characters, 1 to 65535."""
    cols: int = 80
    """Width in characters, 1 to 65535."""
    term: str = "xterm-256color"
    """Type, as in the program's ``TERM``."""

    def __post_init__(self) -> None:
        check_size(self.rows, self.cols)
        term: object = self.term
        if not isinstance(term, str) or not term or "\0" in term:
            raise ValidationError(
                f"invalid term: expected the name of a terminal type, got {term!r}",
                parameter="term",
            )


def check_size(rows: object, cols: object) -> None:
    """Check the size of a terminal.

    Raises:
        ValidationError: A value is not an integer from 1 to 65535.
    """
    for name, value in (("rows", rows), ("cols", cols)):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST:
            raise ValidationError(
                f"invalid {name}: expected an integer from 1 to {_MOST}, got {value!r}",
                parameter=name,
            )
