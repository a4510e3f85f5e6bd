"""Flavors to register with ZenML, where sandboxes are a type of stack component.

::

    zenml sandbox flavor register llm_sandbox.adapters.zenml.stack.BubblewrapSandboxFlavor
    zenml sandbox register boxes --flavor=llm_sandbox_bubblewrap --network=blocked
    zenml stack update --sandbox=boxes

The classes derive from those of this package and from ZenML's own. Without ZenML they can be
imported but not instantiated.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from llm_sandbox.adapters.zenml import process, session
from llm_sandbox.adapters.zenml.component import IsolatedComponent
from llm_sandbox.adapters.zenml.fields import ContainerFields, IsolatedFields, LocalFields
from llm_sandbox.adapters.zenml.local_sandbox import (
    LocalComponent,
    LocalSandboxProcess,
    LocalSandboxSession,
)
from llm_sandbox.adapters.zenml.machine import MachineProcess, MachineSession
from llm_sandbox.adapters.zenml.steps import LogSink, Step
from llm_sandbox.exceptions import MissingDependencyError

# What types are concerned, the classes of this package are ZenML's: they have the same members.
if TYPE_CHECKING or find_spec("zenml") is None:
    from builtins import RuntimeError as SandboxExecError
    from builtins import RuntimeError as SandboxSessionClosedError

    from llm_sandbox.adapters.zenml.base import (
        BaseSandbox,
        BaseSandboxConfig,
        BaseSandboxFlavor,
        BaseSandboxSettings,
    )
    from llm_sandbox.adapters.zenml.process import SandboxProcess
    from llm_sandbox.adapters.zenml.session import SandboxSession
    from llm_sandbox.adapters.zenml.snapshot import SandboxSnapshot
else:
    from zenml.sandboxes import (
        BaseSandbox,
        BaseSandboxConfig,
        BaseSandboxFlavor,
        BaseSandboxSettings,
        SandboxExecError,
        SandboxProcess,
        SandboxSession,
        SandboxSessionClosedError,
        SandboxSnapshot,
    )

__all__ = [
    "BubblewrapSandbox",
    "BubblewrapSandboxFlavor",
    "ContainerSandboxConfig",
    "ContainerSandboxSettings",
    "DockerSandbox",
    "DockerSandboxFlavor",
    "IsolatedSandboxConfig",
    "IsolatedSandboxSettings",
    "LocalSandbox",
    "LocalSandboxConfig",
    "LocalSandboxFlavor",
    "LocalSandboxSettings",
    "PodmanSandbox",
    "PodmanSandboxFlavor",
    "StackExecError",
    "StackLocalProcess",
    "StackLocalSession",
    "StackProcess",
    "StackSession",
    "StackSessionClosedError",
]


class _NeedsZenML:
    def __new__(cls, *args: object, **kwargs: object) -> Self:
        if find_spec("zenml") is None:
            raise MissingDependencyError("zenml is not installed", extra="zenml")
        return super().__new__(cls)


class _RunningStep:
    """Running step of ZenML; see `Step`."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def open_log(self, source: str) -> LogSink:
        open_context = import_module("zenml.utils.logging_utils").setup_logging_context
        log = open_context(
            source=source,
            step_run=self._context.step_run,
            pipeline_run=self._context.pipeline_run,
        )
        log.begin()
        return cast("LogSink", log)

    def publish(self, metadata: Mapping[str, str]) -> None:
        import_module("zenml.utils.metadata_utils").log_metadata(metadata=dict(metadata))

    def get_settings(self, component_type: str, flavor: str) -> Mapping[str, Any]:
        """Return no settings: ZenML's components read them from ZenML."""
        return {}


def _running_step() -> Step | None:
    context = import_module("zenml.steps.step_context").StepContext.get()
    return None if context is None else _RunningStep(context)


# --- sessions


class StackExecError(process.SandboxExecError, SandboxExecError):
    """Error of both packages for a command that does not start; see `SandboxExecError`."""


class StackSessionClosedError(session.SandboxSessionClosedError, SandboxSessionClosedError):
    """Error of both packages for a closed session; see `SandboxSessionClosedError`."""


class StackProcess(MachineProcess, SandboxProcess):
    """Command in a sandbox; see `MachineProcess`."""


class StackLocalProcess(LocalSandboxProcess, SandboxProcess):
    """Command as a plain process; see `LocalSandboxProcess`."""


class StackSession(MachineSession, SandboxSession):
    """Session of an isolated sandbox; see `MachineSession`."""

    exec_error = StackExecError
    closed_error = StackSessionClosedError
    process_class: ClassVar[type[MachineProcess]] = StackProcess
    snapshot_class = SandboxSnapshot

    def _get_step(self) -> Step | None:
        return _running_step()


class StackLocalSession(LocalSandboxSession, SandboxSession):
    """Session whose commands are plain processes; see `LocalSandboxSession`."""

    exec_error = StackExecError
    closed_error = StackSessionClosedError
    process_class: ClassVar[type[MachineProcess]] = StackLocalProcess
    snapshot_class = SandboxSnapshot

    def _get_step(self) -> Step | None:
        return _running_step()


# --- settings and configurations


class LocalSandboxSettings(BaseSandboxSettings, LocalFields):
    """Settings of sandboxes that are plain processes."""


class LocalSandboxConfig(BaseSandboxConfig, LocalSandboxSettings):
    """Configuration of a component whose sandboxes are plain processes."""


class IsolatedSandboxSettings(BaseSandboxSettings, IsolatedFields):
    """Settings of sandboxes that are isolated."""


class IsolatedSandboxConfig(BaseSandboxConfig, IsolatedSandboxSettings):
    """Configuration of a component whose sandboxes are isolated."""


class ContainerSandboxSettings(BaseSandboxSettings, ContainerFields):
    """Settings of sandboxes that are containers."""


class ContainerSandboxConfig(BaseSandboxConfig, ContainerSandboxSettings):
    """Configuration of a component whose sandboxes are containers."""


# --- components


class _SecretStore(_NeedsZenML):
    def _get_secret(self, name: str, key: str) -> str:
        client = import_module("zenml.client").Client()
        values: Mapping[str, str] = client.get_secret_by_name_and_private_status(
            name=name
        ).secret_values
        if key not in values:
            raise KeyError(f"secret {name} has no {key}, but {', '.join(sorted(values))}")
        return values[key]


class LocalSandbox(_SecretStore, LocalComponent, BaseSandbox):
    """Component for plain processes without isolation, for trusted code."""

    session_class = StackLocalSession

    @property
    def config(self) -> LocalSandboxConfig:
        """Configuration of the component."""
        return cast(LocalSandboxConfig, self._config)

    @property
    def settings_class(self) -> type[LocalSandboxSettings]:
        """Class `LocalSandboxSettings`."""
        return LocalSandboxSettings


class BubblewrapSandbox(_SecretStore, IsolatedComponent, BaseSandbox):
    """Component for sandboxes of bubblewrap, without a container engine."""

    backend = "bubblewrap"
    session_class = StackSession

    @property
    def config(self) -> IsolatedSandboxConfig:
        """Configuration of the component."""
        return cast(IsolatedSandboxConfig, self._config)

    @property
    def settings_class(self) -> type[IsolatedSandboxSettings]:
        """Class `IsolatedSandboxSettings`."""
        return IsolatedSandboxSettings


class DockerSandbox(_SecretStore, IsolatedComponent, BaseSandbox):
    """Component for Docker containers."""

    backend = "docker"
    session_class = StackSession

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


# --- flavors


class LocalSandboxFlavor(_NeedsZenML, BaseSandboxFlavor):
    """Flavor of `LocalSandbox`; ZenML has its own flavor named ``local``."""

    @property
    def name(self) -> str:
        """Name of the flavor, ``llm_sandbox_local``."""
        return "llm_sandbox_local"

    @property
    def config_class(self) -> type[LocalSandboxConfig]:
        """Class `LocalSandboxConfig`."""
        return LocalSandboxConfig

    @property
    def implementation_class(self) -> type[LocalSandbox]:
        """Class `LocalSandbox`."""
        return LocalSandbox


class BubblewrapSandboxFlavor(_NeedsZenML, BaseSandboxFlavor):
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


class DockerSandboxFlavor(_NeedsZenML, BaseSandboxFlavor):
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
