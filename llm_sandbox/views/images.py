"""Which pictures of a run a model is shown, and how large.

Nothing is decoded here: sizes are read from headers, and what has to be made smaller is handed to a
function that does it in a sandbox.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.artifacts.formats.raster import JpegKind, PngKind
from llm_sandbox.views.budget import estimate_image_tokens

__all__ = ["Images", "Picture", "Scale", "choose_pictures", "measure", "sniff"]

Images = Literal["auto", "none", "inline"]
"""Which pictures are shown: those that fit half of the budget, none, or all up to 20."""

Scale: TypeAlias = Callable[[list[bytes], int], list[bytes | None]]
"""Given image files and a number of pixels, returns PNG or JPEG files whose longer side has at most
that many; None for what cannot be read."""

_MOST = 20
"""Pictures of one view; some providers take no more in a message."""
_LARGEST = 4 << 20
"""Bytes of one picture; some providers take no more."""
_SENT = frozenset({"image/png", "image/jpeg", "image/webp"})
"""Types that are sent as they are; a GIF may move, and is sent as its first frame."""
_READ = _SENT | {"image/gif"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is shown."""

    data: bytes
    """The image file."""
    mime: str
    """Its type."""
    tokens: int
    """What it takes of a budget."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    artifact: Artifact
    mime: str
    data: bytes
    size: tuple[int, int] | None


def choose_pictures(
    artifacts: Sequence[Artifact],
    *,
    images: Images,
    tokens: int,
    max_px: int,
    scale: Scale | None = None,
) -> tuple[dict[str, Picture], dict[str, str]]:
    """Return the pictures to show, and why others are not shown, both by artifact id.

    Of more pictures than fit, the last ones are shown: they are what the code came to.

    Args:
        artifacts: The artifacts in the order they were shown.
        images: See `Images`; for `"inline"` the tokens do not count.
        tokens: What all pictures together may take.
        max_px: Longest side in pixels.
        scale: Makes pictures smaller; without it a picture that is too large is not shown.
    """
    pictures: dict[str, Picture] = {}
    reasons: dict[str, str] = {}
    chosen: list[_Candidate] = []
    left = tokens
    for artifact in reversed(artifacts):
        if images == "none" or artifact.type.value not in ("figure", "image"):
            continue
        candidate = _candidate(artifact)
        if candidate is None or artifact.id in reasons:
            continue
        cost, reason = _judge(candidate, max_px, can_scale=scale is not None)
        if not reason and len(chosen) >= _MOST:
            reason = "picture not shown: there are too many"
        if not reason and images == "auto" and cost > left:
            reason = "picture not shown: over the budget"
        if reason:
            reasons[artifact.id] = reason
            continue
        left -= cost
        chosen.append(candidate)
    fitting = [item for item in chosen if _is_ready(item, max_px)]
    for item in fitting:
        assert item.size is not None  # noqa: S101 - narrows: ready means measured
        pictures[item.artifact.id] = Picture(
            item.data, item.mime, estimate_image_tokens(*item.size)
        )
    others = [item for item in chosen if not _is_ready(item, max_px)]
    if others and scale is not None:
        for item, scaled in zip(others, scale([i.data for i in others], max_px), strict=True):
            picture = _picture(scaled, max_px)
            if picture is None:
                reasons[item.artifact.id] = "picture not shown: it could not be read"
            else:
                pictures[item.artifact.id] = picture
    return pictures, reasons


def _candidate(artifact: Artifact) -> _Candidate | None:
    forms = {} if artifact.content is None else {artifact.mime: artifact.content}
    forms |= artifact.alternatives
    for mime, content in forms.items():
        if mime not in _READ:
            continue
        if content.size > 8 * _LARGEST:
            return _Candidate(artifact, mime, b"", None)
        data = content.bytes()
        # trust: what a picture is, its first bytes say, not its label.
        real = sniff(data)
        if real in _READ:
            return _Candidate(artifact, real, data, measure(data))
    return None


def _judge(candidate: _Candidate, max_px: int, *, can_scale: bool) -> tuple[int, str]:
    """What a picture costs, and why it cannot be shown."""
    if not candidate.data:
        return 0, "picture not shown: the file is too large"
    if not can_scale and not _is_ready(candidate, max_px):
        if candidate.size is None or candidate.mime not in _SENT:
            return 0, "picture not shown: it would have to be converted"
        return 0, f"picture not shown: larger than {max_px} pixels"
    # What is not measured counts as large as it may become.
    width, height = candidate.size or (max_px, max_px)
    longest = max(width, height)
    if longest > max_px:
        width, height = -(-width * max_px // longest), -(-height * max_px // longest)
    return estimate_image_tokens(max(1, width), max(1, height)), ""


def _is_ready(candidate: _Candidate, max_px: int) -> bool:
    """Whether a picture can be sent as it is."""
    if candidate.size is None or candidate.mime not in _SENT:
        return False
    return max(candidate.size) <= max_px and len(candidate.data) <= _LARGEST


def _picture(data: bytes | None, max_px: int) -> Picture | None:
    # trust: it was made in a sandbox from a picture from inside, and is measured again.
    if data is None or len(data) > _LARGEST:
        return None
    mime, size = sniff(data), measure(data)
    if mime not in _SENT or size is None or max(size) > max_px:
        return None
    return Picture(data, mime, estimate_image_tokens(*size))


def sniff(data: bytes) -> str:
    """Return the MIME type that the first bytes of a picture show; empty for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


def measure(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels as the header has them; None when it has none."""
    # trust: a file from inside; its header is read at fixed places, never beyond its end.
    kind = sniff(data)
    width = height = 0
    if kind == "image/gif" and len(data) >= 10:
        width, height = struct.unpack_from("<HH", data, 6)
    elif kind == "image/webp" and len(data) >= 30:
        width, height = _webp(data)
    elif kind in ("image/png", "image/jpeg"):
        found = (PngKind() if kind == "image/png" else JpegKind()).describe(data)
        width, height = found.width or 0, found.height or 0
    return (width, height) if width and height else None


def _webp(data: bytes) -> tuple[int, int]:
    form = data[12:16]
    if form == b"VP8X":
        sizes = int.from_bytes(data[24:27], "little"), int.from_bytes(data[27:30], "little")
        return sizes[0] + 1, sizes[1] + 1
    if form == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    if form == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0
