"""Parser of Vega expressions into trees, so that no code is ever executed."""

from __future__ import annotations

import math
import re
from typing import Any

__all__ = ["ExpressionError", "Node", "parse_expression"]

Node = tuple[Any, ...]
"""Syntax tree: its kind, then its parts."""

_LIMIT = 4000
_DEPTH = 60
_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<name>[A-Za-z_$][\w$]*)"
    r"|(?P<sign>===|!==|==|!=|<=|>=|&&|\|\||<<|>>>|>>|[-+*/%<>!?:.,()\[\]{}&|^~]))"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_BINARY = {
    "||": 1,
    "&&": 2,
    "==": 6,
    "!=": 6,
    "===": 6,
    "!==": 6,
    "<": 7,
    ">": 7,
    "<=": 7,
    ">=": 7,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}


class ExpressionError(ValueError):
    """Error of an expression that is not supported; its chart is recorded without values."""


def parse_expression(text: str) -> Node:
    """Parse an expression.

    Args:
        text: The expression.

    Returns:
        The syntax tree.

    Raises:
        ExpressionError: The text is not an expression, or uses an unsupported feature.
    """
    if len(text) > _LIMIT:
        raise ExpressionError(f"the expression is longer than {_LIMIT} characters")
    return _Parser(_tokens(text)).parse()


def _tokens(text: str) -> list[tuple[str, str]]:
    found = []
    place = 0
    text = text.strip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            raise ExpressionError(f"unknown sign {text[place : place + 5]!r}")
        found.append((match.lastgroup, match[match.lastgroup]))
        place = match.end()
    return found


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "ux" and len(code) > 1:
            return chr(int(code[1:], 16))
        return _ESCAPES.get(code, code)

    return _ESCAPE.sub(one, text[1:-1])


class _Parser:
    """Recursive descent parser of a list of tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0

    def parse(self) -> Node:
        tree = self._ternary()
        if self._place < len(self._tokens):
            raise ExpressionError(f"{self._tokens[self._place][1]!r} is not expected")
        return tree

    def _peek(self) -> str:
        if self._place < len(self._tokens):
            kind, text = self._tokens[self._place]
            if kind == "sign":
                return text
        return ""

    def _take(self, sign: str) -> bool:
        if self._peek() == sign:
            self._place += 1
            return True
        return False

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise ExpressionError(f"{sign!r} is missing")

    def _ternary(self) -> Node:
        self._depth += 1
        if self._depth > _DEPTH:
            raise ExpressionError("the expression is nested too deeply")
        tree = self._binary(0)
        if self._take("?"):
            yes = self._ternary()
            self._need(":")
            tree = ("choose", tree, yes, self._ternary())
        self._depth -= 1
        return tree

    def _binary(self, least: int) -> Node:
        left = self._unary()
        count = 0
        while (strength := _BINARY.get(self._peek(), 0)) > least:
            count += 1
            if count > _DEPTH * 4:
                raise ExpressionError("the expression is too long")
            sign = self._peek()
            self._place += 1
            left = ("binary", sign, left, self._binary(strength))
        return left

    def _unary(self) -> Node:
        sign = self._peek()
        if sign in ("!", "-", "+"):
            self._place += 1
            self._depth += 1
            if self._depth > _DEPTH:
                raise ExpressionError("the expression is nested too deeply")
            tree = ("unary", sign, self._unary())
            self._depth -= 1
            return tree
        return self._member(self._atom())

    def _member(self, tree: Node) -> Node:
        for _ in range(_DEPTH):
            if self._take("."):
                kind, name = self._next()
                if kind != "name":
                    raise ExpressionError(f"{name!r} is no name")
                tree = ("member", tree, ("value", name))
            elif self._take("["):
                tree = ("member", tree, self._ternary())
                self._need("]")
            elif self._take("("):
                tree = ("call", tree, self._list(")"))
            else:
                return tree
        raise ExpressionError("the expression is nested too deeply")

    def _next(self) -> tuple[str, str]:
        if self._place >= len(self._tokens):
            raise ExpressionError("the expression ends too early")
        self._place += 1
        return self._tokens[self._place - 1]

    def _list(self, end: str) -> list[Node]:
        found: list[Node] = []
        while not self._take(end):
            if found:
                self._need(",")
            found.append(self._ternary())
        return found

    def _atom(self) -> Node:
        kind, text = self._next()
        if kind == "number":
            number = int(text, 16) if text[:2] in ("0x", "0X") else float(text)
            whole = math.isfinite(number) and number == int(number) and abs(number) < 2**53
            return ("value", int(number) if whole else number)
        if kind == "string":
            return ("value", _unescape(text))
        if kind == "name":
            return ("value", _WORDS[text]) if text in _WORDS else ("name", text)
        if text == "(":
            tree = self._ternary()
            self._need(")")
            return tree
        if text == "[":
            return ("list", self._list("]"))
        if text == "{":
            return self._object()
        raise ExpressionError(f"{text!r} is not expected")

    def _object(self) -> Node:
        found: dict[str, Node] = {}
        while not self._take("}"):
            if found:
                self._need(",")
            _, key = self._next()
            self._need(":")
            found[key.strip("'\"")] = self._ternary()
        return ("object", found)
