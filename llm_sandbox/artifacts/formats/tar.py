"""TAR: the headers are walked, and nothing is unpacked."""

from collections.abc import Iterator
from typing import NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["TarKind"]

_BLOCK = 512
_MEMBERS = 20_000
"""Files that are looked at."""
_LINKS = b"12"
_DEVICES = b"346"


class TarKind(ArtifactKind):
    """TAR archives."""

    mimes = ("application/x-tar",)
    type = ArtifactType.ARCHIVE
    extensions = ("tar",)
    label = "a TAR archive"

    def matches(self, content: bytes) -> bool:
        """Whether the first block is a file's header, by its checksum."""
        return _is_header(content[:_BLOCK])

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing: an archive has no size but its bytes."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether all files are whole, and what unpacking them would do."""
        if not self.matches(content):
            return "no TAR archive"
        facts: dict[str, None] = {}
        end, wrong = 0, ""
        for member in _members(content):
            end = member.end
            wrong = missing(content, member.body + member.size, "a file in it")
            parts = member.name.split(b"/")
            if b".." in parts or parts[0] == b"":
                facts["names files outside of its folder"] = None
            if member.form in _LINKS:
                facts["holds links"] = None
            if member.form in _DEVICES:
                facts["holds devices"] = None
        if not wrong and end <= len(content):
            rest = content[end : end + 2 * _BLOCK]
            if not rest:
                wrong = cut_short("there is no end of the archive")
            elif rest.strip(b"\x00"):
                wrong = "its headers are damaged"
        return joined(*facts, wrong)


class _Member(NamedTuple):
    name: bytes
    form: bytes
    body: int
    size: int
    end: int


def _members(content: bytes) -> Iterator[_Member]:
    offset = 0
    # trust: an archive from inside; every step moves forward, and their number is limited.
    for _ in range(_MEMBERS):
        header = content[offset : offset + _BLOCK]
        if not _is_header(header):
            break
        size = _octal(header[124:136]) or 0
        name = header[:100].partition(b"\x00")[0]
        body = offset + _BLOCK
        offset = body + -(-size // _BLOCK) * _BLOCK
        yield _Member(name, header[156:157], body, size, offset)


def _is_header(header: bytes) -> bool:
    if len(header) < _BLOCK or not header[0]:
        return False
    claimed = _octal(header[148:156])
    # The field itself counts as blanks.
    return claimed is not None and claimed == sum(header) - sum(header[148:156]) + 8 * 0x20


def _octal(field: bytes) -> int | None:
    if field[:1] == b"\x80":
        # GNU's way to write sizes beyond eight GiB.
        return int.from_bytes(field[1:])
    digits = field.strip(b" \x00")
    return int(digits, 8) if digits and not digits.strip(b"01234567") else None
