"""The contract of an artifact kind: one file format, recognised and measured by its bytes."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from llm_sandbox.plots import FileType

__all__ = ["LARGEST", "ArtifactKind", "Dimensions"]

LARGEST = 2**31 - 1
"""A larger width, height or resolution counts as unknown."""


@dataclass(frozen=True, slots=True)
class Dimensions:
    """What a file's own header says about its size."""

    width: int | None = None
    """Width in the unit of the kind, from 1; None when unknown."""
    height: int | None = None
    """Height in the unit of the kind, from 1; None when unknown."""
    dpi: int | None = None
    """Resolution in dots per inch, from 1; None when unknown."""

    @classmethod
    def of(
        cls, width: float | None, height: float | None, dpi: float | None = None
    ) -> "Dimensions":
        """Return rounded dimensions; what is not positive, finite and sane is unknown.

        Args:
            width: Width as the header has it.
            height: Height as the header has it.
            dpi: Resolution as the header has it.
        """
        return cls(_sane(width), _sane(height), _sane(dpi))


class ArtifactKind(ABC):
    """One file format.

    Kinds hold no state and are made without arguments. Both methods are given whatever the
    sandbox sent: they look at a bounded part of it, take bounded time and never raise.
    """

    mimes: ClassVar[tuple[str, ...]]
    """MIME types that displays carry it under, the usual one first."""
    file_type: ClassVar[FileType]
    """What a `PlotOutput` of this kind says it is."""
    textual: ClassVar[bool] = False
    """Whether displays carry it as plain text; False (default) for base64 text."""
    ambiguous: ClassVar[bool] = False
    """Whether not all of it is pictures: then a display needs a hint to be a plot."""

    @abstractmethod
    def matches(self, content: bytes) -> bool:
        """Whether the content begins as this format does.

        Args:
            content: A file, possibly hostile.
        """

    @abstractmethod
    def describe(self, content: bytes) -> Dimensions:
        """Return the size the header gives; what it does not give, or not sanely, is None.

        Args:
            content: A file, possibly hostile.
        """


def _sane(value: float | None) -> int | None:
    if value is None or not math.isfinite(value) or not 0 < value <= LARGEST:
        return None
    return max(1, round(value))
