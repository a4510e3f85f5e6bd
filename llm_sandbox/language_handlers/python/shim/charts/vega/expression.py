"""Evaluation of Vega expressions, with JavaScript's rules for numbers, texts and truthiness."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .functions import FUNCTIONS, is_date_like, to_number, to_text, truth
from .syntax import ExpressionError, Node, parse_expression

__all__ = ["Expression", "ExpressionError"]

_TEXT_LIMIT = 10_000
_CONSTANTS = {
    "PI": math.pi,
    "E": math.e,
    "LN2": math.log(2),
    "LN10": math.log(10),
    "LOG2E": 1 / math.log(2),
    "LOG10E": 1 / math.log(10),
    "SQRT2": math.sqrt(2),
    "SQRT1_2": math.sqrt(0.5),
    "NaN": math.nan,
    "Infinity": math.inf,
    "undefined": None,
    "MAX_VALUE": 1.7976931348623157e308,
    "MIN_VALUE": 5e-324,
}


class Expression:
    """Vega expression, parsed once and evaluated for every row."""

    def __init__(self, text: str, names: Mapping[str, Any] | None = None) -> None:
        self._tree = parse_expression(text)
        self._names = names or {}

    def __call__(self, row: Mapping[str, Any]) -> Any:
        """Evaluate the expression for a row.

        Args:
            row: The row, which the expression calls ``datum``.

        Returns:
            A plain value; dates are milliseconds.

        Raises:
            ExpressionError: The expression uses something that is not implemented.
        """
        try:
            return self._value(self._tree, row)
        except (OverflowError, ZeroDivisionError, ValueError, TypeError) as error:
            if isinstance(error, ExpressionError):
                raise
            raise ExpressionError(f"the expression fails: {error}") from error

    def _value(self, node: Node, row: Mapping[str, Any]) -> Any:
        kind = node[0]
        if kind == "value":
            return node[1]
        handler: Callable[[Node, Mapping[str, Any]], Any] = getattr(self, _HANDLERS[kind])
        return handler(node, row)

    def _name(self, node: Node, row: Mapping[str, Any]) -> Any:
        name = node[1]
        if name == "datum":
            return row
        if name in self._names:
            return self._names[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        raise ExpressionError(f"{name!r} is not known")

    def _list(self, node: Node, row: Mapping[str, Any]) -> list[Any]:
        return [self._value(part, row) for part in node[1]]

    def _object(self, node: Node, row: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self._value(part, row) for key, part in node[1].items()}

    def _choose(self, node: Node, row: Mapping[str, Any]) -> Any:
        return self._value(node[2] if truth(self._value(node[1], row)) else node[3], row)

    def _unary(self, node: Node, row: Mapping[str, Any]) -> Any:
        value = self._value(node[2], row)
        if node[1] == "!":
            return not truth(value)
        number = to_number(value)
        return -number if node[1] == "-" else number

    def _member(self, node: Node, row: Mapping[str, Any]) -> Any:
        owner, key = self._value(node[1], row), self._value(node[2], row)
        if isinstance(owner, Mapping):
            return owner.get(to_text(key))
        if isinstance(owner, (list, str)):
            if key == "length":
                return len(owner)
            number = to_number(key)
            if number == number and 0 <= number < len(owner):
                return owner[int(number)]
        return None

    def _call(self, node: Node, row: Mapping[str, Any]) -> Any:
        target = node[1]
        name = target[1] if target[0] == "name" else None
        if target[0] == "member" and target[1] == ("name", "Math"):
            name = target[2][1]
        arguments = [self._value(part, row) for part in node[2]]
        if name == "if" and len(arguments) == 3:
            return arguments[1] if truth(arguments[0]) else arguments[2]
        function = FUNCTIONS.get(name) if isinstance(name, str) else None
        if function is None:
            raise ExpressionError(f"the function {name or '...'} is not known here")
        found = function(*arguments)
        if isinstance(found, str) and len(found) > _TEXT_LIMIT:
            raise ExpressionError("a text grows too long")
        return found

    def _binary(self, node: Node, row: Mapping[str, Any]) -> Any:
        sign = node[1]
        left = self._value(node[2], row)
        if sign == "&&":
            return self._value(node[3], row) if truth(left) else left
        if sign == "||":
            return left if truth(left) else self._value(node[3], row)
        right = self._value(node[3], row)
        if sign in ("==", "!=", "===", "!=="):
            return _equal(left, right, strict=len(sign) == 3) == (sign[0] == "=")
        if sign in ("<", ">", "<=", ">="):
            return _ordered(sign, left, right)
        return _calculate(sign, left, right)


_HANDLERS = {
    kind: f"_{kind}"
    for kind in ("name", "list", "object", "choose", "unary", "member", "call", "binary")
}


def _equal(left: Any, right: Any, *, strict: bool) -> bool:
    if left is None or right is None:
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if strict and (isinstance(left, str) or isinstance(right, str)):
        return False
    if strict and isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, (list, dict)) or isinstance(right, (list, dict)):
        return left is right
    return to_number(left) == to_number(right)


def _ordered(sign: str, left: Any, right: Any) -> bool:
    if not (isinstance(left, str) and isinstance(right, str)):
        # A date is a number here; the text of a date beside it stands for the same.
        left, right = is_date_like(left, right), is_date_like(right, left)
    if sign == "<":
        return bool(left < right)
    if sign == ">":
        return bool(left > right)
    return bool(left <= right) if sign == "<=" else bool(left >= right)


def _calculate(sign: str, left: Any, right: Any) -> Any:
    if sign == "+" and (isinstance(left, str) or isinstance(right, str)):
        found = to_text(left) + to_text(right)
        if len(found) > _TEXT_LIMIT:
            raise ExpressionError("a text grows too long")
        return found
    a, b = to_number(left), to_number(right)
    if sign == "+":
        return a + b
    if sign == "-":
        return a - b
    if sign == "*":
        return float(a) * b if abs(a) > 2**53 or abs(b) > 2**53 else a * b
    if sign == "/":
        return _divide(a, b)
    return math.fmod(a, b) if b and math.isfinite(a) else math.nan


def _divide(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a)
    return a / b
