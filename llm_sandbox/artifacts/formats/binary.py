"""Files that are named and never opened: pickles, programs, bytes of no known format."""

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import little, number
from llm_sandbox.artifacts.formats.messages import cut_short, missing
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["DataKind", "ElfKind", "EmptyKind", "PickleKind"]

_FRAME = 0x95
# Operations that the second and third protocol's writers begin with.
_FIRST = frozenset(b"(]}c)NKMJGXUTCB\x88\x89\x8a\x8bIFVS\x85\x86\x87ltd")


class PickleKind(ArtifactKind):
    """Python pickles of protocol 2 and later: programs that run when they are opened."""

    mimes = ("application/x-python-pickle", "application/vnd.python.pickle")
    type = ArtifactType.DATA
    extensions = ("pkl", "pickle", "joblib", "pt", "pth")
    label = "a pickle"
    remark = "a pickle, never opened"

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a protocol's number and what its writers put next."""
        if content[:1] != b"\x80" or len(content) < 3:
            return False
        if content[1] in (4, 5):
            return content[2] == _FRAME or content[2] in _FIRST
        return content[1] in (2, 3) and content[2] in _FIRST

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing: it would take a pickle's reader to know."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether the first frame is whole and the last operation is the end."""
        if not self.matches(content):
            return "no pickle"
        if content[2] == _FRAME:
            length = little(content, 3, 8)
            if length is None:
                return cut_short("the first frame has no length")
            if late := missing(content, 11 + length, "the first frame"):
                return late
        return "" if content.endswith(b".") else cut_short("the last operation is not the end")


class ElfKind(ArtifactKind):
    """Programs and libraries of Linux."""

    mimes = ("application/x-executable", "application/x-elf", "application/x-sharedlib")
    type = ArtifactType.DATA
    extensions = ("so", "elf", "o")
    label = "a program"

    def matches(self, content: bytes) -> bool:
        """Whether the content has the signature, one of the two classes and one of the orders."""
        return content.startswith(b"\x7fELF") and content[4:5] in b"\x01\x02" and len(content) > 6

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing: a program has no size but its bytes."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether the table of sections is within the file, where writers put it last."""
        if not self.matches(content):
            return "no program"
        low = content[5] == 1
        wide = content[4] == 2
        start = number(content, 40 if wide else 32, 8 if wide else 4, first_is_low=low)
        each = number(content, 58 if wide else 46, 2, first_is_low=low)
        count = number(content, 60 if wide else 48, 2, first_is_low=low)
        if start is None or each is None or count is None:
            return cut_short("the header is not all there")
        return missing(content, start + each * count, "the table of sections") if start else ""


class DataKind(ArtifactKind):
    """Bytes of no known format."""

    mimes = ("application/octet-stream",)
    type = ArtifactType.DATA
    label = "unknown bytes"

    def matches(self, content: bytes) -> bool:
        """Whether there is anything at all."""
        return bool(content)

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing."""
        return Dimensions()


class EmptyKind(ArtifactKind):
    """Files without content."""

    mimes = ("application/x-empty", "inode/x-empty")
    type = ArtifactType.OTHER
    label = "nothing"
    remark = "empty"

    def matches(self, content: bytes) -> bool:
        """Whether there is nothing."""
        return not content

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing."""
        return Dimensions()
