"""A program's text with its comments, or its strings, or all but its strings blanked out."""

import re
from importlib import import_module

from llm_sandbox.security.lexical.regions import Kind, Mode, Region, regions_of
from llm_sandbox.security.models import PatternTarget

__all__ = ["mask", "regions"]

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
    """Return a text of the same length and the same line ends in which the rest is spaces.

    Comments are blanked always. Code that is broken is read as far as it goes; time grows with the
    length of the text. In a language that is not known nothing is blanked.

    Args:
        text: A program.
        lang: Name of its language, such as ``python``.
        target: ``code`` blanks what strings hold and keeps their quotes; ``strings`` blanks all
            but what strings hold; ``all`` keeps both.
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
    """Return the comments and strings of a program in order; none where the language is unknown."""
    name = _GRAMMARS.get(lang)
    if name is None:
        return []
    grammar = import_module(f"llm_sandbox.security.lexical.grammars.{name}")
    outermost: Mode = grammar.OUTERMOST
    return regions_of(text, outermost)


def _blank(text: str) -> str:
    return _SEEN.sub(lambda found: " " * len(found[0]), text)
