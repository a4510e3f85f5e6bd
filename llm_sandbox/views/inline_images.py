"""Inline images in terminals, by the protocols of kitty and iTerm2.

The terminal decodes the picture, which comes from inside: pictures are sent only if the user wants
them or the environment names a terminal that supports them, and only PNG and JPEG files of moderate
size.
"""

import base64
import os
from collections.abc import Mapping
from typing import Literal

from llm_sandbox.artifacts.formats.images import image_size, image_type

__all__ = ["Protocol", "detect_protocol", "encode_image"]

Protocol = Literal["kitty", "iterm"]
"""Protocol of inline images."""

_LARGEST = 4 << 20
_MOST_PIXELS = 25_000_000
_CHUNK = 4096
_ITERM = frozenset({"iTerm.app", "WezTerm", "vscode", "mintty"})


def detect_protocol(environment: Mapping[str, str] | None = None) -> Protocol | None:
    """Return the image protocol of the terminal; None if it has none, or is unknown.

    `LLM_SANDBOX_IMAGES` decides if it is `never`, `kitty` or `iterm`. In tmux and screen, which do
    not forward pictures, the default is None.

    Args:
        environment: Environment variables; default: this process's.
    """
    env = os.environ if environment is None else environment
    wanted = env.get("LLM_SANDBOX_IMAGES", "").strip().lower()
    if wanted == "kitty":
        return "kitty"
    if wanted == "iterm":
        return "iterm"
    if wanted == "never" or env.get("TMUX") or env.get("STY") or env.get("TERM") == "dumb":
        return None
    if env.get("KITTY_WINDOW_ID") or env.get("TERM") in ("xterm-kitty", "xterm-ghostty"):
        return "kitty"
    return "iterm" if env.get("TERM_PROGRAM") in _ITERM else None


def encode_image(data: bytes, protocol: Protocol) -> str | None:
    """Return the escape sequence that displays a picture; None for a file that should not be
    displayed.

    Args:
        data: A picture file, possibly hostile.
        protocol: Protocol of the terminal; kitty's supports PNG only.
    """
    # trust: a file from inside; its type and size are read from its own bytes.
    kind, size = image_type(data), image_size(data)
    wanted = ("image/png",) if protocol == "kitty" else ("image/png", "image/jpeg")
    if kind not in wanted or size is None or len(data) > _LARGEST:
        return None
    if size[0] * size[1] > _MOST_PIXELS:
        return None
    encoded = base64.b64encode(data).decode("ascii")
    if protocol == "iterm":
        return f"\x1b]1337;File=inline=1;size={len(data)};preserveAspectRatio=1:{encoded}\x07"
    pieces = [encoded[i : i + _CHUNK] for i in range(0, len(encoded), _CHUNK)]
    # Replies are suppressed (q=2): nobody reads them, and they would be taken for typed text.
    sent = [f"\x1b_Ga=T,f=100,q=2,m={int(len(pieces) > 1)};{pieces[0]}\x1b\\"]
    for place, piece in enumerate(pieces[1:], start=2):
        sent.append(f"\x1b_Gm={int(place < len(pieces))};{piece}\x1b\\")
    return "".join(sent)
