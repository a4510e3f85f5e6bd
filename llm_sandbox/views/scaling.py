"""Pictures made smaller, where a picture that attacks its decoder harms nothing."""

import contextlib
import logging
from importlib import import_module
from typing import Any

from llm_sandbox.exceptions import SandboxError

__all__ = ["scale_images"]

logger = logging.getLogger("llm_sandbox")

_SECONDS = 30.0
_LARGEST = 8 << 20

_PROGRAM = """
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

    They come from inside, so they are decoded in a sandbox of their own, never in this process.

    Args:
        images: PNG, JPEG, GIF or WebP files; of an animation the first picture counts.
        side: Width and height of the square, in pixels.

    Returns:
        For each picture the smaller one, or None if it cannot be decoded, or if this machine has no
        sandbox.
    """
    if not images:
        return []
    # The sandbox lies above the views: it is looked up when it is needed.
    sandbox = import_module("llm_sandbox.sandbox").Sandbox
    try:
        with sandbox.create(timeout=_SECONDS) as machine:
            numbers = [str(number) for number in range(len(images))]
            for number, image in zip(numbers, images, strict=True):
                machine.files.write_bytes(f"in-{number}", image)
            program = ("python", "-c", _PROGRAM, str(side), *numbers)
            machine.exec(*program, timeout=_SECONDS).wait()
            return [_read(machine.files, f"out-{number}") for number in numbers]
    except SandboxError as error:
        logger.warning("pictures could not be scaled down: %s", error)
        return [None] * len(images)


def _read(files: Any, path: str) -> bytes | None:
    with contextlib.suppress(SandboxError):
        content: bytes = files.read_bytes(path, _LARGEST)
        return content
    return None
