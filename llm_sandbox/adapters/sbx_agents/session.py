"""What a backend and its runner say to each other."""

import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, Field

from llm_sandbox.adapters.sbx_agents.results import CommandResult, RunArtifacts
from llm_sandbox.exceptions import UnsupportedError, ValidationError

__all__ = [
    "AgentLike",
    "RunConfigLike",
    "SandboxBackend",
    "SandboxSession",
    "StreamFilter",
    "begin_session",
    "stays",
]

StreamFilter = Callable[[str, Literal["stdout", "stderr"]], str | None]
"""What is asked of each line before it is shown: it returns what to show, None for nothing."""

_REFUSED = {
    "network": "network= or network_allow= of the sandbox",
    "permission": "sbx_agents.Agent(permission=...), which agents are started with",
    "secrets": "secret_env=[...] of the run, or secrets=[llm_sandbox.Secret(...)] of the sandbox",
}
"""Settings of a run whose meaning nothing defines, with what there is in place of each."""


class AgentLike(Protocol):
    """What a backend has to know of an agent."""

    name: str
    backend: Any
    """Has an ``id`` such as ``codex``; may have ``auth`` and ``model_provider``."""


class RunConfigLike(Protocol):
    """Settings of one run; each of ``timeout_seconds``, ``stream_output``, ``env``,
    ``forward_env``, ``secret_env``, ``remove_on_exit`` and ``metadata`` may be there.
    """


class SandboxSession(BaseModel):
    """One turn of an agent, from `SandboxBackend.prepare` to `SandboxBackend.cleanup`."""

    workspace: Path
    """The folder that the agent works in, absolute, on this machine."""
    sandbox_name: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    """``agent_id``, ``timeout_seconds``, ``stream_output``, ``stream_filter``, and what a backend
    keeps of the turn."""


@runtime_checkable
class SandboxBackend(Protocol):
    """A place where agents run: prepare, run, collect, and cleanup in any case."""

    id: str
    name: str | None

    def prepare(self, agent: AgentLike, run_config: RunConfigLike | None) -> SandboxSession:
        """Make what a turn needs, and say where its workspace is."""

    def run(self, session: SandboxSession, command: list[str]) -> CommandResult:
        """Execute a command in the sandbox.

        Raises:
            subprocess.TimeoutExpired: It did not end in time, and was killed inside.
        """

    def collect(self, session: SandboxSession) -> RunArtifacts:
        """Say what became of the workspace."""

    def cleanup(self, session: SandboxSession) -> None:
        """End what does not outlive the turn."""


def begin_session(
    workspace: Path, name: str | None, agent: AgentLike, run_config: RunConfigLike | None
) -> SandboxSession:
    """Return the session of a turn.

    Args:
        workspace: The folder, absolute.
        name: The sandbox's name.
        agent: Who is to run.
        run_config: Settings of the run; None for none.

    Raises:
        UnsupportedError: A setting of the run means nothing here.
        ValidationError: A variable that is to be handed on is not set here.
    """
    for setting, instead in _REFUSED.items():
        if getattr(run_config, setting, None):
            raise UnsupportedError(
                f"{setting}= of a run",
                reason="its meaning is not defined, and nothing would come of it",
                hint=f"leave it out, and use {instead}",
            )
    metadata = getattr(run_config, "metadata", None)
    return SandboxSession(
        workspace=workspace,
        sandbox_name=name,
        metadata={
            "run_id": secrets.token_hex(8),
            "agent_id": agent.backend.id,
            "backend_auth": getattr(agent.backend, "auth", None),
            "model_provider": getattr(agent.backend, "model_provider", None),
            "stream_output": bool(getattr(run_config, "stream_output", False)),
            "stream_filter": (
                metadata.get("stream_filter") if isinstance(metadata, Mapping) else None
            ),
            "timeout_seconds": getattr(run_config, "timeout_seconds", None),
            "env": {
                **(getattr(agent, "env", None) or {}),
                **(getattr(run_config, "env", None) or {}),
                **_of_host(getattr(run_config, "forward_env", None) or [], "forward_env"),
            },
            "secret_env_names": list(getattr(run_config, "secret_env", None) or []),
            "stays": getattr(run_config, "remove_on_exit", True) is False,
        },
    )


def stays(session: SandboxSession, remove_on_exit: bool) -> bool:
    """Whether a sandbox that is made in a turn outlives it: its own field or the run says so."""
    return not remove_on_exit or bool(session.metadata.get("stays"))


def _of_host(names: list[str], parameter: str) -> dict[str, str]:
    missing = [name for name in names if name not in os.environ]
    if missing:
        raise ValidationError(
            f"{parameter} names {missing[0]}, which is not set here",
            parameter=parameter,
            hint=f"export {missing[0]}=...",
        )
    return {name: os.environ[name] for name in names}
