"""ZenML's sandbox classes for isolated execution in pipeline steps, on top of `Sandbox`.

Nothing here imports ZenML. With ZenML installed, `stack` has the flavors to register with it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llm_sandbox.adapters.zenml.base import (
        BaseSandbox,
        BaseSandboxConfig,
        BaseSandboxFlavor,
        BaseSandboxSettings,
        StackComponentType,
    )
    from llm_sandbox.adapters.zenml.isolated import (
        BubblewrapSandbox,
        BubblewrapSandboxFlavor,
        ContainerSandboxConfig,
        ContainerSandboxSettings,
        DockerSandbox,
        DockerSandboxFlavor,
        IsolatedSandboxConfig,
        IsolatedSandboxSettings,
        PodmanSandbox,
        PodmanSandboxFlavor,
    )
    from llm_sandbox.adapters.zenml.local_sandbox import (
        LOCAL_SANDBOX_FLAVOR,
        LocalSandbox,
        LocalSandboxConfig,
        LocalSandboxFlavor,
        LocalSandboxProcess,
        LocalSandboxSession,
        LocalSandboxSettings,
    )
    from llm_sandbox.adapters.zenml.process import (
        AlreadyCollectedError,
        SandboxExecError,
        SandboxOutput,
        SandboxProcess,
        SandboxWaitTimeoutError,
    )
    from llm_sandbox.adapters.zenml.session import SandboxSession, SandboxSessionClosedError
    from llm_sandbox.adapters.zenml.snapshot import SandboxSnapshot
    from llm_sandbox.adapters.zenml.steps import LoggingStep, LogSink, Step, active_step

_HOME = {
    "base": (
        "BaseSandbox",
        "BaseSandboxConfig",
        "BaseSandboxFlavor",
        "BaseSandboxSettings",
        "StackComponentType",
    ),
    "isolated": (
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
    ),
    "local_sandbox": (
        "LOCAL_SANDBOX_FLAVOR",
        "LocalSandbox",
        "LocalSandboxConfig",
        "LocalSandboxFlavor",
        "LocalSandboxProcess",
        "LocalSandboxSession",
        "LocalSandboxSettings",
    ),
    "process": (
        "AlreadyCollectedError",
        "SandboxExecError",
        "SandboxOutput",
        "SandboxProcess",
        "SandboxWaitTimeoutError",
    ),
    "session": (
        "SandboxSession",
        "SandboxSessionClosedError",
    ),
    "snapshot": ("SandboxSnapshot",),
    "steps": (
        "LoggingStep",
        "LogSink",
        "Step",
        "active_step",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "LOCAL_SANDBOX_FLAVOR",
    "AlreadyCollectedError",
    "BaseSandbox",
    "BaseSandboxConfig",
    "BaseSandboxFlavor",
    "BaseSandboxSettings",
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
    "LocalSandboxProcess",
    "LocalSandboxSession",
    "LocalSandboxSettings",
    "LogSink",
    "LoggingStep",
    "PodmanSandbox",
    "PodmanSandboxFlavor",
    "SandboxExecError",
    "SandboxOutput",
    "SandboxProcess",
    "SandboxSession",
    "SandboxSessionClosedError",
    "SandboxSnapshot",
    "SandboxWaitTimeoutError",
    "StackComponentType",
    "Step",
    "active_step",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
