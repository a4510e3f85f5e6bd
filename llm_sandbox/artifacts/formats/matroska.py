"""WebM and Matroska: elements within elements, with the size of the picture and the length."""

import struct
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.messages import cut_short, missing, trailing
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["MatroskaKind", "WebmKind", "detect_subtype"]

_SIGNATURE = b"\x1aE\xdf\xa3"
_ELEMENTS = 4096
"""Elements on one level that are passed over."""
_HEADER, _DOCTYPE, _SEGMENT = 0x1A45DFA3, 0x4282, 0x18538067
_INFO, _SCALE, _DURATION = 0x1549A966, 0x2AD7B1, 0x4489
_TRACKS, _TRACK, _VIDEO, _WIDTH, _HEIGHT = 0x1654AE6B, 0xAE, 0xE0, 0xB0, 0xBA
_USUAL_SCALE = 1_000_000


def detect_subtype(head: bytes) -> str | None:
    """Return the name of the kind that an EBML container is of; None for another one.

    Args:
        head: Its beginning, possibly hostile.
    """
    for header in _elements(head, 0, len(head)):
        if header.name != _HEADER:
            break
        for element in _elements(head, header.body, min(header.end or 0, len(head))):
            if element.name == _DOCTYPE and element.end is not None:
                named = head[element.body : element.end].rstrip(b"\x00")
                return {b"webm": "webm", b"matroska": "matroska"}.get(named)
        break
    return None


class MatroskaKind(ArtifactKind):
    """Matroska video and sound."""

    name: ClassVar[str] = "matroska"
    mimes: ClassVar[tuple[str, ...]] = ("video/x-matroska", "video/matroska", "audio/x-matroska")
    type = ArtifactType.VIDEO
    extensions: ClassVar[tuple[str, ...]] = ("mkv", "mka")
    label = "Matroska video"

    def matches(self, content: bytes) -> bool:
        """Whether the content's header names this format."""
        return content.startswith(_SIGNATURE) and detect_subtype(content) == self.name

    def describe(self, content: bytes) -> Dimensions:
        """Return the largest track's size, and how long it plays."""
        segment = _segment(content) if self.matches(content) else None
        if segment is None:
            return Dimensions()
        stop = min(segment.end or len(content), len(content))
        scale, length = _USUAL_SCALE, None
        sizes = [(0, 0)]
        for part in _elements(content, segment.body, stop):
            if part.name == _INFO:
                for element in _inside(content, part, stop):
                    if element.name == _SCALE:
                        scale = _number(content, element)
                    elif element.name == _DURATION:
                        length = _real(content, element)
            elif part.name == _TRACKS:
                within = min(part.end or 0, stop)
                sizes += [_size(content, track, within) for track in _inside(content, part, stop)]
        return Dimensions.of(
            *max(sizes, key=lambda size: size[0] * size[1]),
            duration_s=length * scale / 1e9 if length is not None else None,
        )

    def check(self, content: bytes) -> str:
        """Return whether the segment, where it says how long it is, is all there."""
        if not self.matches(content):
            return f"no {self.label}"
        segment = _segment(content)
        if segment is None:
            return cut_short("there is no segment")
        if segment.end is None:
            # Written while it was recorded: there is no telling where it should have ended.
            return ""
        return missing(content, segment.end, "the segment") or trailing(content, segment.end)


class WebmKind(MatroskaKind):
    """WebM video."""

    name = "webm"
    mimes = ("video/webm", "audio/webm")
    extensions = ("webm",)
    label = "WebM video"


class _Element(NamedTuple):
    name: int
    body: int
    end: int | None
    """None where the size is not known."""


def _elements(content: bytes, offset: int, stop: int) -> Iterator[_Element]:
    # trust: a file from inside; every step moves forward, and their number is limited.
    for _ in range(_ELEMENTS):
        if offset >= stop:
            break
        name = _variable(content, offset, keep=True)
        size = _variable(content, offset + name[1], keep=False) if name is not None else None
        if name is None or size is None:
            break
        body = offset + name[1] + size[1]
        unknown = size[0] == (1 << 7 * size[1]) - 1
        yield _Element(name[0], body, None if unknown else body + size[0])
        if unknown:
            break
        offset = body + size[0]


def _variable(content: bytes, offset: int, *, keep: bool) -> tuple[int, int] | None:
    first = content[offset : offset + 1]
    if not first or not first[0]:
        return None
    length = 9 - first[0].bit_length()
    field = content[offset : offset + length]
    if len(field) < length:
        return None
    value = int.from_bytes(field)
    return (value if keep else value & ((1 << 7 * length) - 1)), length


def _segment(content: bytes) -> _Element | None:
    return next((e for e in _elements(content, 0, len(content)) if e.name == _SEGMENT), None)


def _inside(content: bytes, element: _Element, stop: int) -> Iterator[_Element]:
    # trust: an element may claim to end after the one that it is in; then parts would be read over
    # and over.
    return _elements(content, element.body, min(element.end or 0, stop))


def _size(content: bytes, track: _Element, stop: int) -> tuple[int, int]:
    width = height = 0
    if track.name == _TRACK:
        stop = min(track.end or 0, stop)
        for video in _inside(content, track, stop):
            for element in _inside(content, video, stop) if video.name == _VIDEO else ():
                if element.name == _WIDTH:
                    width = _number(content, element)
                elif element.name == _HEIGHT:
                    height = _number(content, element)
    return width, height


def _number(content: bytes, element: _Element) -> int:
    return int.from_bytes(content[element.body : min(element.end or 0, element.body + 8)])


def _real(content: bytes, element: _Element) -> float | None:
    field = content[element.body : min(element.end or 0, element.body + 8)]
    form = {4: ">f", 8: ">d"}.get(len(field))
    return float(struct.unpack(form, field)[0]) if form else None
