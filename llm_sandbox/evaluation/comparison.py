"""Checkers of outputs: comparison of what a program printed with what is expected.

Every checker says where the first difference is. A checker is given as a text, ``tokens`` or
``tokens_float(rel=1e-9)``, or as a function of the same shape.
"""

import ast
import inspect
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, TypeAlias

from llm_sandbox.exceptions import ValidationError

__all__ = [
    "CHECKERS",
    "Difference",
    "OutputChecker",
    "case_insensitive",
    "checked_options",
    "exact",
    "find_checker",
    "json_equal",
    "lines",
    "parse_call",
    "shorten",
    "tokens",
    "tokens_float",
    "unordered_lines",
    "unordered_tokens",
]

_WINDOW = 300
_MAX_FLOAT_DIGITS = 15
_MAX_NUMBER_CHARS = 1000
_MAX_EXPONENT = 10_000
_CONTEXT = 20


@dataclass(frozen=True)
class Difference:
    """The first difference between two outputs or values."""

    where: str
    """Position, such as ``line 3`` or ``token 7``, or a path into a value."""
    expected: str
    """At most 300 characters of the expected side, cut in the middle."""
    actual: str
    """At most 300 characters of the actual side."""
    presentation: bool = False
    """Whether the two are equal but for white space."""


OutputChecker: TypeAlias = Callable[[bytes, bytes], Difference | None]
"""Compares an expected output with an actual one; returns None if they are equal."""


def shorten(text: str) -> str:
    """Return at most 300 characters of a text, cut in the middle."""
    if len(text) <= _WINDOW:
        return text
    half = (_WINDOW - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def exact(expected: bytes, actual: bytes) -> Difference | None:
    """Compare bytes."""
    if expected == actual:
        return None
    pairs = zip(expected, actual, strict=False)
    shorter = min(len(expected), len(actual))
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    begin = max(0, at - _CONTEXT)
    found = _difference(f"byte {at + 1}", expected[begin:], actual[begin:])
    return replace(found, presentation=expected.split() == actual.split())


def lines(expected: bytes, actual: bytes) -> Difference | None:
    """Compare lines without trailing white space, and their number without empty last ones."""
    found = _first_difference("line", _lines(expected), _lines(actual))
    if found is None:
        return None
    return replace(found, presentation=expected.split() == actual.split())


def tokens(expected: bytes, actual: bytes) -> Difference | None:
    """Compare the texts between white space."""
    return _first_difference("token", expected.split(), actual.split())


def tokens_float(
    expected: bytes,
    actual: bytes,
    *,
    rel: float = 1e-6,
    abs: float = 1e-9,
) -> Difference | None:
    """Compare tokens; two numbers are equal if they are close, two integers if they are the same.

    Numbers are close if they differ by at most the larger of `abs` and `rel` times the expected
    one.
    """

    def equal(a: bytes, b: bytes) -> bool:
        return a == b or _are_close(a, b, rel, abs)

    return _first_difference("token", expected.split(), actual.split(), equal)


def case_insensitive(expected: bytes, actual: bytes) -> Difference | None:
    """Compare tokens without regard to case."""

    def equal(a: bytes, b: bytes) -> bool:
        return a == b or _text(a).casefold() == _text(b).casefold()

    return _first_difference("token", expected.split(), actual.split(), equal)


def unordered_lines(expected: bytes, actual: bytes) -> Difference | None:
    """Compare lines in any order, each as often as it is expected."""
    return _unordered("line", _lines(expected), _lines(actual))


def unordered_tokens(expected: bytes, actual: bytes) -> Difference | None:
    """Compare tokens in any order, each as often as it is expected."""
    return _unordered("token", expected.split(), actual.split())


def json_equal(expected: bytes, actual: bytes) -> Difference | None:
    """Compare JSON documents; the order of members is of no account, numbers compare by value.

    Raises:
        ValidationError: The expected document is not JSON.
    """
    try:
        wanted = json.loads(expected)
    except (ValueError, RecursionError) as error:
        raise ValidationError(f"invalid expected output: expected JSON, got {error}") from None
    try:
        # trust: the actual document comes from the sandbox; only plain data comes of it.
        found = json.loads(actual)
    except (ValueError, RecursionError) as error:
        return Difference("document", _shown(expected), _shown(actual) or str(error))
    path = _json_difference(wanted, found)
    if path is None:
        return None
    where, a, b = path
    return Difference(where, shorten(repr(a)), shorten(repr(b)))


CHECKERS: dict[str, Callable[..., Difference | None]] = {
    "exact": exact,
    "lines": lines,
    "tokens": tokens,
    "tokens_float": tokens_float,
    "case_insensitive": case_insensitive,
    "unordered_lines": unordered_lines,
    "unordered_tokens": unordered_tokens,
    "json": json_equal,
}
"""Checkers of outputs by name."""


def find_checker(spec: str | OutputChecker) -> OutputChecker:
    """Return a checker.

    Args:
        spec: A checker, its name, or its name with options: ``tokens_float(rel=1e-9)``.

    Raises:
        ValidationError: There is no such checker, or it has no such option.
    """
    if not isinstance(spec, str):
        return spec
    name, options = parse_call(spec, "checker")
    function = CHECKERS.get(name)
    if function is None:
        raise ValidationError(
            f"invalid checker: expected one of {', '.join(CHECKERS)}, got {name!r}",
            parameter="checker",
        )
    return partial(function, **checked_options(function, options)) if options else function


def parse_call(text: str, parameter: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a text such as ``equal(rel=1e-6)``.

    Raises:
        ValidationError: The text has another form, or an option that is not a constant.
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Name):
            return node.id, {}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            options = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
            if None not in options:
                return node.func.id, {str(name): value for name, value in options.items()}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise ValidationError(
        f"invalid {parameter}: expected a name, or name(option=value, ...), got {text!r:.80}",
        parameter=parameter,
    )


def checked_options(function: Callable[..., object], options: dict[str, Any]) -> dict[str, Any]:
    """Return options of a checker, after a look at their names and values.

    Raises:
        ValidationError: There is no such option, or its value is of another type or negative.
    """
    parameters = inspect.signature(function).parameters
    known = {
        name: one.default
        for name, one in parameters.items()
        if one.kind is inspect.Parameter.KEYWORD_ONLY
    }
    for name, value in options.items():
        if name not in known:
            has = ", ".join(known) or "none"
            raise ValidationError(
                f"invalid checker option: expected one of {has}, got {name!r}", parameter="checker"
            )
        is_flag = isinstance(known[name], bool)
        if is_flag is not isinstance(value, bool) or not isinstance(value, int | float):
            kind = "true or false" if is_flag else "a number"
            raise ValidationError(
                f"invalid {name}: expected {kind}, got {value!r:.40}", parameter="checker"
            )
        if not value >= 0:
            raise ValidationError(
                f"invalid {name}: expected a number from 0, got {value}", parameter="checker"
            )
    return options


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _shown(data: bytes) -> str:
    if len(data) > 8 * _WINDOW:
        data = data[: 4 * _WINDOW] + b"..." + data[-4 * _WINDOW :]
    return shorten(_text(data))


def _difference(where: str, expected: bytes, actual: bytes) -> Difference:
    return Difference(where, _shown(expected), _shown(actual))


def _lines(data: bytes) -> list[bytes]:
    found = [line.rstrip() for line in data.split(b"\n")]
    while found and not found[-1]:
        found.pop()
    return found


def _first_difference(
    unit: str,
    wanted: Sequence[bytes],
    found: Sequence[bytes],
    equal: Callable[[bytes, bytes], bool] = bytes.__eq__,
) -> Difference | None:
    for number, (a, b) in enumerate(zip(wanted, found, strict=False), 1):
        if not equal(a, b):
            return _difference(f"{unit} {number}", a, b)
    if len(wanted) == len(found):
        return None
    first = min(len(wanted), len(found))
    where = f"{unit} {first + 1}, expected {len(wanted)} {unit}s, got {len(found)}"
    rest = slice(first, first + _CONTEXT)
    return _difference(where, b" ".join(wanted[rest]), b" ".join(found[rest]))


def _unordered(unit: str, wanted: Sequence[bytes], found: Sequence[bytes]) -> Difference | None:
    missing, surplus = Counter(wanted), Counter(found)
    if missing == surplus:
        return None
    where = f"{unit}s in any order, expected {len(wanted)}, got {len(found)}"
    lost, extra = missing - surplus, surplus - missing
    return _difference(where, b" ".join([*lost][:_CONTEXT]), b" ".join([*extra][:_CONTEXT]))


def _are_close(expected: bytes, actual: bytes, rel: float, abs_: float) -> bool:
    """Return whether two tokens are numbers that are close."""
    if max(len(expected), len(actual)) > _MAX_NUMBER_CHARS:
        return False
    a, b = expected.lower(), actual.lower()
    if _is_integer(a) and _is_integer(b):
        return _integer(a) == _integer(b)
    first, second = _decimal(a), _decimal(b)
    if first is None or second is None:
        return False
    if not first.is_finite() or not second.is_finite():
        return first.is_infinite() and first == second
    if max(map(_digits, (first, second))) > _MAX_FLOAT_DIGITS:
        gap = abs(first - second)
        return gap <= max(Decimal(abs_), Decimal(rel) * abs(first))
    x, y = float(first), float(second)
    return abs(x - y) <= max(abs_, rel * abs(x))


def _is_integer(token: bytes) -> bool:
    return token.lstrip(b"+-").isdigit() and len(token) - len(token.lstrip(b"+-")) <= 1


def _integer(token: bytes) -> bytes:
    """Return an integer in one spelling; as text, so that its length is of no account."""
    digits = token.lstrip(b"+-").lstrip(b"0") or b"0"
    return b"-" + digits if token.startswith(b"-") and digits != b"0" else digits


def _decimal(token: bytes) -> Decimal | None:
    """Return the number that a token is; None for one that is not a number, or out of range."""
    if b"_" in token:
        return None
    try:
        number = Decimal(token.decode("ascii"))
    except (UnicodeDecodeError, InvalidOperation):
        return None
    if number.is_finite() and number and abs(number.adjusted()) > _MAX_EXPONENT:
        return None
    return number


def _digits(number: Decimal) -> int:
    return len(number.as_tuple().digits)


def _json_difference(wanted: Any, found: Any) -> tuple[str, Any, Any] | None:
    """Return the path and the two sides of the first difference of two JSON values."""
    pending: list[tuple[str, Any, Any]] = [("$", wanted, found)]
    while pending:
        path, a, b = pending.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return f"{path}, members", sorted(a.keys() - b.keys()), sorted(b.keys() - a.keys())
            pending += [(f"{path}.{name}", a[name], b[name]) for name in reversed(a)]
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return f"{path}, items", len(a), len(b)
            pending += [(f"{path}[{i}]", a[i], b[i]) for i in range(len(a) - 1, -1, -1)]
        elif isinstance(a, bool) is not isinstance(b, bool) or not (a == b or (a != a and b != b)):
            return path, a, b
    return None
