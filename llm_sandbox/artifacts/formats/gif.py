"""GIF: size in pixels, number of pictures and how long they play."""

import struct
from typing import NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.messages import cut_short, joined, trailing, unpacked
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["GifKind"]

_HEADER = 13
_STEPS = 200_000
"""Blocks that are passed over: those of 50 MB."""
_EXTENSION = 0x21
_PICTURE = 0x2C
_TRAILER = 0x3B
_GRAPHIC_CONTROL = 0xF9


class GifKind(ArtifactKind):
    """GIF images, still or moving."""

    mimes = ("image/gif",)
    type = ArtifactType.IMAGE
    extensions = ("gif",)
    label = "a GIF image"

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with the signature of one of the two versions."""
        return content.startswith((b"GIF87a", b"GIF89a"))

    def describe(self, content: bytes) -> Dimensions:
        """Return the size of the screen, and how many pictures come for how long."""
        if not self.matches(content) or len(content) < _HEADER:
            return Dimensions()
        width, height = struct.unpack_from("<HH", content, 6)
        found = _walk(content)
        moving = found.frames is not None and found.frames > 1 and found.end is not None
        return Dimensions.of(
            width,
            height,
            frames=found.frames if found.end is not None else None,
            duration_s=found.hundredths / 100 if moving and found.hundredths else None,
        )

    def check(self, content: bytes) -> str:
        """Return whether the blocks reach the trailer, and what a picture takes."""
        if not self.matches(content):
            return "no GIF image"
        if len(content) < _HEADER:
            return cut_short("the header is not all there")
        width, height = struct.unpack_from("<HH", content, 6)
        end = _walk(content).end
        return joined(
            unpacked(width * height * 4),
            cut_short("there is no trailer") if end is None else trailing(content, end),
        )


class _Blocks(NamedTuple):
    frames: int | None
    hundredths: int
    end: int | None


def _walk(content: bytes) -> _Blocks:
    frames = hundredths = 0
    offset = _HEADER + _colours(content[10])
    steps = _STEPS
    # trust: a file from inside; every step moves forward, and their number is limited.
    while offset < len(content) and steps > 0:
        steps -= 1
        introducer = content[offset]
        if introducer == _TRAILER:
            return _Blocks(frames, hundredths, offset + 1)
        if introducer == _PICTURE and offset + 10 <= len(content):
            frames += 1
            offset += 11 + _colours(content[offset + 9])
        elif introducer == _EXTENSION:
            body = content[offset + 1 : offset + 7]
            if len(body) == 6 and body[0] == _GRAPHIC_CONTROL:
                hundredths += int.from_bytes(body[3:5], "little")
            offset += 2
        else:
            return _Blocks(frames, hundredths, None)
        offset, steps = _after_data(content, offset, steps)
    if steps <= 0 and content.endswith(b"\x00;"):
        return _Blocks(None, 0, len(content))
    return _Blocks(frames, hundredths, None)


def _after_data(content: bytes, offset: int, steps: int) -> tuple[int, int]:
    while offset < len(content) and steps > 0:
        steps -= 1
        length = content[offset]
        offset += 1 + length
        if not length:
            break
    return offset, steps


def _colours(packed: int) -> int:
    return 3 * 2 ** ((packed & 7) + 1) if packed & 0x80 else 0
