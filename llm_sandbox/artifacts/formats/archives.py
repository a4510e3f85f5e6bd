"""ZIP, TAR, gzip, bzip2, xz, Zstandard and 7z: completeness and claimed contents, without
unpacking.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from llm_sandbox.artifacts.base import DimensionlessKind
from llm_sandbox.artifacts.formats.fields import little
from llm_sandbox.artifacts.formats.messages import (
    cut_short,
    joined,
    missing,
    sized,
    trailing,
    unpacked,
)
from llm_sandbox.artifacts.identify import LOOK
from llm_sandbox.artifacts.types import ArtifactType

__all__ = [
    "Bzip2Kind",
    "Entry",
    "GzipKind",
    "NpzKind",
    "SevenZipKind",
    "TarKind",
    "TorchKind",
    "XzKind",
    "ZipKind",
    "ZstdKind",
    "detect_zip",
    "entries",
]

_ENTRIES = 10_000
"""Most entries that are read."""
_LONGEST_COMMENT = 65_535
_LOCAL = b"PK\x03\x04"
_CENTRAL = b"PK\x01\x02"
_END = b"PK\x05\x06"
_END_SIZE = 22
_NEXT = re.compile(rb"PK(?:\x03\x04|\x01\x02|\x05\x06)")
_FULL = 0xFFFFFFFF
_RATIO = 100
"""Compression ratio that no legitimate archive exceeds while also being very large."""
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
    """Entry of an archive, as its header claims it."""

    name: str
    """Path of the entry."""
    packed: int
    """Compressed size in bytes."""
    size: int
    """Uncompressed size in bytes."""
    flags: int
    """Flag bits of the entry."""
    mode: int
    """Unix file mode; 0 when unknown."""


def detect_zip(head: bytes) -> str:
    """Return the name of the kind of an archive, from the names of its first files.

    Args:
        head: Beginning of the archive, possibly hostile; at most the first MiB is read.
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
    """Return the entries of the directory, at most 10,000; None when there is no directory.

    Args:
        content: A whole archive, possibly hostile.
    """
    end = _end_record(content)
    return None if end is None else list(_central(content, end))


class ZipKind(DimensionlessKind):
    """ZIP archives; base class of the formats based on ZIP."""

    mimes: ClassVar[tuple[str, ...]] = ("application/zip", "application/x-zip-compressed")
    type = ArtifactType.ARCHIVE
    extensions: ClassVar[tuple[str, ...]] = ("zip", "whl", "jar", "xpi", "kmz")
    label = "a ZIP archive"
    needs = LOOK

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with a local file header, or with the end of an empty
        archive.
        """
        return content.startswith((_LOCAL, _END))

    def check(self, content: bytes) -> str:
        """Return warnings on a missing directory, and on the effect of unpacking."""
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
    """NumPy arrays in an archive."""

    mimes = ("application/x-npz",)
    type = ArtifactType.DATA
    extensions = ("npz",)
    label = "NumPy arrays"
    also = ("zip",)

    def matches(self, content: bytes) -> bool:
        """Return whether all files in the archive are arrays."""
        return content.startswith(_LOCAL) and detect_zip(content) == "npz"


class TorchKind(ZipKind):
    """PyTorch weights and tensors: an archive with a pickle in it."""

    mimes = ("application/x-pytorch",)
    type = ArtifactType.DATA
    extensions = ("pt", "pth", "ckpt")
    label = "a PyTorch file"
    remark = "holds a pickle, never opened"
    also = ("zip",)

    def matches(self, content: bytes) -> bool:
        """Return whether the archive has a pickle at PyTorch's path."""
        return content.startswith(_LOCAL) and detect_zip(content) == "torch"


class _End(NamedTuple):
    listed: int
    size: int
    start: int
    place: int
    """Offset of the end of the directory."""
    after: int
    """Offset of the end of the archive."""


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


_TAR_BLOCK = 512
_TAR_MEMBERS = 20_000
"""Most members that are read."""
_LINKS = b"12"
_DEVICES = b"346"


class TarKind(DimensionlessKind):
    """TAR archives."""

    mimes = ("application/x-tar",)
    type = ArtifactType.ARCHIVE
    extensions = ("tar",)
    label = "a TAR archive"

    def matches(self, content: bytes) -> bool:
        """Return whether the first block is a member header, by its checksum."""
        return _is_header(content[:_TAR_BLOCK])

    def check(self, content: bytes) -> str:
        """Return warnings on truncated members, and on the effect of unpacking."""
        if not self.matches(content):
            return "not a TAR archive"
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
            rest = content[end : end + 2 * _TAR_BLOCK]
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
    for _ in range(_TAR_MEMBERS):
        header = content[offset : offset + _TAR_BLOCK]
        if not _is_header(header):
            break
        size = _octal(header[124:136]) or 0
        name = header[:100].partition(b"\x00")[0]
        body = offset + _TAR_BLOCK
        offset = body + -(-size // _TAR_BLOCK) * _TAR_BLOCK
        yield _Member(name, header[156:157], body, size, offset)


def _is_header(header: bytes) -> bool:
    if len(header) < _TAR_BLOCK or not header[0]:
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


_GZIP_UNPACKED = 16 * 1024**2
"""Bytes that a gzip file is unpacked to, to check whether it is complete."""
_GZIP_STEP = 256 * 1024
_GZIP_MEMBERS = 64
_DEFLATE = 1032
_ZSTD_BLOCKS = 100_000
_BZIP2_END = 0x177245385090
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_SIZES = (0, 2, 4, 8)
_ZSTD_NAMES = (0, 1, 2, 4)


class _PackedKind(DimensionlessKind):
    """Base class of the compressed single files."""

    type = ArtifactType.ARCHIVE


class GzipKind(_PackedKind):
    """Files compressed by gzip."""

    mimes = ("application/gzip", "application/x-gzip")
    extensions = ("gz", "tgz", "svgz")
    label = "a gzip file"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature and the only compression method."""
        return content.startswith(b"\x1f\x8b\x08")

    def check(self, content: bytes) -> str:
        """Return warnings on truncation, checked by unpacking up to 16 MiB, and on the claimed
        size.
        """
        if not self.matches(content):
            return "not a gzip file"
        claimed = little(content, len(content) - 4, 4) or 0
        # A cut file ends in any four bytes: what deflate cannot reach is no size.
        bomb = unpacked(claimed, "unpack") if claimed <= len(content) * _DEFLATE else ""
        return _gzip_end(content) or bomb


class Bzip2Kind(_PackedKind):
    """Files compressed by bzip2."""

    mimes = ("application/x-bzip2", "application/bzip2")
    extensions = ("bz2", "tbz2")
    label = "a bzip2 file"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature, followed by a block or the end."""
        return (
            content.startswith(b"BZh")
            and content[3:4] in b"123456789"
            and content[4:10] in (b"1AY&SY", b"\x17rE8P\x90")
        )

    def check(self, content: bytes) -> str:
        """Return a warning if the end marker is missing."""
        if not self.matches(content):
            return "not a bzip2 file"
        last = int.from_bytes(content[-11:])
        # The mark and a checksum, then less than a byte of padding.
        ended = any(last >> 32 + shift & (1 << 48) - 1 == _BZIP2_END for shift in range(8))
        return "" if ended else cut_short("the mark of its end is not there")


class XzKind(_PackedKind):
    """Files compressed by xz."""

    mimes = ("application/x-xz",)
    extensions = ("xz", "txz")
    label = "an xz file"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature."""
        return content.startswith(b"\xfd7zXZ\x00")

    def check(self, content: bytes) -> str:
        """Return a warning if the footer, with its checksum, is missing."""
        if not self.matches(content):
            return "not an xz file"
        footer = content[-64:].rstrip(b"\x00")[-12:] if content.endswith(b"\x00") else content[-12:]
        intact = footer[10:] == b"YZ" and zlib.crc32(footer[4:10]) == little(footer, 0, 4)
        return "" if intact else cut_short("there is no footer")


class ZstdKind(_PackedKind):
    """Files compressed by Zstandard."""

    mimes = ("application/zstd", "application/x-zstd")
    extensions = ("zst", "tzst")
    label = "a Zstandard file"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature."""
        return content.startswith(_ZSTD)

    def check(self, content: bytes) -> str:
        """Return warnings on truncated blocks, and on the claimed size."""
        if not self.matches(content):
            return "not a Zstandard file"
        offset, claimed = 0, 0
        blocks = _ZSTD_BLOCKS
        # trust: a file from inside; every step moves forward, and their number is limited.
        while content.startswith(_ZSTD, offset) and blocks > 0:
            descriptor = content[offset + 4 : offset + 5]
            if not descriptor:
                return cut_short("the header is not all there")
            flags = descriptor[0]
            single = flags >> 5 & 1
            names = _ZSTD_NAMES[flags & 3]
            sizes = _ZSTD_SIZES[flags >> 6] or single
            offset += 5 + (not single) + names
            size = little(content, offset, sizes) or 0
            claimed += size + 256 if sizes == 2 else size
            offset += sizes
            while blocks > 0:
                blocks -= 1
                head = little(content, offset, 3)
                if head is None:
                    return cut_short("there is no last block")
                # A block of one repeated byte says how often, and holds that byte.
                offset += 3 + (1 if head >> 1 & 3 == 1 else head >> 3)
                if head & 1:
                    break
            offset += 4 * (flags >> 2 & 1)
            if late := missing(content, offset, "a block"):
                return late
        return joined(unpacked(claimed, "unpack"), trailing(content, offset) if blocks else "")


class SevenZipKind(_PackedKind):
    """7z archives."""

    mimes = ("application/x-7z-compressed",)
    extensions = ("7z",)
    label = "a 7z archive"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature."""
        return content.startswith(b"7z\xbc\xaf\x27\x1c")

    def check(self, content: bytes) -> str:
        """Return warnings on a wrong start header checksum, or a directory outside the file."""
        if not self.matches(content):
            return "not a 7z archive"
        if len(content) < 32:
            return cut_short("the header is not all there")
        if zlib.crc32(content[12:32]) != little(content, 8, 4):
            return "its header does not have its checksum"
        start, size = struct.unpack_from("<QQ", content, 12)
        end = 32 + start + size
        return missing(content, end, "the directory") or trailing(content, end)


def _gzip_end(content: bytes) -> str:
    start = total = 0
    # trust: a file from inside; Python's own inflater is asked for a bounded number of bytes.
    for _ in range(_GZIP_MEMBERS):
        inflater = zlib.decompressobj(31)
        offset = start
        while not inflater.eof:
            piece = inflater.unconsumed_tail or content[offset : offset + _GZIP_STEP]
            if not inflater.unconsumed_tail:
                offset += len(piece)
            if not piece:
                return cut_short("the packed data does not end")
            try:
                total += len(inflater.decompress(piece, _GZIP_STEP))
            except zlib.error:
                return "the packed data is damaged"
            if total >= _GZIP_UNPACKED:
                return ""
        start = offset - len(inflater.unused_data)
        if not content.startswith(b"\x1f\x8b\x08", start):
            break
    # Tapes and disks pad with zeros.
    return trailing(content, start) if content[start : start + _GZIP_STEP].strip(b"\x00") else ""
