"""What a setting may be. The messages leave out the value: it may be a secret that was put in the
wrong variable.
"""

from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, get_args

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.settings.sources import Given

__all__ = ["read_count", "read_member", "read_path", "read_word"]

_Kind = TypeVar("_Kind", bound=StrEnum)


def read_path(given: Given) -> Path:
    """Return a path; ``~`` is the home.

    Raises:
        ValidationError: It is no text, a relative path in a file, or in the home of nobody.
    """
    if not isinstance(given.value, str) or not given.value:
        raise _invalid(given, "expected a path")
    try:
        path = Path(given.value).expanduser()
    except RuntimeError:
        raise _invalid(given, "there is no such home directory") from None
    if given.name != given.origin and not path.is_absolute():
        raise _invalid(given, "expected an absolute path")
    return path


def read_member(kind: type[_Kind], given: Given) -> _Kind:
    """Return a member of an enumeration.

    Raises:
        ValidationError: It is none.
    """
    try:
        return kind(given.value)
    except ValueError:
        raise _invalid(given, f"expected one of {', '.join(kind)}") from None


def read_count(given: Given, largest: int) -> int:
    """Return a whole number from 0.

    Raises:
        ValidationError: It is none, or too large.
    """
    value = given.value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest:
        return value
    raise _invalid(given, f"expected a number from 0 to {largest}")


def read_word(words: Any, given: Given) -> Any:
    """Return one of the words of a `Literal`, in small letters.

    Raises:
        ValidationError: It is none of them.
    """
    known = get_args(words)
    if isinstance(given.value, str) and given.value.lower() in known:
        return given.value.lower()
    raise _invalid(given, f"expected {' or '.join(known)}")


def _invalid(given: Given, problem: str) -> ValidationError:
    # In a file, the last word of the name is the setting's own.
    return ValidationError(f"{given.name}: {problem}", parameter=given.name.rpartition(": ")[2])
