"""Validation of sandbox parameters by Modal's rules."""

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from llm_sandbox.adapters.modal.exception import InvalidError

__all__ = [
    "check_args",
    "check_bufsize",
    "check_cidrs",
    "check_env",
    "check_name",
    "check_pair",
    "check_path",
    "check_tags",
    "check_timeout",
    "check_workdir",
]

_MOST_CHARACTERS = 65_536
_MOST_SECONDS = 24 * 3600
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


def check_args(args: Sequence[object]) -> None:
    """Check that arguments are text of at most 65,536 characters in total.

    Raises:
        InvalidError: An argument is not text, or they are too long.
    """
    total = 0
    for word in args:
        if not isinstance(word, str):
            raise InvalidError(f"a command's words are text, not {word!r:.80}", parameter="args")
        total += len(word)
    if total > _MOST_CHARACTERS:
        raise InvalidError(
            f"a command's words have {total} characters together; {_MOST_CHARACTERS} are the most",
            parameter="args",
        )


def check_workdir(workdir: object) -> str | None:
    """Return a valid working directory.

    Raises:
        InvalidError: The path is not absolute.
    """
    if workdir is None or (isinstance(workdir, str) and workdir.startswith("/")):
        return workdir
    raise InvalidError(f"workdir is an absolute path, not {workdir!r}", parameter="workdir")


def check_path(path: object, parameter: str = "remote_path") -> str:
    """Return a valid absolute path in the sandbox, as text.

    Raises:
        InvalidError: The value is invalid.
    """
    text = str(path)
    if not text.startswith("/"):
        raise InvalidError(
            f"{parameter} is an absolute path in the sandbox, not {text!r}", parameter=parameter
        )
    return posixpath.normpath(text)


def check_timeout(value: object, parameter: str, *, most: int | None = _MOST_SECONDS) -> None:
    """Check that a timeout is a number of seconds up to `most`.

    Raises:
        InvalidError: The timeout is invalid.
    """
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise InvalidError(f"{parameter} is seconds above 0, not {value!r}", parameter=parameter)
    if most is not None and value > most:
        raise InvalidError(f"{parameter} is {most} seconds at most", parameter=parameter)


def check_pair(
    value: float | tuple[float, float] | None, parameter: str
) -> tuple[float | None, float | None]:
    """Return the request and the limit of ``cpu`` or ``memory``.

    Raises:
        InvalidError: A value is not a number above 0, or the limit is less than the request.
    """
    if value is None:
        return None, None
    pair: tuple[object, ...] = value if isinstance(value, tuple) else (value,)
    if len(pair) > 2:
        raise InvalidError(f"{parameter} is a number or (request, limit)", parameter=parameter)
    numbers: list[float] = []
    for one in pair:
        if isinstance(one, bool) or not isinstance(one, (int, float)) or not one > 0:
            raise InvalidError(f"{parameter} is above 0, not {one!r}", parameter=parameter)
        numbers.append(one)
    if len(numbers) == 1:
        return numbers[0], None
    if numbers[1] < numbers[0]:
        raise InvalidError(
            f"{parameter} limit {numbers[1]} is less than the request {numbers[0]}",
            parameter=parameter,
        )
    return numbers[0], numbers[1]


def check_env(env: Mapping[str, str | None] | None, parameter: str) -> dict[str, str]:
    """Return environment variables without those whose value is None.

    Raises:
        InvalidError: A name is invalid, or a value is not text.
    """
    kept: dict[str, str] = {}
    given: Mapping[Any, Any] = env or {}
    for name, value in given.items():
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise InvalidError(
                f"{name!r:.80} in {parameter} is not a valid variable name: letters, digits and _, "
                "and no digit first",
                parameter=parameter,
            )
        if value is None:
            continue
        if not isinstance(value, str):
            raise InvalidError(
                f"the value of {name} in {parameter} is not text", parameter=parameter
            )
        kept[name] = value
    return kept


def check_name(name: object, parameter: str = "name") -> str:
    """Return a valid name: 1 to 64 letters, digits, ``.``, ``_`` or ``-``.

    Raises:
        InvalidError: The value is invalid.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidError(
            f"{parameter} is 1 to 64 letters, digits, '.', '_' or '-', unlike {name!r:.80}",
            parameter=parameter,
        )
    return name


def check_tags(tags: object) -> dict[str, str]:
    """Return a copy of valid tags.

    Raises:
        InvalidError: The tags are not a mapping of text to text.
    """
    if not isinstance(tags, Mapping):
        raise InvalidError("tags is a dict of texts to texts", parameter="tags")
    for name, value in tags.items():
        if not isinstance(name, str) or not isinstance(value, str) or not name:
            raise InvalidError("a tag's name and value are texts", parameter="tags")
    return dict(tags)


def check_bufsize(bufsize: int, *, text: bool) -> None:
    """Check that output is buffered in a way that Modal has: -1 for chunks, 1 for lines of text.

    Raises:
        ValueError: `bufsize` is another number; or it is 1, and `text` False.
    """
    if bufsize not in (-1, 1):
        raise ValueError("bufsize is -1, for pieces as they come, or 1, for lines")
    if bufsize == 1 and not text:
        raise ValueError("bufsize=1 is for text: text=True")


def check_cidrs(cidrs: Collection[str] | None, parameter: str) -> tuple[str, ...] | None:
    """Return valid address ranges; None for no list.

    Raises:
        InvalidError: An item is not an address range.
    """
    if cidrs is None:
        return None
    if isinstance(cidrs, str):
        raise InvalidError(f"{parameter} is a list of ranges", parameter=parameter)
    for cidr in cidrs:
        try:
            ip_network(cidr, strict=False)
        except ValueError:
            raise InvalidError(
                f"{cidr!r:.80} in {parameter} is not an address range such as 10.0.0.0/8",
                parameter=parameter,
            ) from None
    return tuple(cidrs)
