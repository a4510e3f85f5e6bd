"""The Docker backend: a container for each machine."""

from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.docker.connect import connect_docker
from llm_sandbox.backends.options.container_options import ContainerOptions

__all__ = ["DockerBackend"]


class DockerBackend(ContainerBackend):
    """See `Backend`. Safe to use from several threads.

    Args:
        options: What is asked of its containers; default: the language's image as it is.
        client: A `docker.DockerClient`; None finds the engine as Docker's own tools do.
    """

    name = "docker"

    def __init__(self, options: ContainerOptions | None = None, client: object = None) -> None:
        super().__init__(options)
        self._client = client

    def connect(self) -> Engine:
        return connect_docker(self._client)
