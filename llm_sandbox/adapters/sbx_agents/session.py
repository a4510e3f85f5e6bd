"""Interface between a backend and the runner of ``sbx-agents``."""

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
"""Filter of each output line: returns the text to print, None for nothing."""

_REFUSED = {
    "network": "network= or network_allow= of the sandbox",
    "permission": "sbx_agents.Agent(permission=...), which agents are started with",
    "secrets": "secret_env=[...] of the run, or secrets=[llm_sandbox.Secret(...)] of the sandbox",
}
"""Unsupported settings of a run, each with its alternative."""


class AgentLike(Protocol):
    """Protocol of an agent."""

    name: str
    backend: Any
    """Agent backend with an ``id`` such as ``codex``, and optionally ``auth`` and
    ``model_provider``.
    """


class RunConfigLike(Protocol):
    """Settings of one run, optionally with ``timeout_seconds``, ``stream_output``, ``env``,
    ``forward_env``, ``secret_env``, ``remove_on_exit`` and ``metadata``.
    """


class SandboxSession(BaseModel):
    """Session of an agent, from `SandboxBackend.prepare` to `SandboxBackend.cleanup`."""

    workspace: Path
    """Absolute path of the workspace on this machine."""
    sandbox_name: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    """``agent_id``, ``timeout_seconds``, ``stream_output``, ``stream_filter``, and data of the
    backend.
    """


@runtime_checkable
class SandboxBackend(Protocol):
    """Protocol of a backend: prepare, run, collect, and always cleanup."""

    id: str
    name: str | None

    def prepare(self, agent: AgentLike, run_config: RunConfigLike | None) -> SandboxSession:
        """Prepare a session, and return it with its workspace."""

    def run(self, session: SandboxSession, command: list[str]) -> CommandResult:
        """Execute a command in the sandbox.

        Raises:
            subprocess.TimeoutExpired: The timeout passed, and the command was killed.
        """

    def collect(self, session: SandboxSession) -> RunArtifacts:
        """Return the changes in the workspace."""

    def cleanup(self, session: SandboxSession) -> None:
        """Release everything that does not outlive the session."""


def begin_session(
    workspace: Path, name: str | None, agent: AgentLike, run_config: RunConfigLike | None
) -> SandboxSession:
    """Return a new session.

    Args:
        workspace: Absolute path of the workspace.
        name: Name of the sandbox.
        agent: Agent to run.
        run_config: Settings of the run; None for none.

    Raises:
        UnsupportedError: A setting of the run is not supported.
        ValidationError: A variable to forward is not set.
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
    """Return whether a sandbox outlives its session, by its own field or the run's."""
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
