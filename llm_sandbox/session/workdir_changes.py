"""Changes that a session's runs make in its working directory, as artifacts."""

import contextlib
import re
import time
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from llm_sandbox.artifacts.files import ChangedFile, artifacts_from_changes
from llm_sandbox.exceptions import ArtifactLimitError, SandboxError
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.sandbox.changes import WorkdirWatch
from llm_sandbox.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact

__all__ = ["RemoteFile", "RunFiles", "WorkdirChanges"]

_SCRIPT = re.compile(r"main(_\d+)?\.py")
_LATEST_S = 1.7
"""Seconds after a run's deadline by which its files are collected: a run ends within two."""
_NS = 1e-9
_SAME_S = 1e-3
"""Times that differ by less are equal: a float does not hold them to the nanosecond."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Changes of one run in the working directory."""

    files: "tuple[Artifact, ...]" = ()
    """Files that were created or changed."""
    deleted: tuple[str, ...] = ()
    """Paths that were removed, the first 100."""
    notes: tuple[str, ...] = ()
    """Sentences about the collection as a whole."""

    def without_script(self, sandbox: Sandbox, code: str, called: str | None) -> "RunFiles":
        """Remove the file that the code was run as: an interpreter that dies leaves it behind.

        Args:
            sandbox: The session's.
            code: The code of the run.
            called: The file's name; None for one of those that stand for code without a name.
        """
        data = code.encode("utf-8", "surrogatepass")
        kept = []
        for file in self.files:
            name = file.paths[0]
            is_script = file.change == "created" and file.size == len(data)
            is_script = is_script and (
                _SCRIPT.fullmatch(name) is not None if called is None else name == called
            )
            if not is_script or (file.content is not None and file.content.bytes() != data):
                kept.append(file)
                continue
            with contextlib.suppress(SandboxError):
                sandbox.files.remove(f"{sandbox.workdir}/{name}")
        return replace(self, files=tuple(kept))


class WorkdirChanges:
    """Collector of the changes of each run of a session.

    Args:
        sandbox: Sandbox of the session, before anything has run in it.
        limits: Limits of the contents.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        self._sandbox = sandbox
        self._watch = WorkdirWatch.of(sandbox)
        self.limits = limits
        # A kernel that is still starting leaves time for it; a ready one has had it started.
        self._watch.prepare()

    def before_run(self, deadline: Deadline) -> None:
        """Prepare for a run; does nothing unless the host changed something since the last one.

        Never raises for an error in the sandbox.

        Args:
            deadline: The run's.
        """
        self._watch.mark(deadline.remaining())

    def after_run(self, deadline: Deadline) -> RunFiles:
        """Collect the changes of a run, however it ended, after its leftover processes are killed.

        Never raises for an error in the sandbox: that is among the notes.

        Args:
            deadline: The run's; collecting ends soon enough for the result to come in the promised
                time.
        """
        within_s = None if deadline.at is None else deadline.at + _LATEST_S - time.monotonic()
        changes = self._watch.collect(self.limits, within_s)
        artifacts = artifacts_from_changes(changes)
        pairs = zip(changes.files, artifacts, strict=True)
        files = tuple(self._reachable(file, artifact) for file, artifact in pairs)
        return RunFiles(files, changes.deleted, changes.notes)

    def _reachable(self, file: ChangedFile, artifact: "Artifact") -> "Artifact":
        """Return an artifact that downloads its content on demand if that was not collected."""
        if file.kind != "file" or file.content is not None:
            return artifact
        remote = RemoteFile(self._sandbox, file.path, file.size, file.mtime_ns)
        return artifact.brought_by(remote)


class RemoteFile:
    """Download of a run's file that stayed in the sandbox, as long as the file is unchanged.

    A copy or a pickle of it is None: the sandbox cannot be reached from there.

    Args:
        sandbox: The session's.
        path: Relative to the working directory.
        size: Bytes, as listed after the run.
        mtime_ns: Time of the last change, as listed after the run; None when it is not known.
    """

    def __init__(self, sandbox: Sandbox, path: str, size: int, mtime_ns: int | None) -> None:
        self._sandbox = weakref.ref(sandbox)
        self._path = path
        self._size = size
        self._mtime_ns = mtime_ns

    def __reduce__(self) -> tuple[object, ...]:
        return type(None), ()

    def __call__(self, target: Path) -> Path:
        """Write the content to a file of the host.

        Args:
            target: The file; its parent must exist.

        Raises:
            ArtifactLimitError: The sandbox has ended, or the file has changed.
            OSError: The file cannot be written.
        """
        sandbox = self._sandbox()
        if sandbox is None or sandbox.end_reason is not None:
            raise ArtifactLimitError(
                f"the content of {self._path!r} stayed in the sandbox, which has ended",
                hint="save it while the session is open, or raise Limits(artifact_bytes=...)",
            )
        inside = f"{sandbox.workdir}/{self._path}"
        try:
            entry = sandbox.files.stat(inside, follow=False)
            is_same = entry.size == self._size and (
                self._mtime_ns is None or abs(entry.mtime - self._mtime_ns * _NS) < _SAME_S
            )
        except SandboxError as error:
            raise ArtifactLimitError(
                f"the content of {self._path!r} cannot be downloaded: {error.message}"
            ) from error
        if not is_same:
            raise ArtifactLimitError(
                f"{self._path!r} has changed since the run that this is the result of",
                hint="session.copy_from_runtime(path, dest) copies what is there now",
            )
        sandbox.files.download(inside, target, limit=self._size)
        return target
