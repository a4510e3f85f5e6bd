"""Where sessions come from: `create_session`, and the session class with artifacts."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.base import Backend, Network
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.selection import choose
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.limits import Limits
from llm_sandbox.session.config import (
    SessionConfig,
    Start,
    apply_runtime_configs,
    refuse_container_options,
)
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from llm_sandbox.security import SecurityPolicy

__all__ = ["ArtifactSandboxSession", "SandboxSession", "create_session"]


class ArtifactSandboxSession(BaseSession):
    """A session that captures what code draws; see `create_session` for the arguments.

    Every session does; this class is the name that asks for it.

    Args:
        enable_plotting: Whether `ExecutionResult.plots` is filled.
    """

    def __init__(
        self,
        backend: SandboxBackend | str | Backend | None = None,
        image: str | None = None,
        dockerfile: str | None = None,
        lang: str = SupportedLanguage.PYTHON,
        *,
        keep_template: bool = False,
        commit_container: bool = False,
        verbose: bool = False,
        stream: bool = False,
        runtime_configs: Mapping[str, Any] | None = None,
        workdir: str | None = "/sandbox",
        enable_plotting: bool = True,
        security_policy: "SecurityPolicy | None" = None,
        default_timeout: float | None = None,
        execution_timeout: float | None = None,
        session_timeout: float | None = None,
        container_id: str | None = None,
        client: object = None,
        libraries: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        network: Network = "blocked",
        persistent: bool = True,
        start: Start = "warm",
    ) -> None:
        del stream  # results stream to callbacks and are collected, always
        handler = LanguageHandlerFactory.create_handler(lang)
        chosen, reason = _choose(backend)
        refuse_container_options(
            chosen.name,
            {
                "image": image,
                "dockerfile": dockerfile,
                "keep_template": keep_template,
                "commit_container": commit_container,
                "container_id": container_id,
                "client": client,
            },
        )
        config = SessionConfig(
            lang=SupportedLanguage(lang),
            workdir=workdir or "/sandbox",
            limits=limits or Limits(),
            network=network,
            env=dict(env or {}),
            secrets=dict(secrets or {}),
            libraries=tuple(libraries),
            persistent=persistent,
            start=start,
            enable_plotting=enable_plotting,
            security_policy=security_policy,
            default_timeout=default_timeout,
            execution_timeout=execution_timeout,
            session_timeout=session_timeout,
            verbose=verbose,
        )
        super().__init__(apply_runtime_configs(config, runtime_configs), chosen, reason, handler)


def create_session(
    backend: SandboxBackend | str | Backend | None = None,
    image: str | None = None,
    dockerfile: str | None = None,
    lang: str = SupportedLanguage.PYTHON,
    *,
    keep_template: bool = False,
    commit_container: bool = False,
    verbose: bool = False,
    stream: bool = False,
    runtime_configs: Mapping[str, Any] | None = None,
    workdir: str | None = "/sandbox",
    enable_plotting: bool = True,
    security_policy: "SecurityPolicy | None" = None,
    default_timeout: float | None = None,
    execution_timeout: float | None = None,
    session_timeout: float | None = None,
    container_id: str | None = None,
    client: object = None,
    libraries: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    network: Network = "blocked",
    persistent: bool = True,
    start: Start = "warm",
) -> BaseSession:
    """Return a new session; use it in a with block, or call `open` and `close`.

    Args:
        backend: Where the sandbox is made; None picks the strongest that works here and says which.
        image: Image of a container backend.
        dockerfile: Path of a Dockerfile, for a container backend.
        lang: Language of the code.
        keep_template: For a container backend: keep the image.
        commit_container: For a container backend: save the container as an image.
        verbose: Log what happens to stderr.
        stream: Accepted for compatibility: output always streams to the callbacks of `run`.
        runtime_configs: Engine options by docker-py's names; one that the backend cannot honour is
            refused.
        workdir: Working directory in the sandbox.
        enable_plotting: Whether `ExecutionResult.plots` is filled.
        security_policy: What code `run` refuses.
        default_timeout: Seconds for commands, and for runs without another timeout; None for no
            limit.
        execution_timeout: Seconds for runs.
        session_timeout: Seconds until the sandbox ends.
        container_id: For a container backend: an existing container.
        client: For a container backend: its client object.
        libraries: Libraries to install at open.
        env: Environment variables of everything in the sandbox.
        secrets: More of them, which are never shown.
        limits: Memory, processes, disk and output; see `Limits`.
        network: ``blocked``, or ``open`` to share the host's.
        persistent: Whether variables are kept from run to run; False gives every run a fresh
            interpreter.
        start: ``warm`` forks a preloaded interpreter; ``cold`` starts one that shares nothing.

    Raises:
        UnsupportedBackendError: There is no such backend in this version.
        LanguageNotSupportedError: There is no such language in this version.
        BackendUnavailableError: `backend` is None and nothing on this machine isolates.
        UnsupportedError: An option that the backend cannot honour.
        ValidationError: A value that is not acceptable.
    """
    given = locals()
    return ArtifactSandboxSession(**given)


SandboxSession = create_session


def _choose(backend: SandboxBackend | str | Backend | None) -> tuple[Backend, str]:
    if backend is None:
        return choose()
    if isinstance(backend, Backend):
        return backend, "it was given"
    return get_backend(str(backend)), "it was named"
