"""Results of a coding agent's commands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

__all__ = ["Artifact", "CommandResult", "RunArtifacts"]

_FIELDS = ("path", "kind", "metadata")


@dataclass(frozen=True)
class Artifact(Mapping[str, Any]):
    """File that a command created or changed.

    It is also a mapping of its fields, from which the runner of ``sbx-agents`` builds its own
    ``Artifact``.
    """

    path: Path
    """Path relative to the workspace."""
    kind: str = "file"
    """``file``, ``link``, or ``other`` for a pipe, a socket or a device."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """``change`` (``added``, ``changed``, ``renamed``), ``size`` in bytes, ``sha256``,
    ``executable``, and for a renamed file ``renamed_from``.
    """

    def __getitem__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(_FIELDS)

    def __len__(self) -> int:
        return len(_FIELDS)


class CommandResult(BaseModel):
    """Result of a command, whatever its exit code."""

    stdout: str = ""
    stderr: str = ""
    returncode: int
    """Exit code; 128 + signal for a killed command."""
    command: list[str] = Field(default_factory=list)
    duration_ms: int | None = None
    """Duration in milliseconds, measured outside the sandbox."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """``oom_killed``, ``signal``, ``stdout_truncated``, ``stderr_truncated``, ``sandbox_id``, and
    ``network``: blocked or failed connection attempts.
    """


class RunArtifacts(BaseModel):
    """Changes that the commands of a session made in its workspace."""

    diff: str | None = None
    """Changes in the format of ``git apply``, with untracked files and commits made meanwhile. None
    only if the workspace could not be read; see ``metadata``.
    """
    artifacts: list[Artifact] = Field(default_factory=list)
    """Created, changed or renamed files, by path."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """``deleted``: deleted paths. ``repository``: created or changed hooks, configuration and
    attributes of a Git repository, for which Git would start programs. ``changes_unavailable``: why
    there is no diff.
    """
