"""Sessions in containers of the Docker engine, under their name for compatibility.

Within this package, ``import docker`` still means the engine's client: absolute imports never find
this module.
"""

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.create import SessionOptions
from llm_sandbox.exceptions import ValidationError

if TYPE_CHECKING:
    from docker import DockerClient

    from llm_sandbox.security import SecurityPolicy

__all__ = ["SandboxDockerSession", "arguments"]

_NOT_TAKEN = {
    *("cpus", "environment", "idle_timeout", "kube_namespace", "memory", "name", "on_exit"),
    *("pod_manifest", "pool"),
}
_EXTRAS = frozenset(SessionOptions.__annotations__) - _NOT_TAKEN
"""Options of `create_session` that the constructors here take besides those that they name."""


class SandboxDockerSession(ArtifactSandboxSession):
    """A session in a container of the Docker engine.

    Args:
        client: The engine's client; None for the engine that Docker's own tools would use.
        image: The image; None for the language's own.
        dockerfile: Path of a Dockerfile, or of a folder that has one, to build the image from.
        lang: Language of the code.
        keep_template: Keep an image that was built from `dockerfile`. Pulled ones always are.
        commit_container: Save the container as an image when the session is closed; its name is
            then `committed_image`.
        verbose: Log events to stderr.
        stream: Accepted for compatibility: output always streams to the callbacks of `run`.
        runtime_configs: Arguments of docker-py's ``containers.create``.
        workdir: Working directory in the container.
        security_policy: Policy by which `run` refuses code.
        default_timeout: Seconds for commands, and for runs without another timeout; None for no
            limit.
        execution_timeout: Seconds for runs.
        session_timeout: Seconds until the sandbox ends.
        container_id: Id or name of a running container to work in. It is left running.
        **kwargs: Further options of `create_session`, such as ``env``, ``libraries``, ``limits``,
            ``mounts``, ``network``, ``persistent`` and ``secrets``.

    Raises:
        ValidationError: An argument is unknown, malformed, or contradicts another.
        UnsupportedError: An option that the engine cannot honour.
        SecurityError: An option would weaken the isolation and is not in `allow_unsafe`.
        MissingDependencyError: The engine's client is not installed.
    """

    engine_backend: ClassVar[SandboxBackend] = SandboxBackend.DOCKER
    """Name of the backend."""

    def __init__(
        self,
        client: "DockerClient | None" = None,
        image: str | None = None,
        dockerfile: str | None = None,
        lang: str = SupportedLanguage.PYTHON,
        keep_template: bool = False,
        commit_container: bool = False,
        verbose: bool = False,
        stream: bool = False,
        runtime_configs: Mapping[str, Any] | None = None,
        workdir: str = "/sandbox",
        security_policy: "SecurityPolicy | None" = None,
        default_timeout: float | None = None,
        execution_timeout: float | None = None,
        session_timeout: float | None = None,
        container_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._begin(arguments(locals()), kwargs)

    def _begin(self, given: Mapping[str, Any], kwargs: Mapping[str, Any]) -> None:
        for name in kwargs:
            if name not in _EXTRAS:
                known = sorted({*given, *_EXTRAS})
                close = difflib.get_close_matches(name, known, n=1)
                raise ValidationError(
                    f"unknown argument {name!r} of {type(self).__name__}",
                    parameter=name,
                    hint=f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}",
                )
        super().__init__(backend=self.engine_backend, **given, **kwargs)


def arguments(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments among a constructor's ``locals()``, without ``self`` and ``kwargs``."""
    return {name: value for name, value in names.items() if name not in ("self", "kwargs")}
