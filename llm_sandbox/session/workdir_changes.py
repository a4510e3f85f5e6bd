"""The files of a session's runs, as artifacts."""

import contextlib
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from llm_sandbox.artifacts.files import ChangedFile, artifacts_from_changes
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.sandbox.changes import WorkdirWatch
from llm_sandbox.sandbox.sandbox import Sandbox
from llm_sandbox.session.remote_file import RemoteFile

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact

__all__ = ["RunFiles", "WorkdirChanges"]

_SCRIPT = re.compile(r"main(_\d+)?\.py")
_LATEST_S = 1.7
"""Seconds after a run's deadline by which its files are collected: a run ends within two."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What a run did to the working directory."""

    files: "tuple[Artifact, ...]" = ()
    """What it created or changed."""
    deleted: tuple[str, ...] = ()
    """Paths that it removed, the first 100."""
    notes: tuple[str, ...] = ()
    """What is to be known about the whole, a sentence each."""

    def without_script(self, sandbox: Sandbox, code: str, called: str | None) -> "RunFiles":
        """Remove the file that the code was run as: an interpreter that dies leaves it behind.

        Args:
            sandbox: The session's.
            code: What was run.
            called: The file's name; None for one of those that are taken for code without one.
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
    """Collects what each run of a session does to its working directory.

    Args:
        sandbox: The session's, before anything has run in it.
        limits: How much content is kept.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        self._sandbox = sandbox
        self._watch = WorkdirWatch.of(sandbox)
        self.limits = limits
        # A kernel that is still starting leaves time for it; a ready one has had it started.
        self._watch.prepare()

    def before(self, deadline: Deadline) -> None:
        """Called before every run; does nothing unless the host changed something since the last.

        Never raises for what is wrong in the sandbox.

        Args:
            deadline: The run's.
        """
        self._watch.mark(deadline.remaining())

    def after(self, deadline: Deadline) -> RunFiles:
        """Called after every run, however it ended, when what it left behind has been killed.

        Never raises for what is wrong in the sandbox: that is among the notes.

        Args:
            deadline: The run's; collecting ends soon enough for the result to come within the
                seconds that are promised.
        """
        within_s = None if deadline.at is None else deadline.at + _LATEST_S - time.monotonic()
        changes = self._watch.collect(self.limits, within_s)
        found = artifacts_from_changes(changes)
        pairs = zip(changes.files, found, strict=True)
        files = tuple(self._reachable(file, artifact) for file, artifact in pairs)
        return RunFiles(files, changes.deleted, changes.notes)

    def _reachable(self, file: ChangedFile, artifact: "Artifact") -> "Artifact":
        """An artifact that can be brought later, where its content did not come."""
        if file.kind != "file" or file.content is not None:
            return artifact
        remote = RemoteFile(self._sandbox, file.path, file.size, file.mtime_ns)
        return artifact.brought_by(remote)
