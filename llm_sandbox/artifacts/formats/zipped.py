"""ZIP, and what is told apart from it by the names within: nothing is unpacked."""

import re
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import little
from llm_sandbox.artifacts.formats.messages import cut_short, joined, sized, trailing, unpacked
from llm_sandbox.artifacts.identify import LOOK
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["Entry", "NpzKind", "TorchKind", "ZipKind", "detect_subtype", "entries"]

_ENTRIES = 10_000
"""Entries that are looked at."""
_LONGEST_COMMENT = 65_535
_LOCAL = b"PK\x03\x04"
_CENTRAL = b"PK\x01\x02"
_END = b"PK\x05\x06"
_END_SIZE = 22
_NEXT = re.compile(rb"PK(?:\x03\x04|\x01\x02|\x05\x06)")
_FULL = 0xFFFFFFFF
_RATIO = 100
"""No honest archive is packed more tightly and very large at once."""
_SIZE_LATER = 0x08
_ENCRYPTED = 0x01
_LINK = 0o12

_MIMETYPES = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.presentation": "odp",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
    b"application/vnd.oasis.opendocument.text": "odt",
}
_FOLDERS = (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx"))


class Entry(NamedTuple):
    """A file in an archive, as its header claims it."""

    name: str
    """Its path."""
    packed: int
    """Its bytes in the archive."""
    size: int
    """Its bytes outside."""
    flags: int
    """Bits of how it is packed."""
    mode: int
    """What it is under Unix; 0 when that is not known."""


def detect_subtype(head: bytes) -> str:
    """Return the name of the kind that an archive is of, by the names of its first files.

    Args:
        head: Its beginning, possibly hostile; more than the first MiB changes nothing.
    """
    names: list[str] = []
    for entry, body in _local(head[:LOOK]):
        if not names and entry.name == "mimetype":
            named = _MIMETYPES.get(head[body : body + min(entry.size, 64)].strip())
            if named is not None:
                return named
        names.append(entry.name)
    if "[Content_Types].xml" in names or "_rels/.rels" in names:
        for name in names:
            for folder, kind in _FOLDERS:
                if name.startswith(folder):
                    return kind
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    return "torch" if any(name.endswith("/data.pkl") for name in names) else "zip"


def entries(content: bytes) -> list[Entry] | None:
    """Return what the directory lists, at most 10,000 entries; None when there is no directory.

    Args:
        content: A whole archive, possibly hostile.
    """
    end = _end_record(content)
    return None if end is None else list(_central(content, end))


class ZipKind(ArtifactKind):
    """ZIP archives; the base of the formats that are some."""

    mimes: ClassVar[tuple[str, ...]] = ("application/zip", "application/x-zip-compressed")
    type = ArtifactType.ARCHIVE
    extensions: ClassVar[tuple[str, ...]] = ("zip", "whl", "jar", "xpi", "kmz")
    label = "a ZIP archive"
    needs = LOOK

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a file's header, or with the end of an empty archive."""
        return content.startswith((_LOCAL, _END))

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing: an archive has no size but its bytes."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether the directory is there, and what unpacking it would do."""
        end = _end_record(content)
        if end is None:
            return cut_short("there is no directory at its end")
        found = list(_central(content, end))
        claimed = sum(entry.size for entry in found)
        bomb = claimed > _RATIO * max(1, len(content))
        return joined(
            # Its own files may overlap, and take less in the archive than each of them claims.
            f"unpacks to {sized(claimed)}" if bomb and not unpacked(claimed) else "",
            unpacked(claimed, "unpack") if bomb else "",
            *_facts(found),
            "its directory is damaged" if len(found) < min(end.listed, _ENTRIES) else "",
            trailing(content, end.after),
        )


class NpzKind(ZipKind):
    """Arrays of NumPy in an archive."""

    mimes = ("application/x-npz",)
    type = ArtifactType.DATA
    extensions = ("npz",)
    label = "NumPy arrays"
    also = ("zip",)

    def matches(self, content: bytes) -> bool:
        """Whether all files in the archive are arrays."""
        return content.startswith(_LOCAL) and detect_subtype(content) == "npz"


class TorchKind(ZipKind):
    """Weights and tensors of PyTorch: an archive with a pickle in it."""

    mimes = ("application/x-pytorch",)
    type = ArtifactType.DATA
    extensions = ("pt", "pth", "ckpt")
    label = "a PyTorch file"
    remark = "holds a pickle, never opened"
    also = ("zip",)

    def matches(self, content: bytes) -> bool:
        """Whether the archive has a pickle where PyTorch puts it."""
        return content.startswith(_LOCAL) and detect_subtype(content) == "torch"


class _End(NamedTuple):
    listed: int
    size: int
    start: int
    place: int
    """Where the directory ends."""
    after: int
    """Where the archive ends."""


def _end_record(content: bytes) -> _End | None:
    # trust: an archive from inside; the record is searched where it can be.
    place = content.rfind(_END, max(0, len(content) - _LONGEST_COMMENT - _END_SIZE))
    if place < 0:
        # What is appended to an archive may be longer than any comment.
        place = content.rfind(_END)
    count, size = little(content, place + 10, 2), little(content, place + 12, 4)
    start, comment = little(content, place + 16, 4), little(content, place + 20, 2)
    if place < 0 or count is None or size is None or start is None or comment is None:
        return None
    after = place + _END_SIZE + comment
    ends_at = place
    if _FULL in (size, start) or count == 0xFFFF:
        wide = (
            little(content, place - 12, 8)
            if content[place - 20 : place - 16] == b"PK\6\7"
            else None
        )
        if wide is not None and content[wide : wide + 4] == b"PK\6\6":
            count = little(content, wide + 32, 8) or 0
            size, start = little(content, wide + 40, 8) or 0, little(content, wide + 48, 8) or 0
            ends_at = wide
    return _End(count, size, start, ends_at, after)


def _central(content: bytes, end: _End) -> Iterator[Entry]:
    # Where something stands before the archive, offsets count from its own beginning.
    offset = max(0, end.place - end.size)
    for _ in range(min(end.listed, _ENTRIES)):
        if content[offset : offset + 4] != _CENTRAL or offset + 46 > len(content):
            break
        flags = little(content, offset + 8, 2) or 0
        packed, size = little(content, offset + 20, 4) or 0, little(content, offset + 24, 4) or 0
        length = little(content, offset + 28, 2) or 0
        extra, comment = little(content, offset + 30, 2) or 0, little(content, offset + 32, 2) or 0
        mode = (little(content, offset + 40, 2) or 0) if content[offset + 5] == 3 else 0
        name = content[offset + 46 : offset + 46 + length].decode("utf-8", "replace")
        if size == _FULL:
            size = _wide_size(content, offset + 46 + length, extra) or size
        yield Entry(name, packed, size, flags, mode)
        offset += 46 + length + extra + comment


def _wide_size(content: bytes, offset: int, length: int) -> int | None:
    stop = offset + length
    while offset + 4 <= stop:
        tag, size = little(content, offset, 2), little(content, offset + 2, 2) or 0
        if tag == 1:
            return little(content, offset + 4, 8)
        offset += 4 + size
    return None


def _local(content: bytes) -> Iterator[tuple[Entry, int]]:
    offset = 0
    # trust: an archive from inside; every step moves forward, and their number is limited.
    for _ in range(_ENTRIES):
        if content[offset : offset + 4] != _LOCAL or offset + 30 > len(content):
            break
        flags = little(content, offset + 6, 2) or 0
        packed, size = little(content, offset + 18, 4) or 0, little(content, offset + 22, 4) or 0
        length, extra = little(content, offset + 26, 2) or 0, little(content, offset + 28, 2) or 0
        body = offset + 30 + length + extra
        name = content[offset + 30 : offset + 30 + length].decode("utf-8", "replace")
        yield Entry(name, packed, size, flags, 0), body
        offset = body + packed
        if (flags & _SIZE_LATER and not packed) or packed == _FULL:
            # The sizes stand behind the data: the next header is searched.
            found = _NEXT.search(content, body)
            if found is None:
                break
            offset = found.start()


def _facts(found: list[Entry]) -> Iterator[str]:
    if any(entry.flags & _ENCRYPTED for entry in found):
        yield "is encrypted"
    parts = [entry.name.replace("\\", "/").split("/") for entry in found]
    if any(".." in path or path[0] == "" or path[0].endswith(":") for path in parts):
        yield "names files outside of its folder"
    if any(entry.mode >> 12 == _LINK for entry in found):
        yield "holds links"
    if any(entry.name.endswith("vbaProject.bin") for entry in found):
        yield "holds macros"
