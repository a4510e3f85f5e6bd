"""MP3 and AAC: streams of frames, with how long they play."""

from collections.abc import Callable
from typing import NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import big
from llm_sandbox.artifacts.formats.messages import cut_short, missing, trailing
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["AacKind", "Mp3Kind"]

_FRAMES = 200_000
"""Frames that are walked: those of more than an hour."""
_RATES = (44100, 48000, 32000)
_KBITS = {
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_AAC_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000)
_AAC_SAMPLES = 1024
_TAGS = (b"TAG", b"APETAGEX", b"LYRICSBEGIN", b"ID3")
"""What may follow the last frame."""


class Mp3Kind(ArtifactKind):
    """MP3 sound."""

    mimes = ("audio/mpeg", "audio/mp3", "audio/x-mp3")
    type = ArtifactType.AUDIO
    extensions = ("mp3",)
    label = "MP3 sound"

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a tag, or with a frame that another one follows."""
        if content.startswith(b"ID3"):
            return len(content) >= 10 and content[3] in (2, 3, 4) and max(content[6:10]) < 0x80
        return _follows(content, _mp3_frame)

    def describe(self, content: bytes) -> Dimensions:
        """Return how long it plays, by the encoder's own count, else by counting frames."""
        if not self.matches(content):
            return Dimensions()
        start = _after_tag(content)
        first = _mp3_frame(content, start)
        if first is None:
            return Dimensions()
        counted = _xing(content, start)
        frames = counted if counted is not None else _walk(content, start, _mp3_frame).frames
        return Dimensions.of(duration_s=frames * first.samples / first.rate)

    def check(self, content: bytes) -> str:
        """Return whether the tag and the frames are whole."""
        if not self.matches(content):
            return "no MP3 sound"
        start = _after_tag(content)
        if start > len(content):
            return missing(content, start, "the tag")
        if _mp3_frame(content, start) is None:
            return cut_short("no sound follows the tag")
        counted = _xing(content, start)
        walked = _walk(content, start, _mp3_frame)
        # The frame that holds the count is not part of it.
        if counted is not None and walked.frames - 1 < min(counted, _FRAMES - 1):
            return cut_short(f"{walked.frames - 1} of {counted:,} frames are there")
        return _rest(content, walked.end)


class AacKind(ArtifactKind):
    """AAC sound, as a stream."""

    mimes = ("audio/aac", "audio/x-aac")
    type = ArtifactType.AUDIO
    extensions = ("aac",)
    label = "AAC sound"

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a frame that another one follows."""
        return _follows(content, _aac_frame)

    def describe(self, content: bytes) -> Dimensions:
        """Return how long its frames play."""
        first = _aac_frame(content, 0) if self.matches(content) else None
        if first is None:
            return Dimensions()
        frames = _walk(content, 0, _aac_frame).frames
        return Dimensions.of(duration_s=frames * first.samples / first.rate)

    def check(self, content: bytes) -> str:
        """Return whether the frames are whole."""
        if not self.matches(content):
            return "no AAC sound"
        return _rest(content, _walk(content, 0, _aac_frame).end)


class _Frame(NamedTuple):
    length: int
    samples: int
    rate: int


class _Walk(NamedTuple):
    frames: int
    end: int | None
    """Where the last frame ends; None when not all of them were walked."""


def _mp3_frame(content: bytes, offset: int) -> _Frame | None:
    head = big(content, offset, 4)
    # Eleven bits that are set, then a version that is used, then the third layer.
    if head is None or head >> 21 != 0x7FF or head >> 19 & 3 == 1 or head >> 17 & 3 != 1:
        return None
    version, bits, rate = head >> 19 & 3, head >> 12 & 15, head >> 10 & 3
    if bits in (0, 15) or rate == 3:
        return None
    hertz = _RATES[rate] >> (0 if version == 3 else 1 if version == 2 else 2)
    samples = 1152 if version == 3 else 576
    length = samples // 8 * 1000 * _KBITS[version == 3][bits] // hertz + (head >> 9 & 1)
    return _Frame(length, samples, hertz)


def _aac_frame(content: bytes, offset: int) -> _Frame | None:
    head = big(content, offset, 7)
    if head is None or head >> 44 != 0xFFF or head >> 41 & 3 or head >> 34 & 15 > 11:
        return None
    length = head >> 13 & 0x1FFF
    return _Frame(length, _AAC_SAMPLES, _AAC_RATES[head >> 34 & 15]) if length >= 7 else None


def _follows(content: bytes, frame: Callable[[bytes, int], _Frame | None]) -> bool:
    first = frame(content, 0)
    if first is None:
        return False
    # Two bytes are quickly right by chance; two frames in a row are not.
    return len(content) <= first.length + 4 or frame(content, first.length) is not None


def _walk(content: bytes, offset: int, frame: Callable[[bytes, int], _Frame | None]) -> _Walk:
    # trust: a file from inside; every step moves forward, and their number is limited.
    for count in range(_FRAMES):
        found = frame(content, offset)
        if found is None:
            return _Walk(count, offset)
        offset += found.length
        if offset > len(content):
            return _Walk(count, offset)
    return _Walk(_FRAMES, None)


def _rest(content: bytes, end: int | None) -> str:
    if end is None or content.startswith(_TAGS, end):
        return ""
    return missing(content, end, "the last frame") or trailing(content, end)


def _after_tag(content: bytes) -> int:
    if not content.startswith(b"ID3") or len(content) < 10:
        return 0
    size = 0
    for byte in content[6:10]:
        size = size << 7 | byte & 0x7F
    return 10 + size + (10 if content[5] & 0x10 else 0)


def _xing(content: bytes, start: int) -> int | None:
    first = content[start : start + 64]
    place = max(first.find(b"Xing"), first.find(b"Info"))
    flags = big(first, place + 4, 4) if place > 0 else None
    return big(first, place + 8, 4) if flags is not None and flags & 1 else None
