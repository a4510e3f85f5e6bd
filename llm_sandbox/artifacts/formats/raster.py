"""PNG and JPEG: sizes in pixels and the resolution, read from the headers alone.

No image decoder sees the content: those have a history of defects, and only numbers are wanted.
"""

import struct

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.plots import FileType

__all__ = ["JpegKind", "PngKind"]

_PNG = b"\x89PNG\r\n\x1a\n"
_IHDR = b"\x00\x00\x00\rIHDR"
_CHUNKS = 64
"""Chunks of a PNG that are passed over in search of the resolution."""

_JPEG = b"\xff\xd8\xff"
_STEPS = 2048
"""Segments and fill bytes of a JPEG that are passed over in search of the size."""
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD8)})
_LAST = frozenset({0xD9, 0xDA})  # end of image, start of scan

_INCH_IN_METRES = 0.0254
_INCH_IN_CENTIMETRES = 2.54


class PngKind(ArtifactKind):
    """PNG images."""

    mimes = ("image/png",)
    file_type = FileType.PNG

    def matches(self, content: bytes) -> bool:
        """Whether the content has the signature of a PNG."""
        return content.startswith(_PNG)

    def describe(self, content: bytes) -> Dimensions:
        """Return the size in pixels from IHDR, and the resolution from pHYs."""
        # trust: a file from inside; its lengths are followed by slices, which end where it ends.
        if not self.matches(content) or content[8:16] != _IHDR or len(content) < 24:
            return Dimensions()
        width, height = struct.unpack_from(">II", content, 16)
        return Dimensions.of(width, height, _png_dpi(content))


class JpegKind(ArtifactKind):
    """JPEG images."""

    mimes = ("image/jpeg",)
    file_type = FileType.JPEG

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a JPEG's first marker and another one."""
        return content.startswith(_JPEG)

    def describe(self, content: bytes) -> Dimensions:
        """Return the size in pixels from the frame header, and the resolution from JFIF."""
        if not self.matches(content):
            return Dimensions()
        dpi: float | None = None
        offset = 2
        # trust: a file from inside; every step moves forward, and their number is limited.
        for _ in range(_STEPS):
            if content[offset : offset + 1] != b"\xff" or offset + 1 >= len(content):
                break
            marker = content[offset + 1]
            if marker == 0xFF:
                offset += 1
                continue
            if marker in _STANDALONE:
                offset += 2
                continue
            length = int.from_bytes(content[offset + 2 : offset + 4])
            if marker in _LAST or length < 2:
                break
            body = content[offset + 4 : offset + min(length, 32) + 2]
            if marker in _START_OF_FRAME:
                if len(body) < 5:
                    break
                height, width = struct.unpack_from(">HH", body, 1)
                return Dimensions.of(width, height, dpi)
            if marker == 0xE0 and dpi is None:
                dpi = _jfif_dpi(body)
            offset += 2 + length
        return Dimensions.of(None, None, dpi)


def _png_dpi(content: bytes) -> float | None:
    offset = len(_PNG)
    for _ in range(_CHUNKS):
        head = content[offset : offset + 8]
        if len(head) < 8:
            break
        length = int.from_bytes(head[:4])
        name = head[4:]
        if name in (b"IDAT", b"IEND"):
            break
        if name == b"pHYs":
            body = content[offset + 8 : offset + 17]
            if length != 9 or len(body) < 9:
                break
            across, down, unit = struct.unpack(">IIB", body)
            return across * _INCH_IN_METRES if unit == 1 and across == down else None
        offset += 12 + length
    return None


def _jfif_dpi(body: bytes) -> float | None:
    if len(body) < 12 or not body.startswith(b"JFIF\x00"):
        return None
    unit, across, down = struct.unpack_from(">BHH", body, 7)
    scale = {1: 1.0, 2: _INCH_IN_CENTIMETRES}.get(unit)
    # Pixels that are not square have two resolutions, and one number cannot say both.
    return across * scale if scale is not None and across == down else None
