"""MP4, MOV, M4A, AVIF and HEIC: containers of boxes within boxes."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import big
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing, unpacked
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["AvifKind", "HeicKind", "M4aKind", "MovKind", "Mp4Kind", "detect_subtype"]

_BOXES = 10_000
"""Boxes on the outermost level that are passed over."""
_INNER = 1000
"""Boxes in another one that are passed over."""
_TRACKS = 64
_BRANDS = 64
_OUTERMOST = frozenset(
    b"ftyp styp moov moof mdat imda mfra free skip wide udta meta meco pdin sidx ssix prft emsg"
    b" uuid pnot iods PICT junk".split()
)
"""What may stand on the outermost level; anything else is not part of the file."""
_AVIF = frozenset({b"avif", b"avis"})
_HEIC = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
_AUDIO = frozenset({b"M4A ", b"M4B ", b"M4P "})


def detect_subtype(head: bytes) -> str | None:
    """Return the name of the kind that a container of boxes is of; None when it is none.

    Args:
        head: Its beginning, possibly hostile.
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
    """What all of them have in common."""

    name: ClassVar[str]

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a box that names this format."""
        return detect_subtype(content) == self.name

    def check(self, content: bytes) -> str:
        """Return whether the outermost boxes are whole, and the one with the index is there."""
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
        """Return the largest track's size, and how long the movie plays."""
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
    """AAC or ALAC sound in a container."""

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
    """The boxes at the end of a path; no deeper than the path is long."""
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
