"""Contract of an artifact kind: one file format, recognised and measured by its bytes."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = ["HEAD", "LARGEST", "ArtifactKind", "DimensionlessKind", "Dimensions"]

HEAD = 4096
"""Number of leading bytes that suffice to recognise most kinds."""

LARGEST = 2**31 - 1
"""A larger width, height or resolution counts as unknown."""

_LARGEST_COUNT = 2**53
_LONGEST = 10.0**9


@dataclass(frozen=True, slots=True)
class Dimensions:
    """Size facts from a file's own header; an unknown fact is None."""

    width: int | None = None
    """Width in the unit of the kind, from 1."""
    height: int | None = None
    """Height in the unit of the kind, from 1."""
    dpi: int | None = None
    """Resolution in dots per inch, from 1."""
    pages: int | None = None
    """Number of pages, sheets or slides, from 1."""
    duration_s: float | None = None
    """Duration in seconds, to the millisecond."""
    frames: int | None = None
    """Number of successive frames, from 1."""
    rows: int | None = None
    """Number of records, without a header."""
    columns: int | None = None
    """Number of values in a record."""

    @classmethod
    def of(
        cls,
        width: float | None = None,
        height: float | None = None,
        dpi: float | None = None,
        *,
        pages: int | None = None,
        duration_s: float | None = None,
        frames: int | None = None,
        rows: int | None = None,
        columns: int | None = None,
    ) -> "Dimensions":
        """Return rounded dimensions; a value that is not positive, finite and plausible is unknown.

        Args:
            width: Width as the header has it.
            height: Height as the header has it.
            dpi: Resolution as the header has it.
            pages: Number of pages as the header has it.
            duration_s: Length as the header has it.
            frames: Number of pictures as the header has it.
            rows: Number of records as the header has it; zero is possible.
            columns: Number of values in a record as the header has it; zero is possible.
        """
        if duration_s is not None:
            sane = math.isfinite(duration_s) and 0 <= duration_s <= _LONGEST
            duration_s = round(duration_s, 3) if sane else None
        return cls(
            _sane(width),
            _sane(height),
            _sane(dpi),
            _sane(pages),
            duration_s,
            _sane(frames),
            _counted(rows),
            _counted(columns),
        )


class ArtifactKind(ABC):
    """One file format.

    Kinds are stateless and created without arguments. Their methods receive whatever the sandbox
    sent: they read a bounded part of it, take bounded time and never raise.
    """

    mimes: ClassVar[tuple[str, ...]]
    """MIME types of the format, the usual one first."""
    type: ClassVar[ArtifactType] = ArtifactType.OTHER
    """Type of its artifacts for users."""
    extensions: ClassVar[tuple[str, ...]] = ()
    """File extensions, in lower case without the dot, the usual one first."""
    label: ClassVar[str] = ""
    """Name in a sentence, such as "a PNG image"; empty for the MIME type."""
    remark: ClassVar[str] = ""
    """Note on every file of this kind; empty for none."""
    also: ClassVar[tuple[str, ...]] = ()
    """Names of wider kinds that its files belong to as well: a claim of one of these is not false.
    """
    needs: ClassVar[int] = HEAD
    """Number of leading bytes that `matches` reads."""
    file_type: ClassVar[FileType | None] = None
    """File type of a `PlotOutput` of this kind; None when it cannot be one."""
    textual: ClassVar[bool] = False
    """Whether displays hold it as plain text; False (default) for base64 text."""
    ambiguous: ClassVar[bool] = False
    """Whether its content may also be something other than a picture: then a display needs a hint
    to be a plot."""

    @abstractmethod
    def matches(self, content: bytes) -> bool:
        """Return whether the content begins as this format does.

        Args:
            content: A file or its first `needs` bytes, possibly hostile.
        """

    @abstractmethod
    def describe(self, content: bytes) -> Dimensions:
        """Return the dimensions in the header; missing or implausible ones are None.

        Args:
            content: A whole file, possibly hostile.
        """

    def check(self, content: bytes) -> str:
        """Return warnings about a file before it is used; empty when all seems well.

        Warnings are: the file is truncated, data follows its end, it would unpack to far more than
        its size, or it has active content. An empty answer does not mean that a full reader accepts
        the file.

        Args:
            content: A whole file, possibly hostile.
        """
        return ""


class DimensionlessKind(ArtifactKind):
    """A file format whose header holds no dimensions."""

    def describe(self, content: bytes) -> Dimensions:
        """Return no dimensions."""
        return Dimensions()


def _sane(value: float | None) -> int | None:
    if value is None or not math.isfinite(value) or not 0 < value <= LARGEST:
        return None
    return max(1, round(value))


def _counted(value: int | None) -> int | None:
    return value if value is not None and 0 <= value <= _LARGEST_COUNT else None
