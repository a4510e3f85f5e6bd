"""Comments and strings of Python; the replacement fields of f-strings are code."""

import re

from llm_sandbox.security.lexical.grammars.steps import (
    ESCAPE,
    code,
    comment,
    leave,
    linked,
    string,
    text,
)
from llm_sandbox.security.lexical.regions import Frame, Mode, Step, Walk

__all__ = ["OUTERMOST"]

_PLAIN = {
    '"""': re.compile(rf'(?:[^"\\]++|{ESCAPE}|"(?!""))*+(?:""")?'),
    "'''": re.compile(rf"(?:[^'\\]++|{ESCAPE}|'(?!''))*+(?:''')?"),
    '"': re.compile(rf'(?:[^"\\\r\n]++|{ESCAPE})*+"?'),
    "'": re.compile(rf"(?:[^'\\\r\n]++|{ESCAPE})*+'?"),
}
_PREFIX = re.compile(r"(?<![^\W\d])[A-Za-z]{1,2}\Z")
_WHOLE = {quote: string(quote, of_lines=len(quote) == 1) for quote in _PLAIN}
_WITH_START = {quote: re.compile(quote + rest.pattern) for quote, rest in _PLAIN.items()}


def _formatted(quote: str) -> Mode:
    ends = rf"(?P<leave>{quote})|(?P<text>{{{{|}}}}|\\(?!{{)(?:\r\n|[^{{}}])?)|(?P<field>{{)"
    if len(quote) == 1:
        ends = rf"(?P<line>\\\r?\n)|{ends}|(?P<broken>(?=[\r\n]))"
    steps: dict[str, Step] = {
        "leave": leave,
        "text": text,
        "field": _enter_field,
        "line": code,
        "broken": leave,
    }
    return Mode(re.compile(ends), steps, holds_text=True)


def _enter_field(walk: Walk, found: re.Match[str]) -> int:
    walk.push(_FIELD)
    return found.end()


def _quote(walk: Walk, found: re.Match[str]) -> int:
    start, quote = found.start(), found[0]
    prefix = _PREFIX.search(walk.text[max(0, start - 3) : start])
    if prefix and set(prefix[0].lower()) & {"f", "t"}:
        walk.push(_FORMATTED[quote])
        return found.end()
    whole = _WITH_START[quote].match(walk.text, start, walk.stack[-1].limit)
    return found.end() if whole is None else _WHOLE[quote](walk, whole)


def _specification(walk: Walk, found: re.Match[str]) -> int:
    walk.stack[-1] = Frame(_SPECIFICATION, walk.stack[-1].limit)
    return found.end()


_MARKS = r"(?P<comment>#[^\r\n]*)|(?P<quote>\"\"\"|'''|\"|')"
_STEPS: dict[str, Step] = {"comment": comment, "quote": _quote}

OUTERMOST = Mode(re.compile(_MARKS), _STEPS)
"""Mode at the start of a program."""

_NESTED_STEPS: dict[str, Step] = {**_STEPS, "leave": leave}
_NESTED = Mode(re.compile(rf"{_MARKS}|(?P<enter>[(\[{{])|(?P<leave>[)\]}}])"), _NESTED_STEPS)
_NESTED_STEPS["enter"] = linked(_NESTED)
_FIELD = Mode(
    re.compile(rf"{_MARKS}|(?P<enter>[(\[{{])|(?P<leave>}})|(?P<specification>:)"),
    {**_NESTED_STEPS, "specification": _specification},
)
_SPECIFICATION = Mode(
    re.compile(r"(?P<field>{)|(?P<leave>})|(?P<broken>(?=[\r\n\"']))"),
    {"field": _enter_field, "leave": leave, "broken": leave},
    holds_text=True,
)
_FORMATTED = {quote: _formatted(quote) for quote in _PLAIN}
