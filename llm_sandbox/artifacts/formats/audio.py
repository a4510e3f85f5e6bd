"""MP3, AAC, Ogg, FLAC, WAV and AIFF sound, and Ogg video: duration and completeness."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import big, chunks, little, number
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing
from llm_sandbox.artifacts.types import ArtifactType

__all__ = [
    "AacKind",
    "AiffKind",
    "FlacKind",
    "Mp3Kind",
    "OggKind",
    "OgvKind",
    "WavKind",
    "detect_ogg",
]

_FRAMES = 200_000
"""Most frames that are read: those of more than an hour."""
_RATES = (44100, 48000, 32000)
_KBITS = {
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_AAC_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000)
_AAC_SAMPLES = 1024
_TAGS = (b"TAG", b"APETAGEX", b"LYRICSBEGIN", b"ID3")
"""Tags that may follow the last frame."""


class Mp3Kind(ArtifactKind):
    """MP3 audio."""

    mimes = ("audio/mpeg", "audio/mp3", "audio/x-mp3")
    type = ArtifactType.AUDIO
    extensions = ("mp3",)
    label = "MP3 sound"

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with a tag, or with two successive frames."""
        if content.startswith(b"ID3"):
            return len(content) >= 10 and content[3] in (2, 3, 4) and max(content[6:10]) < 0x80
        return _follows(content, _mp3_frame)

    def describe(self, content: bytes) -> Dimensions:
        """Return the duration, from the encoder's own count, else by counting frames."""
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
        """Return warnings on a truncated tag or frame."""
        if not self.matches(content):
            return "not MP3 sound"
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
    """AAC audio, as a stream."""

    mimes = ("audio/aac", "audio/x-aac")
    type = ArtifactType.AUDIO
    extensions = ("aac",)
    label = "AAC sound"

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with two successive frames."""
        return _follows(content, _aac_frame)

    def describe(self, content: bytes) -> Dimensions:
        """Return the duration of the frames."""
        first = _aac_frame(content, 0) if self.matches(content) else None
        if first is None:
            return Dimensions()
        frames = _walk(content, 0, _aac_frame).frames
        return Dimensions.of(duration_s=frames * first.samples / first.rate)

    def check(self, content: bytes) -> str:
        """Return a warning on a truncated frame."""
        if not self.matches(content):
            return "not AAC sound"
        return _rest(content, _walk(content, 0, _aac_frame).end)


class _Frame(NamedTuple):
    length: int
    samples: int
    rate: int


class _Walk(NamedTuple):
    frames: int
    end: int | None
    """Offset of the end of the last frame; None when not all frames were read."""


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


_OGG_PAGE = b"OggS"
_OGG_LAST = 0x04
_TAIL = 256 * 1024
"""Bytes at the end that are searched; two of the largest pages fit."""
_FIRST_PAGES = 512
_OPUS_RATE = 48_000
_FLAC_BLOCKS = 1024
_FIRST_FRAME = (b"\xff\xf8", b"\xff\xf9")


def detect_ogg(head: bytes) -> str | None:
    """Return the name of the kind of an Ogg stream; None if it is not one.

    Args:
        head: Beginning of the stream, possibly hostile.
    """
    if not head.startswith(_OGG_PAGE + b"\x00"):
        return None
    return "ogv" if b"\x80theora" in head[:_FIRST_PAGES] else "ogg"


class OggKind(ArtifactKind):
    """Ogg audio: Vorbis, Opus and others."""

    name: ClassVar[str] = "ogg"
    mimes: ClassVar[tuple[str, ...]] = ("audio/ogg", "application/ogg", "audio/opus")
    type = ArtifactType.AUDIO
    extensions: ClassVar[tuple[str, ...]] = ("ogg", "oga", "opus", "spx")
    label = "Ogg sound"

    def matches(self, content: bytes) -> bool:
        """Return whether the content begins with a page, and has video only if it should."""
        return detect_ogg(content) == self.name

    def describe(self, content: bytes) -> Dimensions:
        """Return the duration of a Vorbis or Opus stream, from its last page."""
        if not self.matches(content):
            return Dimensions()
        page = content[:_FIRST_PAGES]
        rate, skipped = 0, 0
        if (place := page.find(b"OpusHead")) > 0:
            rate, skipped = _OPUS_RATE, little(page, place + 10, 2) or 0
        elif (place := page.find(b"\x01vorbis")) > 0:
            rate = little(page, place + 12, 4) or 0
        samples = little(content, _last_page(content) + 6, 8)
        # All bits set: no packet ends on that page.
        if not rate or samples is None or samples == 2**64 - 1:
            return Dimensions()
        return Dimensions.of(duration_s=max(0, samples - skipped) / rate)

    def check(self, content: bytes) -> str:
        """Return a warning if the last page is truncated or not marked as the last."""
        if not self.matches(content):
            return f"no {self.label}"
        place = _last_page(content)
        count = big(content, place + 26, 1)
        table = content[place + 27 : place + 27 + (count or 0)]
        if place < 0 or count is None or len(table) < count:
            return cut_short("the last page is not all there")
        end = place + 27 + count + sum(table)
        if late := missing(content, end, "the last page"):
            return late
        if not content[place + 5] & _OGG_LAST:
            return cut_short("no page says that it is the last")
        return trailing(content, end)


class OgvKind(OggKind):
    """Ogg video."""

    name = "ogv"
    mimes = ("video/ogg", "application/ogg")
    type = ArtifactType.VIDEO
    extensions = ("ogv", "ogg")
    label = "Ogg video"


class FlacKind(ArtifactKind):
    """FLAC audio."""

    mimes = ("audio/flac", "audio/x-flac")
    type = ArtifactType.AUDIO
    extensions = ("flac",)
    label = "FLAC sound"

    def matches(self, content: bytes) -> bool:
        """Return whether the content has the signature, followed by the stream info."""
        return content.startswith(b"fLaC") and len(content) > 4 and content[4] & 0x7F == 0

    def describe(self, content: bytes) -> Dimensions:
        """Return the duration of the samples that the header claims."""
        packed = big(content, 18, 8) if self.matches(content) else None
        if packed is None:
            return Dimensions()
        rate, samples = packed >> 44, packed & 0xFFFFFFFFF
        # Zero means that the encoder did not know.
        return Dimensions.of(duration_s=samples / rate if rate and samples else None)

    def check(self, content: bytes) -> str:
        """Return warnings on truncated blocks, and on too little audio data.

        Missing last frames are not detected if the preceding frames are large.
        """
        if not self.matches(content):
            return "not FLAC sound"
        offset = 4
        # trust: a file from inside; every step moves forward, and their number is limited.
        for _ in range(_FLAC_BLOCKS):
            head = big(content, offset, 4)
            if head is None:
                return cut_short("the blocks before the sound are not all there")
            offset += 4 + (head & 0xFFFFFF)
            if late := missing(content, offset, "a block before the sound"):
                return late
            if head >> 31:
                break
        packed = big(content, 18, 8) or 0
        samples = packed & 0xFFFFFFFFF
        block, smallest = big(content, 10, 2) or 0, big(content, 12, 3) or 0
        if samples and not content.startswith(_FIRST_FRAME, offset):
            return cut_short("no sound follows the header")
        if len(content) - offset < (samples // block * smallest if block else 0):
            return cut_short("there is less sound than claimed")
        return ""


def _last_page(content: bytes) -> int:
    # trust: a file from inside; a search from its end, for a name that its data may hold as well.
    return content.rfind(_OGG_PAGE + b"\x00", max(0, len(content) - _TAIL))


_UNKNOWN = 0xFFFFFFFF
"""Size field of a writer that could not seek back."""


class WavKind(ArtifactKind):
    """WAV audio."""

    mimes = ("audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave")
    type = ArtifactType.AUDIO
    extensions = ("wav", "wave")
    label = "WAV sound"

    def matches(self, content: bytes) -> bool:
        """Return whether the content is a RIFF container of WAV."""
        return content.startswith(b"RIFF") and content[8:12] == b"WAVE"

    def describe(self, content: bytes) -> Dimensions:
        """Return the duration of the samples that the header claims."""
        if not self.matches(content):
            return Dimensions()
        per_second = length = None
        for chunk in chunks(content, first_is_low=True):
            if chunk.name == b"fmt ":
                per_second = little(content, chunk.body + 8, 4)
            elif chunk.name == b"data":
                unknown = chunk.length in (0, _UNKNOWN)
                length = len(content) - chunk.body if unknown else chunk.length
                break
        if not per_second or length is None:
            return Dimensions()
        return Dimensions.of(duration_s=length / per_second)

    def check(self, content: bytes) -> str:
        """Return warnings on a truncated container or truncated samples."""
        if not self.matches(content):
            return "not WAV sound"
        names = {chunk.name for chunk in chunks(content, first_is_low=True)}
        if b"fmt " not in names or b"data" not in names:
            return cut_short("there are no samples")
        return _whole_container(content, low=True)


class AiffKind(ArtifactKind):
    """AIFF audio."""

    mimes = ("audio/aiff", "audio/x-aiff")
    type = ArtifactType.AUDIO
    extensions = ("aiff", "aif", "aifc")
    label = "AIFF sound"

    def matches(self, content: bytes) -> bool:
        """Return whether the content is an IFF container of audio."""
        return content.startswith(b"FORM") and content[8:12] in (b"AIFF", b"AIFC")

    def describe(self, content: bytes) -> Dimensions:
        """Return the duration of the samples that the header claims."""
        for chunk in chunks(content, first_is_low=False) if self.matches(content) else ():
            if chunk.name == b"COMM":
                samples = big(content, chunk.body + 2, 4)
                rate = _extended(content, chunk.body + 8)
                if samples is not None and rate:
                    return Dimensions.of(duration_s=samples / rate)
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return warnings on a truncated container or truncated samples."""
        if not self.matches(content):
            return "not AIFF sound"
        if b"SSND" not in {chunk.name for chunk in chunks(content, first_is_low=False)}:
            return cut_short("there are no samples")
        return _whole_container(content, low=False)


def _whole_container(content: bytes, *, low: bool) -> str:
    claimed = number(content, 4, 4, first_is_low=low) or 0
    if claimed in (0, _UNKNOWN):
        return ""
    late = missing(content, 8 + claimed, "the container")
    for chunk in chunks(content, first_is_low=low):
        if chunk.body <= 8 + claimed and not late:
            named = chunk.name.decode("ascii", "replace").strip()
            late = missing(content, chunk.body + chunk.length, f"the chunk {named!a}")
    end = 8 + claimed + claimed % 2
    return late or joined(trailing(content, min(end, len(content))))


def _extended(content: bytes, offset: int) -> float | None:
    exponent, mantissa = big(content, offset, 2), big(content, offset + 2, 8)
    # Rates are neither negative nor beyond a GHz: other exponents would not fit a number.
    if exponent is None or mantissa is None or not 16383 <= exponent <= 16383 + 30:
        return None
    return mantissa * 2.0 ** (exponent - 16383 - 63)
