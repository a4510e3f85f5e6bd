"""Comments, strings, literals in percent signs, regular expressions and heredocs of Ruby."""

import re

from llm_sandbox.security.lexical.grammars.steps import (
    ESCAPE,
    code,
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
        "and",
        "begin",
        "case",
        "do",
        "else",
        "elsif",
        "ensure",
        "if",
        "in",
        "not",
        "or",
        "puts",
        "raise",
        "rescue",
        "return",
        "then",
        "unless",
        "until",
        "when",
        "while",
        "yield",
    ]
)
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ON_LINE = re.compile(r"/(?:[^/\\\r\n]++|\\[^\r\n])++/")


def _is_operator(walk: Walk, found: re.Match[str]) -> bool:
    # `puts %w(a b)` and `puts /x/`: a blank before the mark, none after it, makes it an argument.
    start = found.start()
    before = _before(walk, start)
    if before in {"", "\n", "\r"}:
        return False
    if walk.text[start - 1] in " \t" and (before.isalpha() or before in "_?!"):
        return walk.text[start + 1 : start + 2] in {" ", "\t", "=", ""}
    return operand_before(walk, start, _NO_VALUES)


def _before(walk: Walk, start: int) -> str:
    while start and walk.text[start - 1] in " \t":
        start -= 1
    return walk.text[max(0, start - 1) : start]


def _slash(walk: Walk, found: re.Match[str]) -> int:
    start = found.start()
    if start < walk.barren or _is_operator(walk, found):
        return found.end()
    before = _before(walk, start)
    if (before.isalnum() or before == "_") and not _ON_LINE.match(walk.text, start):
        line_end = walk.text.find("\n", start)
        walk.barren = len(walk.text) if line_end < 0 else line_end
        return found.end()
    walk.push(_BETWEEN["/"])
    return found.end()


def _percent(walk: Walk, found: re.Match[str]) -> int:
    if _is_operator(walk, found):
        return found.start() + 1
    bracket, kind = found["bracket"], found["kind"]
    closing = _PAIRS.get(bracket, bracket)
    mode = _VERBATIM if kind and kind in "qwis" else _INTERPOLATED
    walk.push(mode, closing, bracket if closing != bracket else "")
    return found.end()


def _bracket(walk: Walk, found: re.Match[str]) -> int:
    frame, mark = walk.stack[-1], found[0]
    if mark == frame.closing:
        if not frame.depth:
            walk.pop()
            return found.end()
        frame.depth -= 1
    elif mark == frame.opening:
        frame.depth += 1
    return text(walk, found)


def _letter(walk: Walk, found: re.Match[str]) -> int:
    start = found.start()
    before = walk.text[max(0, start - 1) : start]
    if before.isalnum() or (before and before in "_)]}\"'"):
        return start + 1
    walk.add(start + 1, found.end(), Kind.STRING)
    return found.end()


def _heredoc(walk: Walk, found: re.Match[str]) -> int:
    start = found.start()
    before = walk.text[max(0, start - 1) : start]
    if not found["dash"] and (before.isalnum() or (before and before in "_)]}")):
        return start + 2
    mode = _HEREDOC_VERBATIM if found["quote"] == "'" else _HEREDOC
    walk.waiting.append((found["word"], bool(found["dash"]), mode))
    return found.end()


def _line_end(walk: Walk, found: re.Match[str]) -> int:
    return walk.enter_heredocs(found.end()) if walk.waiting else found.end()


def _rest(walk: Walk, _found: re.Match[str]) -> int:
    limit = walk.stack[-1].limit
    walk.add(_found.end(), limit, Kind.STRING)
    return limit


_MARKS = (
    r"(?P<comment>#[^\r\n]*|^=begin\b[\s\S]*?(?:^=end\b[^\r\n]*|\Z))"
    r"|(?P<rest>^__END__(?=\r?\n))"
    rf"|(?P<single>'(?:[^'\\]++|{ESCAPE})*+'?)"
    r'|(?P<double>")|(?P<program>`)|(?P<slash>/)'
    r"|(?P<special>\$[^\w\s])"
    r"|(?P<percent>%(?P<kind>[qQwWiIxrs]?)(?P<bracket>[^\w\s]))"
    r"|(?P<letter>\?(?:\\\S|[^\s\\])(?!\w))"
    r"|(?P<heredoc><<(?P<dash>[~-]?)(?P<quote>[\"'`]?)(?P<word>[A-Za-z_]\w*)(?P=quote))"
    r"|(?P<line>\n)"
)
_STEPS: dict[str, Step] = {
    "comment": comment,
    "heredoc": _heredoc,
    "letter": _letter,
    "line": _line_end,
    "percent": _percent,
    "rest": _rest,
    "single": string("'"),
    "slash": _slash,
    "special": code,
}
_NESTED_STEPS: dict[str, Step] = {**_STEPS, "leave": leave}
_NESTED = Mode(re.compile(rf"{_MARKS}|(?P<enter>{{)|(?P<leave>}})", re.MULTILINE), _NESTED_STEPS)
_FIELD_STEPS: dict[str, Step] = {"escape": text, "field": linked(_NESTED), "leave": leave}
_FIELD = rf"(?P<escape>{ESCAPE})|(?P<field>#{{)"
_BETWEEN = {
    quote: Mode(re.compile(rf"{_FIELD}|(?P<leave>{quote})"), _FIELD_STEPS, holds_text=True)
    for quote in '"`/'
}
_HEREDOC = Mode(re.compile(_FIELD), _FIELD_STEPS, holds_text=True)
_HEREDOC_VERBATIM = Mode(re.compile(r"(?P<leave>(?!))"), {"leave": leave}, holds_text=True)
_BRACKET = r"(?P<bracket>[^\w\s\\])"
_INTERPOLATED = Mode(
    re.compile(rf"{_FIELD}|{_BRACKET}"), {**_FIELD_STEPS, "bracket": _bracket}, holds_text=True
)
_VERBATIM = Mode(
    re.compile(rf"(?P<escape>{ESCAPE})|{_BRACKET}"),
    {"escape": text, "bracket": _bracket},
    holds_text=True,
)
for _steps in (_STEPS, _NESTED_STEPS):
    _steps["double"] = linked(_BETWEEN['"'])
    _steps["program"] = linked(_BETWEEN["`"])
_NESTED_STEPS["enter"] = linked(_NESTED)

OUTERMOST = Mode(re.compile(_MARKS, re.MULTILINE), _STEPS)
"""Mode at the start of a program."""
