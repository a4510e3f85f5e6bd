"""Sources of settings: environment variables, and one file in TOML."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, get_args

from llm_sandbox.exceptions import ValidationError

__all__ = [
    "CONFIG",
    "PREFIX",
    "Given",
    "from_file",
    "from_variables",
    "read_count",
    "read_member",
    "read_path",
    "read_word",
    "unknown_variables",
    "variables_of",
]

PREFIX = "LLM_SANDBOX_"
CONFIG = f"{PREFIX}CONFIG"
"""Variable of the settings file; without it, the file is in the folder of the user's settings, and
may be missing. It is never in the working directory, which may be somebody else's project.
"""
_OTHER_VARIABLES = (CONFIG, f"{PREFIX}IMAGES", f"{PREFIX}PROCESS", f"{PREFIX}TEST_")
_LARGEST_FILE = 1 << 20


@dataclass(frozen=True, slots=True)
class Given:
    """Value from a source."""

    value: Any
    name: str
    """Name in the source, for messages."""
    origin: str
    """The source."""


def variables_of(names: Sequence[str]) -> dict[str, str]:
    """Return the variable of each setting."""
    return {name: f"{PREFIX}{name.upper()}" for name in names}


def from_variables(environment: Mapping[str, str], names: Sequence[str]) -> dict[str, Given]:
    """Return the settings among environment variables; empty ones count as absent."""
    found = {}
    for name, variable in variables_of(names).items():
        if environment.get(variable):
            found[name] = Given(environment[variable], variable, variable)
    return found


def unknown_variables(environment: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Return variables with the prefix that name no setting."""
    known = set(variables_of(names).values())
    return sorted(
        name
        for name in environment
        if name.startswith(PREFIX) and name not in known and not name.startswith(_OTHER_VARIABLES)
    )


def from_file(
    environment: Mapping[str, str], usual: Path, names: Sequence[str]
) -> dict[str, Given]:
    """Return the settings in the file.

    Args:
        environment: Environment variables, of which ``LLM_SANDBOX_CONFIG`` may name the file.
        usual: Default path of the file.
        names: Names of the settings.

    Raises:
        ValidationError: The file cannot be read, is not TOML, or has an unknown name.
    """
    named = environment.get(CONFIG)
    path = Path(named) if named else usual
    if named and not path.is_absolute():
        raise ValidationError(f"{CONFIG}: expected an absolute path", parameter=CONFIG)
    text = _read(path, must_be_there=bool(named))
    if text is None:
        return {}
    import tomllib

    try:
        # trust: the user's own file, or one that they named.
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValidationError(f"{path}: no TOML: {error}", parameter=str(path)) from None
    for name in table:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            raise ValidationError(
                f"{path}: there is no setting {name!r}",
                parameter=name,
                hint=f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}",
            )
    return {name: Given(value, f"{path}: {name}", str(path)) for name, value in table.items()}


def _read(path: Path, *, must_be_there: bool) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        if not must_be_there:
            return None
        raise ValidationError(f"{CONFIG}: there is no file {path}", parameter=CONFIG) from None
    except OSError as error:
        raise ValidationError(
            f"cannot read the settings in {path}: {error.strerror}", parameter=str(path)
        ) from error
    if len(data) > _LARGEST_FILE:
        raise ValidationError(f"{path}: larger than 1 MiB", parameter=str(path))
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValidationError(f"{path}: not in UTF-8", parameter=str(path)) from None


_Kind = TypeVar("_Kind", bound=StrEnum)


def read_path(given: Given) -> Path:
    """Return a path; ``~`` is the home.

    Raises:
        ValidationError: The value is not a text, a relative path in a file, or in the home of an
            unknown user.
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
        ValidationError: The value is not a member.
    """
    try:
        return kind(given.value)
    except ValueError:
        raise _invalid(given, f"expected one of {', '.join(kind)}") from None


def read_count(given: Given, largest: int) -> int:
    """Return a non-negative whole number.

    Raises:
        ValidationError: The value is not such a number, or too large.
    """
    value = given.value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest:
        return value
    raise _invalid(given, f"expected a number from 0 to {largest}")


def read_word(words: Any, given: Given) -> Any:
    """Return one of the words of a `Literal`, in lower case.

    Raises:
        ValidationError: The value is none of the words.
    """
    known = get_args(words)
    if isinstance(given.value, str) and given.value.lower() in known:
        return given.value.lower()
    raise _invalid(given, f"expected {' or '.join(known)}")


def _invalid(given: Given, problem: str) -> ValidationError:
    # In a file, the last word of the name is the setting's own.
    return ValidationError(f"{given.name}: {problem}", parameter=given.name.rpartition(": ")[2])
