"""Record of a detached sandbox in the registry, without secrets."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from llm_sandbox.exceptions import ValidationError

__all__ = ["FORMAT", "ID", "OnExit", "Record", "check_name", "check_on_exit", "check_tags"]

OnExit = Literal["destroy", "keep"]
ID = re.compile(r"sb-[0-9a-f]{16}", re.ASCII)
"""Pattern of an id."""

FORMAT = 2
"""Version of the records and of the protocol between clients and daemons.

Daemons of version 1 are listed, and refused by clients.
"""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_MOST_TAGS = 64
_MOST_TEXT = 256
_STATES = ("starting", "running", "ended")


@dataclass(frozen=True)
class Record:
    """Record of a detached sandbox."""

    id: str
    """``sb-`` and 16 hexadecimal digits."""
    name: str | None
    """Name in its namespace."""
    namespace: str
    """Namespace, in which the name is unique."""
    tags: Mapping[str, str]
    """Labels to find the sandbox by."""
    backend: str
    """Name of the backend."""
    workdir: str
    """Working directory inside."""
    on_exit: OnExit
    """Whether the sandbox ends with the process that created it."""
    created_at: float
    """Seconds since 1970."""
    command: str | None = None
    """The entry command's program, without its arguments, which may hold secrets."""
    machine: str | None = None
    """Id of the machine in its backend, such as a container's; None until there is one."""
    daemon: int | None = None
    """Process id of the daemon, for messages."""
    owner: int | None = None
    """Process id of the creator, for messages; None when the sandbox outlives it."""
    ends_at: float | None = None
    """End of the timeout, in seconds since 1970."""
    idle_timeout: float | None = None
    """Seconds without activity after which the sandbox ends."""
    state: Literal["starting", "running", "ended"] = "starting"
    """State of the sandbox."""
    end_reason: str | None = None
    """Reason of the end."""
    exit_code: int | None = None
    """Exit code of the sandbox."""
    session: str | None = None
    """Language of the session in the sandbox; None without one."""
    place: Mapping[str, str | None] | None = None
    """Place at which its backend finds it; None where a daemon has it."""
    format: int = FORMAT
    """Version of the record, and of the protocol of the daemon."""

    def to_json(self) -> bytes:
        """Return the record as JSON text."""
        return json.dumps(asdict(self) | {"tags": dict(self.tags)}, indent=1).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Record":
        """Parse the text of `to_json`.

        Raises:
            ValidationError: The text is not a record.
        """
        # trust: any program of this user's may have written it; what is not as it should be is
        # refused.
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            raise _refusal("is not JSON") from None
        if isinstance(found, dict) and found.get("format") == 1:
            found = {"session": None, "daemon": found.pop("keeper", None)} | found
        if isinstance(found, dict):
            found = {"place": None} | found  # absent where the daemon is of an earlier version
        if not isinstance(found, dict) or set(found) != {item.name for item in fields(cls)}:
            raise _refusal("has other fields")
        for name, is_fine in _CHECKS.items():
            if not is_fine(found[name]):
                raise _refusal(f"has a strange {name}")
        check_tags(found["tags"])
        return cls(**found)


def _refusal(why: str) -> ValidationError:
    return ValidationError(f"the record {why}", parameter="id")


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 4096


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _or_none(check: Any) -> Any:
    return lambda value: value is None or check(value)


def _is_entry(item: tuple[object, object]) -> bool:
    return _text(item[0]) and (item[1] is None or _text(item[1]))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


_CHECKS: dict[str, Any] = {
    "id": lambda value: isinstance(value, str) and ID.fullmatch(value) is not None,
    "name": _or_none(_is_name),
    "namespace": _is_name,
    "tags": lambda value: isinstance(value, dict),
    "backend": _text,
    "workdir": _text,
    "on_exit": lambda value: value in ("destroy", "keep"),
    "created_at": _number,
    "command": _or_none(_text),
    "machine": _or_none(_text),
    "daemon": _or_none(_whole),
    "owner": _or_none(_whole),
    "ends_at": _or_none(_number),
    "idle_timeout": _or_none(_number),
    "state": lambda value: value in _STATES,
    "end_reason": _or_none(_text),
    "exit_code": _or_none(_whole),
    "session": _or_none(_text),
    "place": _or_none(lambda value: isinstance(value, dict) and all(map(_is_entry, value.items()))),
    "format": lambda value: value in (1, FORMAT),
}


def check_name(value: object, parameter: str) -> str:
    """Return a validated name of a sandbox or a namespace.

    Raises:
        ValidationError: The name is invalid.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValidationError(
            f"{parameter} is 1 to 64 letters, digits, '.', '_' or '-', and begins with a letter or "
            f"digit, unlike {value!r:.80}",
            parameter=parameter,
        )
    return value


def check_on_exit(value: object) -> OnExit:
    """Return a validated ``on_exit``.

    Raises:
        ValidationError: The value is invalid.
    """
    if value in ("destroy", "keep"):
        return value
    raise ValidationError(
        f"invalid on_exit: expected 'destroy' or 'keep', got {value!r:.80}", parameter="on_exit"
    )


def check_tags(tags: object) -> dict[str, str]:
    """Return a copy of tags; None means no tags.

    Raises:
        ValidationError: The tags are invalid.
    """
    if tags is None:
        return {}
    if not isinstance(tags, Mapping) or len(tags) > _MOST_TAGS:
        raise ValidationError(
            f"tags is a mapping of texts to texts, {_MOST_TAGS} at most", parameter="tags"
        )
    for name, value in tags.items():
        for text, least in ((name, 1), (value, 0)):
            if not isinstance(text, str) or not least <= len(text) <= _MOST_TEXT or "\0" in text:
                raise ValidationError(
                    f"a tag is a text of 1 to {_MOST_TEXT} characters, and so is its value, which "
                    "may be empty",
                    parameter="tags",
                )
    return dict(tags)
