"""What a backend keeps of each turn between `prepare` and `cleanup`."""

import os
import secrets
import threading
from collections.abc import Mapping
from pathlib import Path

from llm_sandbox.adapters.sbx_agents.results import CommandResult, RunArtifacts
from llm_sandbox.adapters.sbx_agents.running import run_command
from llm_sandbox.adapters.sbx_agents.session import SandboxSession
from llm_sandbox.adapters.sbx_agents.watched import WatchedWorkspace
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.sandbox import Sandbox

__all__ = ["Turn", "Turns"]

_KEY = "run_id"


class Turn:
    """One turn: its workspace before the first command, and the sandbox it has."""

    def __init__(self) -> None:
        self.sandbox: Sandbox | None = None
        """The sandbox that its next command runs in, too."""
        self.is_ours = False
        """Whether that was made in this turn."""
        self.external: str | None = None
        """The name of the sandbox that another program has for it."""
        self.is_first = True
        """Whether no command has run in it."""
        self._watched: WatchedWorkspace | None = None

    def watch(self, workspace: Path) -> None:
        """Remember what the workspace holds, unless that has happened.

        The configuration that a runner writes for an agent is there by then, so that it is no part
        of what the agent did.
        """
        if self._watched is None:
            self._watched = WatchedWorkspace(workspace)

    def artifacts(self, workspace: Path) -> RunArtifacts:
        """Return what became of the workspace; nothing, if no command ran."""
        self.watch(workspace)
        assert self._watched is not None  # noqa: S101 - by `watch`
        return self._watched.artifacts()

    def run(
        self,
        sandbox: Sandbox,
        session: SandboxSession,
        command: list[str],
        variables: Mapping[str, str],
    ) -> CommandResult:
        """Run a command with these variables and those of the turn; see `run_command`.

        Raises:
            ValidationError: A secret that is to be handed on is not set here.
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
        """Let go of the workspace."""
        if self._watched is not None:
            self._watched.close()


class Turns:
    """The turns of a backend that have not ended. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, Turn] = {}

    def of(self, session: SandboxSession) -> Turn:
        """Return the turn of a session, also of one that was made by hand."""
        key = session.metadata.setdefault(_KEY, secrets.token_hex(8))
        with self._lock:
            return self._turns.setdefault(key, Turn())

    def end(self, session: SandboxSession) -> Turn | None:
        """Forget a turn, and return it; None if it has ended."""
        with self._lock:
            turn = self._turns.pop(session.metadata.get(_KEY, ""), None)
        if turn is not None:
            turn.close()
        return turn
