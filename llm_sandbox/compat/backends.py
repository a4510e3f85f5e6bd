"""Backends by name as session factories: what there are, and how a program adds one of its own.

A backend that is to stand beside ours, with all that sessions do, is a `backends.base.Backend`
behind an entry point; what is registered here is any callable that returns a session.
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
    """What a backend can do where it works; nothing is started or looked at to say so."""

    platforms: tuple[str, ...] = ()
    """Where its client runs, by `sys.platform`; empty for anywhere."""
    container_images: bool = False
    """Whether sandboxes are made of images."""
    interactive: bool = False
    """Whether variables can be kept from run to run."""
    pooling: bool = False
    """Whether there can be a pool of its sandboxes."""
    filesystem_isolation: bool = False
    """Whether the host's files are out of reach."""
    network_isolation: bool = False
    """Whether the network can be."""
    seccomp: bool = False
    """Whether system calls are filtered."""
    daemon_required: bool = False
    """Whether an engine has to run."""

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
    """A backend's name, what makes its sessions, and what it can do."""

    name: str
    """The name."""
    factory: "Callable[..., ArtifactSandboxSession]"
    """Takes the arguments of `create_session` but for ``backend``, and returns a session."""
    capabilities: BackendCapabilities
    """What it can do."""
    builtin: bool = False
    """Whether it is one of this library's or of an installed package."""


_lock = threading.Lock()
_registered: dict[str, BackendDefinition] = {}


def register_backend(
    name: str,
    factory: "Callable[..., ArtifactSandboxSession]",
    *,
    capabilities: BackendCapabilities | None = None,
) -> BackendDefinition:
    """Have ``create_session(backend=name, ...)`` return what a factory makes, in this process.

    Args:
        name: Small letters, digits, ``_`` and ``-``, after a letter.
        factory: Gets the arguments that were given, by name, but for ``backend``.
        capabilities: What the backend can do; None for nothing that is known.

    Raises:
        ValidationError: The name is not acceptable or taken, or `factory` cannot be called.
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
    """Return the factory that was registered by a name; None where there is none."""
    found = _registered.get(name.lower())
    return None if found is None else found.factory


def get_backend(name: SandboxBackend | str) -> BackendDefinition:
    """Return the definition of a backend, whether or not it works here.

    Raises:
        UnsupportedBackendError: There is none of that name in this version.
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
