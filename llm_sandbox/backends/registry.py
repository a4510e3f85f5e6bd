"""Registry of backends by name, imported on first use.

Other packages add a backend by an entry point in the group ``llm_sandbox.backends``.
"""

import os
import sys
import threading
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from llm_sandbox.backends.base import Backend
from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import BackendUnavailableError, UnsupportedBackendError
from llm_sandbox.host.paths import system_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

__all__ = ["ENTRY_POINTS", "available_names", "get_backend"]

ENTRY_POINTS = "llm_sandbox.backends"

_BUILT = {
    SandboxBackend.BUBBLEWRAP: "llm_sandbox.backends.bubblewrap.backend:BubblewrapBackend",
    SandboxBackend.DOCKER: "llm_sandbox.backends.docker.backend:DockerBackend",
    SandboxBackend.GVISOR: "llm_sandbox.backends.gvisor.backend:GvisorBackend",
    SandboxBackend.KUBERNETES: "llm_sandbox.backends.kubernetes.backend:KubernetesBackend",
    SandboxBackend.LOCAL: "llm_sandbox.backends.local.backend:LocalBackend",
    SandboxBackend.MICROMAMBA: "llm_sandbox.backends.micromamba.backend:MicromambaBackend",
    SandboxBackend.PODMAN: "llm_sandbox.backends.podman.backend:PodmanBackend",
}

_OF_LINUX = (SandboxBackend.BUBBLEWRAP, SandboxBackend.GVISOR, SandboxBackend.LOCAL)


def available_names() -> list[str]:
    """Return the names that `get_backend` knows, sorted."""
    return sorted({*map(str, _BUILT), *(point.name for point in _installed())})


_lock = threading.RLock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


# Another thread may hold it while this process is forked.
os.register_at_fork(after_in_child=_renew_lock)


def _installed() -> "EntryPoints":
    # Costs more to import than a sandbox takes to open.
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINTS)


def get_backend(name: str) -> Backend:
    """Return the backend of a name: one object for the whole process.

    Raises:
        UnsupportedBackendError: No backend has the name.
        BackendUnavailableError: The backend needs Linux, and this is another system.
    """
    with _lock:
        return _get_backend(str(name).lower())


@cache
def _get_backend(name: str) -> Backend:
    if sys.platform != "linux" and name in _OF_LINUX:
        raise BackendUnavailableError(
            f"{name} needs Linux, and this is {system_name()}",
            backend=name,
            hint="use Docker Desktop, or an engine elsewhere (DOCKER_HOST): backend='docker'",
        )
    target = _BUILT.get(name)  # type: ignore[call-overload]
    if target is None:
        for point in _installed():
            if point.name == name:
                loaded: type[Backend] = point.load()
                return loaded()
        raise UnsupportedBackendError(
            name, hint=f"backends of this version: {', '.join(available_names())}"
        )
    module, _, attribute = target.partition(":")
    backend: type[Backend] = getattr(import_module(module), attribute)
    return backend()
