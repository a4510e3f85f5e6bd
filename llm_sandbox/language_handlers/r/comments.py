"""R code without its comments."""

import re

__all__ = ["without_comments"]

_RAW_BEGIN = re.compile(r"(?<![\w.])[rR]([\"'])(-*)([\[({])")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_SPECIAL = re.compile(r"[\"'`#%]")
_OPERATOR = re.compile(r"%[^%\n#\"'`]*%")
_STRING_PIECE = re.compile(r"[^\\\"'`]+|\\.?|[\"'`]", re.DOTALL)


def without_comments(code: str) -> str:
    """Return `code` without comments; strings, raw strings and quoted names stay whole.

    Args:
        code: Any text; it need not be correct.
    """
    kept: list[str] = []
    at = 0
    while (found := _SPECIAL.search(code, at)) is not None:
        mark, place = found[0], found.start()
        if mark == "#":
            end = code.find("\n", place)
            end = len(code) if end < 0 else end
            kept.append(code[at:place].rstrip(" \t"))
            at = end
            continue
        if mark == "%":
            operator = _OPERATOR.match(code, place)
            end = operator.end() if operator else place + 1
        else:
            end = _end_of_string(code, place)
        kept.append(code[at:end])
        at = end
    kept.append(code[at:])
    return "".join(kept)


def _end_of_string(code: str, place: int) -> int:
    raw = _RAW_BEGIN.match(code, place - 1) if place > 0 else None
    if raw is not None:
        closing = f"{_CLOSING[raw[3]]}{raw[2]}{raw[1]}"
        end = code.find(closing, raw.end())
        return len(code) if end < 0 else end + len(closing)
    quote, at = code[place], place + 1
    while (piece := _STRING_PIECE.match(code, at)) is not None:
        at = piece.end()
        if piece[0] == quote:
            return at
    return len(code)
