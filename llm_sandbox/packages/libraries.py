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
    """Start a kernel with packages that its Python lacks, which are installed for that.

    Args:
        backend: The machine's.
        machine: One whose Python has no kernel.
        start: Starts it with the packages of a folder in the machine.
        error: What it did not start for.
        otherwise: What else a user can do.

    Raises:
        KernelNotReadyError: `error`: there are none, or it does not start with them either.
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
    """Have what a kernel consists of where a machine's Python finds it.

    Returns:
        The folder in the machine; None where nothing can be brought, because its Python is this
        process's, or because its packages are installed by its own manager.

    Raises:
        SandboxError: There is no Python, or they could not be installed for it.
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
    """What one session has installed, as one layer.

    Args:
        backend: Where its sandbox is, and where layers are built.
        handler: Its language; it knows which names are acceptable.
        machine: Its machine.
        files: The machine's files.
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
        """What is installed."""
        return tuple(self._specs)

    def restore(self, specs: Sequence[str]) -> None:
        """Take over what another process has installed in the same session."""
        self._specs = list(specs)

    @property
    def guest_path(self) -> str | None:
        """Where they are in the sandbox; None while there are none."""
        return self._layer.guest_path if self._layer is not None else None

    @property
    def folder(self) -> Path | None:
        """Where they are on this computer; None while there are none."""
        return self._layer.path if self._layer is not None else None

    def add(self, specs: Sequence[str]) -> Layer | None:
        """Install what is not installed in this session yet.

        Args:
            specs: Requirements in the words of the language's package manager: for Python's, such
                as ``pandas`` or ``scikit-learn==1.5.*``.

        Returns:
            The layer that was added; None when there was nothing to add.

        Raises:
            ValidationError: A name is not a plain requirement.
            LibraryInstallationError: One could not be installed.
            UnsupportedError: This machine, or its Python, is not one that they can be added to.
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
