"""Where settings are written: environment variables, and one file in TOML."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_sandbox.exceptions import ValidationError

__all__ = [
    "CONFIG",
    "PREFIX",
    "Given",
    "from_file",
    "from_variables",
    "unknown_variables",
    "variables_of",
]

PREFIX = "LLM_SANDBOX_"
CONFIG = f"{PREFIX}CONFIG"
"""Names the file; without it, it is in the folder of the user's settings, and need not be there.
Never in the working directory, which may be somebody else's project."""
_OTHER_VARIABLES = (CONFIG, f"{PREFIX}IMAGES", f"{PREFIX}PROCESS", f"{PREFIX}TEST_")
_LARGEST_FILE = 1 << 20


@dataclass(frozen=True, slots=True)
class Given:
    """A value that somebody wrote."""

    value: Any
    name: str
    """What it is called where it is written, for messages."""
    origin: str
    """Where it is written."""


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
    """Return variables with our prefix that set nothing."""
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
        usual: Where it is otherwise.
        names: What may be set.

    Raises:
        ValidationError: It cannot be read, is no TOML, or sets something else.
    """
    named = environment.get(CONFIG)
    place = Path(named) if named else usual
    if named and not place.is_absolute():
        raise ValidationError(f"{CONFIG}: expected an absolute path", parameter=CONFIG)
    text = _read(place, must_be_there=bool(named))
    if text is None:
        return {}
    import tomllib

    try:
        # trust: the user's own file, or one that they named.
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValidationError(f"{place}: no TOML: {error}", parameter=str(place)) from None
    for name in table:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            raise ValidationError(
                f"{place}: there is no setting {name!r}",
                parameter=name,
                hint=f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}",
            )
    return {name: Given(value, f"{place}: {name}", str(place)) for name, value in table.items()}


def _read(place: Path, *, must_be_there: bool) -> str | None:
    try:
        with place.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        if not must_be_there:
            return None
        raise ValidationError(f"{CONFIG}: there is no file {place}", parameter=CONFIG) from None
    except OSError as error:
        raise ValidationError(
            f"cannot read the settings in {place}: {error.strerror}", parameter=str(place)
        ) from error
    if len(data) > _LARGEST_FILE:
        raise ValidationError(f"{place}: larger than 1 MiB", parameter=str(place))
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValidationError(f"{place}: not in UTF-8", parameter=str(place)) from None
