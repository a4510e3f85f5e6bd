"""Installing libraries by one package manager, as sessions have it done."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.language_handlers.packages import Packages
from llm_sandbox.packages.store import open_language_store

if TYPE_CHECKING:
    from pathlib import Path

    from llm_sandbox.backends.base import Backend
    from llm_sandbox.packages.store import Layer

__all__ = ["Installer", "MakeInstaller"]


class Installer:
    """Installs libraries by one package manager; remembers what was said."""

    __test__ = False

    def __init__(self, backend: Backend, cache: Path, packages: Packages) -> None:
        for program in (*packages.needs, *packages.built_for):
            if shutil.which(program) is None:
                pytest.skip(f"{program} is not installed here")
        machine: Any = None  # neither of these backends looks at it
        place = backend.layers(machine)
        self.store, self.builder = open_language_store(packages, backend, place)
        self.isolates = backend.name != "local"
        self.cache = cache
        self.words: list[str] = []

    def install(self, *specs: str, timeout_s: float = 100) -> Layer:
        return self.store.install(
            list(specs), builder=self.builder, timeout_s=timeout_s, progress=self.words.append
        )

    def install_or_skip(self, *specs: str) -> Layer:
        """Install from the real registry, which not every machine reaches."""
        try:
            return self.install(*specs)
        except LibraryInstallationError as error:
            if "reach" in str(error):
                pytest.skip(str(error))
            raise

    @property
    def leftovers(self) -> list[Path]:
        return list((self.cache / "layers-index" / "staging").iterdir())


MakeInstaller = Callable[[Packages], Installer]
"""What the fixture `installer` is."""
