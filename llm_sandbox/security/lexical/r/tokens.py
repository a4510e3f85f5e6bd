"""Tokens of R: names, strings, numbers and operators, and matching brackets."""

import re
from functools import cache
from typing import NamedTuple

from llm_sandbox.security.lexical.grammars.r import CLOSING

__all__ = ["LEFT", "Argument", "Script", "Token", "read"]

LEFT = ("<-", "<<-", "=", ":=")
"""Operators that assign the right operand to the left one."""
_PLAIN = frozenset(("name", "newline", "number", "op"))
_CLOSED = frozenset((")", "]", "}"))
_TOKEN = re.compile(
    r"(?:[^\S\n]|#[^\r\n]*+)++"
    r"|(?P<newline>\n)"
    r"|(?P<raw>[rR](?P<quote>[\"'])(?P<dashes>-*+)(?P<bracket>[(\[{]))"
    r"|(?P<number>0[xX][0-9A-Fa-f]++L?|(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?[Li]?)"
    r"|(?P<name>(?:[^\W\d_]|\.(?!\d))[\w.]*+)"
    r"|(?P<string>\"(?:[^\"\\]++|\\[\s\S]?)*+\"?|'(?:[^'\\]++|\\[\s\S]?)*+'?)"
    r"|(?P<tick>`(?:[^`\\]++|\\[\s\S]?)*+`?)"
    r"|(?P<op><<-|<-|->>|->|:::|::|:=|\|>|%[^%\s]*+%|==|!=|<=|>=|&&|\|\||[^\s])"
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u\{?([0-9A-Fa-f]{1,4})\}?|U\{?([0-9A-Fa-f]{1,8})\}?"
    r"|([0-7]{1,3})|([\s\S]))"
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class Token(NamedTuple):
    """Token of a program."""

    kind: str
    """``name`` (also in backticks), ``string``, ``number``, ``op`` or ``newline``."""
    text: str
    """Value of the token: the characters of a string, a name without backticks."""
    start: int
    """Offset of the first character."""
    end: int
    """Offset after the last character."""


class Argument(NamedTuple):
    """Argument of a call, as a range of tokens."""

    name: str
    """Name; empty for a positional argument."""
    start: int
    """Index of the first token after the name."""
    end: int
    """Index after the last token."""


class Script:
    """Tokens of a program.

    Args:
        tokens: Tokens in order. Line ends within parentheses and square brackets are left out.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self._count = len(tokens)
        self._ends: dict[int, int] = {}
        # Of tokens that are no marks, nothing.
        self._marks = [token[1] if token[0] == "op" else "" for token in tokens]
        self.mates = _mates(tokens)
        self.arguments = cache(self._arguments)

    def is_op(self, index: int, *texts: str) -> bool:
        """Return whether a token is one of the given operators."""
        return 0 <= index < self._count and self._marks[index] in texts

    def after(self, index: int) -> int:
        """Return the index after a token, or after the bracket pair that it opens."""
        mate = self.mates.get(index, index)
        return min(mate, self._count - 1) + 1 if mate >= index else index + 1

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Return a range without the line ends at its start and end."""
        while start < end and self.tokens[start].kind == "newline":
            start += 1
        while end > start and self.tokens[end - 1].kind == "newline":
            end -= 1
        return start, end

    def expression_end(self, start: int) -> int:
        """Return the index after the expression that begins at a token."""
        if start not in self._ends:
            self._ends[start] = self._expression_end(start)
        return self._ends[start]

    def _expression_end(self, start: int) -> int:
        at, wanting = start, True
        while at < len(self.tokens):
            token = self.tokens[at]
            if at + 1 in self._ends and token.kind == "op" and token.text in LEFT:
                return self._ends[at + 1]
            if token.kind == "newline":
                if not wanting:
                    return at
            elif token.kind == "op":
                if token.text in {";", ",", ")", "]", "}"}:
                    return at
                wanting = token.text not in {"(", "[", "{"}
            else:
                wanting = False
            at = self.after(at)
        return at

    def _arguments(self, opening: int) -> tuple[Argument, ...]:
        found: list[Argument] = []
        end = self.mates.get(opening, len(self.tokens))
        at = start = opening + 1
        while at <= end:
            if at >= end or self.is_op(at, ","):
                if at > start:
                    found.append(self._argument(start, at))
                start = at + 1
                at += 1
            else:
                at = self.after(at)
        return tuple(found)

    def _argument(self, start: int, end: int) -> Argument:
        start, end = self.trimmed(start, end)
        named = start < end and self.tokens[start].kind in {"name", "string"}
        if named and self.is_op(start + 1, "="):
            return Argument(self.tokens[start].text, start + 2, end)
        return Argument("", start, end)


def read(text: str) -> Script:
    """Return the tokens of a program, even a broken one, in linear time."""
    tokens: list[Token] = []
    open_brackets: list[str] = []
    at, length, match = 0, len(text), _TOKEN.match
    while at < length:
        found = match(text, at)
        if found is None:
            break
        start, at = found.span()
        kind, words = found.lastgroup, found[0]
        if kind is None:
            continue
        if kind == "newline":
            # Within parentheses and square brackets line ends are insignificant.
            if open_brackets and open_brackets[-1] != "{":
                continue
        elif kind == "op":
            if words in CLOSING:
                open_brackets.append(words)
            elif words in _CLOSED and open_brackets:
                open_brackets.pop()
        elif kind not in _PLAIN:
            token = _quoted(text, found, kind)
            tokens.append(token)
            at = token.end
            continue
        tokens.append(Token(kind, words, start, at))
    return Script(tokens)


def _quoted(text: str, found: re.Match[str], kind: str) -> Token:
    start, end, words = found.start(), found.end(), found[0]
    if kind == "raw":
        closing = CLOSING[found["bracket"]] + found["dashes"] + found["quote"]
        stop = text.find(closing, end)
        stop = len(text) if stop < 0 else stop
        return Token("string", text[end:stop], start, min(stop + len(closing), len(text)))
    inner = words[1:-1] if len(words) > 1 and words[-1] == words[0] else words[1:]
    inner = _ESCAPE.sub(_character, inner) if "\\" in inner else inner
    return Token("string" if kind == "string" else "name", inner, start, end)


def _character(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    code = int(digits, 16) if digits else int(found[4], 8) if found[4] else None
    if code is None:
        return _LETTERS.get(found[5], found[5])
    return chr(code) if code < 0x110000 else ""


def _mates(tokens: list[Token]) -> dict[int, int]:
    """Return the index of the matching bracket for each bracket; unclosed ones end last."""
    mates: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "op":
            continue
        if token.text in CLOSING:
            waiting.append(index)
        elif token.text in {")", "]", "}"} and waiting:
            opening = waiting.pop()
            mates[opening], mates[index] = index, opening
    for opening in waiting:
        mates[opening] = len(tokens)
    return mates
