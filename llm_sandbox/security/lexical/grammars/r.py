"""Comments and strings of R, raw strings too. Names in backticks are code."""

import re

from llm_sandbox.security.lexical.grammars.steps import ESCAPE, code, comment, string
from llm_sandbox.security.lexical.regions import Kind, Mode, Walk

__all__ = ["CLOSING", "OUTERMOST"]

CLOSING = {"(": ")", "[": "]", "{": "}"}
"""Closing bracket of a raw string, by its opening bracket."""

_RAW_PREFIX = re.compile(r"(?<![\w.])[rR]\Z")


def _quote(walk: Walk, found: re.Match[str]) -> int:
    start, quote, bracket = found.start(), found[0][0], found["bracket"]
    if bracket is None or not _RAW_PREFIX.search(walk.text[max(0, start - 2) : start]):
        whole = _STRINGS[quote].match(walk.text, start)
        return found.end() if whole is None else _WHOLE[quote](walk, whole)
    closing = CLOSING[bracket] + found["dashes"] + quote
    end = walk.text.find(closing, found.end())
    walk.add(found.end(), len(walk.text) if end < 0 else end, Kind.STRING)
    return len(walk.text) if end < 0 else end + len(closing)


_STRINGS = {quote: re.compile(rf"{quote}(?:[^{quote}\\]++|{ESCAPE})*+{quote}?") for quote in "\"'"}
_WHOLE = {quote: string(quote) for quote in "\"'"}

OUTERMOST = Mode(
    re.compile(
        r"(?P<comment>#[^\r\n]*)"
        r"|(?P<quote>[\"'](?:(?P<dashes>-*+)(?P<bracket>[(\[{]))?)"
        rf"|(?P<name>`(?:[^`\\\r\n]++|{ESCAPE})*+`?|%[^%\s]*+%)"
    ),
    {"comment": comment, "quote": _quote, "name": code},
)
"""Mode at the start of a program."""
