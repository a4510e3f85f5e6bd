"""Arrays and databases: NumPy, HDF5 and SQLite, by their headers alone."""

import re

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import big, little
from llm_sandbox.artifacts.formats.messages import (
    cut_short,
    joined,
    missing,
    sized,
    trailing,
    unpacked,
)
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["Hdf5Kind", "NpyKind", "SqliteKind"]

_HEADER = 64 * 1024
_SHAPE = re.compile(rb"'shape': {0,8}\(([0-9, ]{0,1024})\)")
_DTYPE = re.compile(rb"'descr': {0,8}'[<>|=]?([?a-zA-Z])([0-9]{0,9})")
_AXES = 64
_DIGITS = 20


class NpyKind(ArtifactKind):
    """One array of NumPy."""

    mimes = ("application/x-npy",)
    type = ArtifactType.DATA
    extensions = ("npy",)
    label = "a NumPy array"

    def matches(self, content: bytes) -> bool:
        """Whether the content has the signature and a version there is."""
        return content.startswith(b"\x93NUMPY") and content[6:7] in (b"\x01", b"\x02", b"\x03")

    def describe(self, content: bytes) -> Dimensions:
        """Return the first two axes as rows and columns."""
        shape = _shape(content) if self.matches(content) else None
        if not shape:
            return Dimensions()
        return Dimensions.of(rows=shape[0], columns=shape[1] if len(shape) == 2 else None)

    def check(self, content: bytes) -> str:
        """Return whether all numbers are there, and whether they are objects in truth."""
        if not self.matches(content):
            return "no NumPy array"
        start, header = _npy_header(content)
        shape, form = _shape(content), _DTYPE.search(header)
        if start > len(content) or shape is None:
            return cut_short("the header is not all there")
        if form is None:
            return ""
        if form[1] == b"O":
            return "holds a pickle, never opened"
        size = int(form[2] or 1) * (4 if form[1] == b"U" else 1)
        for axis in shape:
            size *= axis
        late = missing(content, start + size, "the array")
        claim = f"claims {sized(size)}" if late and unpacked(size) else ""
        return joined(claim, late or trailing(content, start + size))


class Hdf5Kind(ArtifactKind):
    """HDF5 files."""

    mimes = ("application/x-hdf5", "application/x-hdf")
    type = ArtifactType.DATA
    extensions = ("h5", "hdf5", "hdf", "nc")
    label = "an HDF5 file"

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with the signature."""
        return content.startswith(b"\x89HDF\r\n\x1a\n")

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing: what is in it takes its library to know."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether the file reaches the end that its first block gives."""
        if not self.matches(content):
            return "no HDF5 file"
        version = big(content, 8, 1)
        if version in (0, 1):
            width = little(content, 13, 1)
            # The base address and the one of free space stand before it.
            place = (24 if version == 0 else 28) + 2 * (width or 0)
        elif version in (2, 3):
            width = little(content, 9, 1)
            place = 12 + 2 * (width or 0)
        else:
            return cut_short("the first block is not all there") if version is None else ""
        if width not in (2, 4, 8):
            return "its first block is damaged"
        end = little(content, place, width)
        if end is None:
            return cut_short("the first block is not all there")
        return missing(content, end, "the data")


class SqliteKind(ArtifactKind):
    """SQLite databases."""

    mimes = ("application/vnd.sqlite3", "application/x-sqlite3")
    type = ArtifactType.DATA
    extensions = ("sqlite", "sqlite3", "db", "db3")
    label = "a SQLite database"

    def matches(self, content: bytes) -> bool:
        """Whether the content has the signature."""
        return content.startswith(b"SQLite format 3\x00")

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing: what is in it takes its library to know."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether all pages are there."""
        if not self.matches(content):
            return "no SQLite database"
        size, count = big(content, 16, 2), big(content, 28, 4)
        # The count holds only where the last writer kept it.
        kept = big(content, 24, 4) == big(content, 92, 4)
        if size is None or count is None or len(content) < 100:
            return cut_short("the header is not all there")
        size = 65536 if size == 1 else size
        if size < 512 or size & (size - 1):
            return "its header is damaged"
        return missing(content, size * count, "the last page") if kept else ""


def _npy_header(content: bytes) -> tuple[int, bytes]:
    wide = content[6] > 1
    length = little(content, 8, 4 if wide else 2) or 0
    start = 12 if wide else 10
    # trust: text from inside, which is searched and never evaluated.
    return start + length, content[start : start + min(length, _HEADER)]


def _shape(content: bytes) -> list[int] | None:
    found = _SHAPE.search(_npy_header(content)[1])
    if found is None:
        return None
    axes = [axis.strip() for axis in found[1].split(b",") if axis.strip()]
    if len(axes) > _AXES or any(len(axis) > _DIGITS or b" " in axis for axis in axes):
        return None
    return [int(axis) for axis in axes]
