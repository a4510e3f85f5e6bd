"""BMP, ICO and TIFF images: size, resolution and pages from the headers alone."""

import struct
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import little, number
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing, unpacked
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["BmpKind", "IcoKind", "TiffKind"]

_ORDERS = {b"II*\x00": True, b"MM\x00*": False, b"II+\x00": True, b"MM\x00+": False}
_ENTRIES = 512
"""Most directory entries that are read."""
_PAGES = 4096
"""Most directories that are counted."""
_CHECKED = 64
"""Most pages that are checked for missing pieces."""
_PIECES = 4096
"""Most strips or tiles of a page whose ends are checked, from the first."""
_SIZES = {1: 1, 3: 2, 4: 4, 16: 8}
_WIDTH, _HEIGHT, _BITS, _SAMPLES = 256, 257, 258, 277
_STARTS, _LENGTHS, _TILE_STARTS, _TILE_LENGTHS = 273, 279, 324, 325
_RESOLUTION, _UNIT = 282, 296
_UNITS = {2: 1.0, 3: 2.54}


class TiffKind(ArtifactKind):
    """TIFF images, and camera formats derived from TIFF; the 64-bit form is only recognised."""

    mimes = ("image/tiff",)
    type = ArtifactType.IMAGE
    extensions = ("tif", "tiff", "geotiff", "dng")
    label = "a TIFF image"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature of one of the four forms."""
        return content[:4] in _ORDERS

    def describe(self, content: bytes) -> Dimensions:
        """Return the first page's size in pixels and resolution, and the number of pages."""
        first = _Directory.first(content)
        if first is None:
            return Dimensions()
        unit = _UNITS.get(first.value(_UNIT) or 2)
        return Dimensions.of(
            first.value(_WIDTH),
            first.value(_HEIGHT),
            _resolution(first, unit) if unit else None,
            pages=sum(1 for _ in _pages(first)),
        )

    def check(self, content: bytes) -> str:
        """Return warnings on missing directories or pixels, and on memory use."""
        if not self.matches(content):
            return "not a TIFF image"
        if content[2:4] in (b"+\x00", b"\x00+"):
            return ""
        first = _Directory.first(content)
        if first is None:
            return cut_short("the directory of the first page is not there")
        width, height = first.value(_WIDTH), first.value(_HEIGHT)
        if not width or not height:
            return cut_short("the directory of the first page has no size")
        samples = min(first.value(_SAMPLES) or 1, 64)
        bits = min(max(first.value(_BITS) or 1, 8), 64)
        pages = list(islice(_pages(first), _CHECKED))
        late = next(filter(None, map(_missing_pieces, pages)), "")
        after = pages[-1].next_offset()
        if not late and after and _Directory.at(content, first.first_is_low, after) is None:
            late = cut_short("the directory of a page is not there")
        return joined(unpacked(width * height * samples * bits // 8), late)


class _Directory(NamedTuple):
    content: bytes
    first_is_low: bool
    offset: int
    entries: dict[int, tuple[int, int, int]]
    """Type, count and value offset by tag."""

    @classmethod
    def first(cls, content: bytes) -> "_Directory | None":
        # trust: a file from inside; offsets may point anywhere, past its end as well.
        if content[:4] not in (b"II*\x00", b"MM\x00*"):
            return None
        low = _ORDERS[content[:4]]
        return cls.at(content, low, number(content, 4, 4, first_is_low=low))

    @classmethod
    def at(cls, content: bytes, low: bool, offset: int | None) -> "_Directory | None":
        count = None if not offset else number(content, offset, 2, first_is_low=low)
        if not offset or not count or offset + 2 + 12 * count > len(content):
            return None
        entries: dict[int, tuple[int, int, int]] = {}
        for index in range(min(count, _ENTRIES)):
            place = offset + 2 + 12 * index
            tag = number(content, place, 2, first_is_low=low) or 0
            form = number(content, place + 2, 2, first_is_low=low) or 0
            length = number(content, place + 4, 4, first_is_low=low) or 0
            entries.setdefault(tag, (form, length, place + 8))
        return cls(content, low, offset, entries)

    def next_offset(self) -> int | None:
        count = self.number(self.offset, 2) or 0
        return self.number(self.offset + 2 + 12 * count, 4)

    def number(self, offset: int, size: int) -> int | None:
        return number(self.content, offset, size, first_is_low=self.first_is_low)

    def value(self, tag: int) -> int | None:
        values = self.values(tag, 1)
        return values[0] if values else None

    def values(self, tag: int, limit: int) -> list[int]:
        form, count, place = self.entries.get(tag, (0, 0, 0))
        size = _SIZES.get(form)
        if size is None:
            return []
        if size * count > 4:
            place = self.number(place, 4) or 0
        found = (self.number(place + size * i, size) for i in range(min(count, limit)))
        return [value for value in found if value is not None]


def _resolution(page: _Directory, scale: float) -> float | None:
    form, count, place = page.entries.get(_RESOLUTION, (0, 0, 0))
    offset = page.number(place, 4) if form == 5 and count == 1 else None
    if offset is None:
        return None
    above, below = page.number(offset, 4), page.number(offset + 4, 4)
    return above / below * scale if above and below else None


def _pages(first: _Directory) -> Iterator[_Directory]:
    seen: set[int] = set()
    page: _Directory | None = first
    # trust: directories that point at each other would never end.
    while page is not None and page.offset not in seen and len(seen) < _PAGES:
        seen.add(page.offset)
        yield page
        page = _Directory.at(first.content, first.first_is_low, page.next_offset())


def _missing_pieces(page: _Directory) -> str:
    for starts, lengths in ((_STARTS, _LENGTHS), (_TILE_STARTS, _TILE_LENGTHS)):
        ends = [
            start + length
            for start, length in zip(
                page.values(starts, _PIECES), page.values(lengths, _PIECES), strict=False
            )
        ]
        if ends:
            return missing(page.content, max(ends), "the picture")
    return cut_short("the picture is not there")


_BMP_HEADERS = frozenset({12, 40, 52, 56, 64, 108, 124})
_BMP_UNCOMPRESSED = frozenset({0, 3, 6})
_INCH_IN_METRES = 0.0254
_MOST_ICONS = 1024


class BmpKind(ArtifactKind):
    """Windows bitmaps."""

    mimes = ("image/bmp", "image/x-bmp", "image/x-ms-bmp")
    type = ArtifactType.IMAGE
    extensions = ("bmp", "dib")
    label = "a BMP image"

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with the two headers of a bitmap."""
        return content.startswith(b"BM") and little(content, 14, 4) in _BMP_HEADERS

    def describe(self, content: bytes) -> Dimensions:
        """Return the size in pixels, and the resolution where the header has one."""
        if not self.matches(content):
            return Dimensions()
        width, height, _, _ = _bitmap(content)
        dpi: float | None = None
        if content[14] != 12 and len(content) >= 46:
            across, down = struct.unpack_from("<ii", content, 38)
            dpi = across * _INCH_IN_METRES if across == down else None
        return Dimensions.of(width, height, dpi)

    def check(self, content: bytes) -> str:
        """Return warnings on missing pixels, and on memory use."""
        if not self.matches(content):
            return "not a BMP image"
        width, height, bits, compression = _bitmap(content)
        if width is None or height is None:
            return cut_short("the header is not all there")
        pixels = (width * bits + 31) // 32 * 4 * height
        start = little(content, 10, 4) or 0
        claimed = little(content, 2, 4) or 0
        end = start + pixels if compression in _BMP_UNCOMPRESSED else claimed
        late = missing(content, end, "the picture")
        # Writers pad the end of the file, and say so in its size.
        end = max(end, min(claimed, len(content)))
        return joined(unpacked(width * height * max(bits, 8) // 8), late or trailing(content, end))


class IcoKind(ArtifactKind):
    """Windows icons: several sizes of one image."""

    mimes = ("image/vnd.microsoft.icon", "image/x-icon")
    type = ArtifactType.IMAGE
    extensions = ("ico",)
    label = "an icon"

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with an icon directory and a plausible first entry."""
        count = little(content, 4, 2)
        return (
            content.startswith(b"\x00\x00\x01\x00")
            and count is not None
            and 0 < count <= _MOST_ICONS
            and content[9:10] == b"\x00"
            and (little(content, 18, 4) or 0) >= 6
        )

    def describe(self, content: bytes) -> Dimensions:
        """Return the largest size in the directory."""
        entries = _icons(content) if self.matches(content) else []
        if not entries:
            return Dimensions()
        width, height = max((entry[0] or 256, entry[1] or 256) for entry in entries)
        return Dimensions.of(width, height)

    def check(self, content: bytes) -> str:
        """Return a warning if an icon is outside the file."""
        if not self.matches(content):
            return "not an icon"
        entries = _icons(content)
        if len(entries) < (little(content, 4, 2) or 0):
            return cut_short("the directory is not all there")
        end = max(offset + size for _, _, size, offset in entries)
        return missing(content, end, "an icon") or trailing(content, end)


def _bitmap(content: bytes) -> tuple[int | None, int | None, int, int]:
    if little(content, 14, 4) == 12:
        if len(content) < 26:
            return None, None, 0, 0
        width, height, _, bits = struct.unpack_from("<HHHH", content, 18)
        return width, height, bits, 0
    if len(content) < 34:
        return None, None, 0, 0
    width, height, _, bits, compression = struct.unpack_from("<iiHHI", content, 18)
    # A negative height says that the first row is the top one.
    return max(0, width), abs(height), bits, compression


def _icons(content: bytes) -> list[tuple[int, int, int, int]]:
    count = min(little(content, 4, 2) or 0, _MOST_ICONS, max(0, len(content) - 6) // 16)
    return [struct.unpack_from("<BB6xII", content, 6 + 16 * index) for index in range(count)]
