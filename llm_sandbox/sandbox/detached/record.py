"""What is written about a kept sandbox: facts for finding it, and no secret."""

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
"""The form of an id."""

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
    """A kept sandbox, as it is registered."""

    id: str
    """Its id, ``sb-`` and 16 hexadecimal digits."""
    name: str | None
    """The name it is found by."""
    namespace: str
    """Where that is the only one of its kind."""
    tags: Mapping[str, str]
    """What it is found by besides."""
    backend: str
    """Where it lives."""
    workdir: str
    """Its working directory."""
    on_exit: OnExit
    """Whether it ends with the process that made it."""
    created_at: float
    """Seconds since 1970."""
    command: str | None = None
    """The entry command's program, without its arguments, which may hold secrets."""
    machine: str | None = None
    """The machine's id in its backend, such as a container's; None until there is one."""
    daemon: int | None = None
    """Process id of its daemon, for people."""
    owner: int | None = None
    """Process id of who made it, for people; None when it outlives that."""
    ends_at: float | None = None
    """When its time is up, in seconds since 1970."""
    idle_timeout: float | None = None
    """Seconds without activity after which it ends."""
    state: Literal["starting", "running", "ended"] = "starting"
    """How far it is."""
    end_reason: str | None = None
    """Why it has ended."""
    exit_code: int | None = None
    """What it came to."""
    session: str | None = None
    """Language of the session that lives in it; None for a sandbox without one."""
    format: int = FORMAT
    """Version of the record, and of the protocol that its daemon speaks."""

    def to_json(self) -> bytes:
        """Return it as it is written."""
        return json.dumps(asdict(self) | {"tags": dict(self.tags)}, indent=1).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Record":
        """Read what `to_json` returned.

        Raises:
            ValidationError: It is something else.
        """
        # trust: any program of this user's may have written it; what is not as it should be is
        # refused.
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            raise _refusal("is no JSON") from None
        if isinstance(found, dict) and found.get("format") == 1:
            found = {"session": None, "daemon": found.pop("keeper", None)} | found
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
    "format": lambda value: value in (1, FORMAT),
}


def check_name(value: object, parameter: str) -> str:
    """Return a name for a sandbox or a namespace.

    Raises:
        ValidationError: It cannot be one.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValidationError(
            f"{parameter} is 1 to 64 letters, digits, '.', '_' or '-', and begins with a letter or "
            f"digit, unlike {value!r:.80}",
            parameter=parameter,
        )
    return value


def check_on_exit(value: object) -> OnExit:
    """Return what becomes of a sandbox at the end of a ``with`` block.

    Raises:
        ValidationError: The value is invalid.
    """
    if value in ("destroy", "keep"):
        return value
    raise ValidationError(
        f"invalid on_exit: expected 'destroy' or 'keep', got {value!r:.80}", parameter="on_exit"
    )


def check_tags(tags: object) -> dict[str, str]:
    """Return a copy of tags; None is none.

    Raises:
        ValidationError: They are no tags.
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
