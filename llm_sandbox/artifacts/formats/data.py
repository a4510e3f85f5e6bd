"""Arrays, databases, pickles, programs, unknown bytes and empty files, by their headers alone."""

import re

from llm_sandbox.artifacts.base import ArtifactKind, DimensionlessKind, Dimensions
from llm_sandbox.artifacts.formats.fields import big, little, number
from llm_sandbox.artifacts.formats.messages import (
    cut_short,
    joined,
    missing,
    sized,
    trailing,
    unpacked,
)
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["DataKind", "ElfKind", "EmptyKind", "Hdf5Kind", "NpyKind", "PickleKind", "SqliteKind"]

_HEADER = 64 * 1024
_SHAPE = re.compile(rb"'shape': {0,8}\(([0-9, ]{0,1024})\)")
_DTYPE = re.compile(rb"'descr': {0,8}'[<>|=]?([?a-zA-Z])([0-9]{0,9})")
_AXES = 64
_DIGITS = 20


class NpyKind(ArtifactKind):
    """NumPy array."""

    mimes = ("application/x-npy",)
    type = ArtifactType.DATA
    extensions = ("npy",)
    label = "a NumPy array"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature and an existing version."""
        return content.startswith(b"\x93NUMPY") and content[6:7] in (b"\x01", b"\x02", b"\x03")

    def describe(self, content: bytes) -> Dimensions:
        """Return the first two axes as rows and columns."""
        shape = _shape(content) if self.matches(content) else None
        if not shape:
            return Dimensions()
        return Dimensions.of(rows=shape[0], columns=shape[1] if len(shape) == 2 else None)

    def check(self, content: bytes) -> str:
        """Return warnings on missing values, and on an array of pickled objects."""
        if not self.matches(content):
            return "not a NumPy array"
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


class Hdf5Kind(DimensionlessKind):
    """HDF5 files."""

    mimes = ("application/x-hdf5", "application/x-hdf")
    type = ArtifactType.DATA
    extensions = ("h5", "hdf5", "hdf", "nc")
    label = "an HDF5 file"

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with the signature."""
        return content.startswith(b"\x89HDF\r\n\x1a\n")

    def check(self, content: bytes) -> str:
        """Return a warning if the file ends before the address in its superblock."""
        if not self.matches(content):
            return "not an HDF5 file"
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


class SqliteKind(DimensionlessKind):
    """SQLite databases."""

    mimes = ("application/vnd.sqlite3", "application/x-sqlite3")
    type = ArtifactType.DATA
    extensions = ("sqlite", "sqlite3", "db", "db3")
    label = "a SQLite database"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature."""
        return content.startswith(b"SQLite format 3\x00")

    def check(self, content: bytes) -> str:
        """Return a warning on missing pages."""
        if not self.matches(content):
            return "not a SQLite database"
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


_FRAME = 0x95
# Operations that the second and third protocol's writers begin with.
_FIRST = frozenset(b"(]}c)NKMJGXUTCB\x88\x89\x8a\x8bIFVS\x85\x86\x87ltd")


class PickleKind(DimensionlessKind):
    """Python pickles of protocol 2 and later: programs that run when they are loaded."""

    mimes = ("application/x-python-pickle", "application/vnd.python.pickle")
    type = ArtifactType.DATA
    extensions = ("pkl", "pickle", "joblib", "pt", "pth")
    label = "a pickle"
    remark = "a pickle, never opened"

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with a protocol number and the opcode that writers put
        next.
        """
        if content[:1] != b"\x80" or len(content) < 3:
            return False
        if content[1] in (4, 5):
            return content[2] == _FRAME or content[2] in _FIRST
        return content[1] in (2, 3) and content[2] in _FIRST

    def check(self, content: bytes) -> str:
        """Return warnings on a truncated first frame or a missing STOP opcode."""
        if not self.matches(content):
            return "not a pickle"
        if content[2] == _FRAME:
            length = little(content, 3, 8)
            if length is None:
                return cut_short("the first frame has no length")
            if late := missing(content, 11 + length, "the first frame"):
                return late
        return "" if content.endswith(b".") else cut_short("the last operation is not the end")


class ElfKind(DimensionlessKind):
    """Linux programs and libraries."""

    mimes = ("application/x-executable", "application/x-elf", "application/x-sharedlib")
    type = ArtifactType.DATA
    extensions = ("so", "elf", "o")
    label = "a program"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature, a valid class and a valid byte order."""
        return content.startswith(b"\x7fELF") and content[4:5] in b"\x01\x02" and len(content) > 6

    def check(self, content: bytes) -> str:
        """Return a warning if the section table, which writers put last, is outside the file."""
        if not self.matches(content):
            return "not a program"
        low = content[5] == 1
        wide = content[4] == 2
        start = number(content, 40 if wide else 32, 8 if wide else 4, first_is_low=low)
        each = number(content, 58 if wide else 46, 2, first_is_low=low)
        count = number(content, 60 if wide else 48, 2, first_is_low=low)
        if start is None or each is None or count is None:
            return cut_short("the header is not all there")
        return missing(content, start + each * count, "the table of sections") if start else ""


class DataKind(DimensionlessKind):
    """Bytes of an unknown format."""

    mimes = ("application/octet-stream",)
    type = ArtifactType.DATA
    label = "unknown bytes"

    def matches(self, content: bytes) -> bool:
        """Return whether there is any content."""
        return bool(content)


class EmptyKind(DimensionlessKind):
    """Files without content."""

    mimes = ("application/x-empty", "inode/x-empty")
    type = ArtifactType.OTHER
    label = "nothing"
    remark = "empty"

    def matches(self, content: bytes) -> bool:
        """Return whether there is no content."""
        return not content
