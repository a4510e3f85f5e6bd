"""Comments, strings, templates and regular expressions of JavaScript and TypeScript."""

import re

from llm_sandbox.security.lexical.grammars.steps import (
    ESCAPE,
    comment,
    leave,
    linked,
    operand_before,
    string,
    text,
)
from llm_sandbox.security.lexical.regions import Kind, Mode, Step, Walk

__all__ = ["OUTERMOST"]

_NO_VALUES = frozenset(
    [
        "await",
        "case",
        "delete",
        "do",
        "else",
        "extends",
        "in",
        "instanceof",
        "new",
        "of",
        "return",
        "throw",
        "typeof",
        "void",
        "yield",
    ]
)
_REGEX = re.compile(r"/(?P<body>(?:[^/\\\[\r\n]++|\\[^\r\n]|\[(?:[^\]\\\r\n]++|\\[^\r\n])*+\])++)/")
_LINE_END = re.compile(r"[\r\n]")


def _slash(walk: Walk, found: re.Match[str]) -> int:
    start = found.start()
    # An element's closing tag in JSX is no regular expression.
    if start < walk.barren or walk.text[max(0, start - 1) : start] == "<":
        return found.end()
    if operand_before(walk, start, _NO_VALUES):
        return found.end()
    regex = _REGEX.match(walk.text, start, walk.stack[-1].limit)
    if regex is None:
        line_end = _LINE_END.search(walk.text, start)
        walk.barren = len(walk.text) if line_end is None else line_end.start()
        return found.end()
    walk.add(*regex.span("body"), Kind.STRING)
    return regex.end()


_MARKS = (
    r"(?P<comment>//[^\r\n]*|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)"
    rf'|(?P<double>"(?:[^"\\\r\n]++|{ESCAPE})*+"?)'
    rf"|(?P<single>'(?:[^'\\\r\n]++|{ESCAPE})*+'?)"
    r"|(?P<template>`)"
    r"|(?P<slash>/)"
)
_STEPS: dict[str, Step] = {
    "comment": comment,
    "double": string('"', of_lines=True),
    "single": string("'", of_lines=True),
    "slash": _slash,
}
_NESTED_STEPS: dict[str, Step] = {**_STEPS, "leave": leave}
_NESTED = Mode(re.compile(rf"{_MARKS}|(?P<enter>{{)|(?P<leave>}})"), _NESTED_STEPS)
_TEMPLATE = Mode(
    re.compile(rf"(?P<leave>`)|(?P<escape>{ESCAPE})|(?P<field>\${{)"),
    {"leave": leave, "escape": text, "field": linked(_NESTED)},
    holds_text=True,
)
_STEPS["template"] = _NESTED_STEPS["template"] = linked(_TEMPLATE)
_NESTED_STEPS["enter"] = linked(_NESTED)

OUTERMOST = Mode(re.compile(_MARKS), _STEPS)
"""Mode at the start of a program."""
