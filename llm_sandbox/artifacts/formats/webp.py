"""WebP: size in pixels, number of pictures and how long they play."""

from collections.abc import Iterator
from typing import NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import little
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing, unpacked
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["WebpKind"]

_CHUNKS = 20_000
"""Chunks that are passed over in search of pictures."""
_ANIMATED = 0x02


class WebpKind(ArtifactKind):
    """WebP images, still or moving."""

    mimes = ("image/webp",)
    type = ArtifactType.IMAGE
    extensions = ("webp",)
    label = "a WebP image"

    def matches(self, content: bytes) -> bool:
        """Whether the content is a RIFF container of a WebP."""
        return content.startswith(b"RIFF") and content[8:12] == b"WEBP"

    def describe(self, content: bytes) -> Dimensions:
        """Return the size from the first chunk, and how many pictures come for how long."""
        if not self.matches(content):
            return Dimensions()
        width, height = _size(content)
        first = content[12:16]
        if first != b"VP8X" or not (little(content, 20, 1) or 0) & _ANIMATED:
            return Dimensions.of(width, height)
        durations = [
            little(content, chunk.body + 12, 3) or 0
            for chunk in _chunks(content)
            if chunk.name == b"ANMF"
        ]
        total = sum(durations) / 1000
        return Dimensions.of(width, height, frames=len(durations), duration_s=total or None)

    def check(self, content: bytes) -> str:
        """Return whether the container is whole, and what a picture takes."""
        if not self.matches(content):
            return "no WebP image"
        width, height = _size(content)
        if width is None or height is None:
            return cut_short("the first chunk has no size")
        end = 8 + (little(content, 4, 4) or 0)
        late = missing(content, end, "the container")
        for chunk in _chunks(content):
            late = late or missing(content, chunk.body + chunk.length, "a chunk")
        return joined(unpacked(width * height * 4), late or trailing(content, end))


class _Chunk(NamedTuple):
    name: bytes
    body: int
    length: int


def _chunks(content: bytes) -> Iterator[_Chunk]:
    offset = 12
    stop = min(len(content), 8 + (little(content, 4, 4) or 0))
    # trust: a file from inside; every step moves forward, and their number is limited.
    for _ in range(_CHUNKS):
        length = little(content, offset + 4, 4)
        if length is None or offset + 8 > stop:
            break
        yield _Chunk(content[offset : offset + 4], offset + 8, length)
        offset += 8 + length + length % 2


def _size(content: bytes) -> tuple[int | None, int | None]:
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
