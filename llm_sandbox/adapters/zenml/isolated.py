"""Isolated sandbox components and flavors: bubblewrap, Docker, Podman."""

from typing import cast

from llm_sandbox.adapters.zenml.base import (
    BaseSandbox,
    BaseSandboxConfig,
    BaseSandboxFlavor,
    BaseSandboxSettings,
)
from llm_sandbox.adapters.zenml.component import IsolatedComponent
from llm_sandbox.adapters.zenml.fields import ContainerFields, IsolatedFields

__all__ = [
    "BubblewrapSandbox",
    "BubblewrapSandboxFlavor",
    "ContainerSandboxConfig",
    "ContainerSandboxSettings",
    "DockerSandbox",
    "DockerSandboxFlavor",
    "IsolatedSandboxConfig",
    "IsolatedSandboxSettings",
    "PodmanSandbox",
    "PodmanSandboxFlavor",
]


class IsolatedSandboxSettings(BaseSandboxSettings, IsolatedFields):
    """Settings of sandboxes that are isolated."""


class IsolatedSandboxConfig(BaseSandboxConfig, IsolatedSandboxSettings):
    """Configuration of a component whose sandboxes are isolated."""


class ContainerSandboxSettings(BaseSandboxSettings, ContainerFields):
    """Settings of sandboxes that are containers."""


class ContainerSandboxConfig(BaseSandboxConfig, ContainerSandboxSettings):
    """Configuration of a component whose sandboxes are containers."""


class BubblewrapSandbox(IsolatedComponent, BaseSandbox):
    """Component for sandboxes of bubblewrap, without a container engine."""

    backend = "bubblewrap"

    @property
    def config(self) -> IsolatedSandboxConfig:
        """Configuration of the component."""
        return cast(IsolatedSandboxConfig, self._config)

    @property
    def settings_class(self) -> type[IsolatedSandboxSettings]:
        """Class `IsolatedSandboxSettings`."""
        return IsolatedSandboxSettings


class DockerSandbox(IsolatedComponent, BaseSandbox):
    """Component for Docker containers."""

    backend = "docker"

    @property
    def config(self) -> ContainerSandboxConfig:
        """Configuration of the component."""
        return cast(ContainerSandboxConfig, self._config)

    @property
    def settings_class(self) -> type[ContainerSandboxSettings]:
        """Class `ContainerSandboxSettings`."""
        return ContainerSandboxSettings


class PodmanSandbox(DockerSandbox):
    """Component for Podman containers."""

    backend = "podman"


class BubblewrapSandboxFlavor(BaseSandboxFlavor):
    """Flavor of `BubblewrapSandbox`."""

    @property
    def name(self) -> str:
        """Name of the flavor, ``llm_sandbox_bubblewrap``."""
        return "llm_sandbox_bubblewrap"

    @property
    def config_class(self) -> type[IsolatedSandboxConfig]:
        """Class `IsolatedSandboxConfig`."""
        return IsolatedSandboxConfig

    @property
    def implementation_class(self) -> type[BubblewrapSandbox]:
        """Class `BubblewrapSandbox`."""
        return BubblewrapSandbox


class DockerSandboxFlavor(BaseSandboxFlavor):
    """Flavor of `DockerSandbox`."""

    @property
    def name(self) -> str:
        """Name of the flavor, ``llm_sandbox_docker``."""
        return "llm_sandbox_docker"

    @property
    def config_class(self) -> type[ContainerSandboxConfig]:
        """Class `ContainerSandboxConfig`."""
        return ContainerSandboxConfig

    @property
    def implementation_class(self) -> type[DockerSandbox]:
        """Class `DockerSandbox`."""
        return DockerSandbox


class PodmanSandboxFlavor(DockerSandboxFlavor):
    """Flavor of `PodmanSandbox`."""

    @property
    def name(self) -> str:
        """Name of the flavor, ``llm_sandbox_podman``."""
        return "llm_sandbox_podman"

    @property
    def implementation_class(self) -> type[PodmanSandbox]:
        """Class `PodmanSandbox`."""
        return PodmanSandbox
