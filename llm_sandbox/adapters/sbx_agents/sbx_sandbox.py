"""Agent sandboxes of Docker's ``sbx``, or of this library with the same interface."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from llm_sandbox.adapters.sbx_agents.agent_auth import AgentAuth, AuthOutcome
from llm_sandbox.adapters.sbx_agents.builtin_engine import (
    BuiltinBackend,
    backend_of,
    check_backend,
    check_engine,
    network_of,
    resources_of,
    run_in_session,
    secrets_of,
)
from llm_sandbox.adapters.sbx_agents.cli import SbxCli
from llm_sandbox.adapters.sbx_agents.clones import PrivateClone
from llm_sandbox.adapters.sbx_agents.containers import AGENT_LIMITS, ContainerRequest
from llm_sandbox.adapters.sbx_agents.credentials import (
    Engine,
    credentials_of,
    oauth_refusal,
    service_of,
)
from llm_sandbox.adapters.sbx_agents.files import WorkspaceFileMixin
from llm_sandbox.adapters.sbx_agents.results import CommandResult, RunArtifacts
from llm_sandbox.adapters.sbx_agents.sbx_engine import SbxRequest, read_diagnosis, refuse_variables
from llm_sandbox.adapters.sbx_agents.session import (
    AgentLike,
    RunConfigLike,
    SandboxSession,
    begin_session,
    stays,
)
from llm_sandbox.adapters.sbx_agents.session_state import SessionStates
from llm_sandbox.exceptions import SandboxError, UnsupportedError
from llm_sandbox.limits import Limits

__all__ = ["DockerSbxSandbox"]

_LOOK_S = 10


class DockerSbxSandbox(WorkspaceFileMixin, BaseModel):
    """Sandbox for a coding agent, with its API keys kept outside.

    ``engine="sbx"`` is a microVM created by Docker's command of that name, which must be installed.
    ``engine="builtin"`` is a container or bubblewrap sandbox of this library, with its egress gate
    and placeholders for keys. There is no fallback from one to the other.

    Fields that the class of the same name in ``sbx-agents`` lacks: ``engine``, ``image``, and for
    ``engine="builtin"`` ``backend``, ``workdir``, ``secrets``, ``allow_dangerous`` and
    ``idle_timeout``.

    Raises:
        UnsupportedError: A field is not supported by the engine.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    id: str = "docker_sbx"
    workspace: Path
    """Folder of this machine that the agent works in and may change."""
    name: str | None = None
    """Name of the sandbox to reuse for this kind of agent; without a name, one of this kind and
    workspace.
    """
    branch: str | None = None
    """Branch to work on in a private clone of the workspace, whose path `prepare` returns."""
    cpus: int | None = None
    memory: str | None = None
    """Memory limit, such as ``4g``; None for the engine's default."""
    remove_on_exit: bool = True
    """Whether a sandbox created in a session ends at `cleanup`."""
    force_recreate: bool = False
    """Whether reusable sandboxes, and the clone of a branch, are removed first."""
    network_allow: list[str] = Field(default_factory=list)
    """``host``, ``host:port``, ``*.host``, ``**.host`` or an address range: destinations that this
    sandbox may connect to, in addition to the service of the agent's model.
    """
    secret_env: dict[str, str] = Field(default_factory=dict)
    """Environment variables of this process by service, as source of keys that are not stored."""
    secret_oauth: list[str] = Field(default_factory=list)
    """Services with an OAuth login if no key is stored; with ``engine="sbx"``."""
    secret_oauth_refresh: list[str] = Field(default_factory=list)
    """Services with an OAuth login each time; with ``engine="sbx"``."""
    codex_auth_from_host: bool = False
    """Whether the host's ChatGPT login of Codex is copied into the sandbox: the only case in which
    a key enters it.
    """
    engine: Engine = "sbx"
    image: str | None = None
    """Image with the agent; None for the engine's default."""
    backend: BuiltinBackend = "docker"
    """Backend of ``engine="builtin"``; ``bubblewrap`` uses the programs of this machine, without
    images.
    """
    workdir: str | None = None
    """Path of the workspace in the sandbox; None for the same path as on the host."""
    secrets: list[Any] = Field(default_factory=list, repr=False)
    """`llm_sandbox.Secret` objects, for further services."""
    allow_dangerous: bool = False
    """Whether a sensitive folder is accepted as workspace."""
    idle_timeout: float | None = 86400.0
    """Seconds without activity after which a kept sandbox ends; None for never."""

    _states: SessionStates = PrivateAttr(default_factory=SessionStates)
    _builtin_only: ClassVar[tuple[str, ...]] = (
        "backend",
        "workdir",
        "secrets",
        "allow_dangerous",
        "idle_timeout",
    )

    @field_validator("backend", mode="before")
    @classmethod
    def _isolates(cls, name: object) -> object:
        return check_backend(name)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.engine == "builtin":
            for field in ("secret_oauth", "secret_oauth_refresh"):
                if getattr(self, field):
                    raise oauth_refusal(f"{field}=")
            return self
        for field in self._builtin_only:
            if field in self.model_fields_set:
                raise UnsupportedError(
                    f"{field}=",
                    "sbx",
                    "it is of sandboxes of this library",
                    hint=f"leave out {field}=, or engine='builtin'",
                )
        return self

    # --- what is there

    @classmethod
    def check_available(
        cls, *, engine: Engine = "sbx", backend: BuiltinBackend | None = None
    ) -> None:
        """Check that the engine is installed.

        Args:
            engine: Name of the engine.
            backend: Backend of ``engine="builtin"``; None for ``docker``.

        Raises:
            BackendUnavailableError: The engine is missing; the hint has the command that installs
                it.
            UnsupportedError: The engine does not have the backend.
        """
        name = backend_of(engine, backend)
        if name is None:
            SbxCli().path()
        else:
            check_engine(name, _LOOK_S)

    @classmethod
    def is_available(cls, *, engine: Engine = "sbx", backend: BuiltinBackend | None = None) -> bool:
        """Return whether the engine is installed; see `check_available`."""
        try:
            cls.check_available(engine=engine, backend=backend)
        except SandboxError:
            return False
        return True

    @classmethod
    def check_ready(
        cls,
        *,
        timeout_seconds: int = _LOOK_S,
        engine: Engine = "sbx",
        backend: BuiltinBackend | None = None,
    ) -> None:
        """Check that sandboxes can be created; `engine` and `backend` as in `check_available`.

        Raises:
            SandboxError: The engine is not ready; the hint has the command that fixes it.
        """
        name = backend_of(engine, backend)
        if name is None:
            read_diagnosis(SbxCli(), timeout_seconds)
        else:
            check_engine(name, timeout_seconds)

    @classmethod
    def is_ready(
        cls,
        *,
        timeout_seconds: int = _LOOK_S,
        engine: Engine = "sbx",
        backend: BuiltinBackend | None = None,
    ) -> bool:
        """Return whether sandboxes can be created; see `check_ready`."""
        try:
            cls.check_ready(timeout_seconds=timeout_seconds, engine=engine, backend=backend)
        except SandboxError:
            return False
        return True

    # --- keys

    @classmethod
    def check_agent_secrets(
        cls, agent_id: str, *, timeout_seconds: int = _LOOK_S, engine: Engine = "sbx"
    ) -> None:
        """Check that the key of an agent is stored.

        Raises:
            SandboxError: The key is missing; the hint has the command that stores it.
        """
        AgentAuth(credentials_of(engine), {}, (), (), False).check(agent_id, timeout_seconds)

    @classmethod
    def has_global_secret(
        cls, service: str, *, timeout_seconds: int = _LOOK_S, engine: Engine = "sbx"
    ) -> bool:
        """Return whether a key of a service is stored on this machine."""
        return credentials_of(engine).has(service, timeout_seconds)

    @classmethod
    def set_global_secret(
        cls, service: str, value: str, *, timeout_seconds: int = _LOOK_S, engine: Engine = "sbx"
    ) -> None:
        """Store the key of a service on this machine, without passing it on a command line."""
        credentials_of(engine).set(service, value, timeout_seconds)

    @classmethod
    def set_global_oauth_secret(
        cls,
        service: str,
        *,
        timeout_seconds: int = 120,
        stream_output: bool = False,
        engine: Engine = "sbx",
    ) -> None:
        """Log in to a service interactively, and store the key.

        Raises:
            UnsupportedError: With ``engine="builtin"``, which has no OAuth login.
        """
        credentials_of(engine).sign_in(service, timeout_seconds, stream=stream_output)

    def ensure_agent_secret(
        self, agent_id: str, *, timeout_seconds: int = _LOOK_S, stream_output: bool = False
    ) -> None:
        """Ensure that the key of an agent is stored: already, by OAuth login, or from
        ``secret_env``.

        Raises:
            SandboxError: No key is available; the hint has the command that stores one.
        """
        service = service_of(agent_id)
        if service is not None:
            self._auth().ensure(service, timeout_seconds, stream=stream_output)

    def ensure_agent_auth(
        self,
        agent: AgentLike,
        run_config: RunConfigLike | None = None,
        *,
        stream_output: bool = False,
    ) -> None:
        """Ensure all keys for sessions of this agent; errors as in `ensure_agent_secret`."""
        session = begin_session(self.workspace.resolve(), self.name, agent, run_config)
        self._auth().apply(session.metadata, _LOOK_S, stream=stream_output)

    # --- one session

    def prepare(self, agent: AgentLike, run_config: RunConfigLike | None) -> SandboxSession:
        """Return a session in the workspace, or with a branch in a private clone of it.

        Raises:
            SandboxError: The workspace does not exist, or the branch cannot be used.
            UnsupportedError: The engine does not support a setting of the run.
        """
        session = begin_session(self.workspace.resolve(strict=True), self.name, agent, run_config)
        if self.engine == "sbx":
            refuse_variables(session)
        if self.branch is not None:
            clone = PrivateClone(session.workspace, self.branch)
            if self.force_recreate:
                clone.remove()
            session.workspace = clone.make()
            session.metadata |= {"branch": self.branch, "clone": str(session.workspace)}
        if self.engine == "builtin":
            self._container(session, AuthOutcome([])).check()
        return session

    def run(self, session: SandboxSession, command: list[str]) -> CommandResult:
        """Run a command of the agent.

        Raises:
            subprocess.TimeoutExpired: The timeout passed, and the command was killed.
            SandboxError: A key is missing, or the sandbox could not be created.
        """
        if self.engine == "sbx":
            refuse_variables(session)
            SbxCli().path()
        state = self._states.of(session)
        stream = bool(session.metadata.get("stream_output"))
        outcome = self._auth().apply(session.metadata, _LOOK_S, stream=stream)
        state.record_baseline(session.workspace)
        recreate = state.is_first and (self.force_recreate or outcome.changed)
        state.is_first = False
        if self.engine == "builtin":
            request = self._container(session, outcome)
            return run_in_session(
                state, request, session, command, outcome=outcome, recreate=recreate
            )
        return self._run_sbx(session, command, outcome, recreate=recreate)

    def collect(self, session: SandboxSession) -> RunArtifacts:
        """Return the changes of the session's commands in the workspace or the clone."""
        found = self._states.of(session).artifacts(session.workspace)
        for name in ("branch", "clone"):
            if name in session.metadata:
                found.metadata[name] = session.metadata[name]
        return found

    def cleanup(self, session: SandboxSession) -> None:
        """End the session, and the sandbox created for it unless it is kept. A clone is kept."""
        state = self._states.end(session)
        if state is None:
            return
        ends = state.is_ours and not stays(session, self.remove_on_exit)
        if state.sandbox is not None:
            if ends:
                state.sandbox.destroy()
            else:
                state.sandbox.detach()
        if state.external is not None and ends:
            self._request(session).remove_if_there(state.external)

    def _run_sbx(
        self,
        session: SandboxSession,
        command: list[str],
        outcome: AuthOutcome,
        *,
        recreate: bool,
    ) -> CommandResult:
        state, request = self._states.of(session), self._request(session)
        if recreate:
            request.remove_all()
        name = state.external or (None if recreate else request.find())
        if name is None:
            name = request.make()
            state.is_ours = True
        state.external = session.sandbox_name = name
        request.allow(name, resources_of(session, self.network_allow, outcome))
        if outcome.codex_login:
            request.copy_codex_login(name)
        return request.run(name, session, command, keep=stays(session, self.remove_on_exit))

    def _auth(self) -> AgentAuth:
        return AgentAuth(
            credentials_of(self.engine),
            self.secret_env,
            self.secret_oauth,
            self.secret_oauth_refresh,
            self.codex_auth_from_host,
        )

    def _request(self, session: SandboxSession) -> SbxRequest:
        return SbxRequest(
            SbxCli(),
            str(session.metadata["agent_id"]),
            session.workspace,
            *(self.name, self.cpus, self.memory, self.image),
        )

    def _container(self, session: SandboxSession, outcome: AuthOutcome) -> ContainerRequest:
        limits = {} if self.cpus is None else {"cpus": self.cpus}
        if self.memory is not None:
            limits["memory_bytes"] = Limits.parse_size(self.memory, "memory")
        return ContainerRequest(
            workspace=session.workspace,
            workdir=self.workdir or str(session.workspace),
            agent=str(session.metadata.get("agent_id", "")),
            backend=self.backend,
            image=self.image,
            name=self.name,
            limits=replace(AGENT_LIMITS, **limits),
            network=network_of(resources_of(session, self.network_allow, outcome)),
            allow_dangerous=self.allow_dangerous,
            is_ours=self._is_clone(session.workspace),
            secrets=(*secrets_of(outcome), *self.secrets),
            keep=stays(session, self.remove_on_exit),
            idle_timeout=self.idle_timeout,
        )

    def _is_clone(self, place: Path) -> bool:
        """Return whether a folder is the clone that `prepare` creates."""
        return (
            self.branch is not None
            and place == PrivateClone(self.workspace.resolve(), self.branch).path
        )
