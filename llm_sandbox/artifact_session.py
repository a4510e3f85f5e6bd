"""Session class that `create_session` returns, named for the artifacts it captures."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Unpack, cast

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.selection import resolve
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.create import SessionOptions, create_session, same_parameters
from llm_sandbox.data import ExecutionResult, StreamCallback
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.kernel.output_buffer import OutputCallback
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.limits import LimitOptions, Limits, Size
from llm_sandbox.sandbox.secret_files import check_secrets
from llm_sandbox.secrets.plan import plan_secrets
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.resolution import container_option, resolve_config
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container
    from docker.models.images import Image

    from llm_sandbox.pool.member import PooledContainer
    from llm_sandbox.pool.sandbox_pool import SandboxPool
    from llm_sandbox.pool.stock import Ticket

__all__ = ["ArtifactSandboxSession"]

_OF_CONTAINERS = (
    "allow_unsafe",
    "commit_container",
    "commit_image_tag",
    "container_id",
    "environment",
    "keep_template",
    "kube_namespace",
    "pod_manifest",
)
_SETTINGS = frozenset(one.name for one in fields(SessionConfig))


class ArtifactSandboxSession(BaseSession):
    """Session that captures plots and other artifacts, as every session does.

    The arguments are those of `create_session`.
    """

    stream: bool
    """Accepted for compatibility: output always streams to callbacks."""

    @same_parameters(create_session)
    def __init__(
        self,
        backend: SandboxBackend | str | Backend | None = None,
        image: str | None = None,
        dockerfile: str | None = None,
        lang: str = SupportedLanguage.PYTHON,
        **options: Unpack[SessionOptions],
    ) -> None:
        given = _with_defaults(type(self).__name__, options)
        self.stream = bool(given["stream"])
        self._pool: SandboxPool | None = given["pool"]
        self._open_waits = self._pool is not None
        self._lease: PooledContainer | None = None
        self._ticket: Ticket | None = None
        _check_decoding(given["encoding_errors"])
        self._is_remote = given["server"] is not None
        if self._is_remote:
            self._connect(
                {"backend": backend, "image": image, "dockerfile": dockerfile, **given}, lang
            )
            return
        if self._pool is not None:
            _check_pool(self._pool)
            named = {"backend": backend, "image": image, "dockerfile": dockerfile, "lang": lang}
            super().__init__(*self._pool._admit({**named, **given}))
            return
        detach_options = None
        kept = (given["name"], given["on_exit"], given["idle_timeout"])
        if kept != (None, "destroy", None):
            from llm_sandbox.session.detached import detach_options_of

            detach_options = detach_options_of(*kept)
        handler = LanguageHandlerFactory.create_handler(lang)
        container = {name: given[name] for name in _OF_CONTAINERS}
        container.update(image=image, dockerfile=dockerfile, mounts=given["mounts"] or ())
        configs, client = given["runtime_configs"], given["client"]
        chosen, reason = resolve(
            backend,
            handler.name,
            handler.toolchain,
            option=container_option(container, configs, client),
            image=image,
            client=client,
        )
        secrets = plan_secrets(given["secrets"])
        check_secrets(secrets, given["network"], chosen.name)
        own = {name: given[name] for name in given if name in _SETTINGS}
        own.update(
            workdir=given["workdir"] or "/sandbox",
            limits=_limits(given["limits"], given["memory"], given["cpus"]),
            env=_variables(given["env"], given["env_vars"]),
            secrets=secrets,
            libraries=tuple(given["libraries"]),
        )
        del own["mounts"]  # which may be those of a container
        config = SessionConfig(lang=lang, **own)
        chosen, config = resolve_config(chosen, config, container, configs, client)
        super().__init__(config, chosen, reason, handler, detach_options)

    def _connect(self, given: Mapping[str, Any], lang: str) -> None:
        """Prepare a session on a server, which refuses what it will not honour."""
        from llm_sandbox.remote import RemoteBackend, RemoteRuntime

        defaults = {name: one.default for name, one in signature(create_session).parameters.items()}
        changed = {name: value for name, value in given.items() if value != defaults[name]}
        remote = RemoteBackend(given["server"], given["token"], {**changed, "lang": str(lang)})
        own = {name: given[name] for name in given if name in _SETTINGS and name != "mounts"}
        own.update(
            workdir=given["workdir"] or "/sandbox",
            limits=_limits(given["limits"], given["memory"], given["cpus"]),
            env=_variables(given["env"], given["env_vars"]),
            libraries=tuple(given["libraries"]),
        )
        handler = LanguageHandlerFactory.create_handler(lang)
        super().__init__(
            SessionConfig(lang=lang, **own), remote, f"it is on {remote.server.url}", handler
        )
        self._start = RemoteRuntime.start

    # --- life

    def open(self) -> None:
        """Create the sandbox and its interpreter, or take them from the pool; see
        `BaseSession.open`.

        Raises:
            PoolExhaustedError: All sandboxes of the pool are in use, and none was released in time.
            PoolCreationError: The pool could not create one; its ``__cause__`` says why.
            PoolClosedError: The pool was closed.
        """
        if self._pool is None:
            super().open()
            if self._is_remote:
                self.config = replace(self.config, limits=self.sandbox.limits)
        elif not self.is_open:
            if self._lease is not None:
                self.close()  # its last sandbox has ended
            self._lease = self._pool._lend(self)
            try:
                self._take_over(self._lease.session)
            except BaseException:
                self.close()
                raise

    def _cancel_open(self) -> None:
        if self._pool is not None and self._ticket is not None:
            self._pool._withdraw(self._ticket)

    def close(self) -> None:
        """End the sandbox; see `BaseSession.close`.

        A pool creates a new one in its place: no session gets a used sandbox.
        """
        lease, self._lease = self._lease, None
        try:
            super().close()
        finally:
            if lease is not None and self._pool is not None:
                self._pool._take_back(lease)

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
        """Run code and return its result; see `BaseSession.run`.

        Args:
            code: Source text in the session's language.
            libraries: Libraries to install first.
            timeout: Seconds until the code is interrupted; default: the session's.
            on_stdout: Called with each piece of standard output as it arrives.
            on_stderr: Called with each piece of standard error as it arrives.
            clear_plots: Accepted for compatibility: a result has only the plots of its own run,
                those of earlier runs are in `history`.
            stdin: Standard input for `input`: text, or an iterable of lines.
            on_output: Called with every output as it arrives.
            argv: The name of the code's file and its arguments.
        """
        given = (code, libraries, timeout, on_stdout, on_stderr)
        return super().run(*given, stdin=stdin, on_output=on_output, argv=argv)

    def clear_plots(self) -> None:
        """Accepted for compatibility: a result has only the plots of its own run.

        Raises:
            NotOpenSessionError: The session is not open.
        """
        self._life.runtime()

    @property
    def enable_plotting(self) -> bool:
        """Whether `ExecutionResult.plots` is filled."""
        return self.config.enable_plotting

    @property
    def verbose(self) -> bool:
        """Whether events are logged to stderr."""
        return self.config.verbose

    # --- engine objects of a container

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
            ContainerGoneError: The engine has removed it.
            UnsupportedError: The backend has no containers.
        """
        self._container_backend("container")
        if self._life.current is None:
            return None
        return cast("Container", self._life.current.kernel.machine.engine_container())

    @property
    def docker_image(self) -> "Image | None":
        """The container's image as an object of the engine's client; None while the session is not
        open.

        Raises:
            ContainerGoneError: The engine has removed the container.
            UnsupportedError: The backend has no containers.
        """
        self._container_backend("docker_image")
        container = self.container
        return None if container is None else container.image

    @property
    def using_existing_container(self) -> bool:
        """Whether the session works in a running container of the caller, which is left running."""
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

    def _container_backend(self, name: str) -> Backend:
        if not self._backend.has_containers:
            raise UnsupportedError(
                f"session.{name}",
                self._backend.name,
                "it has no containers",
                hint="name a container backend: backend='docker'; session.sandbox is the machine "
                "of any backend",
            )
        return self._backend


def _with_defaults(name: str, options: SessionOptions) -> dict[str, Any]:
    """Return all options, those that were not given with the defaults of `create_session`.

    Raises:
        TypeError: There is no such option.
    """
    defaults = create_session.__kwdefaults__ or {}
    for option in options:
        if option not in defaults:
            close = difflib.get_close_matches(option, defaults, n=1)
            hint = f". Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{name}() got an unexpected keyword argument {option!r}{hint}")
    return {**defaults, **options}


def _check_pool(pool: object) -> None:
    from llm_sandbox.pool.sandbox_pool import SandboxPool

    if not isinstance(pool, SandboxPool):
        raise ValidationError(
            f"invalid pool: expected a SandboxPool, got {type(pool).__name__}",
            parameter="pool",
            hint="an AsyncSandboxPool has claim()",
        )


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
