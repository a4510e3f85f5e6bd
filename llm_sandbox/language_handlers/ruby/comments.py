"""Comment removal for Ruby programs."""

import re

__all__ = ["without_comments"]

_TOKEN = re.compile(
    r"(?P<block>^=begin(?=\s))|(?P<end>^__END__$)|(?P<comment>\#)|(?P<newline>\n)"
    r"|(?P<here><<[~-]?(?:(['\"`])(?P<quoted>[^'\"`\n]+)\6|(?P<word>[A-Z_][A-Za-z0-9_]*)))"
    r"|(?P<char>\?\\?[\#'\"`/](?![\w]))|(?P<global>\$['\"`/])"
    r"|(?P<percent>%[qQwWiIrsx]?(?P<open>[(\[{<|!/^]))|(?P<quote>['\"`/])",
    re.MULTILINE,
)
_BLOCK_END = re.compile(r"^=end\b.*$|\Z", re.MULTILINE)
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_VALUE = re.compile(r"[\w)\]}'\"`?!]\Z")
_KEYWORD = re.compile(
    r"(?<![\w.@$:])(?:and|begin|case|do|else|elsif|ensure|if|in|not|or|puts|p|print|return|then"
    r"|unless|until|when|while|yield|match|split|scan|gsub|sub|raise)\Z"
)
_WINDOW = 12


def without_comments(code: str) -> str:
    """Return a program without its comments; line numbers do not change."""
    kept, start, at = [], 0, 0
    waiting: list[str] = []
    while (found := _TOKEN.search(code, at)) is not None:
        kind = found.lastgroup
        at = found.end()
        if kind == "end":
            break
        if kind in ("block", "comment"):
            kept.append(code[start : found.start()])
            if kind == "block":
                ended = _BLOCK_END.search(code, at)
                at = ended.end() if ended else len(code)
                kept.append("\n" * code.count("\n", found.start(), at))
            else:
                line = code.find("\n", at)
                at = line if line >= 0 else len(code)
            start = at
        elif found["here"] and not _is_operator(code, found.start(), found.end()):
            waiting.append(found["quoted"] or found["word"])
        elif kind == "newline":
            for word in waiting:
                end = re.compile(rf"^[ \t]*{re.escape(word)}$", re.MULTILINE).search(code, at)
                at = end.end() if end else len(code)
            waiting.clear()
        elif found["percent"] and not _is_operator(code, found.start(), found.end()):
            at = _end_of(code, at, found["open"], _CLOSERS.get(found["open"], found["open"]))
        elif kind == "quote" and not (
            found[0] == "/" and _is_operator(code, found.start(), found.end())
        ):
            at = _end_of(code, at, found[0], found[0])
    return "".join((*kept, code[start:]))


def _is_operator(code: str, start: int, end: int) -> bool:
    """Return whether a character that could begin a literal is a binary operator."""
    before = code[max(0, start - _WINDOW) : start]
    text = before.rstrip(" \t")
    if not _VALUE.search(text) or _KEYWORD.search(text):
        return False
    # After a space and before none, it is the argument of a method.
    return text == before or code[end : end + 1] in (" ", "=", "\n", "")


def _end_of(code: str, at: int, opener: str, closer: str) -> int:
    """Return the end of a literal that began before `at`; its interpolations may contain
    literals.
    """
    marks = re.compile(rf"\\.|\#\{{|[{{}}]|{re.escape(opener)}|{re.escape(closer)}", re.DOTALL)
    nested, braces = 0, 0
    while (found := marks.search(code, at)) is not None:
        at = found.end()
        mark = found[0]
        if mark == "#{":
            braces += 1
        elif braces:
            braces += (mark == "{") - (mark == "}")
        elif mark == closer:
            if not nested:
                return at
            nested -= 1
        elif mark == opener:
            nested += 1
    return len(code)
