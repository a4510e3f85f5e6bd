"""Agent commands in containers of Docker or Podman."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator

from llm_sandbox.adapters.sbx_agents.containers import AGENT_LIMITS, ContainerRequest
from llm_sandbox.adapters.sbx_agents.docker_args import read_docker_args
from llm_sandbox.adapters.sbx_agents.files import WorkspaceFileMixin
from llm_sandbox.adapters.sbx_agents.results import CommandResult, RunArtifacts
from llm_sandbox.adapters.sbx_agents.session import (
    AgentLike,
    RunConfigLike,
    SandboxSession,
    begin_session,
    stays,
)
from llm_sandbox.adapters.sbx_agents.session_state import SessionStates
from llm_sandbox.backends.registry import available_names
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.limits import Limits
from llm_sandbox.network import Network
from llm_sandbox.sandbox import Sandbox

__all__ = ["DockerSandbox"]


class DockerSandbox(WorkspaceFileMixin, BaseModel):
    """Backend that runs each command of an agent in a container, with the workspace mounted
    read-write.

    Fields that the class of the same name in ``sbx-agents`` lacks: ``backend``, ``persistent``,
    ``network``, ``limits``, ``secrets``, ``allow_dangerous`` and ``idle_timeout``.

    Raises:
        UnsupportedError: The backend does not support containers.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    id: str = "docker"
    workspace: Path
    """Folder of this machine that commands work in and may change."""
    image: str = "python:3.12-slim"
    name: str | None = None
    """Name of the sandbox, unique among living sandboxes."""
    workdir: str = "/workspace"
    """Path of the workspace in the container."""
    docker_args: list[str] = Field(default_factory=list)
    """Options of ``docker run`` for limits and mounts; dangerous ones are refused."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables of commands. They appear neither on a command line nor in the engine.
    """
    remove_on_exit: bool = True
    """End of a container with its command, or with ``persistent`` at `cleanup`. A remaining
    container is listed by ``llm-sandbox ps`` and found by name.
    """
    backend: Literal["docker", "podman"] = "docker"
    persistent: bool = False
    """One container for all commands of a session; with a name and without
    ``remove_on_exit`` also those of later sessions.
    """
    network: Network = "open"
    """Network: ``open``, the default of Docker's containers; ``blocked``, ``internet`` or
    `NetworkRules`.
    """
    limits: Limits = AGENT_LIMITS
    secrets: list[Any] = Field(default_factory=list, repr=False)
    """`llm_sandbox.Secret` objects."""
    allow_dangerous: bool = False
    """Acceptance of options that weaken the container's isolation."""
    idle_timeout: float | None = 86400.0
    """Seconds without activity after which a remaining container ends; None for never."""

    _states: SessionStates = PrivateAttr(default_factory=SessionStates)

    @field_validator("backend", mode="before")
    @classmethod
    def _of_containers(cls, name: object) -> object:
        if name not in ("docker", "podman") and name in available_names():
            raise UnsupportedError(
                "DockerSandbox",
                str(name),
                "it makes no containers of Docker's kind",
                hint="backend='docker' or backend='podman'; or, for backend='bubblewrap', "
                "DockerSbxSandbox(engine='builtin', backend='bubblewrap')",
            )
        return name

    @field_validator("docker_args")
    @classmethod
    def _readable(cls, words: list[str]) -> list[str]:
        read_docker_args(words)
        return words

    def prepare(self, agent: AgentLike, run_config: RunConfigLike | None) -> SandboxSession:
        """Return a session with the workspace; the container is created by the first command.

        Raises:
            SandboxFileNotFoundError: The workspace does not exist.
            SecurityError: `docker_args` has an option that weakens the container's isolation.
        """
        session = begin_session(self.workspace.resolve(strict=True), self.name, agent, run_config)
        self._request(session).check()
        return session

    def run(self, session: SandboxSession, command: list[str]) -> CommandResult:
        """Run a command in a container.

        Raises:
            subprocess.TimeoutExpired: The timeout passed; the command and its children were killed.
            LaunchError: The program does not exist in the image.
            SandboxError: The container could not be created.
        """
        state = self._states.of(session)
        state.record_baseline(session.workspace)
        sandbox = state.sandbox or self._sandbox(session)
        if self.persistent:
            state.sandbox = sandbox
        try:
            return state.run(sandbox, session, command, self._variables())
        finally:
            if not self.persistent:
                self._release(sandbox, session)

    def collect(self, session: SandboxSession) -> RunArtifacts:
        """Return the changes that the commands of the session made in the workspace."""
        return self._states.of(session).artifacts(session.workspace)

    def cleanup(self, session: SandboxSession) -> None:
        """End the session, and its container unless it is kept. May be called twice."""
        state = self._states.end(session)
        if state is not None and state.sandbox is not None:
            self._release(state.sandbox, session)

    def _sandbox(self, session: SandboxSession) -> Sandbox:
        request = self._request(session)
        if self.persistent and self.name is not None and stays(session, self.remove_on_exit):
            return request.find() or request.make()
        return request.make()

    def _variables(self) -> dict[str, str]:
        return {**read_docker_args(self.docker_args).env, **self.env}

    def _request(self, session: SandboxSession) -> ContainerRequest:
        return ContainerRequest(
            workspace=session.workspace,
            workdir=self.workdir,
            backend=self.backend,
            image=self.image,
            name=self.name,
            limits=self.limits,
            network=self.network,
            arguments=read_docker_args(self.docker_args),
            allow_dangerous=self.allow_dangerous,
            secrets=tuple(self.secrets),
            agent=str(session.metadata.get("agent_id", "")),
            keep=stays(session, self.remove_on_exit),
            idle_timeout=self.idle_timeout,
        )

    def _release(self, sandbox: Sandbox, session: SandboxSession) -> None:
        if stays(session, self.remove_on_exit):
            sandbox.detach()
        else:
            sandbox.destroy()
