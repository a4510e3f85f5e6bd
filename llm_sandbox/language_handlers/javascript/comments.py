"""Comment removal and module detection for JavaScript: a tokenizer of comments, strings and
code.
"""

import re
from collections.abc import Iterator

__all__ = ["is_module", "without_comments"]

# Each alternative begins with a character of its own and does not go back: linear time.
_PIECE = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n\r\u2028\u2029]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?|\A\#![^\n]*)
  | (?P<string>'(?:[^'\\\n]|\\[\s\S])*'?|"(?:[^"\\\n]|\\[\s\S])*"?)
  | (?P<number>\d(?:[\w.]|(?<=[eE])[+-](?=\d))*)
  | (?P<word>(?:[^\W\d]|[$\#\\\u200c\u200d])(?:\w|[$\\\u200c\u200d])*)
  | (?P<mark>=>|\?\.|\+\+|--|[\s\S])
    """,
    re.VERBOSE,
)
_REGEX = re.compile(r"/(?:[^\\/\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\]?)*/?[\w$]*")
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|\Z|\\\Z)")
_BEFORE_OPERAND = frozenset(
    {
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "do",
        "else",
        "instanceof",
        "yield",
        "await",
    }
)
_CONDITIONS = frozenset({"if", "while", "for", "with"})
_HEADS = _CONDITIONS | {"switch", "catch"}
_BEFORE_BLOCK = frozenset({";", "{", "}", "=>", "else", "do", "try", "finally"})

_Piece = tuple[str, int, int]


def _pieces(code: str) -> Iterator[_Piece]:
    """Yield the kind, start and end of each piece; consecutive code is one piece."""
    at, operand, last, count = 0, False, "", len(code)
    opened: list[tuple[str, bool]] = []
    while at < count:
        begins_template = code[at] == "`"
        if begins_template or (code[at] == "}" and opened and opened[-1][0] == "${"):
            if not begins_template:
                opened.pop()
            found = _TEMPLATE.match(code, at + 1)
            end = found.end() if found else count
            operand = not code.endswith("${", at + 1, end)
            if not operand:
                opened.append(("${", False))
            yield "template", at, end
            at, last = end, "`" if operand else "${"
            continue
        found = _PIECE.match(code, at)
        assert found is not None  # noqa: S101 - its last alternative takes anything
        kind, text, end = str(found.lastgroup), found[0], found.end()
        if text == "/" and not operand:
            regex = _REGEX.match(code, at)
            kind, end = "regex", regex.end() if regex else end
        yield kind, at, end
        at = end
        if kind in ("space", "comment"):
            continue
        if kind == "word":
            operand = last in (".", "?.") or text not in _BEFORE_OPERAND
        elif kind != "mark":
            operand = True
        elif text in "([{":
            head = text == "(" and last in _CONDITIONS
            block = text == "{" and (operand or not last or last in _BEFORE_BLOCK)
            opened.append((text, not head and not block))
            operand = False
        elif text in ")]}":
            operand = opened.pop()[1] if opened else True
        elif text not in ("++", "--"):
            operand = False
        last = text


def without_comments(code: str) -> str:
    """Return code without comments; line numbers do not change."""
    kept: list[str] = []
    for kind, start, end in _pieces(code):
        text = code[start:end]
        if kind != "comment":
            kept.append(text)
            continue
        if kept and not text.startswith("/*") and not kept[-1].strip(" \t"):
            kept.pop()
        # Between two words it stood for a space.
        kept.append("\n" * text.count("\n") or (" " if text.startswith("/*") else ""))
    return "".join(kept)


def is_module(code: str) -> bool:
    """Return whether code imports or exports as only modules can, or awaits outside of
    functions.
    """
    words = [
        (kind, code[start:end])
        for kind, start, end in _pieces(code)
        if kind not in ("space", "comment")
    ]
    within: list[bool] = []  # of each bracket: whether it is a function's body
    heads: list[bool] = []  # of each parenthesis: whether it is that of a statement
    before, closed_head, bodies = "", False, 0
    for index, (kind, text) in enumerate(words):
        following = words[index + 1][1] if index + 1 < len(words) else ""
        if kind == "mark" and text in "([{":
            body = text == "{" and (before == "=>" or (before == ")" and not closed_head))
            within.append(body)
            bodies += body
            heads.append(text == "(" and before in _HEADS)
        elif kind == "mark" and text in ")]}" and within:
            bodies -= within.pop()
            closed_head = heads.pop()
        elif kind == "template":
            # Of one with expressions only the first part opens something.
            if text.startswith("}") and within:
                bodies -= within.pop()
                heads.pop()
            if text.endswith("${"):
                within.append(False)
                heads.append(False)
        elif kind == "word" and before not in (".", "?.") and following != ":":
            top = not within
            if text == "import" and (following == "." or (top and following != "(")):
                return True
            if text == "export" and top:
                return True
            if text == "await" and not bodies:
                return True
        before = text
    return False
