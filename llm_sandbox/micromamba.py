"""Sessions in a micromamba environment, under their name for compatibility."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.docker import SandboxDockerSession, arguments

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.types import Mount

    from llm_sandbox.security import SecurityPolicy

__all__ = ["MicromambaSession"]

_IMAGE = "mambaorg/micromamba:latest"


class MicromambaSession(SandboxDockerSession):
    """Session in a Docker container whose programs run in a micromamba environment; see
    `SandboxDockerSession` for arguments and errors.

    Args:
        image: Image with micromamba; ignored if a Dockerfile or a container is given.
        mounts: `docker.types.Mount` objects, or ``/folder:/path/inside[:ro]``.
        environment: Name of the environment, or its path. Variables are given with ``env``.
    """

    engine_backend: ClassVar[SandboxBackend] = SandboxBackend.MICROMAMBA

    def __init__(
        self,
        client: "DockerClient | None" = None,
        image: str = _IMAGE,
        dockerfile: str | None = None,
        lang: str = SupportedLanguage.PYTHON,
        keep_template: bool = False,
        verbose: bool = False,
        mounts: "list[Mount] | None" = None,
        environment: str = "base",
        commit_container: bool = False,
        stream: bool = True,
        runtime_configs: Mapping[str, Any] | None = None,
        workdir: str = "/sandbox",
        security_policy: "SecurityPolicy | None" = None,
        default_timeout: float | None = None,
        execution_timeout: float | None = None,
        session_timeout: float | None = None,
        container_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        given = arguments(locals())
        if image == _IMAGE and (dockerfile is not None or container_id is not None):
            given["image"] = None
        self._begin(given, kwargs)
