"""MP4, MOV, M4A, AVIF and HEIC (ISO base media), WebM, Matroska and AVI: size and duration."""

import struct
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import big, little
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing, unpacked
from llm_sandbox.artifacts.types import ArtifactType

__all__ = [
    "AviKind",
    "AvifKind",
    "HeicKind",
    "M4aKind",
    "MatroskaKind",
    "MovKind",
    "Mp4Kind",
    "WebmKind",
    "detect_iso_media",
    "detect_matroska",
]

_BOXES = 10_000
"""Most boxes on the outermost level that are skipped."""
_INNER = 1000
"""Most boxes in another one that are skipped."""
_TRACKS = 64
_BRANDS = 64
_OUTERMOST = frozenset(
    b"ftyp styp moov moof mdat imda mfra free skip wide udta meta meco pdin sidx ssix prft emsg"
    b" uuid pnot iods PICT junk".split()
)
"""Box types of the outermost level; anything else is not part of the file."""
_AVIF = frozenset({b"avif", b"avis"})
_HEIC = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
_AUDIO = frozenset({b"M4A ", b"M4B ", b"M4P "})


def detect_iso_media(head: bytes) -> str | None:
    """Return the name of the kind of an ISO media file; None if it is not one.

    Args:
        head: Beginning of the file, possibly hostile.
    """
    size = big(head, 0, 4)
    if size is None or 1 < size < 8:
        return None
    if head[4:8] == b"moov":
        return "mov"
    if head[4:8] != b"ftyp" or len(head) < 12:
        return None
    brand = head[8:12]
    others = {head[place : place + 4] for place in range(16, min(size, 16 + 4 * _BRANDS), 4)}
    # An image says so in its own brand; the others are those of its readers.
    if brand in _AVIF or (brand in _HEIC and others & _AVIF):
        return "avif"
    if brand in _HEIC:
        return "heic"
    if brand == b"qt  ":
        return "mov"
    return "m4a" if brand in _AUDIO else "mp4"


class _BoxedKind(ArtifactKind):
    """Base class of the ISO media formats."""

    name: ClassVar[str]

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with a box that names this format."""
        return detect_iso_media(content) == self.name

    def check(self, content: bytes) -> str:
        """Return warnings on truncated outermost boxes, and on a missing index."""
        if not self.matches(content):
            return f"no {self.label.removeprefix('an ').removeprefix('a ')}"
        late, names, end = "", set(), 0
        for box in _boxes(content, 0, len(content)):
            if box.name not in _OUTERMOST:
                break
            names.add(box.name)
            end = box.end
            late = late or missing(content, end, f"the box {box.name.decode()!r}")
        size = self.describe(content)
        index = b"meta" if self.type is ArtifactType.IMAGE else b"moov"
        lacks = cut_short(f"there is no box {index.decode()!r}") if index not in names else ""
        return joined(
            unpacked((size.width or 0) * (size.height or 0) * 4),
            late,
            *((lacks, trailing(content, end)) if not late else ()),
        )


class _PictureKind(_BoxedKind):
    type = ArtifactType.IMAGE

    def describe(self, content: bytes) -> Dimensions:
        """Return the largest size that a picture in it has."""
        if not self.matches(content):
            return Dimensions()
        sizes = [(0, 0)]
        for box in _within(content, b"meta", b"iprp", b"ipco", b"ispe"):
            width, height = big(content, box.body + 4, 4), big(content, box.body + 8, 4)
            sizes.append((width or 0, height or 0))
        return Dimensions.of(*max(sizes, key=lambda size: size[0] * size[1]))


class AvifKind(_PictureKind):
    """AVIF images."""

    name = "avif"
    mimes = ("image/avif", "image/avif-sequence")
    extensions = ("avif", "avifs")
    label = "an AVIF image"


class HeicKind(_PictureKind):
    """HEIC images."""

    name = "heic"
    mimes = ("image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence")
    extensions = ("heic", "heif", "hif")
    label = "a HEIC image"


class _MovieKind(_BoxedKind):
    type = ArtifactType.VIDEO

    def describe(self, content: bytes) -> Dimensions:
        """Return the size of the largest track, and the duration of the movie."""
        if not self.matches(content):
            return Dimensions()
        duration = None
        for box in _within(content, b"moov", b"mvhd"):
            wide = big(content, box.body, 1) == 1
            scale = big(content, box.body + (20 if wide else 12), 4)
            length = big(content, box.body + (24 if wide else 16), 8 if wide else 4)
            if scale and length:
                duration = length / scale
        sizes = [(0.0, 0.0)]
        for _, box in zip(
            range(_TRACKS), _within(content, b"moov", b"trak", b"tkhd"), strict=False
        ):
            place = box.body + (88 if big(content, box.body, 1) == 1 else 76)
            width, height = big(content, place, 4), big(content, place + 4, 4)
            sizes.append(((width or 0) / 65536, (height or 0) / 65536))
        return Dimensions.of(*max(sizes, key=lambda size: size[0] * size[1]), duration_s=duration)


class Mp4Kind(_MovieKind):
    """MP4 video."""

    name = "mp4"
    mimes = ("video/mp4", "audio/mp4", "video/3gpp")
    extensions = ("mp4", "m4v", "3gp")
    label = "MP4 video"


class MovKind(_MovieKind):
    """QuickTime video."""

    name = "mov"
    mimes = ("video/quicktime",)
    extensions = ("mov", "qt")
    label = "QuickTime video"


class M4aKind(_MovieKind):
    """AAC or ALAC audio in an MP4 container."""

    name = "m4a"
    mimes = ("audio/mp4", "audio/x-m4a", "audio/m4a")
    type = ArtifactType.AUDIO
    extensions = ("m4a", "m4b", "mp4")
    label = "M4A sound"


class _Box(NamedTuple):
    name: bytes
    body: int
    end: int


def _boxes(content: bytes, start: int, stop: int, limit: int = _BOXES) -> Iterator[_Box]:
    # trust: a file from inside; every step moves forward, and their number is limited.
    for _ in range(limit):
        size, body = big(content, start, 4), start + 8
        if size is None or body > stop:
            break
        if size == 1:
            size, body = big(content, start + 8, 8), start + 16
            if size is None:
                break
        end = stop if size == 0 else start + size
        if end < body:
            break
        yield _Box(content[start + 4 : start + 8], body, end)
        start = end


def _within(content: bytes, *path: bytes) -> Iterator[_Box]:
    """Yield the boxes at the end of a path; no deeper than the path is long."""
    spans = [(0, len(content))]
    for depth, name in enumerate(path):
        found = [
            # trust: a box may claim to end after the one that it is in.
            _Box(box.name, box.body, min(box.end, stop))
            for start, stop in spans[:_TRACKS]
            for box in _boxes(content, start, stop, _INNER)
            if box.name == name
        ]
        if depth == len(path) - 1:
            yield from found
        # A version and flags stand before what is in this one.
        spans = [(box.body + (4 if name == b"meta" else 0), box.end) for box in found]


_SIGNATURE = b"\x1aE\xdf\xa3"
_AVI_CONTAINERS = 4096
"""Most RIFF containers of one AVI file that are read: each holds up to a GB."""
_ELEMENTS = 4096
"""Most elements on one level that are skipped."""
_EBML_HEADER, _EBML_DOCTYPE, _EBML_SEGMENT = 0x1A45DFA3, 0x4282, 0x18538067
_EBML_INFO, _EBML_SCALE, _EBML_DURATION = 0x1549A966, 0x2AD7B1, 0x4489
_EBML_TRACKS, _EBML_TRACK, _EBML_VIDEO, _EBML_WIDTH, _EBML_HEIGHT = (
    0x1654AE6B,
    0xAE,
    0xE0,
    0xB0,
    0xBA,
)
_USUAL_SCALE = 1_000_000


def detect_matroska(head: bytes) -> str | None:
    """Return the name of the kind of an EBML container; None for another one.

    Args:
        head: Beginning of the file, possibly hostile.
    """
    for header in _elements(head, 0, len(head)):
        if header.name != _EBML_HEADER:
            break
        for element in _elements(head, header.body, min(header.end or 0, len(head))):
            if element.name == _EBML_DOCTYPE and element.end is not None:
                named = head[element.body : element.end].rstrip(b"\x00")
                return {b"webm": "webm", b"matroska": "matroska"}.get(named)
        break
    return None


class AviKind(ArtifactKind):
    """AVI video."""

    mimes = ("video/x-msvideo", "video/avi", "video/msvideo")
    type = ArtifactType.VIDEO
    extensions = ("avi",)
    label = "AVI video"

    def matches(self, content: bytes) -> bool:
        """Return whether the content is a RIFF container of AVI."""
        return content.startswith(b"RIFF") and content[8:12] == b"AVI "

    def describe(self, content: bytes) -> Dimensions:
        """Return the size, the number of frames and the duration, from the main header."""
        place = content.find(b"avih", 12, 4096) if self.matches(content) else -1
        if place < 0:
            return Dimensions()
        start = place + 8
        per_frame, frames = little(content, start, 4), little(content, start + 16, 4)
        length = per_frame * frames / 1e6 if per_frame and frames else None
        return Dimensions.of(
            little(content, start + 32, 4),
            little(content, start + 36, 4),
            frames=frames,
            duration_s=length,
        )

    def check(self, content: bytes) -> str:
        """Return a warning if the container is truncated."""
        if not self.matches(content):
            return "not AVI video"
        if b"avih" not in content[12:4096]:
            return cut_short("there is no main header")
        # Videos of more than a GB go on in further containers.
        end = 8 + (little(content, 4, 4) or 0)
        for _ in range(_AVI_CONTAINERS):
            if content[end : end + 4] != b"RIFF" or content[end + 8 : end + 12] != b"AVIX":
                break
            end += 8 + (little(content, end + 4, 4) or 0)
        return missing(content, end, "the container") or trailing(content, end)


class MatroskaKind(ArtifactKind):
    """Matroska video and audio."""

    name: ClassVar[str] = "matroska"
    mimes: ClassVar[tuple[str, ...]] = ("video/x-matroska", "video/matroska", "audio/x-matroska")
    type = ArtifactType.VIDEO
    extensions: ClassVar[tuple[str, ...]] = ("mkv", "mka")
    label = "Matroska video"

    def matches(self, content: bytes) -> bool:
        """Return whether the header of the content names this format."""
        return content.startswith(_SIGNATURE) and detect_matroska(content) == self.name

    def describe(self, content: bytes) -> Dimensions:
        """Return the size of the largest track, and the duration."""
        segment = _segment(content) if self.matches(content) else None
        if segment is None:
            return Dimensions()
        stop = min(segment.end or len(content), len(content))
        scale, length = _USUAL_SCALE, None
        sizes = [(0, 0)]
        for part in _elements(content, segment.body, stop):
            if part.name == _EBML_INFO:
                for element in _inside(content, part, stop):
                    if element.name == _EBML_SCALE:
                        scale = _number(content, element)
                    elif element.name == _EBML_DURATION:
                        length = _real(content, element)
            elif part.name == _EBML_TRACKS:
                within = min(part.end or 0, stop)
                sizes += [_size(content, track, within) for track in _inside(content, part, stop)]
        return Dimensions.of(
            *max(sizes, key=lambda size: size[0] * size[1]),
            duration_s=length * scale / 1e9 if length is not None else None,
        )

    def check(self, content: bytes) -> str:
        """Return a warning if the segment is truncated, where its length is known."""
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
    """Offset of the end; None when the size is unknown."""


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
    return next((e for e in _elements(content, 0, len(content)) if e.name == _EBML_SEGMENT), None)


def _inside(content: bytes, element: _Element, stop: int) -> Iterator[_Element]:
    # trust: an element may claim to end after the one that it is in; then parts would be read over
    # and over.
    return _elements(content, element.body, min(element.end or 0, stop))


def _size(content: bytes, track: _Element, stop: int) -> tuple[int, int]:
    width = height = 0
    if track.name == _EBML_TRACK:
        stop = min(track.end or 0, stop)
        for video in _inside(content, track, stop):
            for element in _inside(content, video, stop) if video.name == _EBML_VIDEO else ():
                if element.name == _EBML_WIDTH:
                    width = _number(content, element)
                elif element.name == _EBML_HEIGHT:
                    height = _number(content, element)
    return width, height


def _number(content: bytes, element: _Element) -> int:
    return int.from_bytes(content[element.body : min(element.end or 0, element.body + 8)])


def _real(content: bytes, element: _Element) -> float | None:
    field = content[element.body : min(element.end or 0, element.body + 8)]
    form = {4: ">f", 8: ">d"}.get(len(field))
    return float(struct.unpack(form, field)[0]) if form else None
