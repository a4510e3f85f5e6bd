"""Libraries installed in one session, as read-only layers that sessions share."""

from collections.abc import Callable, Sequence
from pathlib import Path

from llm_sandbox.backends.base import Backend, Machine
from llm_sandbox.exceptions import KernelNotReadyError, SandboxError
from llm_sandbox.host.terminal import announce
from llm_sandbox.kernel.client import KernelClient
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.limits import Deadline
from llm_sandbox.packages.store import Layer, open_language_store, open_store
from llm_sandbox.sandbox.files import SandboxFiles

__all__ = ["Libraries", "start_with_packages"]

_DELIVER_S = 600.0
_KERNEL = ("ipykernel", "matplotlib-inline")


def start_with_packages(
    backend: Backend,
    machine: Machine,
    start: Callable[[str], KernelClient],
    error: KernelNotReadyError,
    otherwise: str,
) -> KernelClient:
    """Install the packages of a kernel that a machine's Python lacks, and start the kernel with
    them.

    Args:
        backend: Backend of the machine.
        machine: A machine whose Python has no kernel.
        start: Starts the kernel with the packages of a folder in the machine.
        error: Error of the start without packages.
        otherwise: Alternative for the user.

    Raises:
        KernelNotReadyError: `error`: no packages can be installed, or the kernel does not start
            with them either.
    """
    why = None
    try:
        packages = _bring_kernel(backend, machine)
        if packages is not None:
            return start(packages)
    except SandboxError as other:
        why = f"bringing one there failed: {other.message}"
    error.hint = "; ".join(filter(None, (error.hint, why, otherwise)))
    raise error


def _bring_kernel(backend: Backend, machine: Machine) -> str | None:
    """Install the packages of a kernel for a machine's Python.

    Returns:
        The folder in the machine; None if nothing can be installed, because its Python is this
        process's, or has a package manager of its own.

    Raises:
        SandboxError: The machine has no Python, or the installation failed.
    """
    if machine.has_packages:
        return None
    place = backend.layers(machine)
    if place.image is None:
        return None
    store, builder = open_store(backend, place)
    layer = store.find(_KERNEL) or store.install(_KERNEL, builder=builder)
    place.image.deliver(layer.digest, layer.path, Deadline.after(_DELIVER_S))
    return layer.guest_path


class Libraries:
    """Installed libraries of one session, as one layer.

    Args:
        backend: Backend of the sandbox and of the builds.
        handler: Language handler, which validates requirements.
        machine: Machine of the session.
        files: Files of the machine.
    """

    def __init__(
        self,
        backend: Backend,
        handler: AbstractLanguageHandler,
        machine: Machine,
        files: SandboxFiles,
    ) -> None:
        self._backend = backend
        self._handler = handler
        self._machine = machine
        self._files = files
        self._specs: list[str] = []
        self._layer: Layer | None = None

    @property
    def specs(self) -> tuple[str, ...]:
        """Installed requirements."""
        return tuple(self._specs)

    def restore(self, specs: Sequence[str]) -> None:
        """Take over the libraries that another process has installed in the same session."""
        self._specs = list(specs)

    @property
    def guest_path(self) -> str | None:
        """Path of the layer in the sandbox; None without libraries."""
        return self._layer.guest_path if self._layer is not None else None

    @property
    def folder(self) -> Path | None:
        """Path of the layer on the host; None without libraries."""
        return self._layer.path if self._layer is not None else None

    def add(self, specs: Sequence[str]) -> Layer | None:
        """Install the libraries that are not installed in this session yet.

        Args:
            specs: Requirements in the syntax of the language's package manager: for Python's, such
                as ``pandas`` or ``scikit-learn==1.5.*``.

        Returns:
            The added layer; None when nothing was missing.

        Raises:
            ValidationError: A requirement is malformed.
            LibraryInstallationError: A library could not be installed.
            UnsupportedError: Libraries cannot be added to this machine or its Python.
        """
        if self._machine.has_packages:
            self._machine.install_packages(specs)
            return None
        valid = [self._handler.validate_library(spec) for spec in specs]
        wanted = list(dict.fromkeys([*self._specs, *valid]))
        if wanted == self._specs:
            return None
        place = self._backend.layers(self._machine)
        packages = self._handler.packages
        if packages is None:
            store, builder = open_store(self._backend, place)
        else:
            store, builder = open_language_store(packages, self._backend, place)
        # All of the session's libraries are resolved together, so that their versions agree.
        layer = store.find(wanted) or store.install(wanted, builder=builder)
        # trust: a sandbox that says it has a layer, and has not, fools nobody but itself.
        if place.image is not None and not self._files.exists(place.image.marker(layer.digest)):
            announce(f"bringing {', '.join(wanted)} to {self._backend.name}")
            place.image.deliver(layer.digest, layer.path, Deadline.after(_DELIVER_S))
        self._layer = layer
        self._specs = wanted
        return layer
