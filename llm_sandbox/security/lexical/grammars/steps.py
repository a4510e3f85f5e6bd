"""Tokenizer steps that most languages share."""

import re
from collections.abc import Mapping

from llm_sandbox.security.lexical.regions import Kind, Mode, Step, Walk

__all__ = ["ESCAPE", "code", "comment", "leave", "linked", "operand_before", "string", "text"]

ESCAPE = r"\\(?:\r\n|[\s\S])?"
"""Pattern of a backslash and the character that it escapes."""

_CONTINUED = re.compile(r"\\(?:\r\n|[\s\S])")


def code(_walk: Walk, found: re.Match[str]) -> int:
    """Skip a token that is code."""
    return found.end()


def comment(walk: Walk, found: re.Match[str]) -> int:
    """Add a comment region."""
    walk.add(found.start(), found.end(), Kind.COMMENT)
    return found.end()


def text(walk: Walk, found: re.Match[str]) -> int:
    """Add a token that belongs to a string, such as an escape."""
    walk.add(found.start(), found.end(), Kind.STRING)
    return found.end()


def leave(walk: Walk, found: re.Match[str]) -> int:
    """Leave the frame that the token closes."""
    walk.pop()
    return found.end()


def string(quote: str, *, of_lines: bool = False) -> Step:
    """Return the step for a string that is one token.

    Args:
        quote: Opening and closing quote.
        of_lines: Whether backslashes at line ends continue the string on the next line. They are
            kept as code, as without them the string would end there.
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
    """Return the step that enters a frame."""

    def step(walk: Walk, found: re.Match[str]) -> int:
        walk.push(mode)
        return found.end()

    return step


def operand_before(walk: Walk, at: int, words: Mapping[str, object] | frozenset[str]) -> bool:
    """Return whether an operand precedes a token, so that the token is an operator.

    Args:
        walk: The tokenizer.
        at: Offset of the token.
        words: Words that are no operands, such as ``return``.
    """
    end = walk.before(at)
    if not end:
        return False
    last = walk.text[end - 1]
    if last in ")]\"'`":
        return True
    word = walk.word_before(end)
    return bool(word) and word not in words
