"""Sessions in containers of Podman, under their name for compatibility."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.docker import SandboxDockerSession, arguments

if TYPE_CHECKING:
    from podman import PodmanClient

    from llm_sandbox.security import SecurityPolicy

__all__ = ["SandboxPodmanSession"]


class SandboxPodmanSession(SandboxDockerSession):
    """Session in a container of Podman; see `SandboxDockerSession` for arguments and errors.

    Args:
        client: A `podman.PodmanClient`, or a `docker.DockerClient` on Podman's socket; None for the
            socket that Podman's own tools would use.
        mounts: `docker.types.Mount` objects, or ``/folder:/path/inside[:ro]``.
    """

    engine_backend: ClassVar[SandboxBackend] = SandboxBackend.PODMAN

    def __init__(
        self,
        client: "PodmanClient | None" = None,
        image: str | None = None,
        dockerfile: str | None = None,
        lang: str = SupportedLanguage.PYTHON,
        keep_template: bool = False,
        commit_container: bool = False,
        verbose: bool = False,
        mounts: list[Any] | None = None,
        stream: bool = False,
        runtime_configs: Mapping[str, Any] | None = None,
        workdir: str | None = "/sandbox",
        security_policy: "SecurityPolicy | None" = None,
        default_timeout: float | None = None,
        execution_timeout: float | None = None,
        session_timeout: float | None = None,
        container_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._begin(arguments(locals()), kwargs)
