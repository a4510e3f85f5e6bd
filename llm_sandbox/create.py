"""Where sessions come from: `create_session`.

What this imports is little: the sandbox starts while the rest is loaded.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.selection import prepare
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.limits import Limits
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network

if TYPE_CHECKING:
    from llm_sandbox.secrets import Secret
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.session.config import Start
    from llm_sandbox.session.session import BaseSession
    from llm_sandbox.session.turn import Busy
    from llm_sandbox.telemetry import RunObserver

__all__ = ["SandboxSession", "create_session"]


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
    libraries: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    secrets: "Mapping[str, str] | Sequence[Secret] | None" = None,
    limits: Limits | None = None,
    network: Network = "blocked",
    persistent: bool = True,
    start: "Start" = "warm",
    observers: "Sequence[RunObserver]" = (),
    busy: "Busy" = "wait",
) -> "BaseSession":
    """Return a new session; use it in a with block, or call `open` and `close`.

    Args:
        backend: Where the sandbox is made; None picks the strongest that works here and says which.
            With an option that only container engines have, those marked below and what else is in
            `runtime_configs`, it picks Docker, else Podman, whichever answers.
        image: For a container backend: the image; None for the language's own.
        dockerfile: For a container backend: path of a Dockerfile, or of a folder that has one, to
            build the image from.
        lang: Language of the code.
        keep_template: Keep an image that was built from `dockerfile`. Pulled images are always
            kept, and where there are no images there is nothing to keep.
        commit_container: For a container backend: save the container as an image when the session
            is closed; its name is then the session's `committed_image`.
        verbose: Log what happens to stderr.
        stream: Accepted for compatibility: output always streams to the callbacks of `run`.
        runtime_configs: Engine options by docker-py's names for ``containers.create``; one that the
            backend cannot honour is refused. ``environment``, ``timeout`` and ``working_dir`` are
            taken as `env`, `execution_timeout` and `workdir`, and limits as fields of `limits`;
            they win over those. Hardening that a sandbox has anyway (``cap_drop``, ``read_only``,
            ``security_opt=["no-new-privileges"]``, ``user="nobody"``) needs no engine.
        workdir: Working directory in the sandbox.
        enable_plotting: Whether `ExecutionResult.plots` is filled.
        security_policy: What code `run` refuses.
        default_timeout: Seconds for commands, and for runs without another timeout; None for no
            limit.
        execution_timeout: Seconds for runs.
        session_timeout: Seconds until the sandbox ends.
        container_id: For a container backend: id or name of a running container to work in. It is
            left running.
        client: For a container backend: its engine's client, such as a `docker.DockerClient`; None
            for the engine that Docker's own tools would use.
        commit_image_tag: Name for the image of `commit_container`; None for one of its own.
        mounts: What of this machine the sandbox is given, by path inside: `Bind`, `Volume`,
            `Tmpfs`. For a container backend also a list, of `docker.types.Mount` objects or
            ``/folder:/place/inside[:ro]``.
        allow_unsafe: Names of runtime configs, or ``mounts``, whose dangerous values are wanted all
            the same.
        environment: For the micromamba backend: the environment that programs run in. Variables are
            given with `env`.
        libraries: Libraries to install at open.
        env: Environment variables of everything in the sandbox.
        secrets: Values by name, which are more of them and never shown; or `Secret` objects, which
            may be files or placeholders.
        limits: Memory, processes, disk and output; see `Limits`.
        network: ``blocked``; `NetworkRules` for what they allow; ``internet`` for all that is
            public; ``open`` to share the host's.
        persistent: Whether variables are kept from run to run; False gives every run a fresh
            interpreter, which in an image whose Python has no ipykernel is a program of its own:
            figures come back only if the code saves them.
        start: ``warm`` forks a preloaded interpreter; ``cold`` starts one that shares nothing.
        observers: Called with a `RunRecord` after each run, command and installation.
        busy: What a call does while another thread's runs: ``wait`` for its turn, see
            `BaseSession`; or ``raise`` `SessionBusyError`.

    Raises:
        UnsupportedBackendError: There is no such backend in this version.
        LanguageNotSupportedError: There is no such language in this version.
        BackendUnavailableError: `backend` is None and nothing on this machine isolates, or no
            engine answers for an option that needs one.
        UnsupportedError: An option that the backend cannot honour.
        SecurityError: An option would open a container's walls and is not in `allow_unsafe`.
        MissingDependencyError: The backend's client is not installed.
        ValidationError: A value that is not acceptable.
    """
    given = locals()
    contained = (image, dockerfile, container_id, client)
    is_contained = backend is None and (commit_container or contained != (None,) * 4)
    if lang == SupportedLanguage.PYTHON and start == "warm" and not is_contained:
        # Takes longer than loading what follows, and happens elsewhere.
        prepare(backend, "open" if network == "open" else "blocked")
    from llm_sandbox.artifact_session import ArtifactSandboxSession

    return ArtifactSandboxSession(**given)


SandboxSession = create_session
