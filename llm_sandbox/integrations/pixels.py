"""Decoding of images from a sandbox, for frameworks that take decoded images.

Images are decoded in the sandbox that they come from, so that one that attacks the decoder harms
nothing else.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.views.images import choose_pictures

__all__ = ["MOST", "SIDE", "Pixels", "decode_pictures"]

logger = logging.getLogger("llm_sandbox")

MOST = 5
"""Maximum number of images of one run; the last ones are taken."""
SIDE = 768
"""Maximum width and height; larger images are scaled down."""

_SECONDS = 30.0
_LARGEST_SIDE = 65_535

# With what it prints, all pictures stay below the 10 MiB that are kept of a program's output.
_PROGRAM = """
import io, sys
from PIL import Image

Image.MAX_IMAGE_PIXELS = 64_000_000
side = int(sys.argv[1])
for size in map(int, sys.argv[2:]):
    data = sys.stdin.buffer.read(size)
    width = height = 0
    pixels = b""
    try:
        with Image.open(io.BytesIO(data), formats=["PNG", "JPEG", "WEBP"]) as image:
            image.draft("RGB", (side, side))
            image = image.convert("RGBA")
            image.thumbnail((side, side))
            white = Image.new("RGBA", image.size, "white")
            white.alpha_composite(image)
            pixels = white.convert("RGB").tobytes()
            width, height = white.size
    except (OSError, ValueError, SyntaxError, MemoryError, Image.DecompressionBombError):
        pass
    sys.stdout.buffer.write(b"%d %d\\n" % (width, height) + pixels)
"""


@dataclass(frozen=True)
class Pixels:
    """Decoded image."""

    width: int
    """Width in pixels."""
    height: int
    """Height in pixels."""
    data: bytes
    """RGB bytes of each pixel, row by row."""


def decode_pictures(sandbox: Sandbox, artifacts: Sequence[Artifact]) -> tuple[Pixels, ...]:
    """Return the decoded images among the artifacts of a run, oldest first.

    Args:
        sandbox: Sandbox of the run, whose Python needs Pillow.
        artifacts: Artifacts of the run.

    Returns:
        At most the last 5, each at most 768 pixels wide and high, without undecodable ones.
    """
    chosen, _ = choose_pictures(artifacts, images="inline", tokens=0, max_px=_LARGEST_SIDE)
    files = [chosen[item.id].data for item in artifacts if item.id in chosen][-MOST:]
    if not files:
        return ()
    words = ("python", "-c", _PROGRAM, str(SIDE), *(str(len(data)) for data in files))
    try:
        process = sandbox.exec(*words, stdin=b"".join(files), timeout=_SECONDS)
        process.wait()
        output = process.stdout.bytes()
    except SandboxError as error:
        logger.warning("pictures could not be decoded: %s", error)
        return ()
    return tuple(_read(output, len(files)))


def _read(output: bytes, count: int) -> list[Pixels]:
    # trust: what the program printed; nothing is believed but sizes that the bytes bear out.
    found: list[Pixels] = []
    place = 0
    for _ in range(count):
        end = output.find(b"\n", place, place + 16)
        words = output[place:end].split() if end >= 0 else []
        if len(words) != 2 or not all(word.isdigit() for word in words):
            break
        width, height = map(int, words)
        place = end + 1 + 3 * width * height
        if max(width, height) > SIDE or place > len(output):
            break
        if width and height:
            found.append(Pixels(width, height, output[end + 1 : place]))
    return found
