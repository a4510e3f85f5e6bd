"""The terminal of a program: how large it is and what it understands."""

from dataclasses import dataclass

from llm_sandbox.exceptions import ValidationError

__all__ = ["Terminal", "check_size"]

_MOST = (1 << 16) - 1


@dataclass(frozen=True)
class Terminal:
    """What a terminal is to be like.

    Raises:
        ValidationError: It cannot be like that.
    """

    rows: int = 24
    """Its height in characters, 1 to 65535."""
    cols: int = 80
    """Its width in characters, 1 to 65535."""
    term: str = "xterm-256color"
    """What it understands, as ``TERM`` says it to the program."""

    def __post_init__(self) -> None:
        check_size(self.rows, self.cols)
        term: object = self.term
        if not isinstance(term, str) or not term or "\0" in term:
            raise ValidationError("term is the name of a kind of terminal", parameter="term")


def check_size(rows: object, cols: object) -> None:
    """Refuse what is no size of a terminal.

    Raises:
        ValidationError: One is no number from 1 to 65535.
    """
    for name, value in (("rows", rows), ("cols", cols)):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST:
            raise ValidationError(f"{name} is a number from 1 to {_MOST}", parameter=name)
