"""What is done at the marks that most languages have."""

import re
from collections.abc import Mapping

from llm_sandbox.security.lexical.regions import Kind, Mode, Step, Walk

__all__ = ["ESCAPE", "code", "comment", "leave", "linked", "operand_before", "string", "text"]

ESCAPE = r"\\(?:\r\n|[\s\S])?"
"""A backslash and what it protects."""

_CONTINUED = re.compile(r"\\(?:\r\n|[\s\S])")


def code(_walk: Walk, found: re.Match[str]) -> int:
    """Pass a mark that is code."""
    return found.end()


def comment(walk: Walk, found: re.Match[str]) -> int:
    """Note a comment."""
    walk.add(found.start(), found.end(), Kind.COMMENT)
    return found.end()


def text(walk: Walk, found: re.Match[str]) -> int:
    """Note a mark that belongs to a string, such as an escape."""
    walk.add(found.start(), found.end(), Kind.STRING)
    return found.end()


def leave(walk: Walk, found: re.Match[str]) -> int:
    """Leave the place whose end this mark is."""
    walk.pop()
    return found.end()


def string(quote: str, *, of_lines: bool = False) -> Step:
    """Return the step of a string that its mark covers as a whole.

    Args:
        quote: What it begins and ends with.
        of_lines: Whether its backslashes at line ends carry it to the next line. They are kept as
            code, as without them the string would end there.
    """
    width = len(quote)

    def step(walk: Walk, found: re.Match[str]) -> int:
        start, end = found.start() + width, found.end()
        if end - start >= width and found[0].endswith(quote):
            end -= width
        if of_lines and "\\" in found[0]:
            for inner in _CONTINUED.finditer(walk.text, start, end):
                if inner[0][-1] in "\r\n":
                    walk.add(start, inner.start(), Kind.STRING)
                    start = inner.end()
        walk.add(start, end, Kind.STRING)
        return found.end()

    return step


def linked(mode: Mode) -> Step:
    """Return the step that enters a place."""

    def step(walk: Walk, found: re.Match[str]) -> int:
        walk.push(mode)
        return found.end()

    return step


def operand_before(walk: Walk, at: int, words: Mapping[str, object] | frozenset[str]) -> bool:
    """Return whether what stands before a mark is a value, so that the mark is an operator.

    Args:
        walk: The walk.
        at: Where the mark begins.
        words: Words that are no values, such as ``return``.
    """
    end = walk.before(at)
    if not end:
        return False
    last = walk.text[end - 1]
    if last in ")]\"'`":
        return True
    word = walk.word_before(end)
    return bool(word) and word not in words
