"""State of a session between `prepare` and `cleanup`: sandbox, commands, workspace changes."""

import os
import secrets
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_sandbox.adapters.sbx_agents.results import Artifact, CommandResult, RunArtifacts
from llm_sandbox.adapters.sbx_agents.session import SandboxSession
from llm_sandbox.adapters.sbx_agents.streaming import stream_output
from llm_sandbox.exceptions import CommandEmptyError, OutputLimitError, ValidationError
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.workspace import Change, Manifest, Workspace

__all__ = ["SessionState", "SessionStates", "WorkspaceBaseline", "run_command"]


class WorkspaceBaseline:
    """Manifest of a workspace at one moment, for comparison with later.

    No program is started, and no Git configuration, attributes or hooks of the workspace are used.

    Args:
        root: Folder of the workspace.

    Raises:
        SandboxFileNotFoundError: The folder does not exist.
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
        """Return the changes since then."""
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
        """Close the folder."""
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


_KEY = "run_id"


class SessionState:
    """State of one session: its sandbox, and its workspace before the first command."""

    def __init__(self) -> None:
        self.sandbox: Sandbox | None = None
        """Sandbox that further commands run in."""
        self.is_ours = False
        """Whether the sandbox was created in this session."""
        self.external: str | None = None
        """Name of the sandbox that ``sbx`` has created for the session."""
        self.is_first = True
        """Whether no command has run yet."""
        self._baseline: WorkspaceBaseline | None = None

    def record_baseline(self, workspace: Path) -> None:
        """Record the content of the workspace, once.

        By then the runner has written the configuration of the agent, which therefore does not
        count as a change.
        """
        if self._baseline is None:
            self._baseline = WorkspaceBaseline(workspace)

    def artifacts(self, workspace: Path) -> RunArtifacts:
        """Return the changes in the workspace; none if no command ran."""
        self.record_baseline(workspace)
        assert self._baseline is not None  # noqa: S101 - by `record_baseline`
        return self._baseline.artifacts()

    def run(
        self,
        sandbox: Sandbox,
        session: SandboxSession,
        command: list[str],
        variables: Mapping[str, str],
    ) -> CommandResult:
        """Run a command with these variables and those of the session; see `run_command`.

        Raises:
            ValidationError: A secret to forward is not set in the environment.
        """
        given = session.metadata
        env = {**variables, **(given.get("env") or {})}
        for name in given.get("secret_env_names") or ():
            if name not in os.environ:
                raise ValidationError(
                    f"secret_env names {name}, which is not set here",
                    parameter="secret_env",
                    hint=f"read -rs {name} && export {name}",
                )
            env[name] = os.environ[name]
        return run_command(sandbox, session, command, env)

    def close(self) -> None:
        """Close the workspace."""
        if self._baseline is not None:
            self._baseline.close()


class SessionStates:
    """States of the active sessions of a backend. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[str, SessionState] = {}

    def of(self, session: SandboxSession) -> SessionState:
        """Return the state of a session, created if necessary."""
        key = session.metadata.setdefault(_KEY, secrets.token_hex(8))
        with self._lock:
            return self._states.setdefault(key, SessionState())

    def end(self, session: SandboxSession) -> SessionState | None:
        """Remove and return the state of a session; None if it has ended."""
        with self._lock:
            state = self._states.pop(session.metadata.get(_KEY, ""), None)
        if state is not None:
            state.close()
        return state


def run_command(
    sandbox: Sandbox,
    session: SandboxSession,
    command: Sequence[str],
    env: Mapping[str, str],
    max_network_events: int = 50,
) -> CommandResult:
    """Run a command to its end; at its timeout the command and its children are killed.

    Args:
        sandbox: Sandbox to run in.
        session: Session, whose timeout and streaming options apply.
        command: Program and arguments.
        env: Environment variables.
        max_network_events: Maximum number of network events in the result.

    Raises:
        subprocess.TimeoutExpired: The timeout passed; the exception has the output so far.
        LaunchError: The program does not exist.
    """
    if not command:
        raise CommandEmptyError
    given: dict[str, Any] = session.metadata
    timeout = given.get("timeout_seconds")
    known = sandbox.network_events()
    process = sandbox.exec(*command, env=env, timeout=timeout)
    try:
        if given.get("stream_output"):
            stream_output(process, given.get("stream_filter"))
        result = process.collect()
    except BaseException:
        process.kill()
        raise
    if result.timed_out:
        raise subprocess.TimeoutExpired(
            list(command), float(timeout or 0), output=result.stdout, stderr=result.stderr
        )
    events = sandbox.network_events(after=known[-1].number if known else 0)
    return CommandResult(
        stdout=result.stdout,
        stderr=result.stderr,
        returncode=result.exit_code,
        command=list(command),
        duration_ms=round(result.duration_s * 1000),
        metadata={
            "sandbox_id": sandbox.id,
            "signal": result.signal,
            "oom_killed": result.oom_killed,
            "stdout_truncated": result.stdout_truncated,
            "stderr_truncated": result.stderr_truncated,
            "network": [event.to_dict() for event in events[:max_network_events]],
        },
    )
