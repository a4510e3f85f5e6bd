"""Comments and strings of C and C++, raw strings too."""

import re

from llm_sandbox.security.lexical.grammars.steps import ESCAPE, code, comment, string
from llm_sandbox.security.lexical.regions import Kind, Mode, Walk

__all__ = ["OUTERMOST"]

_RAW_PREFIX = re.compile(r"(?<!\w)(?:u8|[uUL])?R\Z")


def _quote(walk: Walk, found: re.Match[str]) -> int:
    start = found.start()
    delimiter = found["delimiter"]
    if delimiter is None or not _RAW_PREFIX.search(walk.text[max(0, start - 4) : start]):
        return _in_line(walk, found)
    body = start + len(delimiter) + 2
    end = walk.text.find(f'){delimiter}"', body)
    walk.add(body, len(walk.text) if end < 0 else end, Kind.STRING)
    return len(walk.text) if end < 0 else end + len(delimiter) + 2


def _in_line(walk: Walk, found: re.Match[str]) -> int:
    whole = _STRING.match(walk.text, found.start())
    return found.end() if whole is None else _IN_LINE(walk, whole)


_IN_LINE = string('"', of_lines=True)
_STRING = re.compile(rf'"(?:[^"\\\r\n]++|{ESCAPE})*+"?')

OUTERMOST = Mode(
    re.compile(
        r"(?P<comment>//(?:[^\\\r\n]++|\\(?:\r\n|[\s\S])?)*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)"
        r'|(?P<quote>"(?:(?P<delimiter>[^\s()\\"]{0,16})\()?)'
        rf"|(?P<letter>'(?:[^'\\\r\n]++|{ESCAPE})*+'?)"
        r"|(?P<number>\d[\w.]*(?:'\w+)*)"
    ),
    {
        "comment": comment,
        "quote": _quote,
        "letter": string("'", of_lines=True),
        "number": code,
    },
)
"""Mode at the start of a program."""
