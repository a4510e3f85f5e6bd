"""One answer of a model, whichever API it came by."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Turn"]


@dataclass(frozen=True)
class Turn:
    """One answer of a model."""

    text: str
    """What it said."""
    calls: Sequence[object]
    """Its calls of the tool."""
    input_tokens: int = 0
    """Tokens that it read."""
    output_tokens: int = 0
    """Tokens that it wrote."""
