"""A session's installed libraries: read-only layers that sessions share."""

from collections.abc import Sequence

from llm_sandbox.backends.base import Backend
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.session.layers import Layer, open_store

__all__ = ["Libraries"]


class Libraries:
    """What one session has installed, as one layer.

    Args:
        backend: Where its sandbox is, and where layers are built.
        handler: Its language; it knows which names are acceptable.
    """

    def __init__(self, backend: Backend, handler: AbstractLanguageHandler) -> None:
        self._backend = backend
        self._handler = handler
        self._specs: list[str] = []
        self._layer: Layer | None = None

    @property
    def guest_path(self) -> str | None:
        """Where they are in the sandbox; None while there are none."""
        return self._layer.guest_path if self._layer is not None else None

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
        wanted = list(dict.fromkeys([*self._specs, *valid]))
        if wanted == self._specs:
            return None
        store, builder = open_store(self._backend)
        # All of the session's libraries are resolved together, so that their versions agree.
        self._layer = store.find(wanted) or store.install(wanted, builder=builder)
        self._specs = wanted
        return self._layer
