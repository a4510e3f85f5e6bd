"""Agents in sandboxes of Docker's ``sbx``, or in our own made to its measure."""

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
    """A sandbox that a coding agent works in, with its keys kept outside of it.

    ``engine="sbx"`` has Docker's program of that name make it, a microVM; where that is not
    installed, every method says so. ``engine="builtin"`` is a container of ours, or a sandbox of
    bubblewrap, with our gate for the network and placeholders for keys. Neither stands in for the
    other.

    Fields that the class of the same name in ``sbx-agents`` lacks: ``engine``, ``image``, and for
    ``engine="builtin"`` ``backend``, ``workdir``, ``secrets``, ``allow_dangerous`` and
    ``idle_timeout``.

    Raises:
        UnsupportedError: A field means nothing with the engine.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    id: str = "docker_sbx"
    workspace: Path
    """The folder of this machine that the agent works in; it is the agent's to change."""
    name: str | None = None
    """A sandbox of this name and kind of agent is used again; without a name one of this kind and
    workspace."""
    branch: str | None = None
    """Work on this branch in a private clone of the workspace; `prepare` says where that is."""
    cpus: int | None = None
    memory: str | None = None
    """Such as ``4g``; None for the engine's default."""
    remove_on_exit: bool = True
    """Whether a sandbox that was made in a turn ends at its `cleanup`."""
    force_recreate: bool = False
    """Whether sandboxes that could be used again, and the clone of a branch, are removed first."""
    network_allow: list[str] = Field(default_factory=list)
    """``host``, ``host:port``, ``*.host``, ``**.host`` or a range of addresses: what this sandbox,
    and no other, may connect to, besides the service that the agent's model is at."""
    secret_env: dict[str, str] = Field(default_factory=dict)
    """Service to variable of this process: where its key is taken from if none is kept."""
    secret_oauth: list[str] = Field(default_factory=list)
    """Services that are signed in to if no key is kept; with ``engine="sbx"``."""
    secret_oauth_refresh: list[str] = Field(default_factory=list)
    """Services that are signed in to each time; with ``engine="sbx"``."""
    codex_auth_from_host: bool = False
    """Whether the host's own ChatGPT sign-in of Codex is copied into the sandbox: the one case that
    a key comes in."""
    engine: Engine = "sbx"
    image: str | None = None
    """Image that has the agent; None for the engine's own."""
    backend: BuiltinBackend = "docker"
    """``bubblewrap`` has the programs of this machine, and no images."""
    workdir: str | None = None
    """Where the workspace is inside; None for its own path, as commands may name it."""
    secrets: list[Any] = Field(default_factory=list, repr=False)
    """`llm_sandbox.Secret` objects, for services that are not known by name."""
    allow_dangerous: bool = False
    """Whether a workspace is taken that nobody should give away."""
    idle_timeout: float | None = 86400.0
    """Seconds without activity after which a sandbox that stays ends; None for never."""

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
        """Make sure that the engine is installed.

        Args:
            engine: Which.
            backend: What makes the sandboxes of ``engine="builtin"``; None for ``docker``.

        Raises:
            BackendUnavailableError: It is not; the hint says what to type.
            UnsupportedError: The backend means nothing with the engine.
        """
        name = backend_of(engine, backend)
        if name is None:
            SbxCli().path()
        else:
            check_engine(name, _LOOK_S)

    @classmethod
    def is_available(cls, *, engine: Engine = "sbx", backend: BuiltinBackend | None = None) -> bool:
        """Whether the engine is installed; see `check_available`."""
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
        """Make sure that sandboxes can be made; `engine` and `backend` as in `check_available`.

        Raises:
            SandboxError: They cannot; the hint says what to type.
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
        """Whether sandboxes can be made; see `check_ready`."""
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
        """Make sure that the key that an agent needs is kept.

        Raises:
            SandboxError: It is not; the hint says what to type.
        """
        AgentAuth(credentials_of(engine), {}, (), (), False).check(agent_id, timeout_seconds)

    @classmethod
    def has_global_secret(
        cls, service: str, *, timeout_seconds: int = _LOOK_S, engine: Engine = "sbx"
    ) -> bool:
        """Whether a key of a service is kept on this machine."""
        return credentials_of(engine).has(service, timeout_seconds)

    @classmethod
    def set_global_secret(
        cls, service: str, value: str, *, timeout_seconds: int = _LOOK_S, engine: Engine = "sbx"
    ) -> None:
        """Keep a key of a service on this machine; it stands on no command line."""
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
        """Have a person sign in to a service, and keep what comes of it.

        Raises:
            UnsupportedError: With ``engine="builtin"``: only Docker's program can.
        """
        credentials_of(engine).sign_in(service, timeout_seconds, stream=stream_output)

    def ensure_agent_secret(
        self, agent_id: str, *, timeout_seconds: int = _LOOK_S, stream_output: bool = False
    ) -> None:
        """Have the key that an agent needs kept: as it is, by signing in, or from ``secret_env``.

        Raises:
            SandboxError: There is none to be had; the hint says what to type.
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
        """Have every key that a turn of this agent needs; errors as in `ensure_agent_secret`."""
        session = begin_session(self.workspace.resolve(), self.name, agent, run_config)
        self._auth().apply(session.metadata, _LOOK_S, stream=stream_output)

    # --- one session

    def prepare(self, agent: AgentLike, run_config: RunConfigLike | None) -> SandboxSession:
        """Say where the agent works: in the workspace, or with a branch in a private clone of it.

        Raises:
            SandboxError: There is no workspace, or no such branch can be worked on.
            UnsupportedError: The engine cannot honour a setting of the run.
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
            subprocess.TimeoutExpired: It did not end in time, and was ended inside.
            SandboxError: A key is missing, or the sandbox could not be made.
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
        """Return what the commands of this turn made of the workspace, or of the clone."""
        found = self._states.of(session).artifacts(session.workspace)
        for name in ("branch", "clone"):
            if name in session.metadata:
                found.metadata[name] = session.metadata[name]
        return found

    def cleanup(self, session: SandboxSession) -> None:
        """End the turn, and the sandbox that was made for it unless that stays. A clone stays."""
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
        """Whether a folder is the clone that `prepare` makes, whatever a session says."""
        return (
            self.branch is not None
            and place == PrivateClone(self.workspace.resolve(), self.branch).path
        )
