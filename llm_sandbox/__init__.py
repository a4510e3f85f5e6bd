"""Isolated execution of code written by a model, in milliseconds, with every figure and file
returned as data.

Start with `create_session` (an interpreter) or `Sandbox` (a machine). Names are imported on first
use.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from llm_sandbox.const import VERSION

if TYPE_CHECKING:
    from llm_sandbox.artifact_session import ArtifactSandboxSession
    from llm_sandbox.artifacts import Artifact, ArtifactType
    from llm_sandbox.backends.base import Isolation
    from llm_sandbox.backends.snapshot import Snapshot
    from llm_sandbox.compat.backends import (
        BackendCapabilities,
        BackendDefinition,
        get_backend,
        list_backends,
        register_backend,
    )
    from llm_sandbox.const import (
        DefaultImage,
        RunCause,
        RunStatus,
        SandboxBackend,
        StateOutcome,
        SupportedLanguage,
    )
    from llm_sandbox.create import SandboxSession, attach_session, create_session
    from llm_sandbox.data import (
        ConsoleOutput,
        ExecutionResult,
        FileType,
        PlotOutput,
        ProcessResult,
        StreamCallback,
        Usage,
    )
    from llm_sandbox.exceptions import (
        ContainerError,
        ResourceError,
        SandboxError,
        SandboxTimeoutError,
        SecurityError,
        SecurityViolationError,
        UnsupportedError,
        ValidationError,
    )
    from llm_sandbox.interactive import (
        InteractiveSandboxSession,
        InteractiveSettings,
        KernelType,
    )
    from llm_sandbox.limits import Limits
    from llm_sandbox.mounts import Bind, Tmpfs, Volume
    from llm_sandbox.network import NetworkEvent, NetworkRules
    from llm_sandbox.pool import SandboxPool
    from llm_sandbox.results.charts import Chart
    from llm_sandbox.results.tables import Table
    from llm_sandbox.sandbox import PIPE, Process, Sandbox, Terminal
    from llm_sandbox.sandbox.readiness import CommandReady, PortReady
    from llm_sandbox.sandbox.tls_tunnel import TlsPort
    from llm_sandbox.sandbox.tunnels import Tunnel
    from llm_sandbox.secrets import Secret
    from llm_sandbox.security import (
        RestrictedModule,
        SecurityIssueSeverity,
        SecurityPattern,
        SecurityPolicy,
        get_security_policy,
    )
    from llm_sandbox.session.config import SessionConfig
    from llm_sandbox.session.session import BaseSession
    from llm_sandbox.session.variables import Variable
    from llm_sandbox.telemetry import (
        LoggingObserver,
        OpenTelemetryObserver,
        RunObserver,
        RunRecord,
        StructlogObserver,
        WithContent,
        tool_call_id,
    )

_HOME = {
    "artifact_session": ("ArtifactSandboxSession",),
    "artifacts": ("Artifact", "ArtifactType"),
    "backends.base": ("Isolation",),
    "backends.snapshot": ("Snapshot",),
    "compat.backends": (
        "BackendCapabilities",
        "BackendDefinition",
        "get_backend",
        "list_backends",
        "register_backend",
    ),
    "const": (
        "DefaultImage",
        "RunCause",
        "RunStatus",
        "SandboxBackend",
        "StateOutcome",
        "SupportedLanguage",
    ),
    "create": ("SandboxSession", "attach_session", "create_session"),
    "data": (
        "ConsoleOutput",
        "ExecutionResult",
        "FileType",
        "PlotOutput",
        "ProcessResult",
        "StreamCallback",
        "Usage",
    ),
    "exceptions": (
        "ContainerError",
        "ResourceError",
        "SandboxError",
        "SandboxTimeoutError",
        "SecurityError",
        "SecurityViolationError",
        "UnsupportedError",
        "ValidationError",
    ),
    "interactive": ("InteractiveSandboxSession", "InteractiveSettings", "KernelType"),
    "limits": ("Limits",),
    "mounts": ("Bind", "Tmpfs", "Volume"),
    "network": ("NetworkEvent", "NetworkRules"),
    "pool": ("SandboxPool",),
    "results.charts": ("Chart",),
    "results.tables": ("Table",),
    "sandbox": ("PIPE", "Process", "Sandbox", "Terminal"),
    "sandbox.readiness": ("CommandReady", "PortReady"),
    "sandbox.tls_tunnel": ("TlsPort",),
    "sandbox.tunnels": ("Tunnel",),
    "secrets": ("Secret",),
    "security": (
        "RestrictedModule",
        "SecurityIssueSeverity",
        "SecurityPattern",
        "SecurityPolicy",
        "get_security_policy",
    ),
    "session.config": ("SessionConfig",),
    "session.session": ("BaseSession",),
    "session.variables": ("Variable",),
    "telemetry": (
        "LoggingObserver",
        "OpenTelemetryObserver",
        "RunObserver",
        "RunRecord",
        "StructlogObserver",
        "WithContent",
        "tool_call_id",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_INSTEAD = {
    "LocalSandboxConfig": "give a session network=, env=, mounts= and limits=",
    "SeccompPolicy": "bubblewrap has a filter of system calls that is always on",
    "WindowsMxcConfig": "use a backend of this version: llm-sandbox doctor lists them",
}
"""Unsupported names of the reference, with alternatives."""

__all__ = [
    "PIPE",
    "Artifact",
    "ArtifactSandboxSession",
    "ArtifactType",
    "BackendCapabilities",
    "BackendDefinition",
    "BaseSession",
    "Bind",
    "Chart",
    "CommandReady",
    "ConsoleOutput",
    "ContainerError",
    "DefaultImage",
    "ExecutionResult",
    "FileType",
    "InteractiveSandboxSession",
    "InteractiveSettings",
    "Isolation",
    "KernelType",
    "Limits",
    "LoggingObserver",
    "NetworkEvent",
    "NetworkRules",
    "OpenTelemetryObserver",
    "PlotOutput",
    "PortReady",
    "Process",
    "ProcessResult",
    "ResourceError",
    "RestrictedModule",
    "RunCause",
    "RunObserver",
    "RunRecord",
    "RunStatus",
    "Sandbox",
    "SandboxBackend",
    "SandboxError",
    "SandboxPool",
    "SandboxSession",
    "SandboxTimeoutError",
    "Secret",
    "SecurityError",
    "SecurityIssueSeverity",
    "SecurityPattern",
    "SecurityPolicy",
    "SecurityViolationError",
    "SessionConfig",
    "Snapshot",
    "StateOutcome",
    "StreamCallback",
    "StructlogObserver",
    "SupportedLanguage",
    "Table",
    "Terminal",
    "TlsPort",
    "Tmpfs",
    "Tunnel",
    "UnsupportedError",
    "Usage",
    "ValidationError",
    "Variable",
    "Volume",
    "WithContent",
    "attach_session",
    "create_session",
    "get_backend",
    "get_security_policy",
    "list_backends",
    "load_ipython_extension",
    "register_backend",
    "tool_call_id",
]

__version__ = VERSION


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if name in _INSTEAD:
        # Of an AttributeError, `from llm_sandbox import name` would drop the words.
        raise ImportError(f"{__name__} has no {name}; instead, {_INSTEAD[name]}", name=__name__)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if sys.platform == "win32":
        raise ImportError(
            "llm_sandbox does not run on Windows itself: run it in WSL 2, where Docker Desktop's "
            "engine answers as well"
        )
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """Add the magic ``%%sandbox`` to a notebook: what ``%load_ext llm_sandbox`` calls."""
    from llm_sandbox.integrations.magics import load

    load(shell)
