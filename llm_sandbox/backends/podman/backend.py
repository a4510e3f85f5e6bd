"""Podman backend: a container for each machine, by Podman's service."""

from typing import Any

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.containers.creation.arguments import CreateArguments
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.podman.compatibility import folder_modes
from llm_sandbox.backends.podman.connect import connect_podman
from llm_sandbox.backends.podman.engine import PodmanEngine

__all__ = ["PodmanBackend"]


class PodmanBackend(ContainerBackend):
    """See `Backend`. Safe to use from several threads.

    Args:
        options: Options of its containers; None for those of the language's image.
        client: A `podman.PodmanClient`, or a `docker.DockerClient` connected to Podman; None finds
            the service as Podman's own tools do, or starts one that ends with this process.
    """

    name = "podman"

    @property
    def engine(self) -> Engine:
        with self._lock:
            if isinstance(self._engine, PodmanEngine) and self._engine.is_over:
                # A service of this process that has ended: a new one is started.
                self._engine = None
                self._volume = None
            return super().engine

    def connect(self) -> PodmanEngine:
        return connect_podman(self._client)

    def _confinement(self, spec: MachineSpec, arguments: CreateArguments) -> dict[str, Any]:
        modes = folder_modes(arguments.keywords["tmpfs"])
        return {**super()._confinement(spec, arguments), "modes": modes}
