"""JSON texts, with integers of any size."""

import json
from typing import Any

from llm_sandbox.exceptions import ValidationError

__all__ = ["parse_json", "spelled"]

_DIRECT_DIGITS = 4000
_MOST_DIGITS = 250_000


def parse_json(text: str | bytes, name: str = "text") -> Any:
    """Return the value of a JSON text.

    Integers may be longer than Python reads from text (4,300 digits); NaN and infinities are
    accepted.

    Args:
        text: The text; bytes are UTF-8.
        name: Name of the text in errors.

    Raises:
        ValidationError: The text is not JSON, is nested too deeply, or has an integer of more than
            250,000 digits.
    """
    try:
        return json.loads(text, parse_int=_integer)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at line {error.lineno}, column {error.colno}"
    except UnicodeDecodeError as error:
        reason = f"bytes that are not UTF-8 at {error.start}"
    except RecursionError:
        reason = "nesting that is too deep"
    except OverflowError as error:
        reason = str(error)
    raise ValidationError(f"invalid {name}: expected JSON, got {reason}", parameter=name)


def spelled(value: object) -> str:
    """Return the name of a value's type in the words of JSON."""
    if value is None:
        return "null"
    for types, word in (
        (bool, "true or false"),
        ((int, float), "a number"),
        (str, "text"),
        ((list, tuple), "a list"),
        (dict, "an object"),
    ):
        if isinstance(value, types):
            return word
    return type(value).__name__


def _integer(digits: str) -> int:
    if len(digits) <= _DIRECT_DIGITS:
        return int(digits)
    if len(digits) > _MOST_DIGITS:
        raise OverflowError(f"an integer of more than {_MOST_DIGITS} digits")
    sign = -1 if digits.startswith("-") else 1
    return sign * _join(digits.removeprefix("-"))


def _join(digits: str) -> int:
    """Return the integer of digits by halves.

    Python's own limit is raised for every thread of the process or for none, and its reading of
    long integers takes the square of their length.
    """
    if len(digits) <= _DIRECT_DIGITS:
        return int(digits)
    half = len(digits) // 2
    return int(_join(digits[:-half]) * 10**half + _join(digits[-half:]))
