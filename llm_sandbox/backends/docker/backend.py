"""The Docker backend: a container for each machine."""

from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.docker.connect import connect_docker

__all__ = ["DockerBackend"]


class DockerBackend(ContainerBackend):
    """See `Backend`. Safe to use from several threads.

    Args:
        options: Options of its containers; None for those of the language's image.
        client: A `docker.DockerClient`; None finds the engine as Docker's own tools do.
    """

    name = "docker"

    def connect(self) -> Engine:
        return connect_docker(self._client)
