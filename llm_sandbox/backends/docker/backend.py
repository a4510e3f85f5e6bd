"""Docker backend: a container for each machine."""

import os
from typing import TYPE_CHECKING

from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.containers.engine import Engine, find_cause, knock, make_client
from llm_sandbox.backends.engine_probe import permission_hint
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    MissingDependencyError,
    ValidationError,
)

if TYPE_CHECKING:
    from docker import DockerClient

__all__ = ["DockerBackend", "connect_docker"]


class DockerBackend(ContainerBackend):
    """See `Backend`. Safe to use from several threads.

    Args:
        options: Options of its containers; None for those of the language's image.
        client: A `docker.DockerClient`; None finds the engine as Docker's own tools do.
    """

    name = "docker"

    def connect(self) -> Engine:
        return connect_docker(self._client)


_START = "start it (`systemctl start docker`, or open Docker Desktop), or name one by DOCKER_HOST"


def connect_docker(client: object = None) -> Engine:
    """Connect to the engine.

    Args:
        client: A `docker.DockerClient`; None makes one from ``DOCKER_HOST``, ``DOCKER_TLS_VERIFY``
            and ``DOCKER_CERT_PATH``, else from the active context's socket.

    Raises:
        MissingDependencyError: docker-py is not installed.
        BackendUnavailableError: The engine does not answer.
        ValidationError: `client` is something else.
    """
    try:
        import docker
    except ImportError:
        raise MissingDependencyError("the docker backend needs docker-py", extra="docker") from None
    if client is not None:
        if not isinstance(client, docker.DockerClient):
            raise ValidationError(
                f"client is a docker.DockerClient, not {type(client).__name__}",
                parameter="client",
                hint="docker.from_env() makes one",
            )
        return Engine(client, "docker", _START)
    return Engine(_from_environment(), "docker", _START)


def _from_environment() -> "DockerClient":
    import docker
    from docker.errors import DockerException

    try:
        if not os.environ.get("DOCKER_HOST"):
            # What `docker context use` chose, as for Docker's own command line.
            context = docker.ContextAPI.get_current_context()
            knock(context.Host or "")
            if context.name != "default" and context.Host:
                return make_client(context.Host, tls=context.TLSConfig)
        knock(os.environ.get("DOCKER_HOST", ""))
        return make_client(None)
    except (DockerException, OSError) as error:
        cause = find_cause(error)
        raise BackendUnavailableError(
            f"the docker engine does not answer: {cause}",
            backend="docker",
            hint=permission_hint("docker", cause, _START),
        ) from None
