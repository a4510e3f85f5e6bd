"""PNG, JPEG, GIF and WebP images: size, resolution and frames from the headers alone.

No image decoder sees the content: decoders have a history of defects, and only numbers are needed.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import Chunk, chunks, little
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing, unpacked
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = ["GifKind", "JpegKind", "PngKind", "WebpKind", "image_size", "image_type"]

_PNG = b"\x89PNG\r\n\x1a\n"
_IHDR = b"\x00\x00\x00\rIHDR"
_CHUNKS = 64
"""Most chunks of a PNG that are skipped in search of the resolution."""
_ALL_CHUNKS = 100_000
"""Most chunks of a PNG that are skipped in search of its end."""
_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}
_DEFLATE = 1032
"""Largest expansion of one byte by Deflate, in bytes."""

_JPEG = b"\xff\xd8\xff"
_STEPS = 2048
"""Most segments and fill bytes of a JPEG that are skipped in search of the size."""
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD8)})
_END_OF_IMAGE = 0xD9
_START_OF_SCAN = 0xDA
# In the data of a scan, a marker is what is neither a stuffed byte, a restart nor a fill byte.
_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")

_INCH_IN_METRES = 0.0254
_INCH_IN_CENTIMETRES = 2.54


class PngKind(ArtifactKind):
    """PNG images."""

    mimes = ("image/png", "image/apng", "image/vnd.mozilla.apng", "image/x-png")
    type = ArtifactType.IMAGE
    extensions = ("png", "apng")
    label = "a PNG image"
    file_type = FileType.PNG

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature of a PNG."""
        return content.startswith(_PNG)

    def describe(self, content: bytes) -> Dimensions:
        """Return the size in pixels from IHDR, the resolution from pHYs, the frames from acTL."""
        # trust: a file from inside; its lengths are followed by slices, which end where it ends.
        if not self.matches(content) or content[8:16] != _IHDR or len(content) < 24:
            return Dimensions()
        width, height = struct.unpack_from(">II", content, 16)
        dpi, frames = _png_details(content)
        return Dimensions.of(width, height, dpi, frames=frames)

    def check(self, content: bytes) -> str:
        """Return warnings on a missing IEND, and on memory use."""
        if not self.matches(content):
            return "not a PNG image"
        if len(content) < 33:
            return cut_short("the header is not all there")
        if content[8:16] != _IHDR:
            return "it does not begin with its header"
        intact = zlib.crc32(content[12:29]) == int.from_bytes(content[29:33])
        width, height, depth, colour = struct.unpack_from(">IIBB", content, 16)
        if not width or not height:
            return "it has no pixels"
        bits = _CHANNELS.get(colour, 4) * max(8, depth)
        least = height * -(-width * depth * (1 if colour == 3 else _CHANNELS.get(colour, 1)) // 8)
        return joined(
            "" if intact else "its header does not have its checksum",
            unpacked(width * height * bits // 8),
            _png_ending(content, least),
        )


class JpegKind(ArtifactKind):
    """JPEG images."""

    mimes = ("image/jpeg", "image/jpg", "image/pjpeg")
    type = ArtifactType.IMAGE
    extensions = ("jpg", "jpeg", "jpe", "jfif", "mpo")
    label = "a JPEG image"
    file_type = FileType.JPEG

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with the first marker of a JPEG and another one."""
        return content.startswith(_JPEG)

    def describe(self, content: bytes) -> Dimensions:
        """Return the size in pixels from the frame header, and the resolution from JFIF."""
        if not self.matches(content):
            return Dimensions()
        found = _jpeg_header(content)
        return Dimensions.of(found.width, found.height, found.dpi)

    def check(self, content: bytes) -> str:
        """Return warnings on a missing end of image, and on memory use."""
        if not self.matches(content):
            return "not a JPEG image"
        found = _jpeg_header(content)
        size = (found.width or 0) * (found.height or 0) * found.channels
        return joined(
            "" if found.width else cut_short("there is no frame header"),
            unpacked(size),
            _jpeg_end(content, found.end),
        )


def _png_details(content: bytes) -> tuple[float | None, int | None]:
    dpi: float | None = None
    frames: int | None = None
    offset = len(_PNG)
    for _ in range(_CHUNKS):
        head = content[offset : offset + 8]
        if len(head) < 8:
            break
        length = int.from_bytes(head[:4])
        name = head[4:]
        if name in (b"IDAT", b"IEND"):
            break
        body = content[offset + 8 : offset + 17]
        if name == b"pHYs" and dpi is None and length == 9 and len(body) == 9:
            across, down, unit = struct.unpack(">IIB", body)
            dpi = across * _INCH_IN_METRES if unit == 1 and across == down else None
        elif name == b"acTL" and length == 8 and len(body) >= 8:
            frames = int.from_bytes(body[:4])
        offset += 12 + length
    return dpi, frames


def _png_ending(content: bytes, least: int) -> str:
    end, packed = _png_end(content)
    if end is None:
        return cut_short("there is no IEND chunk")
    few = "it has too few bytes for so many pixels" if packed * _DEFLATE < least else ""
    return joined(few, trailing(content, end))


def _png_end(content: bytes) -> tuple[int | None, int]:
    packed = 0
    offset = len(_PNG)
    # trust: a file from inside; every step moves forward, and their number is limited.
    for _ in range(_ALL_CHUNKS):
        head = content[offset : offset + 8]
        length = int.from_bytes(head[:4])
        if len(head) < 8 or offset + 12 + length > len(content):
            return None, packed
        offset += 12 + length
        if head[4:] == b"IEND":
            return offset, packed
        if head[4:] in (b"IDAT", b"fdAT"):
            packed += length
    # More chunks than any writer makes of that many bytes: the last of them decides.
    end = content.rfind(b"\x00\x00\x00\x00IEND")
    return (end + 12 if end > 0 else None), len(content)


class _Jpeg(NamedTuple):
    width: int | None
    height: int | None
    dpi: float | None
    channels: int
    end: int
    """Offset at which the search stopped: at the frame header, or at a segment that cannot be
    skipped."""


def _jpeg_header(content: bytes) -> _Jpeg:
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
        if marker in (_END_OF_IMAGE, _START_OF_SCAN) or length < 2:
            break
        body = content[offset + 4 : offset + min(length, 32) + 2]
        if marker in _START_OF_FRAME:
            if len(body) < 5:
                break
            height, width = struct.unpack_from(">HH", body, 1)
            return _Jpeg(width, height, dpi, body[5] if len(body) > 5 else 3, offset)
        if marker == 0xE0 and dpi is None:
            dpi = _jfif_dpi(body)
        offset += 2 + length
    return _Jpeg(None, None, dpi, 3, offset)


def _jpeg_end(content: bytes, offset: int) -> str:
    # trust: a file from inside; the same, with a fast search through the data of each scan.
    for _ in range(_STEPS):
        marker = content[offset + 1 : offset + 2]
        if content[offset : offset + 1] != b"\xff" or not marker:
            break
        if marker[0] == _END_OF_IMAGE:
            return trailing(content, offset + 2)
        if marker[0] == 0xFF:
            offset += 1
            continue
        if marker[0] in _STANDALONE:
            offset += 2
            continue
        offset += 2 + max(2, int.from_bytes(content[offset + 2 : offset + 4]))
        if late := missing(content, offset, "a segment"):
            return late
        if marker[0] == _START_OF_SCAN:
            found = _MARKER.search(content, offset)
            if found is None:
                break
            offset = found.start()
    else:
        if content.rstrip(b"\x00").endswith(b"\xff\xd9"):
            return ""
    return cut_short("there is no end of the image")


def _jfif_dpi(body: bytes) -> float | None:
    if len(body) < 12 or not body.startswith(b"JFIF\x00"):
        return None
    unit, across, down = struct.unpack_from(">BHH", body, 7)
    scale = {1: 1.0, 2: _INCH_IN_CENTIMETRES}.get(unit)
    # Pixels that are not square have two resolutions, and one number cannot say both.
    return across * scale if scale is not None and across == down else None


_GIF_HEADER = 13
_GIF_STEPS = 200_000
"""Most blocks that are skipped: those of 50 MB."""
_GIF_EXTENSION = 0x21
_GIF_PICTURE = 0x2C
_GIF_TRAILER = 0x3B
_GIF_CONTROL = 0xF9


class GifKind(ArtifactKind):
    """GIF images, still or moving."""

    mimes = ("image/gif",)
    type = ArtifactType.IMAGE
    extensions = ("gif",)
    label = "a GIF image"

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with the signature of one of the two versions."""
        return content.startswith((b"GIF87a", b"GIF89a"))

    def describe(self, content: bytes) -> Dimensions:
        """Return the size of the screen, the number of frames and the duration."""
        if not self.matches(content) or len(content) < _GIF_HEADER:
            return Dimensions()
        width, height = struct.unpack_from("<HH", content, 6)
        found = _gif_blocks(content)
        moving = found.frames is not None and found.frames > 1 and found.end is not None
        return Dimensions.of(
            width,
            height,
            frames=found.frames if found.end is not None else None,
            duration_s=found.hundredths / 100 if moving and found.hundredths else None,
        )

    def check(self, content: bytes) -> str:
        """Return warnings on a missing trailer, and on memory use."""
        if not self.matches(content):
            return "not a GIF image"
        if len(content) < _GIF_HEADER:
            return cut_short("the header is not all there")
        width, height = struct.unpack_from("<HH", content, 6)
        end = _gif_blocks(content).end
        return joined(
            unpacked(width * height * 4),
            cut_short("there is no trailer") if end is None else trailing(content, end),
        )


class _GifBlocks(NamedTuple):
    frames: int | None
    hundredths: int
    end: int | None


def _gif_blocks(content: bytes) -> _GifBlocks:
    frames = hundredths = 0
    offset = _GIF_HEADER + _gif_colours(content[10])
    steps = _GIF_STEPS
    # trust: a file from inside; every step moves forward, and their number is limited.
    while offset < len(content) and steps > 0:
        steps -= 1
        introducer = content[offset]
        if introducer == _GIF_TRAILER:
            return _GifBlocks(frames, hundredths, offset + 1)
        if introducer == _GIF_PICTURE and offset + 10 <= len(content):
            frames += 1
            offset += 11 + _gif_colours(content[offset + 9])
        elif introducer == _GIF_EXTENSION:
            body = content[offset + 1 : offset + 7]
            if len(body) == 6 and body[0] == _GIF_CONTROL:
                hundredths += int.from_bytes(body[3:5], "little")
            offset += 2
        else:
            return _GifBlocks(frames, hundredths, None)
        offset, steps = _after_gif_data(content, offset, steps)
    if steps <= 0 and content.endswith(b"\x00;"):
        return _GifBlocks(None, 0, len(content))
    return _GifBlocks(frames, hundredths, None)


def _after_gif_data(content: bytes, offset: int, steps: int) -> tuple[int, int]:
    while offset < len(content) and steps > 0:
        steps -= 1
        length = content[offset]
        offset += 1 + length
        if not length:
            break
    return offset, steps


def _gif_colours(packed: int) -> int:
    return 3 * 2 ** ((packed & 7) + 1) if packed & 0x80 else 0


_WEBP_ANIMATED = 0x02


class WebpKind(ArtifactKind):
    """WebP images, still or moving."""

    mimes = ("image/webp",)
    type = ArtifactType.IMAGE
    extensions = ("webp",)
    label = "a WebP image"

    def matches(self, content: bytes) -> bool:
        """Return whether the content is a RIFF container of WebP."""
        return content.startswith(b"RIFF") and content[8:12] == b"WEBP"

    def describe(self, content: bytes) -> Dimensions:
        """Return the size from the first chunk, the number of frames and the duration."""
        if not self.matches(content):
            return Dimensions()
        width, height = _webp_size(content)
        first = content[12:16]
        if first != b"VP8X" or not (little(content, 20, 1) or 0) & _WEBP_ANIMATED:
            return Dimensions.of(width, height)
        durations = [
            little(content, chunk.body + 12, 3) or 0
            for chunk in _webp_chunks(content)
            if chunk.name == b"ANMF"
        ]
        total = sum(durations) / 1000
        return Dimensions.of(width, height, frames=len(durations), duration_s=total or None)

    def check(self, content: bytes) -> str:
        """Return warnings on a truncated container, and on memory use."""
        if not self.matches(content):
            return "not a WebP image"
        width, height = _webp_size(content)
        if width is None or height is None:
            return cut_short("the first chunk has no size")
        end = 8 + (little(content, 4, 4) or 0)
        late = missing(content, end, "the container")
        for chunk in _webp_chunks(content):
            late = late or missing(content, chunk.body + chunk.length, "a chunk")
        return joined(unpacked(width * height * 4), late or trailing(content, end))


def _webp_chunks(content: bytes) -> Iterator[Chunk]:
    return chunks(content, first_is_low=True, stop=8 + (little(content, 4, 4) or 0))


def _webp_size(content: bytes) -> tuple[int | None, int | None]:
    first = content[12:16]
    if first == b"VP8X":
        width, height = little(content, 24, 3), little(content, 27, 3)
        if width is not None and height is not None:
            return width + 1, height + 1
    elif first == b"VP8L" and content[20:21] == b"\x2f":
        packed = little(content, 21, 4)
        if packed is not None:
            return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    elif first == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        width, height = little(content, 26, 2), little(content, 28, 2)
        if width is not None and height is not None:
            return width & 0x3FFF, height & 0x3FFF
    return None, None


_KINDS: tuple[ArtifactKind, ...] = (PngKind(), JpegKind(), GifKind(), WebpKind())


def image_type(content: bytes) -> str:
    """Return the MIME type of a PNG, JPEG, GIF or WebP image; empty for anything else.

    Args:
        content: A file or its beginning, possibly hostile.
    """
    return next((kind.mimes[0] for kind in _KINDS if kind.matches(content)), "")


def image_size(content: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels from the header; None for other content.

    Args:
        content: A PNG, JPEG, GIF or WebP image, possibly hostile.
    """
    kind = next((kind for kind in _KINDS if kind.matches(content)), None)
    found = kind.describe(content) if kind is not None else Dimensions()
    return (found.width, found.height) if found.width and found.height else None
