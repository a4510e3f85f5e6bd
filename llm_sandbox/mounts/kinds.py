"""What can be mounted: a folder of this computer, memory, or a `Volume`."""

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
    """A folder or file of this computer, as it is, and as it becomes.

    In it the sandbox has the rights of the folder's owner, and what it makes there is the owner's.

    Raises:
        ValidationError: A value is not of its kind.
    """

    source: str | Path
    """Its path; a relative one is made absolute at once, and a link is followed when the sandbox
    is made."""
    read_only: bool = True
    """Whether the sandbox may only read it; True."""
    dangerous: bool = False
    """Whether a place that nobody should give away, such as ``/etc``, is given all the same."""

    def __post_init__(self) -> None:
        source = _check_path(self.source)
        # Not resolved: links are followed, and judged, when the sandbox is made.
        object.__setattr__(self, "source", os.path.abspath(source))  # noqa: PTH100
        for name in ("read_only", "dangerous"):
            if not isinstance(getattr(self, name), bool):
                raise ValidationError(f"{name} is True or False", parameter=name)


@dataclass(frozen=True)
class Tmpfs:
    """An empty file system in memory, which ends with the sandbox.

    What it holds counts as memory of the sandbox. Any program of the sandbox may write to it.

    Raises:
        ValidationError: The size is none.
    """

    size: str | int
    """What fits in, in bytes, or as text: ``"64m"``; made a number of bytes at once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", parse_size(self.size))

    @property
    def size_bytes(self) -> int:
        """The size in bytes."""
        return int(self.size)


def _check_path(path: object) -> str:
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValidationError("the source of a Bind is a path, without NUL", parameter="source")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ValidationError(
            "the source of a Bind is no path: it has characters that no file name has",
            parameter="source",
        ) from None
    return text


Mount: TypeAlias = Bind | Volume | Tmpfs
"""What can be mounted."""
