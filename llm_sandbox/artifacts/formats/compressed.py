"""Single compressed files, and 7z: how they are framed, and how much they claim to hold."""

import struct
import zlib

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import little
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing, unpacked
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["Bzip2Kind", "GzipKind", "SevenZipKind", "XzKind", "ZstdKind"]

_UNPACKED = 16 * 1024**2
"""Bytes that a gzip file is unpacked to, to see whether it ends."""
_STEP = 256 * 1024
_MEMBERS = 64
_DEFLATE = 1032
_BLOCKS = 100_000
_BZIP2_END = 0x177245385090
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_SIZES = (0, 2, 4, 8)
_ZSTD_NAMES = (0, 1, 2, 4)


class _PackedKind(ArtifactKind):
    """What all of them have in common."""

    type = ArtifactType.ARCHIVE

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing: what is packed is not looked at."""
        return Dimensions()


class GzipKind(_PackedKind):
    """Files packed by gzip."""

    mimes = ("application/gzip", "application/x-gzip")
    extensions = ("gz", "tgz", "svgz")
    label = "a gzip file"

    def matches(self, content: bytes) -> bool:
        """Whether the content has the signature and the one method there is."""
        return content.startswith(b"\x1f\x8b\x08")

    def check(self, content: bytes) -> str:
        """Return whether it ends, seen by unpacking up to 16 MiB, and what it claims to hold."""
        if not self.matches(content):
            return "no gzip file"
        claimed = little(content, len(content) - 4, 4) or 0
        # A cut file ends in any four bytes: what deflate cannot reach is no size.
        bomb = unpacked(claimed, "unpack") if claimed <= len(content) * _DEFLATE else ""
        return _gzip_end(content) or bomb


class Bzip2Kind(_PackedKind):
    """Files packed by bzip2."""

    mimes = ("application/x-bzip2", "application/bzip2")
    extensions = ("bz2", "tbz2")
    label = "a bzip2 file"

    def matches(self, content: bytes) -> bool:
        """Whether the content has the signature, and a block or the end follows."""
        return (
            content.startswith(b"BZh")
            and content[3:4] in b"123456789"
            and content[4:10] in (b"1AY&SY", b"\x17rE8P\x90")
        )

    def check(self, content: bytes) -> str:
        """Return whether the mark of the end stands where it must."""
        if not self.matches(content):
            return "no bzip2 file"
        last = int.from_bytes(content[-11:])
        # The mark and a checksum, then less than a byte of padding.
        ended = any(last >> 32 + shift & (1 << 48) - 1 == _BZIP2_END for shift in range(8))
        return "" if ended else cut_short("the mark of its end is not there")


class XzKind(_PackedKind):
    """Files packed by xz."""

    mimes = ("application/x-xz",)
    extensions = ("xz", "txz")
    label = "an xz file"

    def matches(self, content: bytes) -> bool:
        """Whether the content has the signature."""
        return content.startswith(b"\xfd7zXZ\x00")

    def check(self, content: bytes) -> str:
        """Return whether the footer is there, with its checksum."""
        if not self.matches(content):
            return "no xz file"
        footer = content[-64:].rstrip(b"\x00")[-12:] if content.endswith(b"\x00") else content[-12:]
        intact = footer[10:] == b"YZ" and zlib.crc32(footer[4:10]) == little(footer, 0, 4)
        return "" if intact else cut_short("there is no footer")


class ZstdKind(_PackedKind):
    """Files packed by Zstandard."""

    mimes = ("application/zstd", "application/x-zstd")
    extensions = ("zst", "tzst")
    label = "a Zstandard file"

    def matches(self, content: bytes) -> bool:
        """Whether the content has the signature."""
        return content.startswith(_ZSTD)

    def check(self, content: bytes) -> str:
        """Return whether its blocks are whole, and what it claims to hold."""
        if not self.matches(content):
            return "no Zstandard file"
        offset, claimed = 0, 0
        blocks = _BLOCKS
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
        """Whether the content has the signature."""
        return content.startswith(b"7z\xbc\xaf\x27\x1c")

    def check(self, content: bytes) -> str:
        """Return whether the start header has its checksum, and the directory is in the file."""
        if not self.matches(content):
            return "no 7z archive"
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
    for _ in range(_MEMBERS):
        inflater = zlib.decompressobj(31)
        offset = start
        while not inflater.eof:
            piece = inflater.unconsumed_tail or content[offset : offset + _STEP]
            if not inflater.unconsumed_tail:
                offset += len(piece)
            if not piece:
                return cut_short("the packed data does not end")
            try:
                total += len(inflater.decompress(piece, _STEP))
            except zlib.error:
                return "the packed data is damaged"
            if total >= _UNPACKED:
                return ""
        start = offset - len(inflater.unused_data)
        if not content.startswith(b"\x1f\x8b\x08", start):
            break
    # Tapes and disks pad with zeros.
    return trailing(content, start) if content[start : start + _STEP].strip(b"\x00") else ""
