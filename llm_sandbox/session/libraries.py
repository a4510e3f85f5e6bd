"""A session's installed libraries: read-only layers that sessions share."""

from collections.abc import Sequence

from llm_sandbox.backends.base import Backend
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.session.layers import Layer, open_store

__all__ = ["Libraries"]


class Libraries:
    """What one session has installed.

    Args:
        backend: Where its sandbox is, and where layers are built.
        handler: Its language; it knows which names are acceptable.
    """

    def __init__(self, backend: Backend, handler: AbstractLanguageHandler) -> None:
        self._backend = backend
        self._handler = handler
        self._specs: set[str] = set()
        self._layers: list[Layer] = []

    @property
    def guest_paths(self) -> list[str]:
        """Where the layers are in the sandbox, the newest first."""
        return [layer.guest_path for layer in reversed(self._layers)]

    def add(self, specs: Sequence[str]) -> Layer | None:
        """Install what is not installed in this session yet.

        Args:
            specs: Requirements such as ``pandas`` or ``scikit-learn==1.5.*``.

        Returns:
            The layer that was added; None when there was nothing to add.

        Raises:
            ValidationError: A name is not a plain requirement.
            LibraryInstallationError: One could not be installed.
        """
        valid = [self._handler.validate_library(spec) for spec in specs]
        missing = [spec for spec in dict.fromkeys(valid) if spec not in self._specs]
        if not missing:
            return None
        store, builder = open_store(self._backend)
        layer = store.find(missing) or store.install(missing, builder=builder)
        self._specs.update(missing)
        self._layers.append(layer)
        return layer
