"""Pictures of a run for a model: selection and scaling.

Nothing is decoded here: sizes are read from headers, and large pictures are passed to a function
that scales them in a sandbox.
"""

import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.artifacts.formats.images import image_size, image_type
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.views.budget import estimate_image_tokens

__all__ = ["Images", "Picture", "Scale", "choose_pictures", "scale_images"]

Images = Literal["auto", "none", "inline"]
"""Selection of pictures: those that fit half of the budget, none, or all up to 20."""

Scale: TypeAlias = Callable[[list[bytes], int], list[bytes | None]]
"""Function that takes image files and a number of pixels, and returns PNG or JPEG files whose
longer side has at most that many; None for a file that cannot be read."""

_MOST = 20
"""Most pictures of one view; some providers accept no more in a message."""
_LARGEST = 4 << 20
"""Most bytes of one picture; some providers accept no more."""
_SENT = frozenset({"image/png", "image/jpeg", "image/webp"})
"""Types that are sent unchanged; a GIF may be animated, and is sent as its first frame."""
_READ = _SENT | {"image/gif"}


@dataclass(frozen=True, slots=True)
class Picture:
    """Picture as it is sent to a model."""

    data: bytes
    """The image file."""
    mime: str
    """MIME type of the image."""
    tokens: int
    """Estimated tokens of the image."""


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
    """Return the pictures to send, and reasons why others are not sent, both by artifact id.

    Of more pictures than fit, the last ones are sent: they are the outcome of the code.

    Args:
        artifacts: The artifacts in display order.
        images: Selection, see `Images`; for `"inline"` the tokens do not count.
        tokens: Most tokens of all pictures together.
        max_px: Longest side in pixels.
        scale: Function that scales pictures; without it a picture that is too large is not sent.
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
        cost, reason = _check_picture(candidate, max_px, can_scale=scale is not None)
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
        real = image_type(data)
        if real in _READ:
            return _Candidate(artifact, real, data, image_size(data))
    return None


def _check_picture(candidate: _Candidate, max_px: int, *, can_scale: bool) -> tuple[int, str]:
    """Return the tokens of a picture, and the reason why it cannot be sent."""
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
    """Return whether a picture can be sent unchanged."""
    if candidate.size is None or candidate.mime not in _SENT:
        return False
    return max(candidate.size) <= max_px and len(candidate.data) <= _LARGEST


def _picture(data: bytes | None, max_px: int) -> Picture | None:
    # trust: it was made in a sandbox from a picture from inside, and is measured again.
    if data is None or len(data) > _LARGEST:
        return None
    mime, size = image_type(data), image_size(data)
    if mime not in _SENT or size is None or max(size) > max_px:
        return None
    return Picture(data, mime, estimate_image_tokens(*size))


logger = logging.getLogger("llm_sandbox")

_SCALE_TIMEOUT_S = 30.0
_LARGEST_SCALED = 8 << 20

_SCALE_PROGRAM = """
import sys
from PIL import Image

Image.MAX_IMAGE_PIXELS = 64_000_000
side = int(sys.argv[1])
for number in sys.argv[2:]:
    try:
        with Image.open(f"in-{number}", formats=["PNG", "JPEG", "GIF", "WEBP"]) as image:
            image.draft("RGB", (side, side))
            plain = image if image.mode in ("RGB", "L") else image.convert("RGBA")
            plain.thumbnail((side, side))
            plain.save(f"out-{number}", "PNG")
    except (OSError, ValueError, SyntaxError, MemoryError, Image.DecompressionBombError):
        pass
"""


def scale_images(images: list[bytes], side: int) -> list[bytes | None]:
    """Return pictures as PNG files that fit into a square.

    Pictures come from inside, so they are decoded in a separate sandbox, never in this process.

    Args:
        images: PNG, JPEG, GIF or WebP files; of an animation the first frame is used.
        side: Width and height of the square, in pixels.

    Returns:
        For each picture the scaled one, or None if it cannot be decoded, or if the host has no
        sandbox.
    """
    if not images:
        return []
    # The sandbox lies above the views: it is looked up when it is needed.
    sandbox = import_module("llm_sandbox.sandbox").Sandbox
    try:
        with sandbox.create(timeout=_SCALE_TIMEOUT_S) as machine:
            numbers = [str(number) for number in range(len(images))]
            for number, image in zip(numbers, images, strict=True):
                machine.files.write_bytes(f"in-{number}", image)
            program = ("python", "-c", _SCALE_PROGRAM, str(side), *numbers)
            machine.exec(*program, timeout=_SCALE_TIMEOUT_S).wait()
            return [_read(machine.files, f"out-{number}") for number in numbers]
    except SandboxError as error:
        logger.warning("pictures could not be scaled down: %s", error)
        return [None] * len(images)


def _read(files: Any, path: str) -> bytes | None:
    with contextlib.suppress(SandboxError):
        content: bytes = files.read_bytes(path, _LARGEST_SCALED)
        return content
    return None
