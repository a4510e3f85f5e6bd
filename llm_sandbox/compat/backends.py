"""Registry of backends as session factories, which programs can extend.

A full backend is a `backends.base.Backend` with an entry point; this registry takes any callable
that returns a session.
"""

import functools
import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.registry import available_names
from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import UnsupportedBackendError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from llm_sandbox.artifact_session import ArtifactSandboxSession

__all__ = [
    "BackendCapabilities",
    "BackendDefinition",
    "get_backend",
    "list_backends",
    "register_backend",
    "registered",
]

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True)
class BackendCapabilities:
    """Static capabilities of a backend."""

    platforms: tuple[str, ...] = ()
    """Platforms of the client, by `sys.platform`; empty for any."""
    container_images: bool = False
    """Whether sandboxes are created from images."""
    interactive: bool = False
    """Whether variables can be kept between runs."""
    pooling: bool = False
    """Whether pools are supported."""
    filesystem_isolation: bool = False
    """Whether the host's files are inaccessible."""
    network_isolation: bool = False
    """Whether the network can be blocked."""
    seccomp: bool = False
    """Whether system calls are filtered."""
    daemon_required: bool = False
    """Whether an engine must be running."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "platforms", tuple(self.platforms))


_ENGINE = BackendCapabilities(
    container_images=True,
    interactive=True,
    pooling=True,
    filesystem_isolation=True,
    network_isolation=True,
    seccomp=True,
    daemon_required=True,
)
_EMBEDDED = BackendCapabilities(
    platforms=("linux",),
    interactive=True,
    pooling=True,
    filesystem_isolation=True,
    network_isolation=True,
    seccomp=True,
)
_KNOWN = {
    SandboxBackend.DOCKER: _ENGINE,
    SandboxBackend.PODMAN: _ENGINE,
    SandboxBackend.MICROMAMBA: _ENGINE,
    SandboxBackend.BUBBLEWRAP: _EMBEDDED,
    SandboxBackend.GVISOR: _EMBEDDED,
    SandboxBackend.LOCAL: BackendCapabilities(platforms=("linux",), interactive=True, pooling=True),
}


@dataclass(frozen=True)
class BackendDefinition:
    """Name, session factory and capabilities of a backend."""

    name: str
    """Name of the backend."""
    factory: "Callable[..., ArtifactSandboxSession]"
    """Function with the parameters of `create_session` except ``backend``, which returns a session.
    """
    capabilities: BackendCapabilities
    """Capabilities of the backend."""
    builtin: bool = False
    """Whether the backend belongs to this library or an installed package."""


_lock = threading.Lock()
_registered: dict[str, BackendDefinition] = {}


def register_backend(
    name: str,
    factory: "Callable[..., ArtifactSandboxSession]",
    *,
    capabilities: BackendCapabilities | None = None,
) -> BackendDefinition:
    """Register a session factory for ``create_session(backend=name, ...)`` in this process.

    Args:
        name: Small letters, digits, ``_`` and ``-``, after a letter.
        factory: Called with the given arguments by name, except ``backend``.
        capabilities: Capabilities of the backend; None if unknown.

    Raises:
        ValidationError: The name is invalid or in use, or `factory` is not callable.
    """
    key = _key(name)
    if key is None:
        raise ValidationError(
            f"invalid backend name: expected a letter and then letters, digits, _ or -, got "
            f"{name!r}",
            parameter="name",
        )
    if not callable(factory):
        raise ValidationError("factory cannot be called", parameter="factory")
    if capabilities is not None and not isinstance(capabilities, BackendCapabilities):
        raise ValidationError(
            f"capabilities must be BackendCapabilities, not {type(capabilities).__name__}",
            parameter="capabilities",
        )
    with _lock:
        if key in _registered or key in available_names():
            raise ValidationError(
                f"there is a backend {key!r} already, and it cannot be replaced", parameter="name"
            )
        made = BackendDefinition(key, factory, capabilities or BackendCapabilities())
        _registered[key] = made
        return made


def registered(name: str) -> "Callable[..., ArtifactSandboxSession] | None":
    """Return the factory registered under a name; None if there is none."""
    found = _registered.get(name.lower())
    return None if found is None else found.factory


def get_backend(name: SandboxBackend | str) -> BackendDefinition:
    """Return the definition of a backend, whether or not it works here.

    Raises:
        UnsupportedBackendError: The backend is unknown.
    """
    known = {definition.name: definition for definition in list_backends()}
    found = known.get(_key(name) or "")
    if found is None:
        raise UnsupportedBackendError(str(name), known=list(known))
    return found


def list_backends() -> tuple[BackendDefinition, ...]:
    """Return the definitions of all backends, those registered in this process last."""
    from llm_sandbox.create import create_session

    built = (
        BackendDefinition(
            name,
            functools.partial(create_session, name),
            _KNOWN.get(name, BackendCapabilities()),  # type: ignore[call-overload]
            builtin=True,
        )
        for name in available_names()
    )
    with _lock:
        return (*built, *_registered.values())


def _key(name: Any) -> str | None:
    key = name.lower() if isinstance(name, str) else ""
    return key if _NAME.fullmatch(key) else None
