"""A workspace before commands ran in it, and what they made of it."""

from pathlib import Path
from typing import Any

from llm_sandbox.adapters.sbx_agents.results import Artifact, RunArtifacts
from llm_sandbox.exceptions import OutputLimitError
from llm_sandbox.workspace import Change, Manifest, Workspace

__all__ = ["WatchedWorkspace"]


class WatchedWorkspace:
    """A workspace as it is now, to compare with later.

    No program is started for that, and nothing that lies in the workspace is obeyed: no Git
    configuration, no attributes, no hooks.

    Args:
        root: The folder.

    Raises:
        SandboxFileNotFoundError: There is no such folder.
    """

    def __init__(self, root: Path) -> None:
        self._workspace = Workspace(root)
        self._before: Manifest | None = None
        self._unread: str | None = None
        try:
            self._before = self._workspace.manifest()
        except OutputLimitError as error:
            # What the commands say is worth more than a list of files.
            self._unread = error.message

    def artifacts(self) -> RunArtifacts:
        """Return what became of it since."""
        if self._before is None:
            return _unread(self._unread)
        try:
            changes = self._workspace.changes(self._before)
        except OutputLimitError as error:
            return _unread(error.message)
        return RunArtifacts(
            diff=changes.diff,
            artifacts=[_artifact(change) for change in changes if change.after is not None],
            metadata={
                "deleted": [change.path for change in changes if change.kind == "deleted"],
                "repository": list(changes.repository),
            },
        )

    def close(self) -> None:
        """Let go of the folder."""
        self._workspace.close()


def _artifact(change: Change) -> Artifact:
    entry = change.after
    assert entry is not None  # noqa: S101 - by the caller
    facts: dict[str, Any] = {
        "change": change.kind,
        "size": entry.size,
        "sha256": entry.digest,
        "executable": entry.executable,
    }
    if change.kind == "renamed" and change.before is not None:
        facts["renamed_from"] = change.before.path
    return Artifact(Path(change.path), entry.kind, facts)


def _unread(why: str | None) -> RunArtifacts:
    return RunArtifacts(diff=None, metadata={"changes_unavailable": why})
