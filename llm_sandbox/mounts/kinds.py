"""Kinds of mounts: a folder of this computer, memory, or a `Volume`."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.mounts.size import parse_size
from llm_sandbox.mounts.volume import Volume

__all__ = ["Bind", "Mount", "Tmpfs"]


@dataclass(frozen=True)
class Bind:
    """Bind mount of a folder or file of this computer.

    The sandbox accesses it with the rights of the folder's owner, who also owns new files.

    Raises:
        ValidationError: A value is invalid.
    """

    source: str | Path
    """Path; a relative one is made absolute immediately, and a link is followed at creation of the
    sandbox.
    """
    read_only: bool = True
    """Whether the mount is read-only; True."""
    dangerous: bool = False
    """Whether a sensitive path, such as ``/etc``, is accepted."""

    def __post_init__(self) -> None:
        source = _check_path(self.source)
        # Not resolved: links are followed, and judged, when the sandbox is made.
        object.__setattr__(self, "source", os.path.abspath(source))  # noqa: PTH100
        for name in ("read_only", "dangerous"):
            if not isinstance(getattr(self, name), bool):
                raise ValidationError(f"{name} is True or False", parameter=name)


@dataclass(frozen=True)
class Tmpfs:
    """Empty file system in memory, which ends with the sandbox.

    Its content counts as memory of the sandbox. Any program of the sandbox may write to it.

    Raises:
        ValidationError: The size is invalid.
    """

    size: str | int
    """Size in bytes, or as text such as ``"64m"``, which is converted to bytes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", parse_size(self.size))

    @property
    def size_bytes(self) -> int:
        """Size in bytes."""
        return int(self.size)


def _check_path(path: object) -> str:
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValidationError("the source of a Bind is a path, without NUL", parameter="source")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ValidationError(
            "the source of a Bind is invalid: it has characters that no file name can have",
            parameter="source",
        ) from None
    return text


Mount: TypeAlias = Bind | Volume | Tmpfs
"""Any kind of mount."""
