"""Ogg and FLAC: how long they play."""

from typing import ClassVar

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import big, little
from llm_sandbox.artifacts.formats.messages import cut_short, missing, trailing
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["FlacKind", "OggKind", "OgvKind", "detect_subtype"]

_PAGE = b"OggS"
_LAST = 0x04
_TAIL = 256 * 1024
"""Two of the largest pages fit in it."""
_FIRST_PAGES = 512
_OPUS_RATE = 48_000
_BLOCKS = 1024
_TRIES = 1024
_FIRST_FRAME = (b"\xff\xf8", b"\xff\xf9")


def detect_subtype(head: bytes) -> str | None:
    """Return the name of the kind that an Ogg stream is of; None for what is none.

    Args:
        head: Its beginning, possibly hostile.
    """
    if not head.startswith(_PAGE + b"\x00"):
        return None
    return "ogv" if b"\x80theora" in head[:_FIRST_PAGES] else "ogg"


class OggKind(ArtifactKind):
    """Ogg sound: Vorbis, Opus and others."""

    name: ClassVar[str] = "ogg"
    mimes: ClassVar[tuple[str, ...]] = ("audio/ogg", "application/ogg", "audio/opus")
    type = ArtifactType.AUDIO
    extensions: ClassVar[tuple[str, ...]] = ("ogg", "oga", "opus", "spx")
    label = "Ogg sound"

    def matches(self, content: bytes) -> bool:
        """Whether the content begins with a page, and video is as it should be."""
        return detect_subtype(content) == self.name

    def describe(self, content: bytes) -> Dimensions:
        """Return how long a Vorbis or Opus stream plays, by its last page."""
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
        """Return whether the last page is whole and says that it is the last."""
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
        if not content[place + 5] & _LAST:
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
    """FLAC sound."""

    mimes = ("audio/flac", "audio/x-flac")
    type = ArtifactType.AUDIO
    extensions = ("flac",)
    label = "FLAC sound"

    def matches(self, content: bytes) -> bool:
        """Whether the content has the signature, and the stream's description comes first."""
        return content.startswith(b"fLaC") and len(content) > 4 and content[4] & 0x7F == 0

    def describe(self, content: bytes) -> Dimensions:
        """Return how long the samples that the header claims play."""
        packed = big(content, 18, 8) if self.matches(content) else None
        if packed is None:
            return Dimensions()
        rate, samples = packed >> 44, packed & 0xFFFFFFFFF
        # Zero means that the encoder did not know.
        return Dimensions.of(duration_s=samples / rate if rate and samples else None)

    def check(self, content: bytes) -> str:
        """Return whether the blocks are whole, and whether as much sound follows as there must be.

        That the very last frame is cut is not noticed.
        """
        if not self.matches(content):
            return "no FLAC sound"
        offset = 4
        # trust: a file from inside; every step moves forward, and their number is limited.
        for _ in range(_BLOCKS):
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
        less = len(content) - offset < (samples // block * smallest if block else 0)
        reached = _flac_end(content, offset, block)
        if less or (reached is not None and reached < samples):
            return cut_short("there is less sound than claimed")
        return ""


def _last_page(content: bytes) -> int:
    # trust: a file from inside; a search from its end, for a name that its data may hold as well.
    return content.rfind(_PAGE + b"\x00", max(0, len(content) - _TAIL))


def _flac_end(content: bytes, start: int, block: int) -> int | None:
    """Where the last frame ends, in samples, by its header; None when there is none to be seen."""
    stop = len(content)
    # trust: a file from inside; what looks like a header has to have its checksum.
    for _ in range(_TRIES):
        place = max(content.rfind(mark, start, stop) for mark in _FIRST_FRAME)
        if place < max(start, len(content) - _TAIL):
            break
        found = _flac_frame(content[place : place + 16], block)
        if found is not None:
            return found
        stop = place + 1
    return None


def _flac_frame(head: bytes, block: int) -> int | None:
    if len(head) < 16:
        return None
    # The number is written as UTF-8 writes characters, and may be longer than those.
    more = max(0, 7 - (head[4] ^ 0xFF).bit_length()) if head[4] & 0x80 else 0
    number = head[4] & (0x7F if not more else 0x3F >> more)
    for byte in head[5 : 5 + more]:
        number = number << 6 | byte & 0x3F
    form, rate = head[2] >> 4, head[2] & 15
    end = 5 + more + {6: 1, 7: 2}.get(form, 0) + {12: 1, 13: 2, 14: 2}.get(rate, 0)
    if end >= len(head) or _crc8(head[:end]) != head[end]:
        return None
    size = block
    if form in (6, 7):
        size = int.from_bytes(head[5 + more : 5 + more + form - 5]) + 1
    elif form:
        size = 192 if form == 1 else 576 << form - 2 if form < 6 else 256 << form - 8
    # Frames of one size are counted, and those of several sizes count samples.
    return (number if head[1] & 1 else number * block) + size


def _crc8(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value << 1 ^ (0x107 if value & 0x80 else 0)
    return value
