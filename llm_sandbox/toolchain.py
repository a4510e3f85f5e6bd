"""Toolchains: programs that a language requires."""

import shutil
from dataclasses import dataclass

__all__ = ["Toolchain"]


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Programs that run a language."""

    programs: tuple[str, ...]
    """Names of the programs, which must all be in PATH."""
    packages: tuple[str, ...]
    """Debian packages with these programs."""

    def missing(self, path: str) -> list[str]:
        """Return the missing programs.

        Args:
            path: Folders to search, separated by colons.
        """
        return [name for name in self.programs if shutil.which(name, path=path) is None]
