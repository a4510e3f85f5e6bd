"""What a run of a coding agent comes back with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

__all__ = ["Artifact", "CommandResult", "RunArtifacts"]

_FIELDS = ("path", "kind", "metadata")


@dataclass(frozen=True)
class Artifact(Mapping[str, Any]):
    """A file that a run made or changed.

    It is a mapping of its fields as well, which is what the runner of ``sbx-agents`` makes its own
    ``Artifact`` from.
    """

    path: Path
    """Relative to the workspace."""
    kind: str = "file"
    """``file``, ``link``, or ``other`` for a pipe, a socket or a device."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """``change`` (``added``, ``changed``, ``renamed``), ``size`` in bytes, ``sha256``,
    ``executable``, and for what was renamed ``renamed_from``."""

    def __getitem__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(_FIELDS)

    def __len__(self) -> int:
        return len(_FIELDS)


class CommandResult(BaseModel):
    """How a command ended, whatever its exit code."""

    stdout: str = ""
    stderr: str = ""
    returncode: int
    """Its exit code; 128 + signal for one that was killed."""
    command: list[str] = Field(default_factory=list)
    duration_ms: int | None = None
    """Milliseconds from its start to its end, measured outside of the sandbox."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """``oom_killed``, ``signal``, ``stdout_truncated``, ``stderr_truncated``, ``sandbox_id``, and
    ``network``: what the command tried to reach in vain."""


class RunArtifacts(BaseModel):
    """What the commands of a session made of its workspace."""

    diff: str | None = None
    """The changes as ``git apply`` takes them: also of files that Git does not track, and of what
    was committed meanwhile. None only where the workspace could not be read; see ``metadata``."""
    artifacts: list[Artifact] = Field(default_factory=list)
    """The files that were made, changed or renamed, by path."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """``deleted``: paths that are gone. ``repository``: hooks, configuration and attributes of a
    Git repository that were made or changed, for which Git would start programs.
    ``changes_unavailable``: why there is no diff."""
