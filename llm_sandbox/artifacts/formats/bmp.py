"""BMP and ICO: sizes in pixels, read from their headers."""

import struct

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import little
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing, unpacked
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["BmpKind", "IcoKind"]

_HEADERS = frozenset({12, 40, 52, 56, 64, 108, 124})
_UNCOMPRESSED = frozenset({0, 3, 6})
_INCH_IN_METRES = 0.0254
_ICONS = 1024


class BmpKind(ArtifactKind):
    """Windows bitmaps."""

    mimes = ("image/bmp", "image/x-bmp", "image/x-ms-bmp")
    type = ArtifactType.IMAGE
    extensions = ("bmp", "dib")
    label = "a BMP image"

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a bitmap's two headers."""
        return content.startswith(b"BM") and little(content, 14, 4) in _HEADERS

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
        """Return whether all pixels are there, and what they take."""
        if not self.matches(content):
            return "no BMP image"
        width, height, bits, compression = _bitmap(content)
        if width is None or height is None:
            return cut_short("the header is not all there")
        pixels = (width * bits + 31) // 32 * 4 * height
        start = little(content, 10, 4) or 0
        claimed = little(content, 2, 4) or 0
        end = start + pixels if compression in _UNCOMPRESSED else claimed
        late = missing(content, end, "the picture")
        # Writers pad the end of the file, and say so in its size.
        end = max(end, min(claimed, len(content)))
        return joined(unpacked(width * height * max(bits, 8) // 8), late or trailing(content, end))


class IcoKind(ArtifactKind):
    """Windows icons: several sizes of one picture."""

    mimes = ("image/vnd.microsoft.icon", "image/x-icon")
    type = ArtifactType.IMAGE
    extensions = ("ico",)
    label = "an icon"

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with an icon's directory and a possible first entry."""
        count = little(content, 4, 2)
        return (
            content.startswith(b"\x00\x00\x01\x00")
            and count is not None
            and 0 < count <= _ICONS
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
        """Return whether each icon is within the file."""
        if not self.matches(content):
            return "no icon"
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
    count = min(little(content, 4, 2) or 0, _ICONS, max(0, len(content) - 6) // 16)
    return [struct.unpack_from("<BB6xII", content, 6 + 16 * index) for index in range(count)]
