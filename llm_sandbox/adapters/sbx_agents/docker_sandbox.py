"""Commands of agents in containers of Docker or Podman."""

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
    """A container for each command of an agent, with the workspace mounted read-write.

    Fields that the class of the same name in ``sbx-agents`` lacks: ``backend``, ``persistent``,
    ``network``, ``limits``, ``secrets``, ``allow_dangerous`` and ``idle_timeout``.

    Raises:
        UnsupportedError: The backend makes no containers.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    id: str = "docker"
    workspace: Path
    """The folder of this machine that commands work in; it is theirs to change."""
    image: str = "python:3.12-slim"
    name: str | None = None
    """Name that its sandbox is found by; one living sandbox has it at a time."""
    workdir: str = "/workspace"
    """Where the workspace is in the container."""
    docker_args: list[str] = Field(default_factory=list)
    """Options of ``docker run`` for limits, mounts and the like; dangerous ones are refused."""
    env: dict[str, str] = Field(default_factory=dict)
    """Variables of commands. They stand on no command line, and the engine does not know them."""
    remove_on_exit: bool = True
    """Whether a container ends when its command has, or with ``persistent`` at `cleanup`. One that
    stays is found with ``llm-sandbox ps``, and by its name."""
    backend: Literal["docker", "podman"] = "docker"
    persistent: bool = False
    """Whether all commands of a turn run in one container; and with a name and without
    ``remove_on_exit`` those of later turns, too."""
    network: Network = "open"
    """``open``, as Docker's containers have it; ``blocked``, ``internet`` or `NetworkRules`."""
    limits: Limits = AGENT_LIMITS
    secrets: list[Any] = Field(default_factory=list, repr=False)
    """`llm_sandbox.Secret` objects."""
    allow_dangerous: bool = False
    """Whether options that open the container's walls are taken."""
    idle_timeout: float | None = 86400.0
    """Seconds without activity after which a container that stays ends; None for never."""

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
        """Say where the workspace is; a container is made when there is a command.

        Raises:
            SandboxFileNotFoundError: There is no workspace.
            SecurityError: `docker_args` hold an option that opens the container's walls.
        """
        session = begin_session(self.workspace.resolve(strict=True), self.name, agent, run_config)
        self._request(session).check()
        return session

    def run(self, session: SandboxSession, command: list[str]) -> CommandResult:
        """Run a command in a container.

        Raises:
            subprocess.TimeoutExpired: It did not end in time; it was killed inside, with everything
                that it started.
            LaunchError: The image has no such program.
            SandboxError: The container could not be made.
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
        """Return what the commands of this turn made of the workspace."""
        return self._states.of(session).artifacts(session.workspace)

    def cleanup(self, session: SandboxSession) -> None:
        """End the turn, and its container unless that stays. May be called twice."""
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
