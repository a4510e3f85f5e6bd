"""The contract of an artifact kind: one file format, recognised and measured by its bytes."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = ["HEAD", "LARGEST", "ArtifactKind", "DimensionlessKind", "Dimensions"]

HEAD = 4096
"""Bytes of a file's beginning that are enough to recognise most kinds."""

LARGEST = 2**31 - 1
"""A larger width, height or resolution counts as unknown."""

_LARGEST_COUNT = 2**53
_LONGEST = 10.0**9


@dataclass(frozen=True, slots=True)
class Dimensions:
    """What a file's own header says about its size; a fact that is not known is None."""

    width: int | None = None
    """Width in the unit of the kind, from 1."""
    height: int | None = None
    """Height in the unit of the kind, from 1."""
    dpi: int | None = None
    """Resolution in dots per inch, from 1."""
    pages: int | None = None
    """Number of pages, sheets or slides, from 1."""
    duration_s: float | None = None
    """Length in seconds, to the millisecond."""
    frames: int | None = None
    """Number of pictures that follow each other, from 1."""
    rows: int | None = None
    """Number of records, without a heading."""
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
        """Return rounded dimensions; what is not positive, finite and sane is unknown.

        Args:
            width: Width as the header has it.
            height: Height as the header has it.
            dpi: Resolution as the header has it.
            pages: Number of pages as the header has it.
            duration_s: Length as the header has it.
            frames: Number of pictures as the header has it.
            rows: Number of records as the header has it; none is possible.
            columns: Number of values in a record as the header has it; none is possible.
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

    Kinds hold no state and are made without arguments. Their methods are given whatever the
    sandbox sent: they look at a bounded part of it, take bounded time and never raise.
    """

    mimes: ClassVar[tuple[str, ...]]
    """MIME types that it is known under, the usual one first."""
    type: ClassVar[ArtifactType] = ArtifactType.OTHER
    """What it is to a person."""
    extensions: ClassVar[tuple[str, ...]] = ()
    """Extensions that its files have, in lower case without the dot, the usual one first."""
    label: ClassVar[str] = ""
    """What a sentence calls it, such as "a PNG image"; empty for the MIME type."""
    remark: ClassVar[str] = ""
    """What is said of every file of this kind; empty when there is nothing to say."""
    also: ClassVar[tuple[str, ...]] = ()
    """Names of wider kinds that its files are as well: being called one of them is no lie."""
    needs: ClassVar[int] = HEAD
    """Bytes of a file's beginning that `matches` looks at."""
    file_type: ClassVar[FileType | None] = None
    """What a `PlotOutput` of this kind says it is; None when it cannot be one."""
    textual: ClassVar[bool] = False
    """Whether displays carry it as plain text; False (default) for base64 text."""
    ambiguous: ClassVar[bool] = False
    """Whether not all of it is pictures: then a display needs a hint to be a plot."""

    @abstractmethod
    def matches(self, content: bytes) -> bool:
        """Return whether the content begins as this format does.

        Args:
            content: A file or its first `needs` bytes, possibly hostile.
        """

    @abstractmethod
    def describe(self, content: bytes) -> Dimensions:
        """Return the dimensions in the header; those that are absent or implausible are None.

        Args:
            content: A whole file, possibly hostile.
        """

    def check(self, content: bytes) -> str:
        """Return what is to be known of a file before it is used; empty when all seems well.

        That is: it is not whole, something follows its end, it would unpack to far more than it
        is, or it holds what acts by itself. Where a format has a reader that does more than these
        look-ups, an empty answer is no promise that the reader accepts the file.

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
