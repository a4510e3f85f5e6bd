"""Agents as a runner describes them, for tests that need no runner."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["CODEX", "SHELL", "Agent", "AgentBackend", "Auth", "RunConfig"]


@dataclass
class Auth:
    method: str
    service: str = "openai"
    env_var: str | None = None
    refresh: bool = False


@dataclass
class AgentBackend:
    id: str
    auth: Auth | None = None
    model_provider: str | None = None


@dataclass
class Agent:
    name: str
    backend: AgentBackend
    env: dict[str, str] = field(default_factory=dict)


@dataclass
class RunConfig:
    timeout_seconds: int | None = None
    stream_output: bool = False
    env: dict[str, str] = field(default_factory=dict)
    forward_env: list[str] = field(default_factory=list)
    secret_env: list[str] = field(default_factory=list)
    remove_on_exit: bool = True
    permission: Any = None
    network: str | None = None
    secrets: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


SHELL = Agent("helper", AgentBackend("shell"))
CODEX = Agent("coder", AgentBackend("codex"))
