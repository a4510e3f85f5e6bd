"""What of a language has to be installed where its code runs."""

import shutil
from dataclasses import dataclass

__all__ = ["Toolchain"]


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The programs that a language is run by."""

    programs: tuple[str, ...]
    """Their names, which are looked for in PATH; all of them are needed."""
    packages: tuple[str, ...]
    """The Debian packages that have them."""

    def missing(self, path: str) -> list[str]:
        """The programs that are not there.

        Args:
            path: Folders to look in, with colons between them.
        """
        return [name for name in self.programs if shutil.which(name, path=path) is None]
