"""Factory of sessions: `create_session`, with the one full list of their options.

It imports little: the sandbox starts while the rest is loaded.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.selection import prepare
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.limits import LimitOptions, Limits, Size
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network

if TYPE_CHECKING:
    from llm_sandbox.artifact_session import ArtifactSandboxSession
    from llm_sandbox.pool.sandbox_pool import SandboxPool
    from llm_sandbox.sandbox.detached.record import OnExit
    from llm_sandbox.secrets import Secret
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.session.config import Start
    from llm_sandbox.session.lock import Busy
    from llm_sandbox.session.session import BaseSession
    from llm_sandbox.telemetry import RunObserver

__all__ = [
    "SandboxSession",
    "SessionOptions",
    "attach_session",
    "create_session",
    "same_parameters",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])


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
    commit_image_tag: str | None = None,
    mounts: Mapping[str, Mount] | Sequence[Any] = (),
    allow_unsafe: Sequence[str] = (),
    environment: str | None = None,
    kube_namespace: str | None = None,
    pod_manifest: Mapping[str, Any] | None = None,
    libraries: Sequence[str] = (),
    skip_environment_setup: bool = False,
    env: Mapping[str, str] | None = None,
    env_vars: Mapping[str, str] | None = None,
    secrets: "Mapping[str, str] | Sequence[Secret] | None" = None,
    limits: Limits | LimitOptions | None = None,
    memory: Size | None = None,
    cpus: float | None = None,
    network: Network = "blocked",
    persistent: bool = True,
    start: "Start" = "warm",
    observers: "Sequence[RunObserver]" = (),
    name: str | None = None,
    on_exit: "OnExit" = "destroy",
    idle_timeout: float | None = None,
    pool: "SandboxPool | None" = None,
    encoding_errors: str | None = None,
    busy: "Busy" = "wait",
    server: str | None = None,
    token: str | None = None,
) -> "ArtifactSandboxSession":
    r"""Return a new session; use it in a with block, or call `open` and `close`.

    Args:
        backend: Where the sandbox is made; None picks the strongest that works here, and
            `backend_reason` names it. With an option that only container engines have, marked
            below, or a runtime config of theirs, it picks Docker, else Podman, whichever answers.
        image: For a container backend: the image; None for the language's own.
        dockerfile: For a container backend: path of a Dockerfile, or of a folder that has one, to
            build the image from.
        lang: Language of the code.
        keep_template: Keep an image that was built from `dockerfile`. Pulled images are always
            kept, and where there are no images there is nothing to keep.
        commit_container: For a container backend: save the container as an image when the session
            is closed; its name is then the session's `committed_image`.
        verbose: Log events to stderr.
        stream: Accepted for compatibility: output always streams to the callbacks of `run`.
        runtime_configs: Engine options by docker-py's names for ``containers.create``; one that the
            backend cannot honour is refused. ``environment``, ``timeout`` and ``working_dir`` are
            taken as `env`, `execution_timeout` and `workdir`, and limits as fields of `limits`,
            which they override. Hardening that a sandbox has anyway (``cap_drop``, ``read_only``,
            ``security_opt=["no-new-privileges"]``, ``user="nobody"``) needs no engine.
        workdir: Working directory in the sandbox.
        enable_plotting: Whether `ExecutionResult.plots` is filled.
        security_policy: Policy by which `run` refuses code.
        default_timeout: Seconds for commands, and for runs without another timeout; None for no
            limit.
        execution_timeout: Seconds for runs.
        session_timeout: Seconds until the sandbox ends.
        container_id: For a container backend: id or name of a running container to work in. It is
            left running.
        client: For a container backend: its engine's client, such as a `docker.DockerClient`; None
            for the engine that Docker's own tools would use.
        commit_image_tag: Name for the image of `commit_container`; None for one of its own.
        mounts: Mounts in the sandbox, by path inside: `Bind`, `Volume`, `Tmpfs`. For a container
            backend also a list, of `docker.types.Mount` objects or ``/folder:/path/inside[:ro]``.
        allow_unsafe: Names of runtime configs, or ``mounts``, whose dangerous values are accepted.
        environment: For the micromamba backend: the environment that programs run in. Variables are
            given with `env`.
        kube_namespace: For the kubernetes backend: namespace of the pod; None for that of the
            kubeconfig.
        pod_manifest: For the kubernetes backend: further fields of the pod, merged into ours;
            ``{"spec": {"nodeSelector": ...}}``. Fields that weaken the isolation are refused unless
            `allow_unsafe` names them.
        libraries: Libraries to install at open.
        skip_environment_setup: Whether `install` and ``libraries=`` are refused. Nothing else is
            set up at open in any case.
        env: Environment variables of everything in the sandbox.
        env_vars: Another name of `env`.
        secrets: Secret environment variables by name, which are never shown; or `Secret` objects,
            which may be files or placeholders.
        limits: Memory, processes, disk and output, as `Limits` or by their names:
            ``{"memory": "2g", "processes": 64}``.
        memory: Memory of all processes together, in bytes or as ``"2g"``; None for that of
            `limits`.
        cpus: CPUs that may be busy at once; None for those of `limits`.
        network: ``blocked``; `NetworkRules`; ``internet`` for the public internet; ``open`` to
            share the host's.
        persistent: Whether variables are kept from run to run; False gives every run a fresh
            interpreter, which in an image whose Python has no ipykernel is a program of its own:
            figures come back only if the code saves them.
        start: ``warm`` forks a preloaded interpreter; ``cold`` starts one that shares nothing.
        observers: Called with a `RunRecord` after each run, command and installation.
        name: Name of a detached session, for `attach_session`: 1 to 64 letters, digits, ``.``,
            ``_`` or ``-``. A session with a name, an idle timeout or ``on_exit="keep"`` lives in a
            sandbox daemon, a process of its own.
        on_exit: ``destroy`` ends it at the end of a ``with`` block, and with this process, however
            that ends. ``keep`` detaches from it: it lives on, variables and all, until a timeout or
            until a process that attaches closes it; `BaseSession.close` ends it still.
        idle_timeout: Seconds without a run after which it ends; None for no limit.
        pool: Pool to take the sandbox from, such as a `llm_sandbox.pool.SandboxPool`: its options
            were given there, and only timeouts, policy, plots, `verbose`, `busy` and observers are
            the session's own.
        encoding_errors: None or ``backslashreplace``: bytes that are not UTF-8 always appear as
            ``\xff`` escapes.
        busy: What a call does while another thread's runs: ``wait`` in order, see `BaseSession`;
            or ``raise`` `SessionBusyError`.
        server: Address of a server, `llm-sandbox serve`, that makes the session; it refuses options
            that are its operator's. None for a session of this computer.
        token: API key for the server; None where it has none.

    Raises:
        UnsupportedBackendError: There is no such backend in this version.
        LanguageNotSupportedError: There is no such language in this version.
        BackendUnavailableError: `backend` is None and nothing on this machine isolates, or no
            engine answers for an option that needs one.
        UnsupportedError: An option that the backend cannot honour.
        SecurityError: An option would weaken a container's isolation and is not in `allow_unsafe`.
        MissingDependencyError: The backend's client is not installed.
        NameInUseError: By `open`: a living session or sandbox has the name.
        ValidationError: A value is not acceptable.
    """
    given = locals()
    if isinstance(backend, str) and backend.lower() not in list(SandboxBackend):
        from llm_sandbox.compat.backends import registered

        factory = registered(backend)
        if factory is not None:
            return factory(**_changed(given))
    is_kept = name is not None or on_exit == "keep" or idle_timeout is not None
    contained = (image, dockerfile, container_id, client)
    is_contained = backend is None and (commit_container or contained != (None,) * 4)
    is_embedded = not is_kept and not is_contained and pool is None and server is None
    if lang == SupportedLanguage.PYTHON and start == "warm" and is_embedded:
        # Takes longer than loading the rest, and happens in another process.
        prepare(backend, "open" if network == "open" else "blocked")
    from llm_sandbox.artifact_session import ArtifactSandboxSession

    return ArtifactSandboxSession(**given)


def attach_session(
    name_or_id: str, *, observers: "Sequence[RunObserver]" = (), verbose: bool = False
) -> "BaseSession":
    """Attach to a detached session, with its variables, files and libraries.

    Language, limits, network, policy, timeouts and all other settings are those it was made with.
    The end of a ``with`` block detaches from it; `close` ends it.

    Args:
        name_or_id: The name of the session, or the id of its sandbox.
        observers: Called with a `RunRecord` after each run, command and installation of this
            handle.
        verbose: Log events to stderr.

    Returns:
        The session, open. Its `history` has what this handle runs.

    Raises:
        SandboxNotFoundError: There is none, or it has ended; then the error says how.
        SessionBusyError: Another process, or another handle, is attached to it.
        LanguageNotSupportedError: Its language is not registered in this process.
        SecurityError: The session of that name or id belongs to another user.
        ValidationError: The name is invalid, or that of a sandbox without a session.
    """
    from llm_sandbox.session.detached import find_session

    return find_session(name_or_id, observers=observers, verbose=verbose)


def _changed(given: Mapping[str, object]) -> dict[str, Any]:
    """Return the arguments other than `backend` that differ from the defaults."""
    parameters = signature(create_session).parameters
    return {
        name: value
        for name, value in given.items()
        if name != "backend" and value != parameters[name].default
    }


class SessionOptions(TypedDict, total=False):
    """Keyword arguments of `create_session`, for ``**options: Unpack[SessionOptions]``."""

    keep_template: bool
    commit_container: bool
    verbose: bool
    stream: bool
    runtime_configs: Mapping[str, Any] | None
    workdir: str | None
    enable_plotting: bool
    security_policy: "SecurityPolicy | None"
    default_timeout: float | None
    execution_timeout: float | None
    session_timeout: float | None
    container_id: str | None
    client: object
    commit_image_tag: str | None
    mounts: Mapping[str, Mount] | Sequence[Any]
    allow_unsafe: Sequence[str]
    environment: str | None
    kube_namespace: str | None
    pod_manifest: Mapping[str, Any] | None
    libraries: Sequence[str]
    skip_environment_setup: bool
    env: Mapping[str, str] | None
    env_vars: Mapping[str, str] | None
    secrets: "Mapping[str, str] | Sequence[Secret] | None"
    limits: Limits | LimitOptions | None
    memory: Size | None
    cpus: float | None
    network: Network
    persistent: bool
    start: "Start"
    observers: "Sequence[RunObserver]"
    name: str | None
    on_exit: "OnExit"
    idle_timeout: float | None
    pool: "SandboxPool | None"
    encoding_errors: str | None
    busy: "Busy"
    server: str | None
    token: str | None


def same_parameters(original: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Return a decorator that shows the parameters of another function to `help` and `inspect`.

    Args:
        original: The function with the full list. The decorated one, which may have a ``self``
            or ``cls`` before, takes ``**options`` for its keyword-only parameters.
    """

    def decorate(function: _Function) -> _Function:
        own, full = signature(function), signature(original)
        first = [one for one in own.parameters.values() if one.name in ("self", "cls")]
        parameters: list[Parameter] = [*first, *full.parameters.values()]
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        result = function.__annotations__.get("return")
        function.__wrapped__ = original  # type: ignore[attr-defined]  # resolves its annotations
        function.__annotations__ = {**original.__annotations__, "return": result}
        return function

    return decorate


SandboxSession = create_session
