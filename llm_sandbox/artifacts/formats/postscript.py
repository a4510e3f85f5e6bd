"""PostScript and EPS: the bounding box, in points, and the number of pages. No program is run."""

import re
from typing import ClassVar

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.fields import little
from llm_sandbox.artifacts.formats.messages import cut_short, missing
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["EpsKind", "PostScriptKind"]

_WINDOW = 64 * 1024
_BINARY = b"\xc5\xd0\xd3\xc6"
_NUMBER = rb"(-?[0-9]{1,9}(?:\.[0-9]{0,9})?)"
_BOX = re.compile(rb"^%%BoundingBox:[ \t]{0,16}" + rb"[ \t]{1,16}".join([_NUMBER] * 4), re.M)
_PAGES = re.compile(rb"^%%Pages:[ \t]{0,16}([0-9]{1,9})", re.M)
_PLAIN_END = re.compile(rb"%%EOF|\bshowpage\b")


class PostScriptKind(ArtifactKind):
    """PostScript programs that draw pages."""

    mimes: ClassVar[tuple[str, ...]] = ("application/postscript",)
    type = ArtifactType.DOCUMENT
    extensions: ClassVar[tuple[str, ...]] = ("ps",)
    label = "PostScript"

    def matches(self, content: bytes) -> bool:
        """Whether the content begins as a PostScript program, and is no EPS."""
        return content.startswith(b"%!PS") and not _is_eps(content)

    def describe(self, content: bytes) -> Dimensions:
        """Return the bounding box in points and the pages, as the comments at both ends have it."""
        if not self.matches(content):
            return Dimensions()
        program = _program(content)
        # trust: a program from inside; its comments are searched, at both ends.
        box = _BOX.search(program[:_WINDOW]) or _BOX.search(program[-_WINDOW:])
        pages = _PAGES.search(program[:_WINDOW]) or _PAGES.search(program[-_WINDOW:])
        width = height = None
        if box is not None:
            left, bottom, right, top = map(float, box.groups())
            width, height = right - left, top - bottom
        return Dimensions.of(width, height, pages=int(pages[1]) if pages else None)

    def check(self, content: bytes) -> str:
        """Return whether the program comes to its end."""
        if not self.matches(content):
            return f"no {self.label}"
        program = _program(content)
        late = ""
        if content.startswith(_BINARY):
            late = missing(content, _start(content) + (little(content, 8, 4) or 0), "the program")
        ended = _PLAIN_END.search(program[-_WINDOW:]) is not None
        return late or ("" if ended else cut_short("the program does not end"))


class EpsKind(PostScriptKind):
    """Encapsulated PostScript: one drawing."""

    mimes = ("application/postscript", "image/x-eps", "application/eps")
    type = ArtifactType.IMAGE
    extensions = ("eps", "epsf")
    label = "an EPS drawing"
    also = ("postscript",)

    def matches(self, content: bytes) -> bool:
        """Whether the content says that it is encapsulated, or has the binary header."""
        return content.startswith(_BINARY) or (content.startswith(b"%!PS") and _is_eps(content))


def _is_eps(content: bytes) -> bool:
    return b" EPSF-" in content[:64].partition(b"\n")[0]


def _start(content: bytes) -> int:
    return little(content, 4, 4) or 0


def _program(content: bytes) -> bytes:
    if not content.startswith(_BINARY):
        return content
    # trust: offsets from inside; a slice ends where the file does.
    start = _start(content)
    return content[start : start + (little(content, 8, 4) or 0)]
