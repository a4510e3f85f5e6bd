"""WAV, AVI and AIFF: containers of chunks, with how long they play and how large the picture is."""

from collections.abc import Iterator
from typing import NamedTuple

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import big, little, number
from llm_sandbox.artifacts.formats.messages import cut_short, joined, missing, trailing
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["AiffKind", "AviKind", "WavKind", "detect_subtype"]

_CHUNKS = 4096
"""Chunks that are passed over."""
_UNKNOWN = 0xFFFFFFFF
"""What a writer that could not go back leaves as a size."""
_FLAVOURS = {b"WAVE": "wav", b"AVI ": "avi", b"WEBP": "webp"}


def detect_subtype(head: bytes) -> str | None:
    """Return the name of the kind that a RIFF container is of; None for another one.

    Args:
        head: Its beginning, possibly hostile.
    """
    return _FLAVOURS.get(head[8:12]) if head.startswith(b"RIFF") else None


class WavKind(ArtifactKind):
    """WAV sound."""

    mimes = ("audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave")
    type = ArtifactType.AUDIO
    extensions = ("wav", "wave")
    label = "WAV sound"

    def matches(self, content: bytes) -> bool:
        """Whether the content is a RIFF container of a WAV."""
        return detect_subtype(content) == "wav"

    def describe(self, content: bytes) -> Dimensions:
        """Return how long the samples that the header claims play."""
        if not self.matches(content):
            return Dimensions()
        per_second = length = None
        for chunk in _chunks(content, 12, low=True):
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
        """Return whether the container and its samples are whole."""
        if not self.matches(content):
            return "no WAV sound"
        names = {chunk.name for chunk in _chunks(content, 12, low=True)}
        if b"fmt " not in names or b"data" not in names:
            return cut_short("there are no samples")
        return _whole(content, low=True)


class AviKind(ArtifactKind):
    """AVI video."""

    mimes = ("video/x-msvideo", "video/avi", "video/msvideo")
    type = ArtifactType.VIDEO
    extensions = ("avi",)
    label = "AVI video"

    def matches(self, content: bytes) -> bool:
        """Whether the content is a RIFF container of an AVI."""
        return detect_subtype(content) == "avi"

    def describe(self, content: bytes) -> Dimensions:
        """Return the size, the number of pictures and how long they play, from the main header."""
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
        """Return whether the container is whole."""
        if not self.matches(content):
            return "no AVI video"
        if b"avih" not in content[12:4096]:
            return cut_short("there is no main header")
        # Videos of more than a GB go on in further containers.
        end = 8 + (little(content, 4, 4) or 0)
        for _ in range(_CHUNKS):
            if content[end : end + 4] != b"RIFF" or content[end + 8 : end + 12] != b"AVIX":
                break
            end += 8 + (little(content, end + 4, 4) or 0)
        return missing(content, end, "the container") or trailing(content, end)


class AiffKind(ArtifactKind):
    """AIFF sound."""

    mimes = ("audio/aiff", "audio/x-aiff")
    type = ArtifactType.AUDIO
    extensions = ("aiff", "aif", "aifc")
    label = "AIFF sound"

    def matches(self, content: bytes) -> bool:
        """Whether the content is an IFF container of sound."""
        return content.startswith(b"FORM") and content[8:12] in (b"AIFF", b"AIFC")

    def describe(self, content: bytes) -> Dimensions:
        """Return how long the samples that the header claims play."""
        for chunk in _chunks(content, 12, low=False) if self.matches(content) else ():
            if chunk.name == b"COMM":
                samples = big(content, chunk.body + 2, 4)
                rate = _extended(content, chunk.body + 8)
                if samples is not None and rate:
                    return Dimensions.of(duration_s=samples / rate)
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return whether the container and its samples are whole."""
        if not self.matches(content):
            return "no AIFF sound"
        if b"SSND" not in {chunk.name for chunk in _chunks(content, 12, low=False)}:
            return cut_short("there are no samples")
        return _whole(content, low=False)


class _Chunk(NamedTuple):
    name: bytes
    body: int
    length: int


def _chunks(content: bytes, offset: int, *, low: bool) -> Iterator[_Chunk]:
    # trust: a file from inside; every step moves forward, and their number is limited.
    for _ in range(_CHUNKS):
        length = number(content, offset + 4, 4, first_is_low=low)
        if length is None:
            break
        yield _Chunk(content[offset : offset + 4], offset + 8, length)
        offset += 8 + length + length % 2


def _whole(content: bytes, *, low: bool) -> str:
    claimed = number(content, 4, 4, first_is_low=low) or 0
    if claimed in (0, _UNKNOWN):
        return ""
    late = missing(content, 8 + claimed, "the container")
    for chunk in _chunks(content, 12, low=low):
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
