"""Regions of program text: comments, strings and code, and masks that blank them out."""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from importlib import import_module

from llm_sandbox.security.models import PatternTarget

__all__ = ["Frame", "Kind", "Mode", "Region", "Step", "Walk", "mask", "regions", "regions_of"]


class Kind(IntEnum):
    """Kind of a region."""

    COMMENT = 0
    """Comment, with its delimiters."""
    STRING = 1
    """Content of a string, without its quotes."""


Region = tuple[int, int, Kind]
"""Start, end (excluded) and kind. Text between regions is code."""


@dataclass(frozen=True, slots=True)
class Mode:
    """Tokenizer mode, such as for code or for the inside of a string."""

    pattern: re.Pattern[str]
    """Pattern of the next token; each alternative is a named group."""
    steps: Mapping[str, "Step"]
    """Step for a token, by the name of its group."""
    holds_text: bool = False
    """Whether text between tokens belongs to a string."""


@dataclass(slots=True)
class Frame:
    """Frame on the tokenizer's stack of modes."""

    mode: Mode
    limit: int
    """Latest end of the frame: that of a heredoc or of the text."""
    closing: str = ""
    """Closing token, where the opening token determines it."""
    opening: str = ""
    """Token that opens a further level; empty when the frame does not nest."""
    depth: int = 0
    """Number of open levels within."""


@dataclass(slots=True)
class Walk:
    """Tokenizer of one text, from its start to its end without backtracking."""

    text: str
    stack: list[Frame]
    regions: list[Region] = field(default_factory=list)
    waiting: list[tuple[str, bool, Mode]] = field(default_factory=list)
    """Heredocs that begin after this line: closing word, whether that may be indented, and mode."""
    barren: int = 0
    """Offset before which no regular expression literal begins, as a search found none."""
    lines: dict[tuple[str, bool], list[int]] | None = None
    """Starts of lines, by their text with and without indentation; computed for the first heredoc.
    """

    def add(self, start: int, end: int, kind: Kind) -> None:
        """Add a region; empty ones are dropped, and adjacent ones are joined."""
        if start >= end:
            return
        if self.regions:
            last = self.regions[-1]
            if last[1] == start and last[2] is kind:
                self.regions[-1] = (last[0], end, kind)
                return
        self.regions.append((start, end, kind))

    def push(self, mode: Mode, closing: str = "", opening: str = "") -> None:
        """Push a frame."""
        self.stack.append(Frame(mode, self.stack[-1].limit, closing, opening))

    def pop(self) -> None:
        """Pop a frame; the outermost one stays."""
        if len(self.stack) > 1:
            self.stack.pop()

    def before(self, at: int) -> int:
        """Return the offset after the last code before an offset, blanks and comments skipped."""
        text, index = self.text, len(self.regions) - 1
        while at:
            if text[at - 1].isspace():
                at -= 1
            elif index >= 0 and self.regions[index][1:] == (at, Kind.COMMENT):
                at = self.regions[index][0]
                index -= 1
            else:
                break
        return at

    def word_before(self, at: int) -> str:
        """Return the word that ends at an offset, at most its last 16 characters."""
        found = _WORD_END.search(self.text[max(0, at - 16) : at])
        return found[0] if found else ""

    def line_that_is(self, word: str, after: int, *, indented: bool) -> int | None:
        """Return the start of the next line that consists of a word, from an offset on."""
        if self.lines is None:
            self.lines = {}
            for found in _LINE.finditer(self.text):
                self.lines.setdefault((found[2], True), []).append(found.start())
                if not found[1]:
                    self.lines.setdefault((found[2], False), []).append(found.start())
        starts = self.lines.get((word, indented), [])
        index = bisect_left(starts, after)
        return starts[index] if index < len(starts) else None

    def enter_heredocs(self, at: int) -> int:
        """Push the heredocs that begin after the line; return the offset to continue at."""
        for index, (word, indented, mode) in enumerate(self.waiting):
            end = self.line_that_is(word, at, indented=indented)
            if end is None or end >= self.stack[-1].limit:
                continue
            self.waiting = self.waiting[index + 1 :]
            self.stack.append(Frame(mode, end))
            return at
        self.waiting = []
        return at


Step = Callable[[Walk, "re.Match[str]"], int]
"""Function that handles a token and returns the offset to continue at."""

_WORD_END = re.compile(r"[\w$]+\Z")
_LINE = re.compile(r"^([ \t]*)([^\r\n]*)", re.MULTILINE)


def regions_of(text: str, outermost: Mode) -> list[Region]:
    """Return the comments and strings of a text in order.

    Never raises: broken code is scanned as far as it goes. Time grows with the length of the text.
    """
    walk = Walk(text, [Frame(outermost, len(text))])
    at = 0
    while True:
        frame = walk.stack[-1]
        found = frame.mode.pattern.search(text, at, frame.limit)
        end = frame.limit if found is None else found.start()
        if frame.mode.holds_text:
            walk.add(at, end, Kind.STRING)
        if found is not None:
            at = frame.mode.steps[found.lastgroup or ""](walk, found)
            continue
        if end >= len(text) and walk.stack[0].limit == end:
            return walk.regions
        # A heredoc has ended, and with it whatever was left open inside.
        while walk.stack[-1].limit == end and len(walk.stack) > 1:
            walk.stack.pop()
        line_end = text.find("\n", end)
        at = len(text) if line_end < 0 else line_end + 1
        at = walk.enter_heredocs(at)


_GRAMMARS = {
    "bash": "bash",
    "c": "cpp",
    "cpp": "cpp",
    "go": "go",
    "java": "java",
    "javascript": "javascript",
    "python": "python",
    "r": "r",
    "ruby": "ruby",
    "typescript": "javascript",
}
_SEEN = re.compile(r"[^\r\n]+")


def mask(text: str, lang: str, target: PatternTarget) -> str:
    """Return text of the same length and line ends, with everything but the target blanked.

    Comments are always blanked. Broken code is scanned as far as it goes; time grows with the
    length of the text. In an unknown language nothing is blanked.

    Args:
        text: A program.
        lang: Name of its language, such as ``python``.
        target: ``code`` blanks the contents of strings and keeps their quotes; ``strings`` blanks
            all but the contents of strings; ``all`` keeps both.
    """
    if lang not in _GRAMMARS:
        return text
    kept: list[str] = []
    at = 0
    for start, end, kind in regions(text, lang):
        kept.append(_blank(text[at:start]) if target == "strings" else text[at:start])
        blanked = kind is Kind.COMMENT or target == "code"
        kept.append(_blank(text[start:end]) if blanked else text[start:end])
        at = end
    kept.append(_blank(text[at:]) if target == "strings" else text[at:])
    return "".join(kept)


def regions(text: str, lang: str) -> list[Region]:
    """Return the comments and strings of a program in order; none for an unknown language."""
    name = _GRAMMARS.get(lang)
    if name is None:
        return []
    grammar = import_module(f"llm_sandbox.security.lexical.grammars.{name}")
    outermost: Mode = grammar.OUTERMOST
    return regions_of(text, outermost)


def _blank(text: str) -> str:
    return _SEEN.sub(lambda found: " " * len(found[0]), text)
