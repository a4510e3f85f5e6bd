"""Comments, quotes and here-documents of shells. Bare words and substitutions are code."""

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
from llm_sandbox.security.lexical.regions import Kind, Mode, Step, Walk

__all__ = ["OUTERMOST"]


def _heredoc(walk: Walk, found: re.Match[str]) -> int:
    word = found["word"]
    if word is None:
        word = found["quoted"]
    verbatim = found["word"] is None or "\\" in word
    mode = _HEREDOC_VERBATIM if verbatim else _HEREDOC
    walk.waiting.append((word.replace("\\", ""), bool(found["dash"]), mode))
    return found.end()


def _line_end(walk: Walk, found: re.Match[str]) -> int:
    return walk.enter_heredocs(found.end()) if walk.waiting else found.end()


_QUOTES = (
    r"(?P<ansi>\$'(?:[^'\\]++|\\[\s\S]?)*+'?)"
    r"|(?P<single>'[^']*+'?)"
    r'|(?P<double>")'
)
_MARKS = (
    rf"{_QUOTES}|(?P<comment>(?<![^\s;&|()`])#[^\r\n]*)"
    rf"|(?P<escape>{ESCAPE})"
    r"|(?P<here><<<)"
    r"|(?P<heredoc><<(?P<dash>-?)[ \t]*(?:(?P<mark>['\"])(?P<quoted>[^'\"\r\n]+)(?P=mark)"
    r"|(?P<word>\\?[A-Za-z_][\w.\-]*)))"
    r"|(?P<line>\n)"
    r"|(?P<group>\$?\()"
)


def _ansi(walk: Walk, found: re.Match[str]) -> int:
    start, end = found.start() + 2, found.end()
    if end > start and found[0].endswith("'"):
        end -= 1
    walk.add(start, end, Kind.STRING)
    return found.end()


_STEPS: dict[str, Step] = {
    "ansi": _ansi,
    "comment": comment,
    "escape": code,
    "here": code,
    "heredoc": _heredoc,
    "leave": leave,
    "line": _line_end,
    "single": string("'"),
}
_BACKTICK = Mode(re.compile(rf"{_MARKS}|(?P<leave>`)"), _STEPS)
_GROUP = Mode(re.compile(rf"{_MARKS}|(?P<leave>\))|(?P<program>`)"), _STEPS)
_EXPANDED = rf"(?P<escape>{ESCAPE})|(?P<group>\$\()|(?P<brace>\${{)|(?P<program>`)"
_EXPANDED_STEPS: dict[str, Step] = {
    "escape": text,
    "group": linked(_GROUP),
    "leave": leave,
    "program": linked(_BACKTICK),
}
_DOUBLE = Mode(re.compile(rf'{_EXPANDED}|(?P<leave>")'), _EXPANDED_STEPS, holds_text=True)
_HEREDOC = Mode(re.compile(_EXPANDED), _EXPANDED_STEPS, holds_text=True)
_HEREDOC_VERBATIM = Mode(re.compile(r"(?P<leave>(?!))"), {"leave": leave}, holds_text=True)
_BRACE_STEPS: dict[str, Step] = {**_EXPANDED_STEPS, "escape": code, "double": linked(_DOUBLE)}
_BRACE = Mode(re.compile(rf'{_EXPANDED}|(?P<double>")|(?P<leave>}})'), _BRACE_STEPS)
_EXPANDED_STEPS["brace"] = _BRACE_STEPS["brace"] = linked(_BRACE)
_STEPS["double"] = linked(_DOUBLE)
_STEPS["group"] = linked(_GROUP)
_STEPS["program"] = linked(_BACKTICK)

OUTERMOST = Mode(re.compile(rf"{_MARKS}|(?P<program>`)"), _STEPS)
"""Mode at the start of a script."""
