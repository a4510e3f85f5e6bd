"""The session class that is named for what it captures."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.selection import resolve
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.data import ExecutionResult, StreamCallback
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.kernel.output_buffer import OutputCallback
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.limits import LimitOptions, Limits, Size
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network
from llm_sandbox.sandbox.secret_files import check_secrets
from llm_sandbox.secrets.plan import plan_secrets
from llm_sandbox.secrets.secret import Secret
from llm_sandbox.session.config import SessionConfig, Start, settle
from llm_sandbox.session.lock import Busy
from llm_sandbox.session.resolution import container_option
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container
    from docker.models.images import Image

    from llm_sandbox.pool import ContainerPoolManager, PooledContainer
    from llm_sandbox.sandbox.detached.record import OnExit
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.telemetry import RunObserver

__all__ = ["ArtifactSandboxSession"]


class ArtifactSandboxSession(BaseSession):
    """A session that captures what code draws; see `create_session` for the arguments.

    Every session does; this class is the name that asks for it.

    Args:
        enable_plotting: Whether `ExecutionResult.plots` is filled.
    """

    stream: bool
    """What was asked for; output streams to callbacks in any case."""

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
        commit_image_tag: str | None = None,
        mounts: Mapping[str, Mount] | Sequence[Any] = (),
        allow_unsafe: Sequence[str] = (),
        environment: str | None = None,
        libraries: Sequence[str] = (),
        skip_environment_setup: bool = False,
        env: Mapping[str, str] | None = None,
        env_vars: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | None = None,
        limits: Limits | LimitOptions | None = None,
        memory: Size | None = None,
        cpus: float | None = None,
        network: Network = "blocked",
        persistent: bool = True,
        start: Start = "warm",
        observers: "Sequence[RunObserver]" = (),
        name: str | None = None,
        on_exit: "OnExit" = "destroy",
        idle_timeout: float | None = None,
        pool: "ContainerPoolManager | None" = None,
        encoding_errors: str | None = None,
        busy: Busy = "wait",
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in _NOT_GIVEN}
        self.stream = bool(stream)
        self._pool = pool
        self._lease: PooledContainer | None = None
        _check_decoding(encoding_errors)
        if pool is not None:
            super().__init__(*pool.admit(given))
            return
        kept = None
        if name is not None or on_exit != "destroy" or idle_timeout is not None:
            from llm_sandbox.session.detached import keeping

            kept = keeping(name, on_exit, idle_timeout)
        handler = LanguageHandlerFactory.create_handler(lang)
        asked = {
            "image": image,
            "dockerfile": dockerfile,
            "container_id": container_id,
            "keep_template": keep_template,
            "commit_container": commit_container,
            "commit_image_tag": commit_image_tag,
            "mounts": mounts or (),
            "allow_unsafe": allow_unsafe,
            "environment": environment,
        }
        chosen, reason = resolve(
            *(backend, handler.name, handler.toolchain),
            option=container_option(asked, runtime_configs, client),
            image=image,
            client=client,
        )
        plan = plan_secrets(secrets)
        check_secrets(plan, network, chosen.name)
        config = SessionConfig(
            lang=lang,
            workdir=workdir or "/sandbox",
            limits=_limits(limits, memory, cpus),
            network=network,
            env=_variables(env, env_vars),
            secrets=plan,
            libraries=tuple(libraries),
            skip_environment_setup=skip_environment_setup,
            persistent=persistent,
            start=start,
            enable_plotting=enable_plotting,
            security_policy=security_policy,
            default_timeout=default_timeout,
            execution_timeout=execution_timeout,
            session_timeout=session_timeout,
            verbose=verbose,
            observers=observers,
            busy=busy,
        )
        chosen, config = settle(chosen, config, asked, runtime_configs, client)
        super().__init__(config, chosen, reason, handler, kept)

    # --- life

    def open(self) -> None:
        """Make the sandbox and its interpreter, or take them from the pool; see `BaseSession.open`.

        Raises:
            PoolExhaustedError: The pool has none, and none came back in time.
            PoolClosedError: The pool was closed.
        """
        if self._pool is None:
            super().open()
        elif not self.is_open:
            if self._lease is not None:
                self.close()  # the sandbox that it had has ended
            self._lease = self._pool.acquire()
            self._take_over(self._lease.session)

    def close(self) -> None:
        """End the sandbox and everything in it; see `BaseSession.close`.

        A pool makes a new one in its place: no session ever gets what another has used.
        """
        lease, self._lease = self._lease, None
        try:
            super().close()
        finally:
            if lease is not None and self._pool is not None:
                self._pool.release(lease)

    # --- code

    def run(
        self,
        code: str,
        libraries: list[str] | None = None,
        timeout: float | None = None,
        on_stdout: StreamCallback | None = None,
        on_stderr: StreamCallback | None = None,
        *,
        clear_plots: bool = False,
        stdin: str | Iterable[str] | None = None,
        on_output: OutputCallback | None = None,
        argv: Sequence[str] = (),
    ) -> ExecutionResult:
        """Run code and return all that came of it; see `BaseSession.run`.

        Args:
            code: Source text in the session's language.
            libraries: Libraries to install first.
            timeout: Seconds until the code is interrupted; default: the session's.
            on_stdout: Called with each piece of standard output as it arrives.
            on_stderr: Called with each piece of standard error as it arrives.
            clear_plots: Whether the result's plots begin with this run's, which they do in any
                case: those of earlier runs are in `history`.
            stdin: What `input` reads: text, or an iterable of lines.
            on_output: Called with every output as it arrives.
            argv: The name of the code's file and its arguments.
        """
        given = (code, libraries, timeout, on_stdout, on_stderr)
        return super().run(*given, stdin=stdin, on_output=on_output, argv=argv)

    def clear_plots(self) -> None:
        """Have the next result's plots begin with that run's, which they do in any case.

        Raises:
            NotOpenSessionError: The session is not open.
        """
        self._open_interpreter()

    @property
    def enable_plotting(self) -> bool:
        """Whether `ExecutionResult.plots` is filled."""
        return self.config.enable_plotting

    @property
    def verbose(self) -> bool:
        """Whether what happens is logged to stderr."""
        return self.config.verbose

    # --- what the engine of a container knows

    @property
    def client(self) -> "DockerClient":
        """The engine's client.

        Raises:
            BackendUnavailableError: The engine does not answer.
            UnsupportedError: The backend has no containers.
        """
        return self._container_backend("client").engine_client()

    @property
    def container(self) -> "Container | None":
        """The container as an object of the engine's client; None while the session is not open.

        Raises:
            ContainerGoneError: The engine has it no more.
            UnsupportedError: The backend has no containers.
        """
        self._container_backend("container")
        if self._interpreter is None:
            return None
        return cast("Container", self._interpreter.machine.engine_container())

    @property
    def docker_image(self) -> "Image | None":
        """The container's image as an object of the engine's client; None while the session is not
        open.

        Raises:
            ContainerGoneError: The engine has the container no more.
            UnsupportedError: The backend has no containers.
        """
        self._container_backend("docker_image")
        container = self.container
        return None if container is None else container.image

    @property
    def using_existing_container(self) -> bool:
        """Whether the container was there before the session, and stays after it."""
        options = self._container_options()
        return options is not None and options.container_id is not None

    @property
    def keep_template(self) -> bool:
        """Whether an image built from a Dockerfile is kept."""
        options = self._container_options()
        return options is not None and options.keep_template

    @property
    def commit_container(self) -> bool:
        """Whether the container is saved as an image when the session is closed."""
        options = self._container_options()
        return options is not None and options.commit_container

    def _container_options(self) -> Any:
        return getattr(self._backend, "options", None) if self._backend.has_containers else None

    def _container_backend(self, name: str) -> "Backend":
        if not self._backend.has_containers:
            raise UnsupportedError(
                f"session.{name}",
                self._backend.name,
                "it has no containers",
                hint="name a container backend: backend='docker'; session.sandbox is the machine "
                "of any backend",
            )
        return self._backend


_NOT_GIVEN = ("self", "__class__")


def _variables(env: Mapping[str, str] | None, env_vars: Mapping[str, str] | None) -> dict[str, str]:
    if env is not None and env_vars is not None:
        raise ValidationError(
            "env and env_vars are the same, and both were given",
            parameter="env_vars",
            hint="give env= alone",
        )
    return dict(env or env_vars or {})


def _check_decoding(errors: str | None) -> None:
    if errors not in (None, "backslashreplace"):
        raise UnsupportedError(
            f"encoding_errors={errors!r}",
            reason=r"bytes that are no UTF-8 appear as \xff escapes, and no output is ever lost",
            hint="leave it out; session.sandbox.exec(...).stdout.bytes() has a program's bytes",
        )


def _limits(given: Limits | LimitOptions | None, memory: Size | None, cpus: float | None) -> Limits:
    limits = Limits.parse(given)
    if memory is not None:
        limits = limits.replace(memory=memory)
    return limits if cpus is None else limits.replace(cpus=cpus)
