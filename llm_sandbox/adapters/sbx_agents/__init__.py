"""Sandboxes for ``sbx-agents``, a library that runs coding agents.

They work as backends of that library's own runner, and without it.
"""

from llm_sandbox.adapters.sbx_agents.docker_sandbox import DockerSandbox
from llm_sandbox.adapters.sbx_agents.files import WorkspaceFileMixin
from llm_sandbox.adapters.sbx_agents.results import Artifact, CommandResult, RunArtifacts
from llm_sandbox.adapters.sbx_agents.sbx_sandbox import DockerSbxSandbox
from llm_sandbox.adapters.sbx_agents.session import (
    AgentLike,
    RunConfigLike,
    SandboxBackend,
    SandboxSession,
)

__all__ = [
    "AgentLike",
    "Artifact",
    "CommandResult",
    "DockerSandbox",
    "DockerSbxSandbox",
    "RunArtifacts",
    "RunConfigLike",
    "SandboxBackend",
    "SandboxSession",
    "WorkspaceFileMixin",
]
